//! Code that is made quickly first and thoroughly later.
//!
//! Making code thoroughly takes LLVM up to a second, and most first calls have little to do. So where a
//! program would wait too long, it first gets code that is made in a fifth of the time and runs some four
//! times slower, until thorough code is there. Both choices are those of somebody who rents until the rent
//! has cost as much as the thing: nobody loses more than half of the time, however long a program runs.
//!
//! Invariants: both codes compute the same bits; a call that has begun ends in the code that it began in;
//! where thorough code cannot be made, the quick one stays, and that is counted.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use einlang_interp::native::{Ended, NativeKernel, NativeMachine, Wanted};

use crate::jit::Linked;
use crate::{n_compilers, share};

/// What it takes to compile an instruction thoroughly, from what is emitted to machine code; more where registers
/// have to be found for tiles.
const PER_INSTRUCTION: Duration = Duration::from_micros(40);
const PER_INSTRUCTION_WITH_TILES: Duration = Duration::from_micros(70);

/// On how many processors a large kernel is compiled in so much less time.
const MOST_SHARES: usize = 2;

/// How long thorough code may keep a program waiting, all kernels together.
const BUDGET: Duration = Duration::from_millis(50);

/// What takes less is always made thoroughly.
const LEAST: Duration = Duration::from_millis(5);

/// How many times slower quick code is, where its sums of products are called, and where the sums of tiles are not.
/// The last is more than what was seen, since tiles take about twice as long as [`UNIT`] says.
const SLOWER: f64 = 4.0;
const SLOWER_WITH_CHAINS: f64 = 1.5;
const SLOWER_WITH_TILES: f64 = 6.0;

/// How long thorough code takes for a unit of work, in seconds: about what the contractions of `bench` take on two
/// threads, since whatever has more work than this is most likely one.
const UNIT: f64 = 1e-9 / 25.0;

/// How often somebody who waits looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How code is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quality {
    Quick,
    Thorough,
}

impl Quality {
    /// The name of a function that is made so.
    pub(crate) fn name(self, name: &str) -> Cow<'_, str> {
        match self {
            Quality::Quick => format!("{name}_quick").into(),
            Quality::Thorough => name.into(),
        }
    }
}

/// What is known of code before it is made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Size {
    /// How many instructions it is made from, where each costs the usual time.
    pub(crate) n_instructions: usize,
    /// What becomes of sums in what is made quickly.
    pub(crate) sums: Sums,
}

/// What becomes of sums in code that is made quickly.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Sums {
    /// They are as in other code, or there are none.
    #[default]
    Usual,
    /// Those of products are called.
    Called,
    /// Those of tiles are not called.
    OfTiles,
}

impl Sums {
    const NAMES: [(Sums, &str); 3] =
        [(Sums::Usual, "usual"), (Sums::Called, "called"), (Sums::OfTiles, "tiles")];

    pub(crate) fn name(self) -> &'static str {
        Sums::NAMES.into_iter().find(|(sums, _)| *sums == self).map_or("usual", |(_, name)| name)
    }

    pub(crate) fn named(name: &str) -> Option<Sums> {
        Sums::NAMES.into_iter().find(|(_, of)| *of == name).map(|(sums, _)| sums)
    }
}

/// How long programs have waited for thorough code.
#[derive(Debug, Default)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    /// How a kernel of such code is made first.
    pub(crate) fn choose(&self, size: Size, wanted: Wanted) -> Quality {
        let cost = cost(size);
        if cost < LEAST || is_long(wanted, size) {
            return Quality::Thorough;
        }
        let within = |spent: u64| {
            let spent = spent.saturating_add(cost.as_nanos() as u64);
            (spent <= BUDGET.as_nanos() as u64).then_some(spent)
        };
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within) {
            Ok(_) => Quality::Thorough,
            Err(_) => Quality::Quick,
        }
    }
}

/// Whether the first call had better wait for thorough code: what is not known even then may be much.
pub(crate) fn is_long(wanted: Wanted, size: Size) -> bool {
    wanted.work.map_or(!wanted.is_bounded, |work| lost(work, size) > wait(size))
}

/// What it takes to make code thoroughly.
fn cost(size: Size) -> Duration {
    let each = match size.sums {
        Sums::OfTiles => PER_INSTRUCTION_WITH_TILES,
        Sums::Usual | Sums::Called => PER_INSTRUCTION,
    };
    each.saturating_mul(size.n_instructions.try_into().unwrap_or(u32::MAX))
}

/// How long that takes.
fn wait(size: Size) -> Duration {
    match size.n_instructions < share::LARGE {
        true => cost(size),
        false => cost(size) / n_compilers().min(MOST_SHARES) as u32,
    }
}

/// How much longer quick code takes for so much work.
fn lost(work: f64, size: Size) -> Duration {
    let slower = match size.sums {
        Sums::Usual => SLOWER,
        Sums::Called => SLOWER_WITH_CHAINS,
        Sums::OfTiles => SLOWER_WITH_TILES,
    };
    let seconds = work.max(0.0) * UNIT * (slower - 1.0);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// What happened to code that was made quickly.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) quick_runs: AtomicU64,
    pub(crate) not_improved: AtomicU64,
}

/// Machine code of a kernel.
#[derive(Debug)]
pub(crate) struct Code {
    first: Linked,
    /// What is known about quick code.
    quick: Option<Quick>,
}

#[derive(Debug)]
struct Quick {
    counts: Arc<Counts>,
    /// What takes its place.
    better: Option<Arc<Better>>,
    /// What that is made from, if it is.
    size: Size,
    /// How many nanoseconds it ran so far.
    spent: AtomicU64,
    /// Begins to make what takes its place.
    begin: Begin,
}

/// What begins to make thorough code, once.
#[derive(Default)]
struct Begin(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begin").finish_non_exhaustive()
    }
}

impl Begin {
    fn now(&self) {
        let begin = self.0.lock().ok().and_then(|mut begin| begin.take());
        if let Some(begin) = begin {
            begin();
        }
    }
}

/// Thorough code that is being made.
#[derive(Debug)]
struct Better {
    made: OnceLock<Option<Linked>>,
    lock: Mutex<()>,
    done: Condvar,
    process: u32,
}

/// That [`Better`] code will be there, or that it will not.
pub(crate) struct Promise {
    better: Arc<Better>,
    counts: Arc<Counts>,
}

impl Code {
    /// Code that is as good as it gets.
    pub(crate) fn thorough(first: Linked) -> Code {
        Code { first, quick: None }
    }

    /// Code that was made quickly and stays.
    pub(crate) fn quick(first: Linked, counts: &Arc<Counts>) -> Code {
        let (counts, spent) = (Arc::clone(counts), AtomicU64::new(0));
        let (size, begin) = (Size::default(), Begin::default());
        Code { first, quick: Some(Quick { counts, better: None, size, spent, begin }) }
    }

    /// Code that was made quickly until the promise is kept. Who keeps it is asked to
    /// begin when the first call ends, which needs all processors, or when somebody waits.
    pub(crate) fn improved_later<F: FnOnce() + Send + 'static>(
        first: Linked,
        size: Size,
        counts: &Arc<Counts>,
        begin: impl FnOnce(Promise) -> F,
    ) -> Code {
        let better = Arc::new(Better {
            made: OnceLock::new(),
            lock: Mutex::new(()),
            done: Condvar::new(),
            process: std::process::id(),
        });
        let (promised, counts) = (Arc::clone(&better), Arc::clone(counts));
        let promise = Promise { better: promised, counts: Arc::clone(&counts) };
        let spent = AtomicU64::new(0);
        let begin = Begin(Mutex::new(Some(Box::new(begin(promise)))));
        let quick = Quick { counts, better: Some(better), size, spent, begin };
        Code { first, quick: Some(quick) }
    }

    /// Waits for thorough code.
    pub(crate) fn settle(&self) {
        let Some(quick) = &self.quick else { return };
        if let Some(better) = &quick.better {
            quick.begin.now();
            better.wait(|| true);
        }
    }
}

impl Quick {
    /// The code that takes its place for a call, waited for if the call has much to do or there were many.
    fn better(&self, machine: &mut NativeMachine<'_>) -> Result<Option<&Linked>, Ended> {
        let Some(better) = &self.better else { return Ok(None) };
        if better.made.get().is_none() {
            let spent = Duration::from_nanos(self.spent.load(Ordering::Relaxed));
            let wait = wait(self.size);
            let is_long = || machine.work().is_none_or(|work| lost(work, self.size) > wait);
            if spent > wait || is_long() {
                self.begin.now();
                if !better.wait(|| machine.tick_at_once(0)) {
                    return Err(Ended::Refused);
                }
            }
        }
        Ok(better.made.get().and_then(Option::as_ref))
    }
}

impl Better {
    /// Waits until it is known whether there is such code; false if the one who waits must not go on.
    fn wait(&self, mut may_go_on: impl FnMut() -> bool) -> bool {
        // Where the process was forked, nobody makes it any more.
        while self.made.get().is_none() && self.process == std::process::id() {
            if !may_go_on() {
                return false;
            }
            let Ok(lock) = self.lock.lock() else { return true };
            if self.made.get().is_none() {
                let _ = self.done.wait_timeout(lock, LOOK_EVERY);
            }
        }
        true
    }
}

impl Promise {
    /// Code that calls run from now on, or that there is none.
    pub(crate) fn keep(self, made: Result<Linked, String>) {
        let _ = self.better.made.set(made.ok());
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.better.made.get_or_init(|| None).is_none() {
            self.counts.not_improved.fetch_add(1, Ordering::Relaxed);
        }
        let _lock = self.better.lock.lock();
        self.better.done.notify_all();
    }
}

impl NativeKernel for Code {
    fn run(&self, machine: &mut NativeMachine<'_>) -> Result<(), Ended> {
        let Some(quick) = &self.quick else { return self.first.run(machine) };
        if let Some(better) = quick.better(machine)? {
            return better.run(machine);
        }
        quick.counts.quick_runs.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let ended = self.first.run(machine);
        quick.spent.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        quick.begin.now();
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with so much work, if that is known.
    fn with(work: Option<f64>) -> Wanted {
        Wanted { work, ..Wanted::default() }
    }

    fn sized(n_instructions: usize) -> Size {
        Size { n_instructions, sums: Sums::Usual }
    }

    #[test]
    fn programs_wait_until_the_budget_is_spent() {
        let budget = Budget::default();
        let most = (BUDGET.as_nanos() / PER_INSTRUCTION.as_nanos()) as usize;
        assert_eq!(budget.choose(sized(most + 1), with(Some(0.0))), Quality::Quick);
        assert_eq!(budget.choose(sized(most), with(Some(0.0))), Quality::Thorough);
        assert_eq!(budget.choose(sized(most / 2), with(Some(0.0))), Quality::Quick);
        assert_eq!(
            budget.choose(sized(1), with(Some(0.0))),
            Quality::Thorough,
            "too little to do it twice"
        );
    }

    #[test]
    fn long_calls_wait() {
        let budget = Budget::default();
        let cost = wait(sized(100_000)).as_secs_f64() / UNIT / (SLOWER - 1.0);
        assert_eq!(budget.choose(sized(100_000), with(Some(cost * 0.9))), Quality::Quick);
        assert_eq!(budget.choose(sized(100_000), with(Some(cost * 1.1))), Quality::Thorough);
        let calls = Size { sums: Sums::Called, ..sized(100_000) };
        assert_eq!(budget.choose(calls, with(Some(cost * 1.1))), Quality::Quick, "it loses less");
        let tiles = Size { sums: Sums::OfTiles, ..sized(100_000) };
        let cost = wait(tiles).as_secs_f64() / UNIT / (SLOWER_WITH_TILES - 1.0);
        assert!(wait(tiles) > wait(sized(100_000)), "registers are looked for longer");
        assert_eq!(budget.choose(tiles, with(Some(cost * 0.9))), Quality::Quick);
        assert_eq!(budget.choose(tiles, with(Some(cost * 1.1))), Quality::Thorough);
        assert_eq!(budget.choose(sized(100_000), with(Some(f64::INFINITY))), Quality::Thorough);
        assert_eq!(budget.choose(sized(100_000), with(None)), Quality::Thorough, "it may be much");
        let later = Wanted { is_bounded: true, ..Wanted::default() };
        assert_eq!(budget.choose(sized(100_000), later), Quality::Quick, "it is known later");
        assert_eq!(budget.choose(sized(100_000), with(Some(-1.0))), Quality::Quick);
    }
}
