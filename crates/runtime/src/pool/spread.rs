//! Threads of a team on processors of their own.
//!
//! A thread that wakes up while every other processor is busy, if only with a thread of another program that waits,
//! may be put beside the one that woke it, and systems take tens of milliseconds to find that two threads share
//! a processor and another has less to do. That is longer than most teams live, so a thread that finds itself where
//! another of its team began goes elsewhere. Where it may run in the long term stays as it was.

use std::sync::atomic::{AtomicBool, Ordering};

use self::system::{here, move_to};

/// The most processors that are told apart.
const MOST: usize = 256;

/// Which processors threads of a team began on.
#[derive(Debug)]
pub(super) struct Spread {
    is_taken: Box<[AtomicBool]>,
}

impl Spread {
    pub(super) fn new() -> Spread {
        Spread { is_taken: (0..MOST).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Takes a processor, whether or not somebody has it; whether nobody had.
    fn take(&self, processor: usize) -> bool {
        let place = self.is_taken.get(processor);
        place.is_some_and(|is_taken| !is_taken.swap(true, Ordering::SeqCst))
    }

    /// Stays where this thread is.
    pub(super) fn stay(&self) {
        here().map(|processor| self.take(processor));
    }

    /// Goes to a processor that nobody of the team has, unless this is one or there is none.
    pub(super) fn settle(&self) {
        let is_shared = here().is_some_and(|here| here < MOST && !self.take(here));
        if is_shared {
            move_to(|processor| processor < MOST && self.take(processor));
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    #![allow(unsafe_code)]

    /// The processor that this thread runs on.
    pub(super) fn here() -> Option<usize> {
        // SAFETY: it takes nothing.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    /// Moves this thread to the first processor that is fine among those it may run on, and lets it run on all of
    /// them again.
    pub(super) fn move_to(is_fine: impl Fn(usize) -> bool) {
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: sets are of the size that is told, and bits of numbers below it are looked at and set.
        unsafe {
            let mut all: libc::cpu_set_t = std::mem::zeroed();
            if libc::sched_getaffinity(0, size, &mut all) != 0 {
                return;
            }
            let mut bits = 0..8 * size;
            let Some(to) = bits.find(|bit| libc::CPU_ISSET(*bit, &all) && is_fine(*bit)) else {
                return;
            };
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(to, &mut one);
            if libc::sched_setaffinity(0, size, &one) == 0 {
                libc::sched_setaffinity(0, size, &all);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn here() -> Option<usize> {
        None
    }

    pub(super) fn move_to(_: impl Fn(usize) -> bool) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread::available_parallelism;

    use super::*;

    /// A thread that settles where one stays takes a processor of its own, and may run wherever it could before.
    #[test]
    fn a_thread_settles_where_nobody_is() {
        let n_processors = available_parallelism().expect("there is one").get();
        let spread = Spread::new();
        spread.stay();
        spread.settle();
        let n_taken = spread.is_taken.iter().filter(|taken| taken.load(Ordering::SeqCst)).count();
        assert_eq!(n_taken, n_processors.min(2));
        assert_eq!(available_parallelism().expect("there is one").get(), n_processors);
    }
}
