//! A module on its way to machines: passes, schedule, loop IR, as one list.

use einlang_tir::module::Module;
use einlang_tir::passes::{Ctx, PASSES, Stopped, run_passes};

use crate::decide::{Storage, decide, is_legal, join_producers};
use crate::improve::improve;
use crate::ir::Kernel;
use crate::lower::{NotLowered, lower};
use crate::schedule::Schedule;

/// What may be chosen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    /// How much of a recurrence is kept.
    pub storage: Storage,
    /// Integer overflow and NaN trap.
    pub checked: bool,
    /// Schedules that replace those that would be decided, by the names of their modules.
    pub schedules: Vec<Schedule>,
}

/// A module, how it is computed, and the code for that.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The module after all passes, producers in the groups of their readers.
    pub module: Module,
    /// The schedule.
    pub schedule: Schedule,
    /// The loop IR.
    pub kernel: Kernel,
}

/// Plans a module.
pub fn plan(module: &Module, choices: &Choices) -> Result<Plan, NotLowered> {
    let mut module = module.clone();
    let ctx = Ctx { verify: false, checked: choices.checked, ..Ctx::default() };
    run_passes(&mut module, PASSES, &ctx, &mut |_, _| {}).map_err(|stopped| match stopped {
        Stopped::Rejected(found) => {
            let first = found.iter().next().map(|d| d.message.clone()).unwrap_or_default();
            NotLowered::new(first)
        }
        Stopped::Broken { pass, .. } => NotLowered::new(format!("`{pass}` broke the module")),
    })?;
    let given = choices.schedules.iter().find(|schedule| schedule.module == module.name);
    let alone = given.is_some().then(|| module.clone());
    let joined = join_producers(module);
    let (module, schedule) = match (given, alone) {
        (Some(given), _) if is_legal(&joined, given) => (joined, given.clone()),
        // Whoever wrote it may have left every producer in a group of its own.
        (Some(given), Some(alone)) if is_legal(&alone, given) => (alone, given.clone()),
        (Some(_), _) => return Err(NotLowered::new("the schedule given for it is not legal")),
        (None, _) => {
            let schedule = decide(&joined, choices.storage)?;
            (joined, schedule)
        }
    };
    let mut kernel = lower(&module, &schedule)?;
    improve(&mut kernel, &schedule);
    Ok(Plan { module, schedule, kernel })
}
