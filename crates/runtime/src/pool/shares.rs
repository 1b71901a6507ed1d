//! The rounds of loops that threads take: each begins with its own part, and who has finished takes from
//! what others have left.
//!
//! Threads of a team run the same loops in the same order, but not at the same time. A loop is over for a thread
//! when nobody has anything left of it, so a thread that is in a loop further on than this one may use its
//! words again; who comes late finds them newer, and nothing left for it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many loops have words of their own at a time.
const LOOPS: u64 = 8;

/// A word is the number of a loop and two numbers of rounds, of so many bits each.
const BITS: u32 = 24;

/// What threads have left of loops.
#[derive(Debug)]
pub(super) struct Shares {
    n_threads: u64,
    /// How many loops each thread has begun.
    begun: Box<[AtomicU64]>,
    /// For each loop, what each thread has left.
    left: Box<[AtomicU64]>,
}

impl Shares {
    pub(super) fn new(n_threads: usize) -> Shares {
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        let left = zeros(n_threads * LOOPS as usize);
        Shares { n_threads: n_threads as u64, begun: zeros(n_threads), left }
    }

    /// The next rounds of a loop for a thread; none if all are taken.
    pub(super) fn take(&self, number: u64, n_rounds: u64, is_first: bool) -> Option<Range<u64>> {
        let begun = self.begun.get(number as usize)?;
        let current = begun.load(Ordering::SeqCst) + u64::from(is_first);
        begun.store(current, Ordering::SeqCst);
        // Very many rounds are taken several at a time, so that their numbers fit.
        let at_once = n_rounds.div_ceil((1 << BITS) - 1).max(1);
        let n_units = n_rounds.div_ceil(at_once);
        let mut whose = (number..self.n_threads).chain(0..number);
        let taken = whose.find_map(|owner| self.take_from(owner, number, current, n_units))?;
        Some(taken.start * at_once..(taken.end * at_once).min(n_rounds))
    }

    /// Takes some of what a thread has left: a quarter from the front of its own part, and half from the end of
    /// another's.
    fn take_from(&self, owner: u64, taker: u64, current: u64, n_units: u64) -> Option<Range<u64>> {
        let at = current % LOOPS * self.n_threads + owner;
        let word = self.left.get(at as usize)?;
        let mut seen = word.load(Ordering::SeqCst);
        loop {
            let left = match is_newer(seen, current) {
                Some(true) => return None,
                Some(false) => self.part(owner, n_units),
                None => unpack(seen),
            };
            let n = left.end - left.start;
            let (taken, rest) = if owner == taker {
                let middle = left.start + n.div_ceil(4);
                (left.start..middle, middle..left.end)
            } else {
                let middle = left.end - n.div_ceil(2);
                (middle..left.end, left.start..middle)
            };
            let next = pack(current, &rest);
            match word.compare_exchange(seen, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return (!taken.is_empty()).then_some(taken),
                Err(other) => seen = other,
            }
        }
    }

    /// The part of a thread.
    fn part(&self, owner: u64, n_units: u64) -> Range<u64> {
        owner * n_units / self.n_threads..(owner + 1) * n_units / self.n_threads
    }
}

/// Whether a word belongs to a loop after this one, or before it; nothing if it is this one's.
fn is_newer(word: u64, current: u64) -> Option<bool> {
    let ahead = ((word >> (2 * BITS)) as u16).wrapping_sub(current as u16) as i16;
    (ahead != 0).then_some(ahead > 0)
}

fn pack(current: u64, left: &Range<u64>) -> u64 {
    current << (2 * BITS) | left.start << BITS | left.end
}

fn unpack(word: u64) -> Range<u64> {
    let mask = (1 << BITS) - 1;
    word >> BITS & mask..word & mask
}
