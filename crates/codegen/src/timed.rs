//! A compiler that keeps the code it made and measures how long it runs: what benchmarks ask for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use einlang_interp::native::{Ended, NativeCompiler, NativeKernel, NativeMachine};
use einlang_loops::ir::Kernel;

use crate::{Llvm, Stage, show};

thread_local! {
    /// The code of this thread, which alone may call it, by the text of its kernel.
    static KEPT: RefCell<HashMap<String, Rc<dyn NativeKernel>>> = RefCell::default();
}

/// Compiles each kernel once, and adds up the time that code takes.
#[derive(Debug, Default)]
pub struct Timed {
    spent: Arc<Mutex<Duration>>,
    stage: Option<Stage>,
}

#[derive(Debug)]
struct Clocked {
    code: Rc<dyn NativeKernel>,
    spent: Arc<Mutex<Duration>>,
}

impl Timed {
    /// One that prints each kernel at a stage when it is compiled.
    pub fn showing(stage: Option<Stage>) -> Timed {
        Timed { stage, ..Timed::default() }
    }

    /// The time that code took since this was last asked.
    pub fn take(&self) -> Duration {
        self.spent.lock().map(|mut spent| std::mem::take(&mut *spent)).unwrap_or_default()
    }
}

impl NativeCompiler for Timed {
    fn compile(&self, kernel: &Kernel, checked: bool) -> Result<Box<dyn NativeKernel>, String> {
        let key = format!("{checked} {kernel}");
        let kept = KEPT.with_borrow(|kept| kept.get(&key).cloned());
        let code = match kept {
            Some(code) => code,
            None => {
                if let Some(stage) = self.stage {
                    println!("{}", show(kernel, checked, stage)?);
                }
                let code: Rc<dyn NativeKernel> = Rc::from(Llvm.compile(kernel, checked)?);
                KEPT.with_borrow_mut(|kept| kept.insert(key, Rc::clone(&code)));
                code
            }
        };
        Ok(Box::new(Clocked { code, spent: Arc::clone(&self.spent) }))
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
