//! Something compiled, and how it runs.
//!
//! The first call runs on a thread of its own: making machine code wants a large stack. Later calls run
//! on the thread that calls, and so does nothing else; a program whose tensor code calls functions of the
//! program around it always gets the large stack. In both cases the lock of the interpreter is free, and
//! a signal is seen after a twentieth of a second at the latest.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use einlang_driver::Interrupt;
use einlang_driver::{
    Called, Executable, Failure, Given, Limits, Permits, Printer, ProjectIo, Report, RunOptions,
};
use einlang_interp::value::HostValue;
use einlang_source::Sources;
use einlang_tir::host::TypeDecl;
use einlang_tir::region::InstKind;
use pyo3::prelude::*;

use crate::errors;
use crate::hosted::Hosted;

/// The stack of a thread that compiles or runs; pages that are never touched cost nothing.
const STACK_BYTES: usize = 512 << 20;

/// How often signals are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long an interrupted program may take to notice before its thread is left behind.
const PATIENCE: Duration = Duration::from_secs(2);

/// How deeply tensor code and functions may call each other on a large stack.
const NESTING: usize = 1000;

/// A program that can be called.
pub(crate) struct Ready {
    pub(crate) executable: Executable,
    pub(crate) sources: Sources,
    pub(crate) limits: Limits,
    pub(crate) timeout: Option<Duration>,
    pub(crate) permits: Permits,
    types: Arc<[TypeDecl]>,
    /// Whether it may run on the stack of whoever calls, once its kernels are there.
    flat: bool,
    warm: AtomicBool,
}

/// What a program is given.
pub(crate) enum Inputs {
    /// Values for its last inputs.
    InOrder(Vec<HostValue>),
    /// Values by name.
    ByName(Vec<(String, Given)>),
}

/// What a run gave, and what was written down about it.
pub(crate) struct Answer {
    pub(crate) called: Called,
    pub(crate) report: Report,
    pub(crate) time: Duration,
}

impl Ready {
    pub(crate) fn new(
        executable: Executable,
        sources: Sources,
        limits: Limits,
        timeout: Option<Duration>,
        permits: Permits,
    ) -> Ready {
        let mut flat = true;
        for module in &executable.program().modules {
            module.for_each_inst(&mut |inst| {
                flat &= !matches!(inst.kind, InstKind::HostCall { .. });
            });
        }
        let (types, warm) = (executable.types().into(), AtomicBool::new(false));
        Ready { executable, sources, limits, timeout, permits, types, flat, warm }
    }

    /// Runs the program without the lock of the interpreter.
    pub(crate) fn call(
        self: &Arc<Ready>,
        py: Python<'_>,
        inputs: Inputs,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Answer> {
        let watch = Arc::new(Watch::new(progress));
        let asked = Arc::clone(&watch);
        let interrupt = Interrupt::asking(move || asked.stops());
        let raised = Arc::new(Mutex::new(None));
        let result = match self.warm.load(Ordering::Relaxed) {
            true => {
                watch.begin();
                let hosted = self.hosted(&raised, None);
                py.detach(|| self.evaluate(inputs, interrupt, self.limits.nesting, hosted))
            }
            false => {
                let (ready, switch, seen) =
                    (Arc::clone(self), interrupt.clone(), Arc::clone(&watch));
                let kept = Arc::clone(&raised);
                let work = move |errands: Errands| {
                    seen.begin();
                    let hosted = ready.hosted(&kept, Some(errands));
                    ready.evaluate(inputs, switch, NESTING, hosted)
                };
                with_errands(py, Some(&interrupt), work)?
            }
        };
        if let Some(error) = watch.error() {
            return Err(error);
        }
        let raised = raised.lock().ok().and_then(|mut raised| raised.take());
        if self.flat && !self.warm.load(Ordering::Relaxed) {
            let all = self.limits.kept.has_all(self.executable.program());
            self.warm.store(all, Ordering::Relaxed);
        }
        result.map_err(|failure| errors::failed(py, &failure, &self.sources, raised))
    }

    fn hosted(
        self: &Arc<Ready>,
        raised: &Arc<Mutex<Option<PyErr>>>,
        errands: Option<Errands>,
    ) -> Hosted {
        Hosted { types: Arc::clone(&self.types), raised: Arc::clone(raised), errands }
    }

    fn evaluate(
        &self,
        inputs: Inputs,
        interrupt: Interrupt,
        nesting: usize,
        mut hosted: Hosted,
    ) -> Result<Answer, Failure> {
        let report = Report::default();
        let limits = Limits { interrupt, nesting, report: report.clone(), ..self.limits.clone() };
        let mut printer = Screen;
        let io = ProjectIo::new(self.permits.clone(), &mut printer, limits.memory);
        let mut io = io.with_python(&mut hosted);
        let start = Instant::now();
        let mut options = RunOptions { inputs: Vec::new(), limits, timeout: self.timeout };
        let called = match inputs {
            Inputs::InOrder(values) => self.executable.call(values, &options, &mut io)?,
            Inputs::ByName(given) => {
                options.inputs = given;
                self.executable.call_named(&options, &mut io)?
            }
        };
        Ok(Answer { called, report, time: start.elapsed() })
    }
}

/// Looks at signals and tells about progress, on the thread that runs the program. Threads that help it
/// only learn whether to stop.
struct Watch {
    progress: Option<Py<PyAny>>,
    start: Instant,
    thread: OnceLock<ThreadId>,
    stopped: AtomicBool,
    seen: Mutex<Seen>,
}

struct Seen {
    last: Instant,
    error: Option<PyErr>,
}

impl Watch {
    fn new(progress: Option<Py<PyAny>>) -> Watch {
        let start = Instant::now();
        let seen = Mutex::new(Seen { last: start, error: None });
        let stopped = AtomicBool::new(false);
        Watch { progress, start, thread: OnceLock::new(), stopped, seen }
    }

    /// Whether the program has to stop.
    fn stops(&self) -> bool {
        if self.thread.get() != Some(&thread::current().id()) {
            return self.stopped.load(Ordering::Relaxed);
        }
        let Ok(mut seen) = self.seen.lock() else { return false };
        let now = Instant::now();
        if seen.error.is_none() && now.duration_since(seen.last) >= LOOK_EVERY {
            seen.last = now;
            seen.error = Python::attach(|py| self.look(py, now)).err();
            self.stopped.store(seen.error.is_some(), Ordering::Relaxed);
        }
        seen.error.is_some()
    }

    /// This thread runs the program.
    fn begin(&self) {
        let _ = self.thread.set(thread::current().id());
    }

    fn look(&self, py: Python<'_>, now: Instant) -> PyResult<()> {
        py.check_signals()?;
        match &self.progress {
            Some(progress) => {
                progress.call1(py, (now.duration_since(self.start).as_secs_f64(),)).map(|_| ())
            }
            None => Ok(()),
        }
    }

    fn error(&self) -> Option<PyErr> {
        self.seen.lock().ok()?.error.take()
    }
}

/// Where a program prints: the standard output that Python has at that moment.
struct Screen;

impl Printer for Screen {
    fn line(&mut self, line: &str) -> io::Result<()> {
        let written = Python::attach(|py| {
            let out = py.import("sys")?.getattr("stdout")?;
            out.call_method1("write", (format!("{line}\n"),)).map(|_| ())
        });
        written.map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Something that a thread wants to be done by the one that waits for it.
pub(crate) type Errand = Box<dyn FnOnce(Python<'_>) + Send>;

/// Sends errands to the thread that waits.
pub(crate) type Errands = Arc<dyn Fn(Errand) + Send + Sync>;

/// What a thread that works sends to the one that waits.
enum Event<T> {
    Done(T),
    Wants(Errand),
}

/// Does some work on a large stack, without the lock of the interpreter. A signal stops it.
pub(crate) fn on_large_stack<T: Send + 'static>(
    py: Python<'_>,
    interrupt: Option<&Interrupt>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    with_errands(py, interrupt, |_| work())
}

/// The same for work that sends errands to this thread.
fn with_errands<T: Send + 'static>(
    py: Python<'_>,
    interrupt: Option<&Interrupt>,
    work: impl FnOnce(Errands) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let receiver = Mutex::new(receiver);
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let wants = sender.clone();
        // Nobody waits any more after an interruption.
        let errands: Errands = Arc::new(move |errand| drop(wants.send(Event::Wants(errand))));
        let _ = sender.send(Event::Done(work(errands)));
    });
    worker.map_err(|error| errors::broken(&format!("cannot start a thread: {error}")))?;
    let lost = || errors::broken("the thread of a program ended early");
    loop {
        let waited = py.detach(|| wait(&receiver, LOOK_EVERY));
        match waited {
            Ok(Event::Done(done)) => return Ok(done),
            Ok(Event::Wants(errand)) => errand(py),
            Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals() {
            if let Some(interrupt) = interrupt {
                interrupt.set();
                let _ = py.detach(|| wait(&receiver, PATIENCE));
            }
            return Err(signal);
        }
    }
}

/// Waits for what a thread has made; nobody else waits for it.
fn wait<T>(receiver: &Mutex<Receiver<T>>, time: Duration) -> Result<T, RecvTimeoutError> {
    match receiver.lock() {
        Ok(receiver) => receiver.recv_timeout(time),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    }
}
