//! The closing table of `cargo xtask test`.

use super::{Outcome, Report};
use std::fmt::Write;

/// One row per step and a last line that says it all.
pub(crate) fn table(reports: &[Report]) -> String {
    let mut text = format!("\n{:<18} {:<8} {:>8}\n", "step", "result", "time");
    for report in reports {
        let (result, note) = describe(&report.outcome);
        let time = format!("{:.1} s", report.time.as_secs_f64());
        let row = format!("{:<18} {result:<8} {time:>8}  {note}", report.name);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text + &verdict(reports)
}

fn describe(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Passed(note) => ("ok", note),
        Outcome::Failed(note) => ("FAILED", note),
        Outcome::Skipped(note) => ("skipped", note),
    }
}

fn verdict(reports: &[Report]) -> String {
    let failed = reports.iter().filter(|report| matches!(report.outcome, Outcome::Failed(_)));
    let names: Vec<&str> = failed.map(|report| report.name).collect();
    match names.is_empty() {
        true => "\nall steps passed\n".to_owned(),
        false => format!("\nfailed: {}\n", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, Report};
    use super::table;
    use std::time::Duration;

    fn report(name: &'static str, outcome: Outcome) -> Report {
        Report { name, outcome, time: Duration::from_millis(1250) }
    }

    #[test]
    fn table_lists_steps_and_names_the_failures() {
        let reports = [
            report("fmt", Outcome::Passed(String::new())),
            report("tests", Outcome::Failed("1 passed, 1 failed".to_owned())),
        ];
        let expected = "
step               result       time
fmt                ok          1.2 s
tests              FAILED      1.2 s  1 passed, 1 failed

failed: tests
";
        assert_eq!(table(&reports), expected);
    }

    #[test]
    fn a_skipped_step_is_no_failure() {
        let reports = [report("docs", Outcome::Skipped("nothing to do".to_owned()))];
        assert!(table(&reports).ends_with("\nall steps passed\n"));
    }
}
