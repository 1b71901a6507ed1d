//! Limits and modes of an evaluation, and the meter that holds it to them.
//!
//! The meter is shared by everything that runs for one program. Counting is an addition; the
//! clock is looked at once in some thousand steps, so a deadline costs nothing.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

pub use crate::kept::Kept;
use crate::native::{Compile, Native};
use crate::profile::Profile;
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::decide::Storage;
use einlang_loops::schedule::Schedule;
use einlang_loops::threads::{WAIT, Worth};
use einlang_runtime::pool::{ThreadCosts, n_processors};

use crate::report::Report;
use crate::stop::{Stop, StopCode};
use crate::tuned::Tuned;

/// How an evaluation is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Integer overflow and NaN that appear are errors (E0704).
    pub checked: bool,
    /// Self-reads of points that no clause covers give zero everywhere.
    pub zero_fill: bool,
    /// The most bytes that tables, pending points and values may take (E0801).
    pub memory: u64,
    /// How many calls of functions may be open at once (E0802).
    pub depth: usize,
    /// How deeply tensor code and functions may call each other (E0802). Each level takes some of
    /// the stack of the thread.
    pub nesting: usize,
    /// How many bytes the process has in use, where somebody can tell: values whose size nobody
    /// counts, such as strings and lists, are held to the memory limit by this (E0801).
    pub resident: Resident,
    /// How many instructions may be executed (E0803).
    pub steps: Option<u64>,
    /// When to stop (E0803).
    pub deadline: Option<Instant>,
    /// A switch that stops it (E0803).
    pub interrupt: Interrupt,
    /// What evaluates tensor code.
    pub backend: Backend,
    /// What makes machine code.
    pub native: Option<Native>,
    /// How it makes machine code.
    pub compile: Compile,
    /// How much of a recurrence a backend keeps.
    pub storage: Storage,
    /// What is kept of a trajectory that is read in the opposite order.
    pub checkpoint: Checkpoint,
    /// Schedules that replace those a backend would choose.
    pub schedules: Vec<Schedule>,
    /// On how many threads machine code runs.
    pub threads: Threads,
    /// Where it is written down how the tensor code was evaluated.
    pub report: Report,
    /// Where the time of machine code is written down, if it is measured.
    pub profile: Option<Profile>,
    /// The code of earlier runs of the same program under the same options.
    pub kept: Kept,
    /// Schedules that were found by measuring.
    pub tuned: Tuned,
}

/// What evaluates tensor code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// The oracle: point by point, on demand.
    #[default]
    Oracle,
    /// Register code made from the loop IR; what has none stays with the oracle.
    Bytecode,
    /// Machine code made from the loop IR by [`Options::native`], or else register code.
    Native,
}

/// Who can tell how many bytes the process has in use. It is no part of what a run means, so all
/// are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resident(pub Option<fn() -> Option<u64>>);

impl PartialEq for Resident {
    fn eq(&self, _: &Resident) -> bool {
        true
    }
}

/// On how many threads machine code runs. What it computes does not depend on that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads {
    /// At most so many.
    pub most: usize,
    /// Less work than this, in thirds of a nanosecond, is left to one; by what threads cost on this machine if
    /// nothing is said.
    pub least_work: Option<u64>,
}

/// Where nothing was measured, some 20 microseconds of work are worth threads.
const LEAST_WORK: u64 = 60_000;

/// What starting threads, or waiting for each other, costs beside other work: so many times what it costs alone.
/// Threads are seldom ready at the same time, and what others have just written has to be fetched.
const BESIDE_WORK: u64 = 6;

impl Default for Threads {
    /// As many as there are processors.
    fn default() -> Threads {
        Threads { most: n_processors(), least_work: None }
    }
}

/// What threads that work for an evaluation may look at: whether it should stop.
#[derive(Clone, Debug)]
pub struct Limits {
    steps: Option<u64>,
    deadline: Option<Instant>,
    interrupt: Interrupt,
    /// The bytes that are left.
    memory: Arc<AtomicU64>,
}

impl Limits {
    /// Whether there are so many bytes left; they are taken then.
    pub fn allow(&self, bytes: u64) -> bool {
        let less = |left: u64| left.checked_sub(bytes);
        self.memory.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Whether so many steps, the clock or somebody else ends the evaluation.
    pub fn are_reached(&self, n_steps: u64) -> bool {
        self.steps.is_some_and(|most| n_steps > most)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.interrupt.is_set()
    }
}

/// A switch by which somebody else stops an evaluation. Its copies are one switch.
#[derive(Clone, Default)]
pub struct Interrupt {
    set: Arc<AtomicBool>,
    ask: Option<Arc<Ask>>,
}

/// A question whether to stop. It is asked often, by the thread that evaluates.
type Ask = dyn Fn() -> bool + Send + Sync;

impl Interrupt {
    /// A switch that is also used when this answers yes. It is asked every few thousand steps, so it
    /// should answer quickly.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt { set: Arc::default(), ask: Some(Arc::new(ask)) }
    }

    /// Stops the evaluation soon.
    pub fn set(&self) {
        self.set.store(true, Ordering::Relaxed);
    }

    /// Whether it was used; from then on it is as new.
    pub fn take(&self) -> bool {
        self.set.swap(false, Ordering::Relaxed)
    }

    fn is_set(&self) -> bool {
        if self.ask.as_ref().is_some_and(|ask| ask()) {
            self.set();
        }
        self.set.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.set).finish()
    }
}

impl PartialEq for Interrupt {
    fn eq(&self, other: &Interrupt) -> bool {
        Arc::ptr_eq(&self.set, &other.set)
    }
}

impl Options {
    /// For what threads are worth it: as was said, or as was measured.
    pub(crate) fn worth(&self) -> Worth {
        let measured = || self.native.as_ref().and_then(|native| native.0.thread_costs());
        match self.threads.least_work {
            Some(least) => Worth { least, wait: WAIT },
            None => measured().map_or(Worth { least: LEAST_WORK, wait: WAIT }, worth_of),
        }
    }
}

fn worth_of(costs: ThreadCosts) -> Worth {
    Worth { least: BESIDE_WORK * costs.start, wait: BESIDE_WORK * costs.wait }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            checked: false,
            zero_fill: false,
            memory: 4 << 30,
            depth: 10_000,
            nesting: 32,
            resident: Resident::default(),
            steps: None,
            deadline: None,
            interrupt: Interrupt::default(),
            backend: Backend::default(),
            native: None,
            compile: Compile::default(),
            storage: Storage::default(),
            checkpoint: Checkpoint::default(),
            schedules: Vec::new(),
            threads: Threads::default(),
            report: Report::default(),
            profile: None,
            kept: Kept::default(),
            tuned: Tuned::default(),
        }
    }
}

/// How many steps may pass between two looks at the clock.
const CLOCK_EVERY: u64 = 4096;

/// How many such looks may pass between two measurements of the memory in use.
const LOOKS_PER_MEASURE: u64 = 16;

/// What the compiler itself may have in use besides the values of a program.
const OWN_MEMORY: u64 = 256 << 20;

/// What was used so far.
#[derive(Clone, Debug)]
pub(crate) struct Meter(Rc<Used>);

#[derive(Debug)]
struct Used {
    options: Options,
    memory: Cell<u64>,
    steps: Cell<u64>,
    nesting: Cell<usize>,
}

impl Meter {
    pub(crate) fn new(options: &Options) -> Meter {
        Meter(Rc::new(Used {
            options: options.clone(),
            memory: Cell::new(0),
            steps: Cell::new(0),
            nesting: Cell::new(0),
        }))
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// Takes bytes, naming what they are for if there are not enough.
    pub(crate) fn take(&self, bytes: u64, what: &dyn Fn() -> String) -> Result<(), Stop> {
        let used = self.0.memory.get().saturating_add(bytes);
        if used > self.0.options.memory {
            let limit = show_bytes(self.0.options.memory);
            let message = format!("{} needs more memory than the limit of {limit}", what());
            return Err(Stop::new(StopCode::Memory, message));
        }
        self.0.memory.set(used);
        self.0.options.report.used(used);
        Ok(())
    }

    /// Gives bytes back.
    pub(crate) fn give(&self, bytes: u64) {
        self.0.memory.set(self.0.memory.get().saturating_sub(bytes));
    }

    /// Counts steps.
    #[inline]
    pub(crate) fn step(&self, n: u64) -> Result<(), Stop> {
        let before = self.0.steps.get();
        let after = before + n;
        self.0.steps.set(after);
        match before / CLOCK_EVERY == after / CLOCK_EVERY && self.0.options.steps.is_none() {
            true => Ok(()),
            false => self.check(after),
        }
    }

    /// Counts steps and looks at every limit.
    pub(crate) fn step_at_once(&self, n: u64) -> Result<(), Stop> {
        let after = self.0.steps.get().saturating_add(n);
        self.0.steps.set(after);
        self.check(after)
    }

    /// What is left until limits are reached.
    pub(crate) fn limits(&self) -> Limits {
        let options = &self.0.options;
        let steps = options.steps.map(|most| most.saturating_sub(self.0.steps.get()));
        let memory = options.memory.saturating_sub(self.0.memory.get());
        Limits {
            steps,
            deadline: options.deadline,
            interrupt: options.interrupt.clone(),
            memory: Arc::new(AtomicU64::new(memory)),
        }
    }

    #[cold]
    fn check(&self, steps: u64) -> Result<(), Stop> {
        let options = &self.0.options;
        if options.steps.is_some_and(|limit| steps > limit) {
            let limit = options.steps.unwrap_or_default();
            let message = format!("the program took more than the {limit} steps allowed");
            return Err(Stop::new(StopCode::Steps, message));
        }
        if options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Stop::new(StopCode::Steps, "the program took longer than allowed"));
        }
        if (steps / CLOCK_EVERY).is_multiple_of(LOOKS_PER_MEASURE) {
            self.measure(0)?;
        }
        if options.interrupt.is_set() {
            return Err(Stop::new(StopCode::Steps, "the program was interrupted"));
        }
        Ok(())
    }

    /// Stops if the process would have more memory in use than is allowed, with some bytes more.
    pub(crate) fn measure(&self, more: u64) -> Result<(), Stop> {
        let options = &self.0.options;
        let in_use = options.resident.0.and_then(|resident| resident()).unwrap_or(0);
        match in_use.saturating_add(more) > options.memory.saturating_add(OWN_MEMORY) {
            true => {
                let limit = show_bytes(options.memory);
                let message = format!("the program needs more memory than the limit of {limit}");
                Err(Stop::new(StopCode::Memory, message))
            }
            false => Ok(()),
        }
    }

    /// Enters a host function from a module, or a module from there.
    pub(crate) fn nest(&self) -> Result<Nested, Stop> {
        let depth = self.0.nesting.get();
        if depth >= self.0.options.nesting {
            let message = "tensor code and functions call each other too deeply";
            return Err(Stop::new(StopCode::Depth, message));
        }
        self.0.nesting.set(depth + 1);
        Ok(Nested(self.clone()))
    }
}

/// Leaves on drop.
pub(crate) struct Nested(Meter);

impl Drop for Nested {
    fn drop(&mut self) {
        self.0.0.nesting.set(self.0.0.nesting.get().saturating_sub(1));
    }
}

fn show_bytes(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{:.1} GiB", b as f64 / (1_u64 << 30) as f64),
        b if b >= 1 << 20 => format!("{:.1} MiB", b as f64 / (1_u64 << 20) as f64),
        b => format!("{b} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept() {
        let options = Options { memory: 100, steps: Some(3), ..Options::default() };
        let meter = Meter::new(&options);
        assert!(meter.take(60, &|| "a".into()).is_ok());
        let stop = meter.take(60, &|| "`big`".into()).expect_err("too much");
        assert_eq!(stop.message, "`big` needs more memory than the limit of 100 bytes");
        meter.give(60);
        assert!(meter.take(60, &|| "a".into()).is_ok());
        assert!(meter.step(3).is_ok());
        assert_eq!(meter.step(1).map_err(|stop| stop.code), Err(StopCode::Steps));
        let late = Options { deadline: Some(Instant::now()), ..Options::default() };
        let interrupted = Options::default();
        interrupted.interrupt.clone().set();
        let stop = Meter::new(&interrupted).step(5000).expect_err("interrupted");
        assert_eq!(stop.message, "the program was interrupted");
        assert!(interrupted.interrupt.take() && !interrupted.interrupt.take());
        assert_eq!(Meter::new(&late).step(5000).map_err(|stop| stop.code), Err(StopCode::Steps));
    }
}
