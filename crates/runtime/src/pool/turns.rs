//! Threads one after the other, in an order that is drawn anew between any two barriers.
//!
//! Work that needs a barrier it does not have often goes well by chance. Here it does not: whole parts
//! of it run in another order than usual, which some order of threads would have been.

use std::sync::atomic::{AtomicU64, Ordering};

use super::gate::Gate;

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Turns {
    n_threads: u64,
    seed: u64,
    /// Counts turns that are over.
    over: Gate,
}

impl Turns {
    /// The turns of a team; every one has other orders.
    pub(super) fn new(n_threads: usize) -> Turns {
        static N_TEAMS: AtomicU64 = AtomicU64::new(0);
        let seed = N_TEAMS.fetch_add(1, Ordering::Relaxed);
        Turns { n_threads: n_threads as u64, seed, over: Gate::default() }
    }

    /// Waits for the turn of a thread between two barriers, or until nobody waits any more.
    pub(super) fn wait(&self, phase: u64, number: usize, is_stopped: impl Fn() -> bool) {
        let turn = phase * self.n_threads + self.place(phase, number as u64);
        self.over.wait(1, |over| over >= turn || is_stopped());
    }

    /// Ends a turn.
    pub(super) fn end(&self) {
        self.over.advance();
    }

    /// Wakes everybody.
    pub(super) fn ring(&self) {
        self.over.ring();
    }

    /// The place of a thread in the order of a phase: forwards or backwards, from any of them on.
    fn place(&self, phase: u64, number: u64) -> u64 {
        let draw = (self.seed << 32 | phase).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let turned = (number + draw / 2) % self.n_threads;
        if draw.is_multiple_of(2) { turned } else { self.n_threads - 1 - turned }
    }
}
