//! E0308, as far as the spelling decides it: a negative literal as a subscript.

use einlang_source::{Code, Diagnostic, Span};

/// `x[-1]`: subscripts count from 0 and do not wrap around.
pub(crate) fn negative_subscript(
    tensor: Option<&str>,
    literal: &str,
    span: Span,
    is_slot: bool,
) -> Diagnostic {
    let of = tensor.map_or(String::new(), |name| format!(" of `{name}`"));
    let digits = literal.trim_start_matches('-').trim();
    let from_end = match digits {
        "1" => "last".to_string(),
        _ => match digits.parse::<u64>() {
            Ok(n) if n > 1 => format!("last - {}", n - 1),
            _ => "last".to_string(),
        },
    };
    let diagnostic = Diagnostic::error(
        Code::E0308,
        format!("the subscript `{literal}`{of} is out of bounds"),
        span,
        "negative",
    )
    .with_note("subscripts count from 0 and never wrap around");
    if is_slot {
        return diagnostic.with_help("points of a definition count from 0 as well");
    }
    diagnostic.with_edit(format!("count from the end with `{from_end}`"), span, from_end)
}
