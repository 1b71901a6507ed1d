//! E0204: a recurrence that needs its own future.

use einlang_source::{Code, Diagnostic, Span};

/// No order of the points serves all the reads of one binding.
pub(crate) fn needs_own_future(name: &str, reads: &[(&str, &str, Span)]) -> Diagnostic {
    let (_, _, span) = reads[0];
    let mut diagnostic = Diagnostic::error(
        Code::E0204,
        format!("`{name}` needs points of itself that cannot be computed before"),
        span,
        "this read and the point it belongs to wait for each other",
    );
    for (_, _, span) in &reads[1..] {
        diagnostic = diagnostic.with_label(*span, "with this one there is no order left");
    }
    diagnostic
        .with_note(shown_cycle(reads))
        .with_help(format!("let every clause of `{name}` read only points that come earlier in one direction, such as `{name}[t - 1]`"))
}

/// The reads of a cycle, one after the other.
pub(super) fn shown_cycle(reads: &[(&str, &str, Span)]) -> String {
    let shown: Vec<String> = reads
        .iter()
        .map(|(name, read, _)| {
            // The checker numbers bindings in front of their names.
            let read = read.split_once('.').map_or(*read, |(number, rest)| {
                if number.bytes().all(|b| b.is_ascii_digit()) { rest } else { read }
            });
            format!("`{name}` reads `{read}`")
        })
        .collect();
    format!("the cycle of reads: {}", shown.join(", "))
}
