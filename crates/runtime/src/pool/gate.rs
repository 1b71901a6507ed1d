//! A number that threads wait for: they look at it for a while, and then sleep.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// A number that only grows until it begins again, and those that sleep until it does.
#[derive(Debug, Default)]
pub(super) struct Gate {
    value: AtomicU64,
    n_asleep: AtomicUsize,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    pub(super) fn value(&self) -> u64 {
        self.value.load(Ordering::SeqCst)
    }

    /// Makes the number one larger and wakes everybody.
    pub(super) fn advance(&self) {
        self.value.fetch_add(1, Ordering::SeqCst);
        self.ring();
    }

    /// Makes the number at least so large, and wakes everybody. Only one thread does so.
    pub(super) fn raise(&self, value: u64) {
        self.value.fetch_max(value, Ordering::SeqCst);
        self.ring();
    }

    /// Begins again with nothing. Nobody waits.
    pub(super) fn reset(&self) {
        self.value.store(0, Ordering::SeqCst);
    }

    /// Wakes those that sleep, to look at what they wait for once more.
    pub(super) fn ring(&self) {
        if self.n_asleep.load(Ordering::SeqCst) > 0 {
            // Whoever counts as asleep holds the lock until it really is.
            drop(self.lock.lock());
            self.bell.notify_all();
        }
    }

    /// Waits until something holds of the number, and sleeps after so many looks. False if it slept.
    pub(super) fn wait(&self, looks: u32, holds: impl Fn(u64) -> bool) -> bool {
        for _ in 0..looks {
            if holds(self.value()) {
                return true;
            }
            std::hint::spin_loop();
        }
        self.sleep(holds);
        false
    }

    fn sleep(&self, holds: impl Fn(u64) -> bool) {
        let Ok(mut guard) = self.lock.lock() else { return self.look(holds) };
        self.n_asleep.fetch_add(1, Ordering::SeqCst);
        while !holds(self.value()) {
            match self.bell.wait(guard) {
                Ok(again) => guard = again,
                Err(_) => return self.look(holds),
            }
        }
        self.n_asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits without sleeping, should the lock be of no use any more.
    fn look(&self, holds: impl Fn(u64) -> bool) {
        while !holds(self.value()) {
            std::thread::yield_now();
        }
    }
}
