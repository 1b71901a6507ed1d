//! The words for schedules, decisions and their reasons.

use einlang_loops::window::{AxisOrder, BindingStorage, Reason, Why};
use einlang_source::Sources;

/// A text of the source longer than this is cut.
const MAX_TEXT: usize = 40;

/// `along t ascending, j descending`, or how else the points come.
pub(super) fn schedule(binding: &BindingStorage) -> String {
    match &binding.schedule {
        AxisOrder::Axes(levels) => {
            let level = |level: &einlang_loops::window::ScheduledAxis| {
                let direction = if level.descending { "descending" } else { "ascending" };
                let name = binding.axes.get(level.axis).map_or("", |axis| axis.name.as_str());
                match level.shift {
                    0 => format!("{name} {direction}"),
                    n => format!("{name} {direction}, {} later", steps(n.unsigned_abs())),
                }
            };
            let levels = levels.iter().map(level).collect::<Vec<_>>().join(", ");
            match &binding.along_with {
                Some(other) => format!("with `{}`, along {levels}", other.as_str()),
                None => format!("along {levels}"),
            }
        }
        AxisOrder::Other => "clause by clause, or along diagonals".to_owned(),
    }
}

/// Whether an axis runs from its last point to its first.
pub(super) fn descends(binding: &BindingStorage, axis: usize) -> bool {
    match &binding.schedule {
        AxisOrder::Axes(levels) => levels.iter().any(|l| l.axis == axis && l.descending),
        AxisOrder::Other => false,
    }
}

/// What a reason says about an axis; it follows the words of the source that it is about.
fn reason(reason: &Reason, binding: &BindingStorage, axis: usize) -> String {
    let end = if descends(binding, axis) { "first" } else { "last" };
    let along = binding.axes.get(axis).map_or("", |axis| axis.name.as_str());
    let name = binding.name.as_str();
    match &reason.why {
        Why::Spans(1) => format!("reads one point of `{along}` in each step"),
        Why::Spans(n) => format!("is among reads that span {} of `{along}`", steps(*n)),
        Why::Lookback(n) => format!("reaches {} back along `{along}`", steps(*n)),
        Why::Tail(1) => format!("reads the {end} point of `{along}`"),
        Why::Tail(n) => format!("reads within the {end} {n} points of `{along}`"),
        Why::Output(name) => format!("`{name}` is an output, so all of it is observed"),
        Why::Printed | Why::Saved => format!("observes all of `{name}`"),
        Why::Escapes => format!("takes `{name}` as a whole"),
        Why::Derivative => format!("differentiates `{name}`, which reads all of it"),
        Why::WholeRead => format!("reads all of `{along}`"),
        Why::DynamicRead => {
            format!("reads `{along}` at an index that is known only at run time")
        }
        Why::FixedPoint => {
            format!(
                "reads a fixed point of `{along}`, whose distance from the {end} one is not fixed"
            )
        }
        Why::VaryingRead => {
            format!("reads `{along}` at no fixed distance from its {end} point")
        }
        Why::DynamicSelfRead => format!("is a self-read whose index along `{along}` is data"),
        Why::VaryingSelfRead => {
            format!("is a self-read that reaches no fixed number of steps back along `{along}`")
        }
        Why::OuterOffset(outer) => {
            format!("goes back along `{outer}`, which runs outside `{along}`")
        }
        Why::ConditionFails(text) => {
            format!("would be within a window of `{along}` if `{text}`, which does not hold here")
        }
        Why::NoAxisOrder => "cannot be computed axis by axis".to_owned(),
        Why::Undecided => format!("cannot be decided for `{along}`"),
    }
}

/// The reason as a sentence without an end, and its place.
pub(super) fn sentence(
    reason: &Reason,
    binding: &BindingStorage,
    axis: usize,
    sources: &Sources,
) -> (String, Option<(String, u32, u32, String)>) {
    let words = self::reason(reason, binding, axis);
    match place(reason, sources) {
        Some(place) => (format!("`{}` {words}", place.3), Some(place)),
        None if words.starts_with('`') => (words, None),
        None => (format!("a read {words}"), None),
    }
}

/// The place of a reason: file, line and column, and what is written there.
fn place(reason: &Reason, sources: &Sources) -> Option<(String, u32, u32, String)> {
    let span = reason.loc.0?;
    let at = sources.line_col(span);
    Some((sources.name(span.file).to_owned(), at.line, at.col, excerpt(sources.slice(span))))
}

/// One line of a text, cut where it is long.
fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim_end();
    if line.len() == text.len() && line.chars().count() <= MAX_TEXT {
        return line.to_owned();
    }
    let kept: String = line.chars().take(MAX_TEXT - 1).collect();
    format!("{}…", kept.trim_end())
}

pub(super) fn steps(n: u64) -> String {
    if n == 1 { "1 step".to_owned() } else { format!("{n} steps") }
}

/// A number of bytes for people.
pub(super) fn bytes(n: u128) -> String {
    const UNITS: [(&str, u128); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 10_000)];
    match UNITS.iter().find(|(_, size)| n >= *size) {
        Some(("kB", _)) => format!("{:.1} kB", n as f64 / 1e3),
        Some((unit, size)) => format!("{:.1} {unit}", n as f64 / *size as f64),
        None if n == 1 => "1 byte".to_owned(),
        None => format!("{n} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!((steps(1), steps(10)), ("1 step".to_owned(), "10 steps".to_owned()));
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(9_600), "9600 bytes");
        assert_eq!(bytes(40_000), "40.0 kB");
        assert_eq!(bytes(1_600_000_000), "1.6 GB");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(excerpt("h[t - 1]"), "h[t - 1]");
        assert_eq!(excerpt("sum[t](\n  x[t])"), "sum[t](…");
        assert_eq!(excerpt(&"x".repeat(60)).chars().count(), MAX_TEXT);
    }
}
