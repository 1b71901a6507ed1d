//! The lowered program and what the passes make of it, for printing.
//!
//! Invariants: only a program without errors is lowered; what cannot be lowered yet is a list of
//! diagnostics.

use einlang_sema::Resolved;
use einlang_sema::lower::{self, Lowered};
use einlang_source::Diagnostics;
use einlang_tir::passes::{Ctx, Mode, PASSES, Pass, Stopped, pass, run_passes};
use einlang_tir::region::InstKind;

use crate::pipeline::Compilation;

/// The host and tensor code of a program; none if it has errors.
pub fn lowered(
    compilation: &Compilation,
    options: &lower::Options,
) -> Option<Result<Lowered, Diagnostics>> {
    let (typed, shapes) = (compilation.typed.as_ref()?, compilation.shapes.as_ref()?);
    if compilation.diagnostics.has_errors() {
        return None;
    }
    let Resolved { program, interner, .. } = &compilation.resolved;
    Some(lower::lower(program, typed, shapes, interner, options))
}

/// Expands the derivatives of a program, and runs the passes that every program goes through before
/// it is evaluated.
pub(crate) fn prepare(lowered: &mut Lowered, mode: Mode) -> Result<(), Stopped> {
    let ctx = Ctx { mode, ..Ctx::default() };
    let passes: Vec<Pass> = PREPARING.iter().filter_map(|name| pass(name)).collect();
    for module in &mut lowered.program.modules {
        let mut asks = false;
        module.for_each_inst(&mut |inst| asks |= matches!(inst.kind, InstKind::Deriv { .. }));
        let passes = if asks { PASSES } else { &passes };
        run_passes(module, passes, &ctx, &mut |_, _| {})?;
    }
    Ok(())
}

/// The passes between lowering and evaluation of a module without derivatives, by name.
const PREPARING: &[&str] = &["settle_extents", "lift_locals", "merge_bindings"];

/// The text of the program after lowering, or after the passes up to and including one.
pub(crate) fn print(compilation: &Compilation, last: Option<&str>) -> String {
    let mut program = match lowered(compilation, &lower::Options::default()) {
        None => return String::new(),
        Some(Ok(lowered)) => lowered.program,
        Some(Err(diagnostics)) => return words(&diagnostics),
    };
    let n_passes = PASSES.iter().position(|pass| Some(pass.name) == last).map_or(0, |at| at + 1);
    for module in &mut program.modules {
        match run_passes(module, &PASSES[..n_passes], &Ctx::default(), &mut |_, _| {}) {
            Ok(()) => {}
            Err(Stopped::Rejected(diagnostics)) => return words(&diagnostics),
            Err(Stopped::Broken { pass, problems }) => {
                let problems = problems.iter().map(|problem| format!("// {pass}: {problem}\n"));
                return problems.collect();
            }
        }
    }
    program.to_string()
}

/// What is wrong, as comments.
pub(crate) fn words(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|diagnostic| format!("// {}\n", diagnostic.message)).collect()
}
