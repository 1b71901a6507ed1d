//! Threads that stay: a piece of work starts on all of them at once, without starting threads.
//!
//! | file | owns |
//! |---|---|
//! | `gate.rs` | waiting: looking for a while, then sleeping |
//! | `team.rs` | the threads of one piece of work, and their barriers |
//! | `turns.rs` | for tests: threads one after the other |
//!
//! Invariants: `run` returns when the work has ended on every thread; a pool does one piece of work at a
//! time, and who finds it busy works alone; threads are started when they are first needed, and where
//! they cannot be, there are fewer. What is computed must not depend on how many there are.

mod gate;
mod team;
mod turns;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use self::gate::Gate;
pub use self::team::Team;

/// What each thread of a team does, with its number.
pub type Work = Arc<dyn Fn(&Team, usize) + Send + Sync>;

/// The stack of a thread; pages that are never touched cost nothing.
const STACK_BYTES: usize = 64 << 20;

/// The most threads of a pool.
pub const MOST_THREADS: usize = 256;

/// Threads that wait for work.
#[derive(Debug, Default)]
pub struct Pool {
    shared: Arc<Shared>,
    /// How many threads there are besides those that bring work; held while there is work.
    n_others: Mutex<usize>,
    in_turns: bool,
}

#[derive(Default)]
struct Shared {
    /// Counts pieces of work.
    begun: Gate,
    current: Mutex<Option<(Work, Arc<Team>)>>,
    n_done: AtomicUsize,
    /// Counts pieces of work that ended on all other threads.
    ended: Gate,
    closed: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// How many processors there are for us.
pub fn n_processors() -> usize {
    static N: OnceLock<usize> = OnceLock::new();
    *N.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.begun.advance();
    }
}

impl Pool {
    /// A pool for tests: between two barriers threads run one after the other, in any order.
    pub fn in_turns() -> Pool {
        Pool { shared: Arc::default(), n_others: Mutex::default(), in_turns: true }
    }

    /// Runs work on so many threads, of which this is the first, and waits for its end.
    pub fn run(&self, n_threads: usize, work: Work) {
        let alone = || Team::new(1, true, false);
        let Ok(mut n_others) = self.n_others.try_lock() else { return work(&alone(), 0) };
        let n_threads = self.have(&mut n_others, n_threads.min(MOST_THREADS));
        if n_threads < 2 {
            return work(&alone(), 0);
        }
        let team = Arc::new(Team::new(n_threads, n_threads <= n_processors(), self.in_turns));
        let ended = self.shared.ended.value();
        self.shared.n_done.store(0, Ordering::SeqCst);
        match self.shared.current.lock() {
            Ok(mut current) => *current = Some((Arc::clone(&work), Arc::clone(&team))),
            Err(_) => return work(&alone(), 0),
        }
        self.shared.begun.advance();
        let done = take_part(&work, &team, 0);
        self.shared.ended.wait(n_threads <= n_processors(), |now| now != ended);
        if let Ok(mut current) = self.shared.current.lock() {
            *current = None;
        }
        drop(n_others);
        if let Err(panic) = done {
            resume_unwind(panic);
        }
    }

    /// Starts threads until there are as many as are wanted; how many there are for this work.
    fn have(&self, n_others: &mut usize, n_threads: usize) -> usize {
        while *n_others + 1 < n_threads {
            let (shared, number) = (Arc::clone(&self.shared), *n_others + 1);
            let seen = shared.begun.value();
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            let started = builder.name(format!("einlang {number}"));
            if started.spawn(move || serve(&shared, number, seen)).is_err() {
                break;
            }
            *n_others += 1;
        }
        n_threads.min(*n_others + 1)
    }
}

/// Does the work of one thread. A thread that panics stops the others.
fn take_part(work: &Work, team: &Team, number: usize) -> thread::Result<()> {
    team.begin(number);
    let done = catch_unwind(AssertUnwindSafe(|| work(team, number)));
    if done.is_err() {
        team.stop();
    }
    team.end();
    done
}

/// The life of a thread: it takes part in every piece of work that is large enough for it.
fn serve(shared: &Shared, number: usize, mut seen: u64) {
    loop {
        shared.begun.wait(number < n_processors(), |now| now != seen);
        seen = shared.begun.value();
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let current = shared.current.lock().ok().and_then(|current| current.clone());
        let Some((work, team)) = current.filter(|(_, team)| number < team.n_threads()) else {
            continue;
        };
        let _ = take_part(&work, &team, number);
        drop(work);
        if shared.n_done.fetch_add(1, Ordering::SeqCst) + 2 == team.n_threads() {
            shared.ended.advance();
        }
    }
}
