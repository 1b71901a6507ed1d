//! What threads cost on this machine, in the unit that work is estimated in.
//!
//! How long it takes to begin a piece of work on several threads, and to wait for each other in it, differs
//! by a factor of ten from machine to machine. Both are measured once, in a few milliseconds, and compared with
//! operations that wait for each other. Of several tries the fastest counts: the others were disturbed.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Pool, Team, n_processors};

/// What threads cost, in operations of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadCosts {
    /// Beginning and ending a piece of work.
    pub start: u64,
    /// Waiting for each other.
    pub wait: u64,
}

/// How often everything is tried.
const TRIES: usize = 8;

/// How many operations, pieces of work and barriers a try has.
const OPERATIONS: u32 = 100_000;
const STARTS: u32 = 30;
const WAITS: u32 = 150;

/// What is believed, whatever is measured: a machine that is busy looks slow.
const START: std::ops::RangeInclusive<u64> = 2_048..=32_768;
const WAIT: std::ops::RangeInclusive<u64> = 128..=4_096;

impl ThreadCosts {
    /// Measures a pool with as many threads as there are processors; nothing if that is one.
    pub fn measure(pool: &Pool) -> Option<ThreadCosts> {
        let n_threads = n_processors();
        if n_threads < 2 {
            return None;
        }
        // Threads that are started for this are not part of it.
        pool.run(n_threads, Arc::new(|_: &Team, _| ()));
        let unit = fastest(OPERATIONS, || black_box(operations(black_box(1))));
        let start = fastest(STARTS, || {
            for _ in 0..STARTS {
                pool.run(n_threads, Arc::new(|_: &Team, _| ()));
            }
            0
        });
        let wait = fastest(WAITS, || {
            let meet = |team: &Team, number: usize| {
                for _ in 0..WAITS {
                    team.barrier(number);
                }
            };
            pool.run(n_threads, Arc::new(meet));
            0
        });
        // A power of two, so that measuring again says the same, and plans are found again.
        let units = |time: f64| (time / unit.max(1e-12)).max(1.0).log2().round().exp2() as u64;
        let within =
            |n: u64, range: std::ops::RangeInclusive<u64>| n.clamp(*range.start(), *range.end());
        Some(ThreadCosts { start: within(units(start), START), wait: within(units(wait), WAIT) })
    }

    /// As a text that [`ThreadCosts::parse`] reads.
    pub fn text(self) -> String {
        format!("{} {}", self.start, self.wait)
    }

    /// What a text says, unless it cannot have been measured.
    pub fn parse(text: &str) -> Option<ThreadCosts> {
        let mut numbers = text.split_whitespace().map(str::parse);
        let (start, wait) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let fits = START.contains(&start) && WAIT.contains(&wait) && numbers.next().is_none();
        fits.then_some(ThreadCosts { start, wait })
    }
}

/// The seconds of one of so many things, in the fastest try.
fn fastest(n: u32, mut all: impl FnMut() -> u64) -> f64 {
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        let begin = Instant::now();
        black_box(all());
        least = least.min(begin.elapsed());
    }
    least.as_secs_f64() / f64::from(n)
}

/// Operations that wait for each other: as many as there are.
fn operations(mut number: u64) -> u64 {
    for at in 0..u64::from(OPERATIONS) / 2 {
        number = (number ^ at).rotate_left(7);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_back() {
        if let Some(costs) = ThreadCosts::measure(&Pool::default()) {
            assert_eq!(ThreadCosts::parse(&costs.text()), Some(costs));
        }
        let (start, wait) = (20_000, 500);
        assert_eq!(ThreadCosts::parse("20000 500"), Some(ThreadCosts { start, wait }));
    }

    #[test]
    fn what_cannot_have_been_measured_is_not_believed() {
        for text in ["", "20000", "20000 x", "20000 500 1", "0 500", "20000 0", "99999999999 500"] {
            assert_eq!(ThreadCosts::parse(text), None, "{text}");
        }
    }
}
