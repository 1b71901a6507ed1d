//! What the source says about its public functions.

use einlang_syntax::Tree;
use einlang_syntax::ast::{AstNode, Attributed, FnItem, SourceFile, Statement};

/// A public function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The text of its doc comment.
    pub doc: String,
    /// The declaration as it is written, without the body.
    pub text: String,
    /// The parameters, in order.
    pub params: Vec<Parameter>,
    /// The type of the result, if it is written.
    pub result: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The name; a pattern has none and is given by position only.
    pub name: Option<String>,
    /// The type as it is written.
    pub ty: Option<String>,
    /// The default as it is written.
    pub default: Option<String>,
    /// Whether the type leaves something to the argument: the element type or the rank.
    pub open: bool,
}

/// The public functions of a file, but for `main`.
pub(super) fn all(tree: &Tree) -> Vec<Signature> {
    let public = SourceFile::of(tree).statements().filter_map(|statement| match statement {
        Statement::Fn(item) if item.pub_token().is_some() => signature(item),
        _ => None,
    });
    public.filter(|signature| signature.name != "main").collect()
}

fn signature(item: FnItem<'_>) -> Option<Signature> {
    let generics: Vec<&str> = item.generics().map(|name| name.text()).collect();
    let params = item.params().map(|param| {
        let spelled = param.pattern().map_or("", |pattern| pattern.text());
        let ty = param.ty().map(|ty| ty.text().to_owned());
        Parameter {
            name: is_name(spelled).then(|| spelled.to_owned()),
            open: ty.as_deref().is_none_or(|ty| is_open(ty, &generics)),
            ty,
            default: param.default().map(|default| default.text().to_owned()),
        }
    });
    let doc: Vec<&str> = item.doc_lines().map(str::trim_end).collect();
    let indent = doc.iter().filter(|line| !line.is_empty());
    let indent = indent.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let doc: Vec<&str> = doc.iter().map(|line| line.get(indent..).unwrap_or("")).collect();
    let (whole, start) = (item.text(), item.range().start);
    let from = item.pub_token().map_or(0, |token| token.range().start - start);
    let to = item.body().map_or(whole.len(), |body| body.range().start - start);
    let words: Vec<&str> = whole.get(from..to)?.split_whitespace().collect();
    Some(Signature {
        name: item.name()?.text().to_owned(),
        doc: doc.join("\n"),
        text: words.join(" "),
        params: params.collect(),
        result: item.ret_type().map(|ty| ty.text().to_owned()),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_') && text != "_"
}

/// Whether a type leaves its rank open or speaks of a type parameter.
fn is_open(ty: &str, generics: &[&str]) -> bool {
    let mut words = ty.split(|c: char| !(c.is_alphanumeric() || "_*.".contains(c)));
    words.any(|word| word == "*" || word.starts_with("..") || generics.contains(&word))
}

#[cfg(test)]
mod tests {
    use einlang_source::Sources;

    use super::*;

    #[test]
    fn signatures_say_what_the_source_says() {
        let text = "/// Scales.\n///\n///  - more\npub fn f<F>(x: [F; n],\n  k: f32 = 2.0, y, z: [f32; ..r]) -> f32 { 1.0 }\nfn g() { 1 }\npub fn main() { 2 }";
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text);
        let found = all(&einlang_syntax::parse(file, sources.text_arc(file)).tree);
        assert_eq!(found.len(), 1);
        let f = &found[0];
        assert_eq!((f.name.as_str(), f.doc.as_str()), ("f", "Scales.\n\n - more"));
        assert_eq!(f.text, "pub fn f<F>(x: [F; n], k: f32 = 2.0, y, z: [f32; ..r]) -> f32");
        let open: Vec<bool> = f.params.iter().map(|param| param.open).collect();
        assert_eq!(open, [true, false, true, true]);
        assert_eq!(f.params[1].default.as_deref(), Some("2.0"));
        assert_eq!(f.result.as_deref(), Some("f32"));
    }
}
