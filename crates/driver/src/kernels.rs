//! The kernels of a program, for printing: schedules, loop IR, and the code that is made of them.
//!
//! Invariants: every tensor module is told of, in order, and what has no such form says why in a comment.

use einlang_interp::native::CodeForm;
use einlang_loops::plan::{Choices, Plan, plan};
use einlang_loops::threads::{Worth, divide_work};
use einlang_loops::{Rounds, hoist_values, jam_rounds};
use einlang_sema::lower;
use einlang_tir::host::Program;

use crate::lowering::{lowered, words};
use crate::pipeline::{Compilation, View};

/// What is printed of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Its schedule.
    Schedule,
    /// Its loop IR.
    Loops,
    /// Its loop IR, divided among threads.
    Teams,
    /// The same with rounds that go together.
    Jammed,
    /// The same with what no round changes before its loop.
    Hoisted,
    /// Its code.
    Code(CodeForm),
}

/// The kernels of a program, or the one that is asked for.
pub(crate) fn print(compilation: &Compilation, view: &View<'_>, form: Form) -> String {
    let program = match program(compilation) {
        Ok(program) => program,
        Err(text) => return text,
    };
    let wanted = program.modules.iter();
    let wanted = wanted.filter(|module| view.kernel.is_none_or(|name| name == module.name));
    let choices = Choices { checkpoint: view.checkpoint, ..Choices::default() };
    let each = wanted.map(|module| match plan(module, &choices) {
        Ok(plan) => show(&plan, view, form),
        Err(not) => format!("// `{}` is evaluated point by point: {not}\n", module.name),
    });
    each.collect()
}

/// The names of the kernels.
pub(crate) fn names(compilation: &Compilation) -> Vec<String> {
    let modules = program(compilation).map(|program| program.modules).unwrap_or_default();
    modules.into_iter().map(|module| module.name).collect()
}

fn program(compilation: &Compilation) -> Result<Program, String> {
    match lowered(compilation, &lower::Options::default()) {
        None => Err(String::new()),
        Some(Ok(lowered)) => Ok(lowered.program),
        Some(Err(diagnostics)) => Err(words(&diagnostics)),
    }
}

fn show(plan: &Plan, view: &View<'_>, form: Form) -> String {
    let code = match form {
        Form::Schedule => return plan.schedule.to_string(),
        Form::Loops => return plan.kernel.to_string(),
        Form::Teams | Form::Jammed | Form::Hoisted => {
            let mut kernel = plan.kernel.clone();
            divide_work(&mut kernel, Worth::ALWAYS, &[]);
            if !matches!(form, Form::Teams) {
                jam_rounds(&mut kernel, Rounds::Asked);
            }
            if matches!(form, Form::Hoisted) {
                hoist_values(&mut kernel);
            }
            return kernel.to_string();
        }
        Form::Code(code) => code,
    };
    let none = || "LLVM is not part of this build".to_owned();
    let shown = view.native.ok_or_else(none).and_then(|n| n.0.show(&plan.kernel, false, code));
    shown.unwrap_or_else(|why| {
        let comment = if code == CodeForm::Assembly { "#" } else { ";" };
        format!("{comment} `{}` has no machine code: {why}\n", plan.kernel.name)
    })
}
