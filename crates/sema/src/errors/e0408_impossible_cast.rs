//! E0408: a cast that does not exist.

use einlang_source::{Code, Diagnostic, Span};

/// `"12" as i32`
pub(crate) fn impossible_cast(
    text: &str,
    from: &str,
    to: &str,
    span: Span,
    target: Span,
) -> Diagnostic {
    let help = match (from, to) {
        (_, "bool") => format!("compare instead: `{text} != 0`"),
        (_, "str") => format!("make a string by interpolation: `\"{{{text}}}\"`"),
        ("str", _) => {
            "numbers come from literals, inputs and files; a `str` stays a `str`".to_string()
        }
        _ => "`as` converts between numbers, and tensors of numbers with the same rank".to_string(),
    };
    Diagnostic::error(
        Code::E0408,
        format!("cannot convert `{from}` to `{to}`"),
        span,
        format!("this is `{from}`"),
    )
    .with_label(target, format!("`{to}` is asked for"))
    .with_help(help)
}

/// A cast to a type with another extent, from what is said of an annotation like that.
pub(crate) fn cast_extent(annotation: Diagnostic) -> Diagnostic {
    Diagnostic { code: Code::E0408, ..annotation }
        .with_note("a cast converts elements and names axes; it never changes an extent")
}
