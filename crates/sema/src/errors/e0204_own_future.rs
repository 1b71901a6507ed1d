//! E0204: a recurrence that needs its own future.

use einlang_source::{Code, Diagnostic, Span};

/// A read of a cycle: who reads, what is read as the user wrote it, and where.
pub(crate) type CycleRead = (String, String, Span);

/// No order of the points serves all the reads of one binding.
pub(crate) fn needs_own_future(name: &str, reads: &[CycleRead]) -> Diagnostic {
    let (_, read, span) = &reads[0];
    let label = match reads.len() {
        1 => format!("`{read}` cannot be computed before the point that needs it"),
        _ => format!("`{read}` has to come first"),
    };
    let message = format!("`{name}` needs its own future: no order computes what it reads first");
    let mut diagnostic = Diagnostic::error(Code::E0204, message, *span, label);
    for (_, read, span) in &reads[1..] {
        diagnostic = diagnostic.with_label(*span, format!("and so has `{read}`"));
    }
    diagnostic
        .with_note(shown_cycle(reads))
        .with_help(format!("let the clauses of `{name}` read points on one side only, such as those before: `{name}[t - 1]`"))
}

/// The reads of a cycle, one after the other.
pub(super) fn shown_cycle(reads: &[CycleRead]) -> String {
    let shown: Vec<String> =
        reads.iter().map(|(name, read, _)| format!("`{name}` reads `{read}`")).collect();
    format!("the cycle of reads: {}", shown.join(", "))
}
