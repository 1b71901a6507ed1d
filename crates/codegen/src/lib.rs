//! Machine code for kernels of the loop IR, through LLVM.
//!
//! | module | owns |
//! |---|---|
//! | `emit` | from loop IR to LLVM IR |
//! | `math` | elementary functions as formulas |
//! | `optimise` | the host's target, passes, objects |
//! | `share` | large kernels on several processors |
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
//! kernel, the processor, the options, and the source of this crate.
//!
//! Only this crate knows LLVM. `unsafe` is confined to `jit`, `frame`, `team`, one setting in `optimise` and the one
//! place that computes addresses (`emit/memory.rs`).

mod emit;
mod frame;
mod jit;
mod math;
mod object;
mod optimise;
mod share;
mod team;
mod timed;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use einlang_interp::native::{CodeForm, Made, NativeCompiler, NativeKernel, NativeObject};
use einlang_loops::ir::Kernel;
use einlang_runtime::cache::Cache;
use einlang_runtime::pool::Pool;
use inkwell::context::Context;
use inkwell::module::Module;

use self::jit::{Code, ENTRY, Session};
use self::object::Object;
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
    cache: Option<Cache>,
    session: OnceLock<Result<Arc<Session>, String>>,
    known: Mutex<Known>,
    compiled: AtomicU64,
    from_disk: AtomicU64,
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
        Llvm { cache: Some(cache), ..Llvm::default() }
    }

    /// Finds the object of a kernel or makes it, and links it.
    fn load(&self, kernel: &Kernel, checked: bool, key: &str) -> Result<Code, String> {
        let pool = || if self.in_turns { Pool::in_turns() } else { Pool::default() };
        let session = self.session.get_or_init(|| Session::new(pool()).map(Arc::new)).as_ref();
        let session = session.map_err(String::clone)?;
        let name = symbol(key);
        if let Some(cache) = &self.cache
            && let Some(Object { tables, codes }) =
                cache.get(key).and_then(|bytes| Object::from_bytes(&bytes))
        {
            self.from_disk.fetch_add(1, Ordering::Relaxed);
            return session.load(&codes, &name, tables);
        }
        let most = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_SHARES);
        let object = compile(kernel, checked, &name, self.sanitised, most)?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        if let Some(cache) = &self.cache {
            cache.put(key, &object.to_bytes());
        }
        session.load(&object.codes, &name, object.tables)
    }
}

impl NativeCompiler for Llvm {
    fn compile(&self, kernel: &Kernel, checked: bool) -> Result<Arc<dyn NativeKernel>, String> {
        let sanitised = if self.sanitised { "sanitised\n" } else { "" };
        let key = format!("{sanitised}{}", key(kernel, checked)?);
        let slot = {
            let mut known = self.known.lock().map_err(|_| "compiling has failed before")?;
            Arc::clone(known.entry(key.clone()).or_default())
        };
        let code = slot.get_or_init(|| self.load(kernel, checked, &key).map(Arc::new)).clone()?;
        Ok(code)
    }

    fn show(&self, kernel: &Kernel, checked: bool, form: CodeForm) -> Result<String, String> {
        let context = Context::create();
        let emitted = emit::emit(&context, kernel, checked).map_err(|refused| refused.0)?;
        optimise::rename(&emitted.module, ENTRY, &kernel.name);
        optimise::show(&emitted.module, form)
    }

    fn object(&self, kernel: &Kernel, name: &str) -> Result<NativeObject, String> {
        let Object { tables, mut codes } = compile(kernel, false, name, false, 1)?;
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
        }
    }
}

/// All that the code of a kernel depends on.
fn key(kernel: &Kernel, checked: bool) -> Result<String, String> {
    let version = concat!(env!("CARGO_PKG_VERSION"), " ", env!("EINLANG_CODEGEN"));
    Ok(format!("{version}\n{}\nchecked {checked}\n{kernel}", optimise::target()?))
}

/// The name of the function with this key.
fn symbol(key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let first = hasher.finish();
    first.hash(&mut hasher);
    format!("kernel_{first:016x}{:016x}", hasher.finish())
}

/// Compiles a kernel, on several threads where it is large.
fn compile(
    kernel: &Kernel,
    checked: bool,
    name: &str,
    sanitised: bool,
    most: usize,
) -> Result<Object, String> {
    let context = optimise::nameless();
    let emitted = emit::emit(&context, kernel, checked).map_err(|refused| refused.0)?;
    optimise::rename(&emitted.module, ENTRY, name);
    let shares = share::shares(&emitted.module, most);
    let [first, others @ ..] = &shares[..] else { return Err("there is no function".to_owned()) };
    if others.is_empty() {
        let code = optimise::object(&emitted.module, sanitised)?;
        return Ok(Object { tables: emitted.tables, codes: vec![code] });
    }
    let own = |module: &Module<'_>, names: &[String], is_first: bool| {
        share::keep(module, names, is_first, name);
        optimise::drop_others(module)?;
        optimise::object(module, sanitised)
    };
    let other = |names: &[String]| {
        let context = optimise::nameless();
        let emitted = emit::emit(&context, kernel, checked).map_err(|refused| refused.0)?;
        optimise::rename(&emitted.module, ENTRY, name);
        own(&emitted.module, names, false)
    };
    thread::scope(|scope| {
        let started: Vec<_> = (others.iter())
            .map(|names| {
                let builder = thread::Builder::new().stack_size(STACK_BYTES);
                (names, builder.spawn_scoped(scope, || other(names)).ok())
            })
            .collect();
        let mut codes = vec![own(&emitted.module, first, true)?];
        for (names, thread) in started {
            // Without another thread this one does it.
            let made = thread.and_then(|thread| thread.join().ok());
            codes.push(made.unwrap_or_else(|| other(names))?);
        }
        Ok(Object { tables: emitted.tables, codes })
    })
}
