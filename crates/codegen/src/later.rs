//! What is made in the background: one thread that does one piece of work after the other, behind
//! everything else that the process does.
//!
//! Invariants: nothing of LLVM may run while a process tidies up, for its tables go away then. So whoever
//! owns this ends it first ([`Later::end`], or by dropping it), or leaves without tidying up ([`leave`]). A
//! process that was forked has no such thread, and does nothing in the background. The thread ends when
//! there is nothing to do.

#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::c_int;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::STACK_BYTES;

/// How much the thread gives way to others, as `nice` counts.
const GIVES_WAY: c_int = 10;

unsafe extern "C" {
    fn _exit(code: c_int) -> !;
    #[cfg(target_os = "linux")]
    fn nice(by: c_int) -> c_int;
}

/// Ends the process now: nothing is written any more and no library tidies up, so other threads of ours may
/// be anywhere.
pub fn leave(code: u8) -> ! {
    // SAFETY: it takes a number and does not come back.
    unsafe { _exit(code.into()) }
}

/// Work to be done later.
pub(crate) struct Later(Handle);

/// Where work is handed in, which is dropped once the end has come.
#[derive(Clone)]
pub(crate) struct Handle {
    shared: Arc<Shared>,
    /// The process that it belongs to.
    process: u32,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Whether there is a thread, and whether an earlier process began what it does.
    running: Option<bool>,
    closed: bool,
}

struct Job {
    /// Whether an earlier process wanted it too.
    again: bool,
    work: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").finish_non_exhaustive()
    }
}

impl Default for Later {
    fn default() -> Later {
        Later(Handle { shared: Arc::default(), process: std::process::id() })
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.end(true);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the thread.
    fn serve(&self) {
        loop {
            let job = {
                let mut state = self.state();
                let job = state.jobs.pop_front();
                state.running = job.as_ref().map(|job| job.again);
                job
            };
            self.ended.notify_all();
            let Some(job) = job else { return };
            // Whoever waits for it learns that it was dropped.
            let _ = catch_unwind(AssertUnwindSafe(job.work));
        }
    }
}

impl Handle {
    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// Does some work when its turn comes, or drops it.
    pub(crate) fn push(&self, again: bool, work: impl FnOnce() + Send + 'static) {
        let job = Job { again, work: Box::new(work) };
        if !self.is_ours() {
            return;
        }
        let mut state = self.shared.state();
        if state.closed {
            return;
        }
        match again {
            true => state.jobs.push_front(job),
            false => state.jobs.push_back(job),
        }
        if state.running.is_none() {
            state.running = Some(again);
            let shared = Arc::clone(&self.shared);
            let builder = thread::Builder::new().name("einlang later".to_owned());
            let started = builder.stack_size(STACK_BYTES).spawn(move || {
                give_way();
                shared.serve();
            });
            if started.is_err() {
                (state.running, state.jobs) = (None, VecDeque::new());
            }
        }
    }
}

impl Later {
    /// Whether work would be done.
    pub(crate) fn is_ours(&self) -> bool {
        self.0.is_ours()
    }

    /// What others hand their work to.
    pub(crate) fn handle(&self) -> Handle {
        self.0.clone()
    }

    /// Waits until there is nothing to do.
    pub(crate) fn settle(&self) {
        self.wait(|state| state.running.is_some());
    }

    /// Drops what was not begun, and waits for what was begun if that is wanted in any case. What an earlier
    /// process wanted too is done and waited for. Whether nothing is being done any more.
    pub(crate) fn end(&self, in_any_case: bool) -> bool {
        if !self.is_ours() {
            return true;
        }
        let dropped = {
            let mut state = self.0.shared.state();
            state.closed = true;
            let (again, dropped): (VecDeque<Job>, VecDeque<Job>) =
                std::mem::take(&mut state.jobs).into_iter().partition(|job| job.again);
            state.jobs = again;
            dropped
        };
        drop(dropped);
        self.wait(|state| {
            let is_wanted = |again| again || in_any_case || !state.jobs.is_empty();
            state.running.is_some_and(is_wanted)
        });
        self.0.shared.state().running.is_none()
    }

    fn wait(&self, mut condition: impl FnMut(&State) -> bool) {
        if self.is_ours() {
            let state = self.0.shared.state();
            let waited = self.0.shared.ended.wait_while(state, |state| condition(state));
            drop(waited);
        }
    }
}

/// Lets other threads run first, where the system can do that for one thread.
fn give_way() {
    #[cfg(target_os = "linux")]
    // SAFETY: it takes a number, and concerns this thread alone.
    unsafe {
        nice(GIVES_WAY);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_is_done_in_turn_and_waited_for() {
        let later = Later::default();
        let (sender, receiver) = mpsc::channel();
        for number in 0..10 {
            let sender = sender.clone();
            later.handle().push(false, move || {
                sender.send(number).expect("somebody listens");
                assert_ne!(number, 4, "this one fails");
            });
        }
        later.settle();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        assert!(later.end(false));
        later.handle().push(false, move || sender.send(10).expect("somebody listens"));
        later.settle();
        assert!(receiver.try_recv().is_err(), "it has ended");
    }

    #[test]
    fn what_was_not_begun_is_dropped_at_the_end() {
        let later = Later::default();
        let (begun, waits) = mpsc::channel();
        let (go, going) = mpsc::channel::<()>();
        let (sender, receiver) = mpsc::channel::<()>();
        later.handle().push(false, move || {
            begun.send(()).expect("somebody listens");
            let _ = going.recv();
        });
        later.handle().push(false, move || drop(sender));
        waits.recv().expect("it has begun");
        assert!(!later.end(false), "nobody waits for what is begun");
        assert!(receiver.recv().is_err());
        drop(go);
        assert!(later.end(true));
    }

    #[test]
    fn what_is_wanted_again_is_done() {
        let later = Later::default();
        let (sender, receiver) = mpsc::channel();
        for number in 0..5 {
            let sender = sender.clone();
            later.handle().push(true, move || sender.send(number).expect("somebody listens"));
        }
        assert!(later.end(false));
        assert_eq!(receiver.try_iter().count(), 5);
    }
}
