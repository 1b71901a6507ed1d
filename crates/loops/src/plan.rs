//! A module on its way to machines: passes, schedule, loop IR, as one list.

use einlang_tir::module::Module;
use einlang_tir::passes::{Ctx, PASSES, Stopped, run_passes};

use crate::checkpoint::Checkpoint;
use crate::decide::{Storage, decide, find_replay, is_legal, join_producers};
use crate::improve::improve;
use crate::ir::Kernel;
use crate::lower::{NotLowered, lower};
use crate::regroup::merge_groups;
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
    /// What is kept of a trajectory that is read in the opposite order.
    pub checkpoint: Checkpoint,
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
    let schedule = match given {
        Some(given) => {
            merge_groups(&mut module, given);
            match is_legal(&module, given) {
                true => given.clone(),
                false => return Err(NotLowered::new("the schedule given for it is not legal")),
            }
        }
        None => {
            module = join_producers(module);
            let mut schedule = decide(&module, choices.storage)?;
            if let Checkpoint::Segments(checkpoints) = choices.checkpoint {
                schedule.replay = find_replay(&module, &schedule, checkpoints);
            }
            schedule
        }
    };
    let mut kernel = lower(&module, &schedule)?;
    improve(&mut kernel, &schedule);
    Ok(Plan { module, schedule, kernel })
}
