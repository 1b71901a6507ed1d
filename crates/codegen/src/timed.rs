//! A compiler that measures how long the code it made runs: what benchmarks ask for.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use einlang_interp::native::{
    CodeForm, Ended, Made, NativeCompiler, NativeKernel, NativeMachine, NativeObject, Wanted,
};
use einlang_loops::ir::Kernel;

use crate::Llvm;

/// What is printed of a kernel when it is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Its loop IR.
    Loops,
    /// Its code.
    Code(CodeForm),
}

/// Adds up the time that code takes.
#[derive(Debug, Default)]
pub struct Timed {
    llvm: Llvm,
    spent: Arc<Mutex<Duration>>,
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Clocked {
    code: Arc<dyn NativeKernel>,
    spent: Arc<Mutex<Duration>>,
}

impl Timed {
    /// One that prints each kernel in some form when it is compiled.
    pub fn showing(shown: Option<Shown>) -> Timed {
        Timed { shown, ..Timed::default() }
    }

    /// The time that code took since this was last asked.
    pub fn take(&self) -> Duration {
        self.spent.lock().map(|mut spent| std::mem::take(&mut *spent)).unwrap_or_default()
    }
}

impl NativeCompiler for Timed {
    fn compile(&self, kernel: &Kernel, wanted: Wanted) -> Result<Arc<dyn NativeKernel>, String> {
        let before = self.llvm.made();
        let code = self.llvm.compile(kernel, wanted)?;
        match self.shown.filter(|_| self.llvm.made() != before) {
            Some(Shown::Loops) => println!("{kernel}"),
            Some(Shown::Code(form)) => {
                println!("{}", self.llvm.show(kernel, wanted.checked, form)?)
            }
            None => {}
        }
        Ok(Arc::new(Clocked { code, spent: Arc::clone(&self.spent) }))
    }

    fn show(&self, kernel: &Kernel, checked: bool, form: CodeForm) -> Result<String, String> {
        self.llvm.show(kernel, checked, form)
    }

    fn made(&self) -> Made {
        self.llvm.made()
    }

    fn object(&self, kernel: &Kernel, name: &str) -> Result<NativeObject, String> {
        self.llvm.object(kernel, name)
    }
}

impl NativeKernel for Clocked {
    fn run(&self, machine: &mut NativeMachine<'_>) -> Result<(), Ended> {
        let start = Instant::now();
        let ended = self.code.run(machine);
        if let Ok(mut spent) = self.spent.lock() {
            *spent += start.elapsed();
        }
        ended
    }
}
