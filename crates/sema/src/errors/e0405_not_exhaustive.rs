//! E0405: a `match` that leaves values out.

use einlang_source::{Code, Diagnostic, Span};

/// Values that no arm takes.
pub(crate) fn not_exhaustive(missing: &[String], guarded: bool, span: Span) -> Diagnostic {
    let list: Vec<String> = missing.iter().map(|case| format!("`{case}`")).collect();
    let list = list.join(", ");
    let first = missing.first().map_or("_", String::as_str);
    let diagnostic = Diagnostic::error(
        Code::E0405,
        format!("no arm takes {list}"),
        span,
        format!("may be {list}"),
    );
    let diagnostic = match guarded {
        true => diagnostic.with_note("an arm with a guard does not count: the guard may be false"),
        false => diagnostic,
    };
    diagnostic.with_help(format!("add `{first} => …`, or `_ => …` for all that is left"))
}
