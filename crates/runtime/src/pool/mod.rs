//! Threads that stay: a piece of work starts on all of them at once, without starting threads.
//!
//! | file | owns |
//! |---|---|
//! | `costs.rs` | what all this costs on a machine |
//! | `gate.rs` | waiting: looking for a while, then sleeping |
//! | `shares.rs` | the rounds of loops that threads take from each other |
//! | `spread.rs` | threads on processors of their own |
//! | `team.rs` | the threads of one piece of work, and their barriers |
//! | `turns.rs` | for tests: threads one after the other |
//!
//! Invariants: `run` returns when the work has ended on every thread; a pool does one piece of work at a
//! time, and who finds it busy works alone; threads are started when they are first needed, and where
//! they cannot be, there are fewer. A process that was forked has none of its parent's threads, and starts
//! its own. What is computed must not depend on how many there are.

mod costs;
mod gate;
mod shares;
mod spread;
mod team;
mod turns;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

pub use self::costs::ThreadCosts;
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
    /// Held while there is work.
    others: Mutex<Others>,
    in_turns: bool,
}

/// The threads besides those that bring work.
#[derive(Debug)]
struct Others {
    n: usize,
    shared: Arc<Shared>,
    /// The process that they belong to.
    process: u32,
}

impl Default for Others {
    fn default() -> Others {
        Others { n: 0, shared: Arc::default(), process: std::process::id() }
    }
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
        if let Ok(others) = self.others.get_mut() {
            others.shared.closed.store(true, Ordering::SeqCst);
            others.shared.begun.advance();
        }
    }
}

impl Pool {
    /// A pool for tests: between two barriers threads run one after the other, in any order.
    pub fn in_turns() -> Pool {
        Pool { others: Mutex::default(), in_turns: true }
    }

    /// Runs work on so many threads, of which this is the first, and waits for its end.
    pub fn run(&self, n_threads: usize, work: Work) {
        let alone = || Team::new(1, true, false);
        let Ok(mut others) = self.others.try_lock() else { return work(&alone(), 0) };
        let n_threads = others.have(n_threads.min(MOST_THREADS));
        if n_threads < 2 {
            return work(&alone(), 0);
        }
        let team = Arc::new(Team::new(n_threads, n_threads <= n_processors(), self.in_turns));
        team.settle(0);
        let shared = Arc::clone(&others.shared);
        let ended = shared.ended.value();
        shared.n_done.store(0, Ordering::SeqCst);
        match shared.current.lock() {
            Ok(mut current) => *current = Some((Arc::clone(&work), Arc::clone(&team))),
            Err(_) => return work(&alone(), 0),
        }
        shared.begun.advance();
        let done = take_part(&work, &team, 0);
        team.wait(&shared.ended, |now| now != ended);
        if let Ok(mut current) = shared.current.lock() {
            *current = None;
        }
        drop(others);
        if let Err(panic) = done {
            resume_unwind(panic);
        }
    }
}

impl Others {
    /// Starts threads until there are as many as are wanted; how many there are for this work.
    fn have(&mut self, n_threads: usize) -> usize {
        if self.process != std::process::id() {
            // The parent's state may be in the hands of its threads; it is left alone.
            std::mem::forget(std::mem::take(self));
        }
        while self.n + 1 < n_threads {
            let (shared, number) = (Arc::clone(&self.shared), self.n + 1);
            let seen = shared.begun.value();
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            let started = builder.name(format!("einlang {number}"));
            if started.spawn(move || serve(&shared, number, seen)).is_err() {
                break;
            }
            self.n += 1;
        }
        n_threads.min(self.n + 1)
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

/// How often a thread without work looks for some before it sleeps, a part of a millisecond.
const LOOKS_IDLE: u32 = 4_000;

/// The life of a thread: it takes part in every piece of work that is large enough for it.
fn serve(shared: &Shared, number: usize, mut seen: u64) {
    loop {
        let looks = if number < n_processors() { LOOKS_IDLE } else { 1 };
        shared.begun.wait(looks, |now| now != seen);
        seen = shared.begun.value();
        if shared.closed.load(Ordering::SeqCst) {
            return;
        }
        let current = shared.current.lock().ok().and_then(|current| current.clone());
        let Some((work, team)) = current.filter(|(_, team)| number < team.n_threads()) else {
            continue;
        };
        team.settle(number);
        let _ = take_part(&work, &team, number);
        drop(work);
        if shared.n_done.fetch_add(1, Ordering::SeqCst) + 2 == team.n_threads() {
            shared.ended.advance();
        }
    }
}
