//! E0503: bindings that depend on each other in a cycle.

use einlang_source::{Code, Diagnostic};

use super::e0204_own_future::{CycleRead, shown_cycle};

/// No order of their points serves all the reads of several bindings.
pub(crate) fn cycle_of_bindings(names: &[String], reads: &[CycleRead]) -> Diagnostic {
    let label = |read: &CycleRead| format!("`{}` needs `{}` first", read.0, read.1);
    let mut diagnostic = Diagnostic::error(
        Code::E0503,
        format!("{} depend on each other in a cycle", listed(names)),
        reads[0].2,
        label(&reads[0]),
    );
    for read in &reads[1..] {
        diagnostic = diagnostic.with_label(read.2, label(read));
    }
    let (last, first) = (&reads[reads.len() - 1].0, &names[0]);
    diagnostic.with_note(shown_cycle(reads)).with_help(format!(
        "let one of them read points that come earlier, as if `{last}` read `{first}[t - 1]`"
    ))
}

/// `a`, `b` and `c`, each in quotes.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
