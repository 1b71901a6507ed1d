//! Completion: what could stand at the end of a text.

use std::collections::BTreeSet;

use einlang_sema::Library;
use einlang_sema::builtins::Builtin;
use einlang_source::Sources;
use einlang_syntax::ast::{AstNode, SourceFile, Statement};
use einlang_syntax::{SyntaxKind, parse};

use crate::library::Std;

/// The words that could stand from a place on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The byte at which the word begins.
    pub start: usize,
    /// The words, in alphabetical order.
    pub words: Vec<String>,
}

/// Completes the last word of a text; `names` are those of the session.
pub fn complete<'n>(before: &str, names: impl Iterator<Item = &'n str>) -> Completion {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = before.trim_end_matches(is_word).len();
    let word = &before[start..];
    let mut words: BTreeSet<String> = BTreeSet::new();
    match folder_of(&before[..start]) {
        Some(folder) => words.extend(below(&folder)),
        None => {
            words.extend(names.map(str::to_owned));
            words.extend(Builtin::value_names().map(str::to_owned));
            let keywords = SyntaxKind::ALL.iter().filter(|kind| kind.is_keyword());
            words.extend(keywords.filter_map(|kind| kind.fixed_text()).map(str::to_owned));
            words.insert("std".to_owned());
        }
    }
    let fits = |candidate: &String| candidate.starts_with(word) && candidate != word;
    Completion { start, words: words.into_iter().filter(fits).collect() }
}

/// The path before the word: `std::math::`, or what stands before the brace in `std::math::{a, `.
fn folder_of(before: &str) -> Option<String> {
    let path = match before.strip_suffix("::") {
        Some(path) => path,
        None => {
            let (path, listed) = before.rsplit_once("::{")?;
            if listed.contains(['}', ';', '(']) {
                return None;
            }
            path
        }
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let head = path.trim_end_matches(is_part).len();
    Some(path[head..].to_owned())
}

/// The names right below a path of the library.
fn below(path: &str) -> Vec<String> {
    let file = match path.strip_prefix("std") {
        Some("") => "mod.ein".to_owned(),
        Some(area) => format!("{}/mod.ein", area.trim_start_matches("::")),
        None => return Vec::new(),
    };
    let Some(text) = Std.text(&file) else { return Vec::new() };
    let mut sources = Sources::new();
    let parsed = parse(sources.add("", ""), text);
    let mut names = Vec::new();
    for statement in SourceFile::of(&parsed.tree).statements() {
        match statement {
            Statement::Use(item) => {
                let list = item.tree().and_then(|tree| tree.list());
                let last = |tree: einlang_syntax::ast::UseTree<'_>| {
                    tree.path()?.last().map(|token| token.text().to_string())
                };
                names.extend(list.into_iter().flatten().filter_map(last));
            }
            // The modules inside an area are its own affair.
            Statement::Mod(item) if path == "std" => {
                names.extend(item.name().map(|name| name.text().to_string()));
            }
            _ => {}
        }
    }
    names
}
