//! E0503: bindings that depend on each other in a cycle.

use einlang_source::{Code, Diagnostic, Span};

use super::e0204_own_future::shown_cycle;

/// No order of their points serves all the reads of several bindings.
pub(crate) fn cycle_of_bindings(names: &[&str], reads: &[(&str, &str, Span)]) -> Diagnostic {
    let (_, _, span) = reads[0];
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let mut diagnostic = Diagnostic::error(
        Code::E0503,
        format!("{} depend on each other in a cycle", quoted.join(" and ")),
        span,
        "this read closes the cycle",
    );
    for (name, _, span) in &reads[1..] {
        diagnostic = diagnostic.with_label(*span, format!("`{name}` needs this first"));
    }
    diagnostic.with_note(shown_cycle(reads)).with_help(
        "let one of them read points of the others that come earlier, such as `a[t - 1]`",
    )
}
