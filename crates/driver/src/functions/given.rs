//! Inputs that a host gives and the source does not declare: they are typed by the values.

use einlang_source::{FileId, nearest};
use einlang_syntax::SyntaxKind;
use einlang_syntax::ast::{AstNode, SourceFile, Statement};

use crate::run::Failure;
use crate::session::Session;

impl Session<'_> {
    /// The names of the inputs that a file declares.
    pub fn declared_inputs(&self, file: FileId) -> Vec<String> {
        let tree = self.parse(file).tree;
        let names = SourceFile::of(&tree).statements().filter_map(|statement| match statement {
            Statement::Input(item) => item.name().map(|name| name.text().to_owned()),
            _ => None,
        });
        names.collect()
    }

    /// The file with declarations for inputs that it does not declare, each a name and a type. A name
    /// that the program does not use either is a mistake.
    pub fn with_inputs(
        &mut self,
        file: FileId,
        given: &[(String, String)],
    ) -> Result<FileId, Failure> {
        if given.is_empty() {
            return Ok(file);
        }
        let tree = self.parse(file).tree;
        let words: Vec<&str> = tree
            .tokens()
            .filter(|token| token.kind() == SyntaxKind::IDENT)
            .map(|token| token.text())
            .collect();
        let mut text = format!("{}\n", tree.text());
        for (name, ty) in given {
            if !words.contains(&name.as_str()) {
                let declared = self.declared_inputs(file);
                return Err(unknown(name, &declared));
            }
            text += &format!("input {name}: {ty};\n");
        }
        let path = self.sources().name(file).to_owned();
        Ok(self.add_text(&path, text))
    }
}

fn unknown(name: &str, declared: &[String]) -> Failure {
    let names = declared.iter().map(String::as_str);
    let help = match (nearest(name, names), declared.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "the program declares no inputs, and does not use this name".to_owned(),
        (None, false) => {
            let listed: Vec<String> = declared.iter().map(|name| format!("`{name}`")).collect();
            format!("its inputs are {}", listed.join(", "))
        }
    };
    Failure::Usage { message: format!("the program has no input `{name}`"), help }
}
