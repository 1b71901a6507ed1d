//! The form for programs: one JSON object on one line.
//!
//! The keys and their order are a contract with editors and with the conformance runner:
//! `severity code message span help labels notes edits rendered`. Keys may be added at the end,
//! none changes its meaning.

use serde_json::{Value, json};

use super::{Options, human, neutral, place};
use crate::diagnostic::{Diagnostic, Edit, Help, Label};
use crate::files::Sources;
use crate::span::Span;

/// The diagnostic as one line of JSON, without a line break.
///
/// `help` is all advice in one string, or null. `edits` are those of the best advice that has
/// any: alternatives are not mixed, so the whole list may be applied.
pub fn json(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let object = json!({
        "severity": diagnostic.severity.as_str(),
        "code": diagnostic.code.as_str(),
        "message": diagnostic.message,
        "span": reported(sources, diagnostic.primary.span),
        "help": advice(&diagnostic.helps),
        "labels": labels(sources, diagnostic),
        "notes": diagnostic.notes,
        "edits": edits(sources, diagnostic.fix().map_or(&[], |fix| &fix.edits)),
        "rendered": human(sources, diagnostic, &Options::default()),
    });
    neutral::json(&object.to_string())
}

/// The place that the form for people shows too.
fn reported(sources: &Sources, span: Span) -> Value {
    exact(sources, place::reported(sources, span))
}

fn exact(sources: &Sources, span: Span) -> Value {
    let at = sources.line_col(span);
    json!({
        "file": sources.name(span.file),
        "line": at.line,
        "col": at.col,
        "end_line": at.end_line,
        "end_col": at.end_col,
        "start": span.start,
        "end": span.end,
    })
}

fn advice(helps: &[Help]) -> Option<String> {
    let texts: Vec<&str> = helps.iter().map(|help| help.text.as_str()).collect();
    Some(texts.join("; ")).filter(|_| !texts.is_empty())
}

fn labels(sources: &Sources, diagnostic: &Diagnostic) -> Vec<Value> {
    let value = |label: &Label, primary: bool| {
        json!({
            "span": reported(sources, label.span),
            "text": label.text,
            "primary": primary,
        })
    };
    let secondary = diagnostic.secondary.iter().map(|label| value(label, false));
    [value(&diagnostic.primary, true)].into_iter().chain(secondary).collect()
}

/// Edits keep their exact place: text goes in at the end of the file, not before its last break.
fn edits(sources: &Sources, edits: &[Edit]) -> Vec<Value> {
    let value = |edit: &Edit| {
        json!({
            "span": exact(sources, sources.clamp(edit.span)),
            "replacement": edit.replacement,
        })
    };
    edits.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    fn value(diagnostic: &Diagnostic, sources: &Sources) -> Value {
        serde_json::from_str(&json(sources, diagnostic)).expect("valid JSON")
    }

    #[test]
    fn what_is_absent_is_null_or_empty() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "let x = 1\n");
        let value = value(&Diagnostic::warning(Code::E0101, "m", Span::at(file, 0), ""), &sources);
        assert_eq!((&value["severity"], &value["help"]), (&json!("warning"), &Value::Null));
        assert_eq!((&value["notes"], &value["edits"]), (&json!([]), &json!([])));
        assert_eq!(value["labels"][0]["primary"], json!(true));
    }

    #[test]
    fn the_end_of_the_file_is_reported_where_it_is_shown_but_edited_where_it_is() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "fn f() {\n\n");
        let end = Span::at(file, 10);
        let error = Diagnostic::error(Code::E0101, "m", end, "").with_edit("close", end, "}\n");
        let value = value(&error, &sources);
        assert_eq!((&value["span"]["line"], &value["span"]["col"]), (&json!(1), &json!(9)));
        assert_eq!(value["edits"][0]["span"]["start"], json!(10));
        assert_eq!(value["edits"][0]["span"]["line"], json!(3));
    }
}
