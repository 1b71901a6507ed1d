//! A module on its way to machines: passes, schedule, loop IR, as one list.

use std::collections::HashSet;
use std::thread;

use einlang_tir::module::{Group, Module};
use einlang_tir::passes::{Ctx, PASSES, Stopped, run_passes};
use einlang_tir::types::Ident;

use crate::checkpoint::Checkpoint;
use crate::decide::{
    Illegal, Prepared, Storage, decide, decide_along_time, divide_cases, expect_sizes,
    find_replays, follows_sizes, fuse_steps, fuse_terms, join_producers, join_rows, prepare_sweeps,
    prove_legal, run_extremes, store_functions, stream_sums, widen_sums,
};
use crate::delay::delay_updates;
use crate::factor::factor_contractions;
use crate::improve::{hold_budget, improve};
use crate::ir::Kernel;
use crate::lower::{NotLowered, lower};
use crate::regroup::merge_groups;
use crate::schedule::{Checkpoints, Fma, Keep, Schedule};

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
    /// The shapes of the inputs of the call that is waiting for this, if there is one.
    pub shapes: Vec<Vec<i64>>,
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
    /// Whether other shapes of the inputs could give another plan.
    pub follows_shapes: bool,
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
    let fused = |mut module: Module| {
        if given.is_none_or(|given| given.fma == Fma::Steps) && !choices.checked {
            fuse_steps(&mut module);
        }
        module
    };
    let in_order = || fused(factor_contractions(module.clone(), &ctx));
    if let Some(given) = given {
        // It may have been decided, or written for what the program says.
        let found = fitting(in_order(), given, &ctx);
        let found = found.or_else(|no| no.or(fitting(fused(module.clone()), given, &ctx)));
        let illegal = |no: Illegal| {
            NotLowered::new(format!("the schedule given for it is not legal: {}", no.why))
        };
        return finish(found.map_err(illegal)?, given.clone(), choices, None);
    }
    let module = in_order();
    if may_have_segments(&module, choices) {
        return plan_with_segments(&module, choices, &ctx);
    }
    let (module, schedule) = decide_whole(module, choices, &ctx)?;
    finish(module, schedule, choices, None)
}

/// The module as a given schedule needs it, or why the schedule is not legal for it. The schedule may be of the
/// module for which one would be decided, or of the program as it is, with other groups than that has.
fn fitting(module: Module, given: &Schedule, ctx: &Ctx) -> Result<Module, Illegal> {
    let legal = |module: Module| prove_legal(&module, given).map(|()| module);
    let merged = |mut module: Module| {
        merge_groups(&mut module, given);
        legal(module)
    };
    if given.replays.is_empty() {
        let ready = prepared(module.clone(), ctx);
        let found = legal(joined(ready.clone())).or_else(|no| no.or(merged(ready)));
        return found.or_else(|no| no.or(merged(module)));
    }
    let mut forms = prepare_sweeps(module.clone()).into_iter().map(|form| form.module);
    let first = merged(forms.next().unwrap_or(module));
    forms.fold(first, |found, form| found.or_else(|no| no.or(merged(form))))
}

/// Plans a module that may be cut into segments, with the trajectories of which they would keep a part.
fn plan_with_segments(module: &Module, choices: &Choices, ctx: &Ctx) -> Result<Plan, NotLowered> {
    let wanted = matches!(choices.checkpoint, Checkpoint::Segments(_));
    if wanted && let Some((prepared, schedule)) = in_segments(module, choices) {
        return finish(prepared, schedule, choices, None);
    }
    if wanted {
        let (module, schedule) = decide_whole(module.clone(), choices, ctx)?;
        return finish(module, schedule, choices, None);
    }
    // Neither needs the other, and both take long where they find something.
    let (segments, whole) = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let other = builder.spawn_scoped(scope, || in_segments(module, choices));
        let whole = decide_whole(module.clone(), choices, ctx);
        let segments = other.ok().and_then(|other| other.join().ok());
        (segments.unwrap_or_else(|| in_segments(module, choices)), whole)
    });
    let (module, schedule) = whole?;
    let trajectories = segments.map(|(_, schedule)| trajectories_of(&schedule));
    finish(module, schedule, choices, trajectories)
}

/// The module prepared for its schedule, and that.
fn decide_whole(
    module: Module,
    choices: &Choices,
    ctx: &Ctx,
) -> Result<(Module, Schedule), NotLowered> {
    let module = joined(prepared(module, ctx));
    let mut schedule = decide(&module, choices.storage)?;
    expect_sizes(&module, &choices.shapes, &mut schedule);
    Ok((module, schedule))
}

/// The code for a schedule.
fn finish(
    mut module: Module,
    schedule: Schedule,
    choices: &Choices,
    trajectories: Option<HashSet<Ident>>,
) -> Result<Plan, NotLowered> {
    let follows_shapes = follows_sizes(&module, &schedule);
    if schedule.fma == Fma::Steps && !choices.checked {
        fuse_terms(&mut module, &schedule);
    }
    let mut kernel = lower(&module, &schedule)?;
    if let (Checkpoint::Budget(bytes), Some(names)) = (choices.checkpoint, trajectories) {
        hold_budget(&mut kernel, &names, bytes);
    }
    improve(&mut kernel, &schedule);
    Ok(Plan { module, schedule, kernel, follows_shapes })
}

/// A module with the clauses and sums that its schedule is decided for.
fn prepared(module: Module, ctx: &Ctx) -> Module {
    let divided = divide_cases(delay_updates(module), ctx);
    run_extremes(stream_sums(store_functions(widen_sums(divided, ctx))))
}

/// The same, with producers in the groups of their readers.
fn joined(module: Module) -> Module {
    join_rows(join_producers(module))
}

/// The stack of a thread that looks for segments; pages that are never touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// A module of more groups is cut into segments only where that is asked for.
const MOST_GROUPS: usize = 96;

/// Whether segments may be wanted, and there may be any.
fn may_have_segments(module: &Module, choices: &Choices) -> bool {
    let wanted = match choices.checkpoint {
        Checkpoint::None => false,
        // Looking for segments takes long in a large module, and few need them.
        Checkpoint::Budget(_) => module.groups.len() <= MOST_GROUPS,
        Checkpoint::Segments(_) => true,
    };
    let recurrent = |group: &&Group| {
        group.bindings.first().is_some_and(|binding| module.is_recurrent(&binding.name))
    };
    wanted && module.groups.iter().filter(recurrent).count() >= 2
}

/// The module prepared for segments and a schedule with them, if there are any.
fn in_segments(module: &Module, choices: &Choices) -> Option<(Module, Schedule)> {
    let checkpoints = match choices.checkpoint {
        Checkpoint::Segments(checkpoints) => checkpoints,
        _ => Checkpoints::Sqrt,
    };
    let found = prepare_sweeps(module.clone()).into_iter().filter_map(|prepared| {
        let Prepared { module, stretched } = prepared;
        let mut schedule = decide_along_time(&module, choices.storage).ok()?;
        let found = find_replays(&module, &mut schedule, checkpoints);
        let kept = trajectories_of(&schedule);
        let fits = found && stretched.iter().all(|name| kept.contains(name));
        fits.then_some((kept.len(), (module, schedule)))
    });
    // Gaps are worth it only if more is kept in segments with them.
    let best = found.reduce(|plain, other| if other.0 > plain.0 { other } else { plain });
    best.map(|(_, prepared)| prepared)
}

/// The tensors of which segments would be kept.
fn trajectories_of(schedule: &Schedule) -> HashSet<Ident> {
    let tensors = schedule.replays.iter().flat_map(|replay| &replay.tensors);
    let kept = tensors.filter(|tensor| matches!(tensor.keep, Keep::Segment { .. }));
    kept.map(|tensor| tensor.name.clone()).collect()
}
