//! The names of recurrent bindings as their program spells them.
//!
//! Inside, a binding that hides another one of its name has a number: `x_2`, and `x_2_adj` its adjoint.
//! People read `x`; where that is not enough, in several modules, in calls of one function or for names
//! that are bound again, the second one is `x#2`.

use std::collections::HashMap;

use einlang_loops::window::StorageReport;
use einlang_source::Sources;
use einlang_tir::types::Ident;

use super::segments::Segments;

/// The report, and what is computed again, under names that differ.
pub(super) fn spelled(
    report: &StorageReport,
    segments: &[Segments],
    sources: &Sources,
) -> (StorageReport, Vec<Segments>) {
    let (mut report, mut segments) = (report.clone(), segments.to_vec());
    let mut seen = HashMap::<String, usize>::new();
    let mut shown = HashMap::<Ident, Ident>::new();
    for binding in &mut report.bindings {
        let source = binding.loc.0.map_or("", |span| sources.slice(span));
        let name = spelling(binding.name.as_str(), source);
        let n = seen.entry(name.clone()).or_default();
        *n += 1;
        let name = if *n == 1 { name } else { format!("{name}#{n}") };
        let inside = std::mem::replace(&mut binding.name, Ident::new(&name));
        shown.entry(inside).or_insert_with(|| binding.name.clone());
    }
    let others = report.bindings.iter_mut().filter_map(|binding| binding.along_with.as_mut());
    for name in others.chain(segments.iter_mut().flat_map(Segments::names)) {
        if let Some(other) = shown.get(name) {
            *name = other.clone();
        }
    }
    (report, segments)
}

/// A name without the number that it has inside, if a definition spells it so.
fn spelling(name: &str, definition: &str) -> String {
    let pattern = definition.split(['[', '=']).next().unwrap_or_default();
    let declared = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
    let found = declared.filter(|word| !word.is_empty()).find_map(|word| {
        let rest = name.strip_prefix(word)?.strip_prefix('_')?;
        let rest = rest.strip_prefix(|c: char| c.is_ascii_digit())?;
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let ends = rest.is_empty() || rest.starts_with(['_', '.']);
        ends.then(|| format!("{word}{rest}"))
    });
    found.unwrap_or_else(|| name.to_owned())
}
