//! Threads of a team on processors of their own.
//!
//! A thread that wakes up while every other processor is busy, if only with a thread of another program that waits,
//! may be put beside the one that woke it; and one that shares its processor is fetched by another that has
//! nothing to do for a moment, as at every barrier. Systems take tens of milliseconds to find that two threads share
//! a processor and another has less to do. That is longer than most teams live, so every thread has a processor that
//! is its home, and goes there when it finds itself at home of another of its team. Where it may run in the long
//! term stays as it was, and a processor that nobody of the team has is as good as the one before.

use std::sync::atomic::{AtomicUsize, Ordering};

use self::system::{here, move_to};

/// The most processors that are told apart.
const MOST: usize = 256;

/// Nobody, or nowhere; threads and processors are counted from one.
const NONE: usize = 0;

/// Where threads of a team are at home.
#[derive(Debug)]
pub(super) struct Spread {
    /// The thread of each processor.
    threads: Box<[AtomicUsize]>,
    /// The processor of each thread.
    homes: Box<[AtomicUsize]>,
}

impl Spread {
    pub(super) fn new(n_threads: usize) -> Spread {
        let nobody = |n: usize| (0..n).map(|_| AtomicUsize::new(NONE)).collect();
        Spread { threads: nobody(MOST), homes: nobody(n_threads) }
    }

    /// Makes a processor the home of a thread if it is nobody's yet; whether it is this thread's now.
    fn take(&self, number: usize, processor: usize) -> bool {
        let (Some(owner), Some(home)) = (self.threads.get(processor), self.homes.get(number))
        else {
            return false;
        };
        let taken = owner.compare_exchange(NONE, number + 1, Ordering::SeqCst, Ordering::SeqCst);
        if taken.is_ok() {
            let before = home.swap(processor + 1, Ordering::SeqCst);
            if let Some(left) = before.checked_sub(1).and_then(|left| self.threads.get(left)) {
                left.store(NONE, Ordering::SeqCst);
            }
        }
        taken.map_or_else(|owner| owner == number + 1, |_| true)
    }

    /// Goes home, or to a processor that nobody of the team has, unless this is one or there is none.
    pub(super) fn settle(&self, number: usize) {
        let Some(here) = here() else { return };
        if here >= MOST || self.take(number, here) {
            return;
        }
        let home =
            self.homes.get(number).and_then(|home| home.load(Ordering::SeqCst).checked_sub(1));
        move_to(|processor| {
            home.map_or_else(|| self.take(number, processor), |home| home == processor)
        });
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

    /// A thread that settles where another is at home takes a processor of its own, and may run wherever it could
    /// before; whoever comes back to a home of another goes to its own.
    #[test]
    fn a_thread_settles_where_nobody_is() {
        let n_processors = available_parallelism().expect("there is one").get();
        let spread = Spread::new(2);
        for _ in 0..2 {
            spread.settle(0);
            spread.settle(1);
            let homes = spread.threads.iter().filter(|owner| owner.load(Ordering::SeqCst) != NONE);
            assert_eq!(homes.count(), n_processors.min(2));
            assert_eq!(available_parallelism().expect("there is one").get(), n_processors);
        }
    }
}
