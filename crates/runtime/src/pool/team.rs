//! Threads that run one piece of work together, and where they wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::gate::Gate;

/// The threads of one piece of work.
#[derive(Debug)]
pub struct Team {
    n_threads: usize,
    n_waiting: AtomicUsize,
    stopped: AtomicBool,
    /// Counts how often everybody was there.
    met: Gate,
    patient: bool,
}

impl Team {
    pub(super) fn new(n_threads: usize, patient: bool) -> Team {
        let n_waiting = AtomicUsize::new(0);
        Team {
            n_threads,
            n_waiting,
            stopped: AtomicBool::new(false),
            met: Gate::default(),
            patient,
        }
    }

    /// How many threads there are.
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Waits until all threads are here. False if somebody stopped the work: then nobody waits any
    /// more.
    pub fn barrier(&self) -> bool {
        let met = self.met.value();
        if self.n_waiting.fetch_add(1, Ordering::SeqCst) + 1 == self.n_threads {
            self.n_waiting.store(0, Ordering::SeqCst);
            self.met.advance();
        } else {
            self.met.wait(self.patient, |now| now != met || self.is_stopped());
        }
        !self.is_stopped()
    }

    /// Ends the work: threads that wait, and those that come to wait, go on at once.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.met.ring();
    }

    /// Whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}
