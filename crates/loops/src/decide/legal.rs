//! Whether a schedule respects the dependences of its module, and its windows the reads.
//!
//! Nothing of a schedule from a file is believed: every clause must occur once, every dependence must
//! be carried by a loop or run from an earlier phase to a later one, a window must be at least as wide
//! as the proof for this very nest asks for, and what is computed at its reads must be one clause for
//! the whole box. What is computed again in segments must be what would be found. Groups that read themselves at data
//! keep the order that was found where that order decides which of those reads are errors.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use einlang_index::{Domain, Facts};
use einlang_tir::module::{Axis, Group, Module};
use einlang_tir::order::{Dependence, Form, Statement, dependences, find_order};
use einlang_tir::types::Ident;

use super::along::is_map;
use super::at_reads::may_be_at_reads;
use super::distance::{distance, never_negative};
use super::fuse::statements;
use super::once::may_be_once;
use super::private::private_dimensions;
use super::replay::{Along, find_replays};
use super::windows::{Folding, Observers};
use super::{all_groups, nest_of, reads_itself_by_data};
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule};

/// Why a schedule is not legal for a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal {
    /// One phrase, such as "`h` keeps 1 plane along `t`, and 2 are read".
    pub why: String,
    /// The tensor that it is about, if it is about one.
    pub(crate) tensor: Option<Ident>,
    /// Whether it is a schedule of these groups at all.
    fits: bool,
}

impl Illegal {
    /// What is found in another form of the module; if nothing is legal, what is wrong with the form that the
    /// schedule is about.
    pub(crate) fn or<T>(self, other: Result<T, Illegal>) -> Result<T, Illegal> {
        other.map_err(|other| if other.fits && !self.fits { other } else { self })
    }
}

/// Whether a schedule computes every point after the points it reads, and keeps what is read.
pub fn is_legal(module: &Module, schedule: &Schedule) -> bool {
    prove_legal(module, schedule).is_ok()
}

/// The same, or what is wrong first.
pub(crate) fn prove_legal(module: &Module, schedule: &Schedule) -> Result<(), Illegal> {
    let (facts, observers) = (module.facts(), Observers::of(module));
    let groups = all_groups(module);
    let not = |fits: bool, why: String, tensor: Option<&Ident>| {
        Err(Illegal { why, tensor: tensor.cloned(), fits })
    };
    for group in &groups {
        let first = group.bindings.first();
        if let Some(first) = first.filter(|first| schedule.group(&first.name).is_none()) {
            return not(false, format!("it says nothing of `{}`", first.name.as_str()), None);
        }
    }
    if groups.len() != schedule.groups.len() {
        let (has, says) = (groups.len(), schedule.groups.len());
        let why = format!("it is about {says} groups of tensors, and there are {has}");
        return not(false, why, None);
    }
    let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
    for tensor in tensors.filter(|tensor| tensor.compute == Compute::AtReads) {
        if !may_be_at_reads(module, &tensor.name) {
            let why = format!("`{}` cannot be computed where it is read", tensor.name.as_str());
            return not(true, why, Some(&tensor.name));
        }
    }
    if let Some(replay) = schedule.replays.first() {
        let found_along = |along: Along| {
            let mut found = Schedule { replays: Vec::new(), ..schedule.clone() };
            find_replays(module, &mut found, replay.checkpoints, along);
            found == *schedule
        };
        if !found_along(Along::Outermost) && !found_along(Along::Other) {
            let why = "its segments are not those of its trajectories".to_owned();
            return not(true, why, None);
        }
    }
    for group in &groups {
        let Some(first) = group.bindings.first() else { continue };
        let Some(of) = schedule.group(&first.name) else { continue };
        if let Some(problem) = find_problem(module, group, of, &observers, &facts) {
            let tensor = group.bindings.get(problem.tensor()).map(|binding| &binding.name);
            return not(problem != Problem::Tensors, problem.words(module, group), tensor);
        }
    }
    Ok(())
}

/// What is wrong with the schedule of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Problem {
    Tensors,
    Clauses,
    /// The storage of a tensor, by its number.
    Storage(usize, Lost),
    /// A clause that is said to pass on what its tensor has, by the number of the tensor.
    Once(usize),
    Until,
    Order(Broken),
}

/// What is wrong with the storage of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lost {
    /// There are so many planes along an axis; how many are needed, if that is bounded.
    Planes { axis: usize, kept: i64, needed: Option<i64> },
    /// There are planes along several axes.
    Axes,
    /// All of it is read by others, who do not know of another place.
    Place,
}

/// A read that may come before what it reads, in a loop or between phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Broken {
    reader: Statement,
    writer: Statement,
    /// The axis of the reader along which the loop goes first.
    axis: Option<usize>,
}

impl Problem {
    /// The number of the tensor that it is about, or of the first one of its group.
    fn tensor(self) -> usize {
        match self {
            Problem::Storage(at, _) | Problem::Once(at) => at,
            Problem::Order(Broken { reader, .. }) => reader.binding,
            Problem::Tensors | Problem::Clauses | Problem::Until => 0,
        }
    }

    fn words(self, module: &Module, group: &Group) -> String {
        let name_of =
            |at: usize| group.bindings.get(at).map_or("", |binding| binding.name.as_str());
        let (at, name) = (self.tensor(), name_of(self.tensor()));
        let axis_of = |axis: usize| {
            let found = group.bindings.get(at).and_then(|binding| binding.axes.get(axis));
            let coordinate =
                |axis: &Axis| axis.dim.coord.as_ref().map(|coord| coord.as_str().to_owned());
            let index = |axis: &Axis| module.vars.names().name(axis.var).map(str::to_owned);
            found.and_then(|axis| coordinate(axis).or_else(|| index(axis))).unwrap_or_default()
        };
        match self {
            Problem::Tensors => format!("the group of `{name}` has other tensors or axes"),
            Problem::Clauses => {
                format!("not every clause of the group of `{name}` occurs once, with its axes")
            }
            Problem::Storage(_, Lost::Planes { axis, kept, needed }) => {
                let (axis, planes) = (axis_of(axis), if kept == 1 { "plane" } else { "planes" });
                let needed = match needed {
                    Some(needed) => format!("{needed} are needed"),
                    None => "any number may be needed".to_owned(),
                };
                format!("`{name}` keeps {kept} {planes} along `{axis}`, and {needed}")
            }
            Problem::Storage(_, Lost::Axes) => format!("`{name}` keeps planes along several axes"),
            Problem::Storage(_, Lost::Place) => {
                format!("all of `{name}` is read by others, so it lies as it is")
            }
            Problem::Once(_) => {
                format!("not every clause of `{name}` after `once` passes on what a window keeps")
            }
            Problem::Until => format!("the outermost loop of `{name}` is not that of its `until`"),
            Problem::Order(Broken { writer, axis, .. }) => {
                let along = axis.map(|axis| format!(", in the loop along `{}`", axis_of(axis)));
                let (other, along) = (name_of(writer.binding), along.unwrap_or_default());
                format!("`{name}` may run before what it reads of `{other}`{along}")
            }
        }
    }
}

/// Whether the schedule of one group is legal.
pub(super) fn group_is_legal(
    module: &Module,
    group: &Group,
    schedule: &GroupSchedule,
    observers: &Observers,
    facts: &Facts,
) -> bool {
    find_problem(module, group, schedule, observers, facts).is_none()
}

/// What is read of a module, found when somebody asks for it.
pub(super) type Asked<'m> = LazyCell<Observers, Box<dyn FnOnce() -> Observers + 'm>>;

/// Changes what was decided for each group but open ones, where the change is legal.
pub(super) fn change_groups(
    module: &Module,
    schedule: &mut Schedule,
    change: impl Fn(&Group, &mut GroupSchedule, &Asked<'_>),
) {
    let observers: Asked<'_> = LazyCell::new(Box::new(|| Observers::of(module)));
    for group in module.groups.iter().filter(|group| group.until.is_none()) {
        let Some(decided) = schedule.decided_mut(group) else { continue };
        let mut changed = decided.clone();
        change(group, &mut changed, &observers);
        if changed != *decided
            && group_is_legal(module, group, &changed, &observers, &module.facts())
        {
            *decided = changed;
        }
    }
}

fn find_problem(
    module: &Module,
    group: &Group,
    schedule: &GroupSchedule,
    observers: &Observers,
    facts: &Facts,
) -> Option<Problem> {
    let fits = schedule.tensors.len() == group.bindings.len()
        && schedule.tensors.iter().zip(&group.bindings).all(|(tensor, binding)| {
            let mapped = is_map(tensor) && (tensor.map.is_empty() || group.until.is_none());
            tensor.name == binding.name && tensor.storage.len() == binding.axes.len() && mapped
        });
    if !fits {
        return Some(Problem::Tensors);
    }
    if !is_complete(group, &schedule.nest) {
        return Some(Problem::Clauses);
    }
    let dependences = dependences(module, group);
    let folding = Folding::new(group, &dependences, observers, facts, Some(&schedule.nest));
    let windows = folding.windows(schedule);
    let private = private_dimensions(group, schedule, &dependences, observers, facts);
    let waves = has_wave(&schedule.nest);
    let mut kept = schedule.tensors.iter().zip(windows.iter().zip(&private)).enumerate();
    let lost = kept.find_map(|(at, (tensor, (windows, private)))| {
        let enough = |list: &[(usize, i64)], axis: usize, width: i64| {
            list.iter().any(|(at, least)| *at == axis && width >= *least)
        };
        let stored = || folding.is_stored(at);
        let rings = tensor.storage.iter().enumerate().filter_map(|(axis, layout)| match layout {
            // Threads would meet in what each tile uses for itself.
            Layout::Mod(width) if !waves && enough(private, axis, *width) && stored() => None,
            Layout::Mod(width) => Some((axis, *width, enough(windows, axis, *width))),
            Layout::Full | Layout::Open => None,
        });
        let rings: Vec<(usize, i64, bool)> = rings.collect();
        let seen = observers.sees_all_of(&tensor.name);
        let plain = tensor.map.is_empty() && !tensor.stack;
        let lost = match rings.iter().find(|(_, _, enough)| !enough) {
            Some((axis, kept, _)) => {
                let needed = windows.iter().filter(|(at, _)| at == axis).map(|(_, least)| *least);
                Some(Lost::Planes { axis: *axis, kept: *kept, needed: needed.min() })
            }
            None if rings.len() > 1 => Some(Lost::Axes),
            None => (!plain && seen).then_some(Lost::Place),
        };
        lost.map(|lost| Problem::Storage(at, lost))
    });
    if lost.is_some() {
        return lost;
    }
    let mut tensors = schedule.tensors.iter().enumerate();
    let changes = tensors.find(|(at, tensor)| {
        let is_once = |clause: &usize| may_be_once(group, &schedule.nest, tensor, *at, *clause);
        !tensor.once.iter().all(is_once)
    });
    if let Some((at, _)) = changes {
        return Some(Problem::Once(at));
    }
    if is_order_seen(module, group) {
        let found = find_order(module, group).ok();
        let same = found.is_some_and(|order| nest_of(group, &order, true) == schedule.nest);
        let first = Statement { binding: 0, clause: 0 };
        let any = dependences.first().map(|any| (any.reader, any.writer));
        let (reader, writer) = any.unwrap_or((first, first));
        return (!same).then_some(Problem::Order(Broken { reader, writer, axis: None }));
    }
    if group.until.is_some() && !is_lockstep(group, &schedule.nest) {
        return Some(Problem::Until);
    }
    find_broken(group, &schedule.nest, dependences, facts).map(Problem::Order)
}

/// Whether the order of points can be seen: the group reads itself at data, and some of what may be read there may be
/// computed later. Where all of an axis lies in earlier steps it does not matter which point of it is read.
pub(crate) fn is_order_seen(module: &Module, group: &Group) -> bool {
    if !reads_itself_by_data(group) {
        return false;
    }
    let Some(order) = find_order(module, group).ok().filter(|_| group.until.is_none()) else {
        return true;
    };
    let (nest, facts) = (nest_of(group, &order, false), module.facts());
    find_broken(group, &nest, dependences(module, group), &facts).is_some()
}

/// Whether every clause occurs once, with forms and axes of its rank.
fn is_complete(group: &Group, nest: &Nest) -> bool {
    let found = statements(nest);
    let once: BTreeSet<Statement> = found.iter().copied().collect();
    let n_clauses: usize = group.bindings.iter().map(|binding| binding.clauses.len()).sum();
    let exists = |s: &Statement| {
        group.bindings.get(s.binding).is_some_and(|binding| s.clause < binding.clauses.len())
    };
    found.len() == n_clauses
        && once.len() == n_clauses
        && found.iter().all(exists)
        && has_rank(group, nest)
}

fn has_rank(group: &Group, nest: &Nest) -> bool {
    let rank = |s: Statement| group.bindings[s.binding].axes.len();
    match nest {
        Nest::Points { statement, axes, .. } => {
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(0..rank(*statement))
        }
        Nest::Phases(phases) => phases.iter().all(|phase| has_rank(group, phase)),
        Nest::Loop { forms, tile, role, inner } => {
            let inside: BTreeSet<Statement> = statements(inner).into_iter().collect();
            let named: BTreeSet<Statement> = forms.iter().map(|form| form.0).collect();
            let fits = !(tile.is_some() && matches!(role, Role::Lane(_) | Role::Unroll(_)));
            let fits = fits && (*role != Role::Wave || is_wave(nest));
            fits && inside == named
                && forms.len() == named.len()
                && forms.iter().all(|(s, form)| form.coefficients.len() == rank(*s))
                && has_rank(group, inner)
        }
    }
}

/// Whether a loop can be a wave. Of two loops over tiles, one in the other, both carry every dependence, and
/// windows under tiles are overwritten along both ([`super::reuse`]): a tile has to do only with such that are
/// not behind it in either.
fn is_wave(nest: &Nest) -> bool {
    let Nest::Loop { tile: Some(_), role: Role::Wave, inner, .. } = nest else { return false };
    matches!(**inner, Nest::Loop { tile: Some(_), role: Role::Seq, .. })
}

/// Whether a nest has a wave.
fn has_wave(nest: &Nest) -> bool {
    match nest {
        Nest::Points { .. } => false,
        Nest::Phases(phases) => phases.iter().any(has_wave),
        Nest::Loop { role, inner, .. } => *role == Role::Wave || has_wave(inner),
    }
}

/// Whether the outermost loop runs along the open axis of an `until`.
fn is_lockstep(group: &Group, nest: &Nest) -> bool {
    let Some(until) = &group.until else { return true };
    let Nest::Loop { forms, tile: None, role: Role::Seq, .. } = nest else { return false };
    forms.iter().all(|(statement, form)| {
        let axes = group.bindings[statement.binding].axes.iter();
        let open = axes.map(|axis| i64::from(axis.dim.extent.as_var() == Some(until.extent)));
        form.offset == 0 && open.eq(form.coefficients.iter().copied())
    })
}

/// A dependence that the nest does not satisfy.
fn find_broken(
    group: &Group,
    nest: &Nest,
    dependences: Vec<Dependence>,
    facts: &Facts,
) -> Option<Broken> {
    let broken = |dependence: &Dependence, form: Option<&Form>| {
        let axis = form.and_then(|form| form.coefficients.iter().position(|by| *by != 0));
        Some(Broken { reader: dependence.reader, writer: dependence.writer, axis })
    };
    match nest {
        Nest::Points { .. } => dependences.first().and_then(|first| broken(first, None)),
        Nest::Phases(phases) => {
            let members: Vec<BTreeSet<Statement>> =
                phases.iter().map(|phase| statements(phase).into_iter().collect()).collect();
            let place = |s: Statement| members.iter().position(|phase| phase.contains(&s));
            let mut inside: Vec<Vec<Dependence>> = vec![Vec::new(); phases.len()];
            for dependence in dependences {
                match (place(dependence.reader), place(dependence.writer)) {
                    (Some(reader), Some(writer)) if writer == reader => {
                        inside[reader].push(dependence);
                    }
                    (Some(reader), Some(writer)) if writer < reader => {}
                    _ => return broken(&dependence, None),
                }
            }
            let mut each = phases.iter().zip(inside);
            each.find_map(|(phase, list)| find_broken(group, phase, list, facts))
        }
        Nest::Loop { forms, tile, role, inner } => {
            let form = |s: Statement| forms.iter().find(|form| form.0 == s).map(|form| &form.1);
            let mut rest = Vec::new();
            for dependence in dependences {
                let (reader, writer) = (form(dependence.reader), form(dependence.writer));
                match carried(group, &dependence, reader, writer, facts) {
                    Carried::Always if role.is_free() => return broken(&dependence, reader),
                    Carried::Always | Carried::Rest(_) if tile.is_some() => rest.push(dependence),
                    Carried::Always => {}
                    Carried::Rest(left) if role.is_free() => {
                        if !stays(group, &dependence, reader, writer, facts) {
                            return broken(&dependence, reader);
                        }
                        rest.push(*left);
                    }
                    Carried::Rest(left) => rest.push(*left),
                    Carried::Never => return broken(&dependence, reader),
                }
            }
            find_broken(group, inner, rest, facts)
        }
    }
}

/// Whether the reader is always in the round of what it reads.
pub(super) fn stays(
    group: &Group,
    dependence: &Dependence,
    reader: Option<&Form>,
    writer: Option<&Form>,
    facts: &Facts,
) -> bool {
    let (Some(reader), Some(writer)) = (reader, writer) else { return false };
    let Ok(later) = distance(group, dependence, reader, writer) else { return false };
    let Ok(earlier) = later.neg() else { return false };
    let over = &dependence.domain;
    never_negative(facts, over, &later) && never_negative(facts, over, &earlier)
}

/// What a loop does to a dependence.
enum Carried {
    /// The reader is in a later round.
    Always,
    /// It may be in the same round: those reads are left.
    Rest(Box<Dependence>),
    /// It may be in an earlier round.
    Never,
}

fn carried(
    group: &Group,
    dependence: &Dependence,
    reader: Option<&Form>,
    writer: Option<&Form>,
    facts: &Facts,
) -> Carried {
    let (Some(reader), Some(writer)) = (reader, writer) else { return Carried::Never };
    let Ok(later) = distance(group, dependence, reader, writer) else { return Carried::Never };
    let over = &dependence.domain;
    if later.add_constant(-1).is_ok_and(|strictly| never_negative(facts, over, &strictly)) {
        return Carried::Always;
    }
    if !never_negative(facts, over, &later) {
        return Carried::Never;
    }
    let same = Domain::where_zero(over.dims(), &later).and_then(|same| over.intersect(&same));
    let domain = same.unwrap_or_else(|_| over.clone());
    Carried::Rest(Box::new(Dependence { domain, ..dependence.clone() }))
}
