//! Machine code for kernels of the loop IR, through LLVM.
//!
//! | module | owns |
//! |---|---|
//! | `chains` | sums in tiles that need no compiling |
//! | `emit` | from loop IR to LLVM IR |
//! | `math` | elementary functions as formulas |
//! | `optimise` | the host's target, passes, objects |
//! | `rounds` | which rounds of loops go together |
//! | `task` | one kernel compiled, from loop IR to objects |
//! | `share` | large kernels on several processors |
//! | `tiers` | code that is made quickly first and thoroughly later |
//! | `later` | what is made in the background, and how a process ends meanwhile |
//! | `object` | objects as bytes, for the disk |
//! | `frame` | what code and its surroundings know of each other |
//! | `jit` | objects in memory, and calling them |
//! | `team` | code that several threads run together |
//! | `timed` | code that is kept and timed |
//!
//! Invariants: the code does what the loop IR says, and floats are never reassociated by LLVM; the one
//! freedom taken is that of sums in pairs, whose association is a function of the extent alone
//! (`emit/sums.rs`). Every access that was not proved is tested. What is rare is asked of the
//! surroundings, so every operation of the op table works. A kernel is compiled once per compiler, and
//! with a cache once per computer: the key is all that the code depends on, namely the text of the
//! kernel, the processor, the options, and the source of this crate. Code that is made quickly computes the
//! same bits as code that is made thoroughly, and neither takes the place of the other in a cache.
//!
//! Only this crate knows LLVM. `unsafe` is confined to `jit`, `frame`, `team`, `later`, `chains`, one setting in `optimise` and the one
//! place that computes addresses (`emit/memory.rs`).

mod chains;
mod emit;
mod frame;
mod jit;
mod later;
mod math;
mod object;
mod optimise;
mod rounds;
mod share;
mod task;
mod team;
mod tiers;
mod timed;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use einlang_interp::native::{
    CodeForm, Compile, Made, NativeCompiler, NativeKernel, NativeObject, Wanted,
};
use einlang_loops::ir::Kernel;
use einlang_runtime::cache::Cache;
use einlang_runtime::pool::{Pool, ThreadCosts, n_processors};
use inkwell::context::Context;
use rustc_hash::FxHashMap as HashMap;

use self::jit::{ENTRY, Session};
use self::later::Later;
pub use self::later::leave;
use self::object::Object;
use self::rounds::Jammed;
use self::task::{Choice, Task};
use self::tiers::{Budget, Code, Counts, Promise, Quality};
pub use timed::{Shown, Timed};

/// The most threads that compile one kernel.
const MOST_SHARES: usize = 4;

/// The stack of a thread that compiles; pages that are never touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// Code that exists, is being made, or cannot be made, by its key.
type Known = HashMap<String, Arc<OnceLock<Result<Arc<Code>, String>>>>;

/// The compiler to machine code of this computer. Code stays loaded as long as it lives.
#[derive(Debug, Default)]
pub struct Llvm {
    cache: Option<Arc<Cache>>,
    session: OnceLock<Result<Arc<Session>, String>>,
    known: Mutex<Known>,
    compiled: AtomicU64,
    from_disk: AtomicU64,
    counts: Arc<Counts>,
    budget: Budget,
    later: Later,
    thread_costs: OnceLock<Option<ThreadCosts>>,
    in_turns: bool,
    sanitised: bool,
}

impl Llvm {
    /// The same for tests: between two barriers the threads of a team run one after the other, in an
    /// order that changes, so that missing barriers are found.
    pub fn in_turns(self) -> Llvm {
        Llvm { in_turns: true, ..self }
    }

    /// The same for tests: every access of the code is tested by AddressSanitizer, whose runtime must
    /// be part of the process.
    pub fn sanitised(self) -> Llvm {
        Llvm { sanitised: true, ..self }
    }

    /// A compiler that keeps objects for later runs.
    pub fn with_cache(cache: Cache) -> Llvm {
        Llvm { cache: Some(Arc::new(cache)), ..Llvm::default() }
    }

    fn session(&self) -> Result<&Arc<Session>, String> {
        let pool = || if self.in_turns { Pool::in_turns() } else { Pool::default() };
        let session = self.session.get_or_init(|| Session::new(pool()).map(Arc::new)).as_ref();
        session.map_err(String::clone)
    }

    /// What threads cost, as an earlier run found or as is found now.
    fn costs_of_threads(&self) -> Option<ThreadCosts> {
        if self.in_turns {
            return None;
        }
        let key = costs_key()?;
        let kept = self.recall(&key).and_then(|text| String::from_utf8(text).ok());
        kept.and_then(|text| ThreadCosts::parse(&text)).or_else(|| {
            let measured = ThreadCosts::measure(self.session().ok()?.pool())?;
            self.keep(&key, measured.text().as_bytes());
            Some(measured)
        })
    }

    /// The object that an earlier run kept.
    fn find(&self, key: &str) -> Option<Object> {
        let object = Object::from_bytes(&self.cache.as_ref()?.get(key)?)?;
        self.from_disk.fetch_add(1, Ordering::Relaxed);
        Some(object)
    }

    fn keep_object(&self, key: &str, object: &Object) {
        if let Some(cache) = &self.cache {
            cache.put(key, &object.to_bytes());
        }
    }

    /// Finds the object of a kernel or makes it, and links it.
    fn load(&self, kernel: &Kernel, wanted: Wanted, key: &str) -> Result<Code, String> {
        let (session, name) = (self.session()?, symbol(key));
        let thorough =
            |object: Object| session.load(&object.codes, &name, object.tables).map(Code::thorough);
        let quick = |object: Object| {
            session.load(&object.codes, &Quality::Quick.name(&name), object.tables)
        };
        let task = Task {
            kernel,
            checked: wanted.checked,
            name: &name,
            sanitised: self.sanitised,
            tells: false,
        };
        let made = |choice: Choice<'_>| {
            let made = task.compile(n_compilers(), choice)?;
            self.compiled.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(made)
        };
        let of_quick = quick_key(key);
        match wanted.compile {
            Compile::Quick => {
                let object = match self.find(&of_quick) {
                    Some(object) => object,
                    None => {
                        let (object, _) = made(Choice::Known(Quality::Quick))?;
                        self.keep_object(&of_quick, &object);
                        object
                    }
                };
                return Ok(Code::quick(quick(object)?, &self.counts));
            }
            _ if let Some(object) = self.find(key) => return thorough(object),
            _ => {}
        }
        let is_tiered = wanted.compile == Compile::Tiered && self.later.is_ours();
        let choose = |size| self.budget.choose(size, wanted);
        let choice = match is_tiered {
            true => Choice::BySize(&choose),
            false => Choice::Known(Quality::Thorough),
        };
        // What an earlier run made quickly is there at once, and this run makes it better.
        let found =
            self.cache.as_ref().filter(|_| is_tiered).and_then(|cache| cache.get(&of_quick));
        let found = found.and_then(|bytes| Object::from_bytes(&bytes));
        let found = found.filter(|object| !tiers::is_long(wanted, object.size));
        let again = found.is_some();
        let (object, quality) = match found {
            Some(object) => {
                self.from_disk.fetch_add(1, Ordering::Relaxed);
                (object, Quality::Quick)
            }
            None => made(choice)?,
        };
        if quality == Quality::Thorough {
            self.keep_object(key, &object);
            return thorough(object);
        }
        if !again {
            self.keep_object(&of_quick, &object);
        }
        let size = object.size;
        let improve = |promise| self.improvement(task, key, promise, again);
        Ok(Code::improved_later(quick(object)?, size, &self.counts, improve))
    }

    /// What makes thorough code of a kernel in the background.
    fn improvement(
        &self,
        task: Task<'_>,
        key: &str,
        promise: Promise,
        again: bool,
    ) -> impl FnOnce() + Send + use<> {
        let session = self.session().map(Arc::clone);
        let (cache, later) = (self.cache.clone(), self.later.handle());
        let (kernel, key, name) = (task.kernel.clone(), key.to_owned(), task.name.to_owned());
        let (checked, sanitised) = (task.checked, task.sanitised);
        let make = move || {
            let task = Task { kernel: &kernel, checked, name: &name, sanitised, tells: false };
            let linked =
                task.compile(n_compilers(), Choice::Known(Quality::Thorough)).and_then(|made| {
                    let (object, _) = made;
                    if let Some(cache) = cache {
                        cache.put(&key, &object.to_bytes());
                        cache.remove(&quick_key(&key));
                    }
                    session?.load(&object.codes, &name, object.tables)
                });
            promise.keep(linked);
        };
        move || later.push(again, make)
    }
}

impl NativeCompiler for Llvm {
    fn compile(&self, kernel: &Kernel, wanted: Wanted) -> Result<Arc<dyn NativeKernel>, String> {
        let sanitised = if self.sanitised { "sanitised\n" } else { "" };
        let key = format!("{sanitised}{}", key(kernel, wanted.checked)?);
        let slot = {
            let mut known = self.known.lock().map_err(|_| "compiling has failed before")?;
            let name = match wanted.compile {
                Compile::Quick => quick_key(&key),
                _ => key.clone(),
            };
            Arc::clone(known.entry(name).or_default())
        };
        let code = slot.get_or_init(|| self.load(kernel, wanted, &key).map(Arc::new)).clone()?;
        if wanted.compile == Compile::Thorough {
            code.settle();
        }
        Ok(code)
    }

    fn show(&self, kernel: &Kernel, checked: bool, form: CodeForm) -> Result<String, String> {
        let context = Context::create();
        let jammed = Jammed::new(kernel, Quality::Thorough);
        let emitted = emit::emit(&context, &jammed, (checked, false), Quality::Thorough);
        let emitted = emitted.map_err(|refused| refused.0)?;
        optimise::rename(&emitted.module, ENTRY, &kernel.name);
        optimise::show(&emitted.module, form)
    }

    fn object(&self, kernel: &Kernel, name: &str) -> Result<NativeObject, String> {
        let task = Task { kernel, checked: false, name, sanitised: false, tells: true };
        let made = task.compile(1, Choice::Known(Quality::Thorough))?;
        let (Object { tables, mut codes, .. }, _) = made;
        let code = codes.pop().ok_or("there is no object")?;
        let scalars = tables.scalars.into_iter().map(|of| (of.op, of.elems, of.result));
        Ok(NativeObject {
            code,
            frame: frame::FIELDS,
            scalars: scalars.collect(),
            calls: tables.calls.into_iter().map(|call| call.function).collect(),
            n_keys: tables.n_keys,
        })
    }

    fn made(&self) -> Made {
        Made {
            compiled: self.compiled.load(Ordering::Relaxed),
            from_disk: self.from_disk.load(Ordering::Relaxed),
            quick_runs: self.counts.quick_runs.load(Ordering::Relaxed),
            not_improved: self.counts.not_improved.load(Ordering::Relaxed),
        }
    }

    fn recall(&self, key: &str) -> Option<Vec<u8>> {
        self.cache.as_ref()?.get(&beside(key))
    }

    fn keep(&self, key: &str, value: &[u8]) {
        if let Some(cache) = &self.cache {
            cache.put(&beside(key), value);
        }
    }

    fn thread_costs(&self) -> Option<ThreadCosts> {
        *self.thread_costs.get_or_init(|| self.costs_of_threads())
    }

    fn settle(&self) {
        self.later.settle();
    }

    fn end(&self, in_any_case: bool) -> bool {
        self.later.end(in_any_case)
    }
}

/// The key of what others keep, who are of this version too.
fn beside(key: &str) -> String {
    format!("{} {}\n{key}", env!("CARGO_PKG_VERSION"), env!("EINLANG_PLANS"))
}

/// The key of what threads cost on this computer.
fn costs_key() -> Option<String> {
    Some(format!("costs of threads\n{} {}", n_processors(), optimise::target().ok()?))
}

/// How many threads compile one kernel.
fn n_compilers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST_SHARES)
}

/// All that the code of a kernel depends on.
fn key(kernel: &Kernel, checked: bool) -> Result<String, String> {
    let version = concat!(env!("CARGO_PKG_VERSION"), " ", env!("EINLANG_CODEGEN"));
    // Code for tests has room between nearly all rows.
    let tests = cfg!(debug_assertions);
    Ok(format!("{version} tests {tests}\n{}\nchecked {checked}\n{kernel}", optimise::target()?))
}

/// The name of the function with this key.
fn symbol(key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let first = hasher.finish();
    first.hash(&mut hasher);
    format!("kernel_{first:016x}{:016x}", hasher.finish())
}

/// The key of the code that is made quickly.
fn quick_key(key: &str) -> String {
    format!("quick\n{key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_cost_is_kept_and_damage_is_measured_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let llvm = || Llvm::with_cache(Cache::new(folder.path().join("kept"), 1 << 20));
        let key = costs_key().expect("a target");
        let kept = ThreadCosts::parse("2048 4096").expect("costs");
        llvm().keep(&key, kept.text().as_bytes());
        assert_eq!(llvm().thread_costs(), Some(kept));
        llvm().keep(&key, b"neither of them");
        let measured = llvm().thread_costs();
        let found = llvm().recall(&key).and_then(|text| String::from_utf8(text).ok());
        // One processor alone has no threads to wait for.
        if n_processors() > 1 {
            assert!(measured.is_some());
            assert_eq!(found.and_then(|text| ThreadCosts::parse(&text)), measured);
        }
    }
}
