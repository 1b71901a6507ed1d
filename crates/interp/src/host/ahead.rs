//! The code of a program's modules: made when it is asked for, or before, by other threads.
//!
//! Machine code takes milliseconds to make, and modules do not depend on each other. While a program
//! runs, the other processors make the code that it will want next; who would have to wait for what is
//! being made elsewhere makes the next one meanwhile. Invariant: a module is compiled at most once, and which thread does it changes nothing.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use einlang_loops::plan::Choices;
use einlang_tir::module::Module;

use crate::bytecode::Compiled;
use crate::options::{Backend, Options};
use crate::tensor::TensorValue;

/// The stack of a thread that compiles; pages that are never touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// The modules of a program, each with its code once that is made.
pub(crate) struct Kernels<'p> {
    modules: &'p [Module],
    made: Vec<OnceLock<Result<Arc<Compiled>, String>>>,
    /// The modules that some thread compiles or has compiled.
    taken: Vec<AtomicBool>,
    /// The module that the next idle thread compiles.
    next: AtomicUsize,
    choices: Choices,
    options: &'p Options,
}

impl<'p> Kernels<'p> {
    pub(crate) fn new(modules: &'p [Module], options: &'p Options) -> Kernels<'p> {
        let choices = Choices {
            storage: options.storage,
            checked: options.checked,
            schedules: options.schedules.clone(),
            checkpoint: options.checkpoint,
            expects_sizes: true,
            ..Choices::default()
        };
        let made = modules.iter().map(|_| OnceLock::new()).collect();
        let taken = modules.iter().map(|_| AtomicBool::new(false)).collect();
        Kernels { modules, made, taken, next: AtomicUsize::new(0), choices, options }
    }

    /// The code of a module for a call with these inputs, or why it has none; nothing if there is no such
    /// module. Other inputs may follow. While another thread makes it, this one makes others that may be
    /// wanted.
    pub(crate) fn get(
        &self,
        at: usize,
        inputs: &[Arc<TensorValue>],
    ) -> Option<Result<Arc<Compiled>, String>> {
        let taken = self.taken.get(at)?;
        if self.made[at].get().is_none() && taken.swap(true, Ordering::Relaxed) {
            while self.made[at].get().is_none() && self.compile_one() {}
        }
        Some(self.compile(at, inputs))
    }

    /// How many modules have no code yet.
    fn n_missing(&self) -> usize {
        let missing = |module: &&Module| self.options.kept.get(&module.name).is_none();
        self.modules.iter().filter(missing).count()
    }

    fn compile(&self, at: usize, inputs: &[Arc<TensorValue>]) -> Result<Arc<Compiled>, String> {
        let module = &self.modules[at];
        let make = || {
            if let Some(kept) = self.options.kept.get(&module.name) {
                return kept;
            }
            let shape = |input: &Arc<TensorValue>| {
                let extents = input.shape().iter();
                extents.map(|extent| i64::try_from(*extent).unwrap_or(i64::MAX)).collect()
            };
            let shapes = inputs.iter().map(shape).collect();
            let choices = Choices { shapes, ..self.choices.clone() };
            let made = Compiled::new(module, &choices, self.options).map(Arc::new);
            self.options.kept.put(&module.name, &made);
            made
        };
        self.made[at].get_or_init(make).clone()
    }

    /// Runs a program while other threads compile what it may want.
    pub(crate) fn ahead<T>(&self, run: impl FnOnce() -> T) -> T {
        let n_modules = self.modules.len();
        if self.options.backend != Backend::Native || n_modules < 2 || self.n_missing() < 2 {
            return run();
        }
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(n_modules);
        thread::scope(|scope| {
            for _ in 1..n_threads.max(2) {
                // Without another thread everything is compiled when it is asked for.
                let builder = thread::Builder::new().stack_size(STACK_BYTES);
                let _ = builder.spawn_scoped(scope, || while self.compile_one() {});
            }
            let result = run();
            self.next.store(n_modules, Ordering::Relaxed);
            result
        })
    }

    /// Compiles a module that nobody compiles yet; false if there is none.
    fn compile_one(&self) -> bool {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(taken) = self.taken.get(at) else { return false };
            if !taken.swap(true, Ordering::Relaxed) {
                let _ = self.compile(at, &[]);
                return true;
            }
        }
    }
}
