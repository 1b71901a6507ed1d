//! The report as text, one block for each recurrent binding.

use std::collections::HashSet;

use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::window::{BindingStorage, Keep, Reason, StorageReport};
use einlang_source::Sources;

use super::names::spelled;
use super::segments::{Segments, segments_table, whole_table};
use super::{hints, words};

/// The report for people, with what is computed again.
pub fn table(
    report: &StorageReport,
    segments: &[Segments],
    plan: Checkpoint,
    sources: &Sources,
) -> String {
    let (report, segments) = spelled(report, segments, sources);
    let blocks: Vec<String> =
        report.bindings.iter().map(|binding| block(binding, sources)).collect();
    let blocks = match blocks.is_empty() {
        true => "no recurrent binding\n".to_owned(),
        false => blocks.join("\n"),
    };
    let whole = match plan {
        Checkpoint::Segments(_) => whole_table(&report, &segments),
        Checkpoint::None | Checkpoint::Budget(_) => String::new(),
    };
    blocks + &segments_table(&report, &segments) + &whole
}

fn block(binding: &BindingStorage, sources: &Sources) -> String {
    let name = binding.name.as_str();
    let extents: Vec<&str> = binding.axes.iter().map(|axis| axis.extent_text.as_str()).collect();
    let mut text = format!("{name}: [{}; {}]\n", binding.elem, extents.join(", "));
    text += &format!("  computed {}\n", words::schedule(binding));
    text += &rows(binding);
    let mut said = HashSet::new();
    for at in 0..binding.axes.len() {
        for line in reasons(binding, at, sources) {
            if said.insert(line.clone()) {
                text += &format!("  {line}\n");
            }
        }
    }
    text += &amounts(binding);
    if let Some(hint) = hints::hint(binding) {
        text += &format!("  help: {hint}\n");
    }
    text
}

/// The axes with their numbers, in columns.
fn rows(binding: &BindingStorage) -> String {
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let head = ["axis", "lookback", "tail", "keeps"].map(str::to_owned);
    let mut rows = vec![head];
    for axis in &binding.axes {
        let keeps = match axis.keep {
            Keep::Full => "full".to_owned(),
            Keep::Window(n) => format!("window {n}"),
        };
        rows.push([axis.name.clone(), number(axis.lookback), number(axis.tail), keeps]);
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [axis, lookback, tail, keeps] in &rows {
        let [a, b, c] = widths;
        text += &format!("  {axis:<a$}  {lookback:>b$}  {tail:>c$}  {keeps}\n");
    }
    text
}

/// Why an axis is kept as it is, each with its place. Of reads that say the same, the first is
/// shown.
fn reasons(binding: &BindingStorage, at: usize, sources: &Sources) -> Vec<String> {
    let axis = &binding.axes[at];
    let mut lines = Vec::new();
    if !axis.condition_text.is_empty() {
        let conditions: Vec<String> =
            axis.condition_text.iter().map(|text| format!("`{text}`")).collect();
        let conditions = conditions.join(" and ");
        lines.push(format!("`{}` keeps a window if {conditions}, else everything", axis.name));
    }
    for (first, reason) in axis.reasons.iter().enumerate() {
        let same = |other: &&Reason| other.why == reason.why;
        if axis.reasons[..first].iter().any(|other| same(&other)) {
            continue;
        }
        let n_more = axis.reasons[first + 1..].iter().filter(same).count();
        let more = match n_more {
            0 => String::new(),
            1 => " (and 1 more read)".to_owned(),
            n => format!(" (and {n} more reads)"),
        };
        lines.push(match words::sentence(reason, binding, at, sources) {
            (words, Some((file, line, column, _))) => {
                format!("{file}:{line}:{column}: {words}{more}")
            }
            (words, None) => format!("{words}{more}"),
        });
    }
    lines
}

fn amounts(binding: &BindingStorage) -> String {
    match (binding.kept_bytes(), binding.full_bytes()) {
        (Some(kept), Some(full)) if kept < full => {
            format!("  {} instead of {}\n", words::bytes(kept), words::bytes(full))
        }
        (Some(kept), Some(_)) => format!("  {}\n", words::bytes(kept)),
        (Some(kept), None) => {
            format!("  {} instead of {}\n", words::bytes(kept), product(binding, false))
        }
        (None, _) if binding.has_window() => {
            format!("  {} instead of {}\n", product(binding, true), product(binding, false))
        }
        (None, _) => format!("  {}\n", product(binding, false)),
    }
}

/// The bytes as a product of extents.
fn product(binding: &BindingStorage, kept: bool) -> String {
    let mut number = u128::from(binding.elem.bits() / 8);
    let mut factors = Vec::new();
    for axis in &binding.axes {
        match (axis.keep, axis.extent.as_constant()) {
            (Keep::Window(n), _) if kept => number = number.saturating_mul(n.into()),
            (_, Some(n)) => number = number.saturating_mul(n.max(0).unsigned_abs().into()),
            (_, None) => factors.push(axis.extent_text.clone()),
        }
    }
    let factors =
        factors.iter().map(|factor| match factor.contains(' ') && !factor.ends_with(')') {
            true => format!(" × ({factor})"),
            false => format!(" × {factor}"),
        });
    format!("{number}{} bytes", factors.collect::<String>())
}
