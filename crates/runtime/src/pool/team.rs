//! Threads that run one piece of work together, and where they wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::gate::Gate;
use super::turns::Turns;

/// The threads of one piece of work.
#[derive(Debug)]
pub struct Team {
    n_threads: usize,
    n_waiting: AtomicUsize,
    stopped: AtomicBool,
    /// Counts how often everybody was there.
    met: Gate,
    patient: bool,
    /// Whose turn it is, if threads run one after the other.
    turns: Option<Turns>,
}

impl Team {
    pub(super) fn new(n_threads: usize, patient: bool, in_turns: bool) -> Team {
        let turns = in_turns.then(|| Turns::new(n_threads));
        let n_waiting = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        Team { n_threads, n_waiting, stopped, met: Gate::default(), patient, turns }
    }

    /// How many threads there are.
    pub fn n_threads(&self) -> usize {
        self.n_threads
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
            self.met.wait(self.patient, |now| now != met || self.is_stopped());
        }
        self.turn(met + 1, number);
        !self.is_stopped()
    }

    /// Ends the work: threads that wait, and those that come to wait, go on at once.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.met.ring();
        self.turns.iter().for_each(Turns::ring);
    }

    /// Whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}
