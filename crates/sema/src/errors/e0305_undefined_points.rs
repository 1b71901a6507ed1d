//! W0305 and E0305: points that no clause defines.

use einlang_source::{Code, Diagnostic, Span};

/// A gap that something can read; an error under `--strict`.
pub(crate) fn undefined_points(
    name: &str,
    count: Option<u128>,
    span: Span,
    read: Option<Span>,
    strict: bool,
) -> Diagnostic {
    let points = match count {
        Some(1) => "1 point".to_owned(),
        Some(count) => format!("{count} points"),
        None => "points".to_owned(),
    };
    let message = format!("no clause defines {points} of `{name}`, which read as zero");
    let label = "the clauses leave a gap";
    let diagnostic = match strict {
        true => Diagnostic::error(Code::E0305, message, span, label),
        false => Diagnostic::warning(Code::W0305, message, span, label),
    };
    let diagnostic = match read {
        Some(read) => diagnostic.with_label(read, "this can read such a point"),
        None => diagnostic,
    };
    diagnostic.with_help(format!(
        "add a clause for the missing points, an `else` to the guard, or read with a default: `{name}[i else 0]`"
    ))
}
