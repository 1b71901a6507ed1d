//! Threads that run one piece of work together, and where they wait for each other.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::gate::Gate;
use super::shares::Shares;
use super::spread::Spread;
use super::turns::Turns;

/// How often a thread of a team looks before it sleeps, at first: some milliseconds, since all others are at work and
/// waking up may take longer than all that. Where there are more threads than processors it only keeps the others from
/// running.
const MOST_LOOKS: u32 = 100_000;

/// And at least, some microseconds.
const LEAST_LOOKS: u32 = 400;

/// The threads of one piece of work.
#[derive(Debug)]
pub struct Team {
    n_threads: usize,
    n_waiting: AtomicUsize,
    stopped: AtomicBool,
    /// Counts how often everybody was there.
    met: Gate,
    /// How often threads look before they sleep.
    looks: AtomicU32,
    /// How far each thread is in a wave.
    reached: Box<[Gate]>,
    /// What is left of loops whose rounds are taken.
    shares: Shares,
    /// Where threads run, unless there are more of them than processors.
    spread: Option<Spread>,
    /// Whose turn it is, if threads run one after the other.
    turns: Option<Turns>,
}

impl Team {
    pub(super) fn new(n_threads: usize, patient: bool, in_turns: bool) -> Team {
        let turns = in_turns.then(|| Turns::new(n_threads));
        let n_waiting = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let reached = (0..n_threads).map(|_| Gate::default()).collect();
        let (met, shares) = (Gate::default(), Shares::new(n_threads));
        let spread = (patient && n_threads > 1).then(|| Spread::new(n_threads));
        let looks = AtomicU32::new(if patient { MOST_LOOKS } else { 1 });
        Team { n_threads, n_waiting, stopped, met, looks, reached, shares, spread, turns }
    }

    /// Waits at a gate. Looking in vain means that somebody else uses the processors, and is done less then.
    pub(super) fn wait(&self, gate: &Gate, holds: impl Fn(u64) -> bool) {
        let looks = self.looks.load(Ordering::Relaxed);
        if !gate.wait(looks, holds) {
            self.looks.fetch_min((looks / 2).max(LEAST_LOOKS.min(looks)), Ordering::Relaxed);
        }
    }

    /// How many threads there are.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Lets a thread run beside none of the team.
    pub(super) fn settle(&self, number: usize) {
        self.spread.iter().for_each(|spread| spread.settle(number));
    }

    /// Begins the work of a thread.
    pub(super) fn begin(&self, number: usize) {
        self.turn(0, number);
    }

    /// Ends the work of a thread.
    pub(super) fn end(&self) {
        self.turns.iter().for_each(Turns::end);
    }

    fn turn(&self, phase: u64, number: usize) {
        if let Some(turns) = &self.turns {
            turns.wait(phase, number, || self.is_stopped());
        }
    }

    /// Waits until all threads are here, of which this is one. False if somebody stopped the work: then nobody waits any
    /// more.
    pub fn barrier(&self, number: usize) -> bool {
        let met = self.met.value();
        self.end();
        if self.n_waiting.fetch_add(1, Ordering::SeqCst) + 1 == self.n_threads {
            self.n_waiting.store(0, Ordering::SeqCst);
            self.met.advance();
        } else {
            self.wait(&self.met, |now| now != met || self.is_stopped());
        }
        self.settle(number);
        self.turn(met + 1, number);
        !self.is_stopped()
    }

    /// Begins a wave, whose rows threads take in turns: how many of them take part, or none if somebody
    /// stopped the work. Threads that run one after the other cannot follow each other.
    pub fn begin_wave(&self, number: usize) -> usize {
        let all_left = self.barrier(number);
        self.reached.get(number).into_iter().for_each(Gate::reset);
        let n_threads = if self.turns.is_some() { 1 } else { self.n_threads };
        if all_left && self.barrier(number) { n_threads } else { 0 }
    }

    /// Waits until the row before was passed up to a point, which this row has come to. False if somebody
    /// stopped the work.
    pub fn follow(&self, number: usize, row: u64, point: i64) -> bool {
        let n_threads = if self.turns.is_some() { 1 } else { self.n_threads };
        let before = self.reached.get((number + n_threads - 1) % n_threads);
        if let (Some(before), Some(row)) = (before, row.checked_sub(1)) {
            let far = passed(row, point);
            self.wait(before, |now| now >= far || self.is_stopped());
        }
        !self.is_stopped()
    }

    /// A point of a row was passed.
    pub fn pass(&self, number: usize, row: u64, point: i64) {
        self.reached.get(number).into_iter().for_each(|gate| gate.raise(passed(row, point)));
    }

    /// A whole row was passed.
    pub fn pass_row(&self, number: usize, row: u64) {
        self.reached.get(number).into_iter().for_each(|gate| gate.raise((row + 1) << 32));
    }

    /// The next rounds of a loop that threads divide while it runs; nothing if all are taken, or if somebody stopped
    /// the work. `is_first` at the beginning of a loop, of which all threads run the same in the same order.
    pub fn take(&self, number: usize, n_rounds: u64, is_first: bool) -> Option<Range<u64>> {
        self.settle(number);
        match self.n_threads {
            1 => (is_first && n_rounds > 0).then_some(0..n_rounds),
            _ => self.shares.take(number as u64, n_rounds, is_first),
        }
        .filter(|_| !self.is_stopped())
    }

    /// Ends the work: threads that wait, and those that come to wait, go on at once.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.met.ring();
        self.reached.iter().for_each(Gate::ring);
        self.turns.iter().for_each(Turns::ring);
    }

    /// Whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// A point of a row, as a number that grows along rows and from row to row. No tensor has more rows or points
/// than fit.
fn passed(row: u64, point: i64) -> u64 {
    let point = point.clamp(i64::from(i32::MIN), i64::from(i32::MAX - 1)) - i64::from(i32::MIN);
    (row << 32) + point as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_is_done_less() {
        let (gate, n_looks) = (Gate::default(), AtomicU32::new(0));
        // What is waited for holds after so many looks.
        let holds_after = |n: u32| {
            n_looks.store(0, Ordering::Relaxed);
            let n_looks = &n_looks;
            move |_| n_looks.fetch_add(1, Ordering::Relaxed) >= n
        };
        let team = Team::new(2, true, false);
        team.wait(&gate, holds_after(MOST_LOOKS - 1));
        assert_eq!(team.looks.load(Ordering::Relaxed), MOST_LOOKS);
        for at in 1..20 {
            team.wait(&gate, holds_after(team.looks.load(Ordering::Relaxed)));
            let expected = (MOST_LOOKS >> at).max(LEAST_LOOKS);
            assert_eq!(team.looks.load(Ordering::Relaxed), expected);
        }
        let crowd = Team::new(2, false, false);
        crowd.wait(&gate, holds_after(1));
        assert_eq!(crowd.looks.load(Ordering::Relaxed), 1);
    }
}
