//! How many tests ran, read from the closing lines of the test runners.
//!
//! The runners disagree about the form of those lines and print several; the sum over all of them
//! is the one number a reader looks for.

use std::fmt;

/// Numbers of tests by result.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    n_passed: usize,
    n_failed: usize,
    n_skipped: usize,
}

impl Counts {
    /// Adds what the closing lines of this output say. What a test that failed printed is indented, and counted by
    /// the line that closes the whole.
    pub(crate) fn add(&mut self, output: &str) {
        let closing = |line: &&str| {
            line.starts_with("test result:") || line.trim_start().starts_with("Summary [")
        };
        for line in output.lines().filter(closing) {
            self.add_line(line);
        }
    }

    /// Whether there was any test to run.
    pub(crate) fn any_ran(&self) -> bool {
        self.n_passed + self.n_failed > 0
    }

    /// Reads `2 passed; 1 failed; 1 ignored; …` as well as `2 passed, 1 timed out, 1 skipped`.
    fn add_line(&mut self, line: &str) {
        let words: Vec<&str> =
            line.split([' ', ',', ';']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(n) = pair[0].parse::<usize>() else {
                continue;
            };
            match pair[1] {
                "passed" => self.n_passed += n,
                "failed" | "timed" | "exec" => self.n_failed += n,
                "skipped" | "ignored" => self.n_skipped += n,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { n_passed, n_failed, n_skipped } = self;
        write!(f, "{n_passed} passed, {n_failed} failed")?;
        if *n_skipped > 0 {
            write!(f, ", {n_skipped} skipped")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    fn counted(output: &str) -> String {
        let mut counts = Counts::default();
        counts.add(output);
        counts.to_string()
    }

    #[test]
    fn sums_the_lines_of_the_standard_runner() {
        let line = "test result: ok. 2 passed; 1 failed; 3 ignored; 0 measured; 9 filtered out";
        assert_eq!(counted(&format!("{line}\nother\n{line}\n")), "4 passed, 2 failed, 6 skipped");
    }

    #[test]
    fn reads_the_summary_of_nextest() {
        let line = "     Summary [   0.2s] 10 tests run: 8 passed (1 slow), 1 failed, 1 timed out, 0 skipped";
        assert_eq!(counted(line), "8 passed, 2 failed");
        let inner = "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured";
        assert_eq!(
            counted(&format!("{inner}\n{line}")),
            "8 passed, 2 failed",
            "it is counted once"
        );
    }

    #[test]
    fn ignores_what_tests_print() {
        assert_eq!(counted("parsed 3 passed, 4 failed\n"), "0 passed, 0 failed");
    }
}
