//! A module on its way to machines: passes, schedule, loop IR, as one list.

use std::thread;

use einlang_tir::module::{Axis, Group, Module};
use einlang_tir::passes::{Ctx, PASSES, Stopped, run_passes};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use crate::checkpoint::Checkpoint;
use crate::decide::{
    Along, Illegal, Prepared, Sizes, Storage, cut_strips, decide, decide_along_time, divide_cases,
    expect_sizes, find_replays, follows_sizes, fuse_steps, fuse_terms, is_in_one_segment,
    join_points, join_producers, join_rows, narrow_windows, pass_on_once, prepare_sweeps,
    prove_legal, round_windows, run_extremes, run_prefixes, run_suffixes, share_functions,
    store_functions, stream_sums, turn_windows, widen_sums,
};
use crate::delay::delay_updates;
use crate::factor::factor_contractions;
use crate::improve::{LongestAxis, hold_axis, hold_budget, improve};
use crate::ir::Kernel;
use crate::lower::{NotLowered, lower};
use crate::regroup::merge_groups;
use crate::schedule::{Checkpoints, Fma, Keep, Schedule};
use crate::sizes::unify_sizes;

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
    /// Whether code may be made for small sizes of that call alone: it traps for others.
    pub expects_sizes: bool,
    /// Which axis of a grid is cut into segments, where it may be several.
    pub cut: Cut,
}

/// Which axis of a grid is cut into segments, where it may be several: the longest one keeps least, and how
/// long they are is known when the kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cut {
    /// That of the outermost loop.
    #[default]
    Outermost,
    /// The same, but where another one is longer the kernel traps.
    OutermostIfLongest,
    /// Another one.
    Other,
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
    unify_sizes(&mut module);
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
            let why = format!("the schedule given for it is not legal: {}", no.why);
            NotLowered { why, tensor: no.tensor }
        };
        return finish(
            found.map_err(illegal)?,
            given.clone(),
            choices,
            &Sizes::default(),
            Held::Nothing,
        );
    }
    let module = in_order();
    if may_have_segments(&module, choices) {
        return plan_with_segments(&module, choices, &ctx);
    }
    let (module, schedule, sizes) = decide_whole(module, choices, &ctx)?;
    finish(module, schedule, choices, &sizes, Held::Nothing)
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
    let forms = |along: Along| prepare_sweeps(module.clone(), along).into_iter();
    let mut forms = forms(Along::Outermost).chain(forms(Along::Other)).map(|form| form.module);
    let first = merged(forms.next().unwrap_or(module.clone()));
    forms.fold(first, |found, form| found.or_else(|no| no.or(merged(form))))
}

/// Plans a module that may be cut into segments, with the trajectories of which they would keep a part.
fn plan_with_segments(module: &Module, choices: &Choices, ctx: &Ctx) -> Result<Plan, NotLowered> {
    let wanted = matches!(choices.checkpoint, Checkpoint::Segments(_));
    if wanted && let Some((prepared, schedule)) = in_segments(module, choices) {
        let held = longest_axis(module, &schedule, choices).map_or(Held::Nothing, Held::Axis);
        return finish(prepared, schedule, choices, &Sizes::default(), held);
    }
    if wanted {
        let (module, schedule, sizes) = decide_whole(module.clone(), choices, ctx)?;
        return finish(module, schedule, choices, &sizes, Held::Nothing);
    }
    // Neither needs the other, and both take long where they find something.
    let (segments, whole) = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let other = builder.spawn_scoped(scope, || in_segments(module, choices));
        let whole = decide_whole(module.clone(), choices, ctx);
        let segments = other.ok().and_then(|other| other.join().ok());
        (segments.unwrap_or_else(|| in_segments(module, choices)), whole)
    });
    let (module, schedule, sizes) = whole?;
    let trajectories = segments.map(|(_, schedule)| Held::Budget(trajectories_of(&schedule)));
    finish(module, schedule, choices, &sizes, trajectories.unwrap_or(Held::Nothing))
}

/// What a kernel traps at unless it holds, so that another one runs instead.
enum Held {
    Nothing,
    /// The trajectories stay within the budget.
    Budget(HashSet<Ident>),
    /// The axis that is cut into segments is the longest one.
    Axis(LongestAxis),
}

/// Which axis should be the longest, if another one could be cut into segments.
fn longest_axis(module: &Module, cut: &Schedule, choices: &Choices) -> Option<LongestAxis> {
    if choices.cut != Cut::OutermostIfLongest {
        return None;
    }
    let other = Choices { cut: Cut::Other, ..choices.clone() };
    let (_, other) = in_segments(module, &other)?;
    axes_cut(cut).find_map(|(tensor, axis)| {
        let (_, instead) = axes_cut(&other).find(|(name, _)| *name == tensor)?;
        (instead != axis).then(|| LongestAxis { tensor: tensor.clone(), axis, instead })
    })
}

/// Whether several axes of a recurrence may be long.
fn may_be_cut_otherwise(module: &Module, group: &Group) -> bool {
    let long = |axis: &&Axis| !is_in_one_segment(&axis.dim.extent);
    let mut bindings = group.bindings.iter();
    is_recurrent(module, group)
        && group.until.is_none()
        && bindings.all(|b| b.axes.iter().filter(long).count() > 1)
}

/// The tensors that are kept in segments, and along which axes.
fn axes_cut(schedule: &Schedule) -> impl Iterator<Item = (&Ident, usize)> {
    let tensors = schedule.replays.iter().flat_map(|replay| &replay.tensors);
    let kept = tensors.filter(|tensor| matches!(tensor.keep, Keep::Segment { .. }));
    kept.map(|tensor| (&tensor.name, tensor.axis))
}

/// The module prepared for its schedule, and that, and the sizes that it was decided for.
fn decide_whole(
    module: Module,
    choices: &Choices,
    ctx: &Ctx,
) -> Result<(Module, Schedule, Sizes), NotLowered> {
    let module = joined(prepared(module, ctx));
    // Sizes that are numbers of the program are expected in any case.
    let shapes = if choices.expects_sizes { &choices.shapes[..] } else { &[] };
    let sizes = Sizes::of(&module, shapes);
    let mut schedule = decide(&module, choices.storage, &sizes)?;
    // Planes that lie one after the other come first: a narrower window is worth less than lanes that load at once.
    turn_windows(&module, &mut schedule);
    expect_sizes(&module, &sizes, &mut schedule);
    narrow_windows(&module, &mut schedule);
    round_windows(&module, &mut schedule);
    pass_on_once(&module, &mut schedule);
    Ok((module, schedule, sizes))
}

/// The code for a schedule.
fn finish(
    mut module: Module,
    mut schedule: Schedule,
    choices: &Choices,
    sizes: &Sizes,
    held: Held,
) -> Result<Plan, NotLowered> {
    let follows_shapes =
        choices.expects_sizes && (sizes.was_asked() || follows_sizes(&module, &schedule));
    if !choices.expects_sizes {
        schedule.variant.clear();
    }
    if schedule.fma == Fma::Steps && !choices.checked {
        fuse_terms(&mut module, &schedule);
    }
    let mut kernel = lower(&module, &schedule)?;
    match (held, choices.checkpoint) {
        (Held::Budget(names), Checkpoint::Budget(bytes)) => {
            hold_budget(&mut kernel, &names, bytes);
        }
        (Held::Axis(axis), _) => hold_axis(&mut kernel, &module, &axis),
        _ => {}
    }
    improve(&mut kernel, &schedule);
    Ok(Plan { module, schedule, kernel, follows_shapes })
}

/// A module with the clauses and sums that its schedule is decided for.
fn prepared(module: Module, ctx: &Ctx) -> Module {
    let divided = divide_cases(delay_updates(run_suffixes(run_prefixes(module))), ctx);
    let stored = store_functions(widen_sums(divided, ctx), ctx);
    cut_strips(run_extremes(stream_sums(stored)))
}

/// The same, with producers in the groups of their readers.
fn joined(module: Module) -> Module {
    join_points(share_functions(join_rows(join_producers(module))))
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
    let recurrent = |group: &&Group| is_recurrent(module, group);
    wanted && module.groups.iter().filter(recurrent).count() >= 2
}

fn is_recurrent(module: &Module, group: &Group) -> bool {
    group.bindings.first().is_some_and(|binding| module.is_recurrent(&binding.name))
}

/// The module prepared for segments and a schedule with them, if there are any. Where there are none along the
/// outermost axis, which may be one of many recurrences side by side, another one may be time.
fn in_segments(module: &Module, choices: &Choices) -> Option<(Module, Schedule)> {
    let has_others = module.groups.iter().any(|group| may_be_cut_otherwise(module, group));
    let other = || has_others.then(|| segments_along(Along::Other, module, choices)).flatten();
    match choices.cut {
        Cut::Outermost | Cut::OutermostIfLongest => {
            segments_along(Along::Outermost, module, choices).or_else(other)
        }
        Cut::Other => other(),
    }
}

fn segments_along(along: Along, module: &Module, choices: &Choices) -> Option<(Module, Schedule)> {
    let checkpoints = match choices.checkpoint {
        Checkpoint::Segments(checkpoints) => checkpoints,
        _ => Checkpoints::Sqrt,
    };
    let found = prepare_sweeps(module.clone(), along).into_iter().filter_map(|prepared| {
        let Prepared { module, stretched } = prepared;
        let mut schedule = decide_along_time(&module, choices.storage).ok()?;
        let found = find_replays(&module, &mut schedule, checkpoints, along);
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
    axes_cut(schedule).map(|(tensor, _)| tensor.clone()).collect()
}
