//! Whether a schedule respects the dependences of its module, and its windows the reads.
//!
//! Nothing of a schedule from a file is believed: every clause must occur once, every dependence must
//! be carried by a loop or run from an earlier phase to a later one, a window must be at least as wide
//! as the proof for this very nest asks for, and what is computed at its reads must be one clause for
//! the whole box. What is computed again in segments must be what would be found. Groups that read themselves at data
//! keep the order that was found where that order decides which of those reads are errors.

use std::collections::BTreeSet;

use einlang_index::{Domain, Facts};
use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Dependence, Form, Statement, dependences, find_order};

use super::along::is_map;
use super::at_reads::may_be_at_reads;
use super::distance::{distance, never_negative};
use super::fuse::statements;
use super::private::private_dimensions;
use super::replay::{Along, find_replays};
use super::windows::{Observers, is_stored, needed_windows};
use super::{all_groups, nest_of, reads_itself_by_data};
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule};

/// Why a schedule is not legal for a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal {
    /// One phrase, such as "`h` keeps less than is read".
    pub why: String,
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
    let not = |fits: bool, why: String| Err(Illegal { why, fits });
    for group in &groups {
        let first = group.bindings.first();
        if let Some(first) = first.filter(|first| schedule.group(&first.name).is_none()) {
            return not(false, format!("it says nothing of `{}`", first.name.as_str()));
        }
    }
    if groups.len() != schedule.groups.len() {
        let (has, says) = (groups.len(), schedule.groups.len());
        return not(false, format!("it is about {says} groups of tensors, and there are {has}"));
    }
    let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
    for tensor in tensors.filter(|tensor| tensor.compute == Compute::AtReads) {
        if !may_be_at_reads(module, &tensor.name) {
            let name = tensor.name.as_str();
            return not(true, format!("`{name}` cannot be computed where it is read"));
        }
    }
    if let Some(replay) = schedule.replays.first() {
        let found_along = |along: Along| {
            let mut found = Schedule { replays: Vec::new(), ..schedule.clone() };
            find_replays(module, &mut found, replay.checkpoints, along);
            found == *schedule
        };
        if !found_along(Along::Outermost) && !found_along(Along::Other) {
            return not(true, "its segments are not those of its trajectories".to_owned());
        }
    }
    for group in &groups {
        let Some(first) = group.bindings.first() else { continue };
        let Some(of) = schedule.group(&first.name) else { continue };
        if let Some(problem) = find_problem(module, group, of, &observers, &facts) {
            return not(problem != Problem::Tensors, problem.words(group));
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
    Storage(usize),
    Until,
    Order,
}

impl Problem {
    fn words(self, group: &Group) -> String {
        let at = if let Problem::Storage(at) = self { at } else { 0 };
        let name = group.bindings.get(at).map_or("", |binding| binding.name.as_str());
        match self {
            Problem::Tensors => format!("the group of `{name}` has other tensors or axes"),
            Problem::Clauses => {
                format!("not every clause of the group of `{name}` occurs once, with its axes")
            }
            Problem::Storage(_) => format!("`{name}` keeps less than is read of it"),
            Problem::Until => format!("the outermost loop of `{name}` is not that of its `until`"),
            Problem::Order => {
                format!("something in the group of `{name}` runs before what it reads")
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
    let windows = needed_windows(group, schedule, &dependences, observers, facts);
    let private = private_dimensions(group, schedule, &dependences, observers, facts);
    let waves = has_wave(&schedule.nest);
    let kept = schedule.tensors.iter().zip(windows.iter().zip(&private));
    let mut kept = kept.zip(&group.bindings);
    let lost = kept.position(|((tensor, (windows, private)), binding)| {
        let enough = |list: &[(usize, i64)], axis: usize, width: i64| {
            list.iter().any(|(at, least)| *at == axis && width >= *least)
        };
        let stored = || is_stored(group, binding, observers, facts);
        let rings = tensor.storage.iter().enumerate().filter_map(|(axis, layout)| match layout {
            // Threads would meet in what each tile uses for itself.
            Layout::Mod(width) if !waves && enough(private, axis, *width) && stored() => None,
            Layout::Mod(width) => Some(enough(windows, axis, *width)),
            Layout::Full | Layout::Open => None,
        });
        let rings: Vec<bool> = rings.collect();
        let seen = observers.sees_all_of(&tensor.name);
        let plain = tensor.map.is_empty() && !tensor.stack;
        !(rings.len() <= 1 && rings.iter().all(|enough| *enough) && (plain || !seen))
    });
    if let Some(lost) = lost {
        return Some(Problem::Storage(lost));
    }
    if is_order_seen(module, group) {
        let found = find_order(module, group).ok();
        let same = found.is_some_and(|order| nest_of(group, &order, true) == schedule.nest);
        return (!same).then_some(Problem::Order);
    }
    if group.until.is_some() && !is_lockstep(group, &schedule.nest) {
        return Some(Problem::Until);
    }
    (!respects(group, &schedule.nest, dependences, facts)).then_some(Problem::Order)
}

/// Whether the order of points can be seen: the group reads itself at data, and some of what may be read there may be
/// computed later. Where all of an axis lies in earlier steps it does not matter which point of it is read.
pub(crate) fn is_order_seen(module: &Module, group: &Group) -> bool {
    let found = || find_order(module, group).ok().map(|order| nest_of(group, &order, false));
    let facts = module.facts();
    let earlier = |nest: &Nest| respects(group, nest, dependences(module, group), &facts);
    reads_itself_by_data(group) && (group.until.is_some() || !found().as_ref().is_some_and(earlier))
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

/// Whether every dependence is satisfied by the nest.
fn respects(group: &Group, nest: &Nest, dependences: Vec<Dependence>, facts: &Facts) -> bool {
    match nest {
        Nest::Points { .. } => dependences.is_empty(),
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
                    _ => return false,
                }
            }
            phases.iter().zip(inside).all(|(phase, list)| respects(group, phase, list, facts))
        }
        Nest::Loop { forms, tile, role, inner } => {
            let form = |s: Statement| forms.iter().find(|form| form.0 == s).map(|form| &form.1);
            let mut rest = Vec::new();
            for dependence in dependences {
                let (reader, writer) = (form(dependence.reader), form(dependence.writer));
                match carried(group, &dependence, reader, writer, facts) {
                    Carried::Always if role.is_free() => return false,
                    Carried::Always | Carried::Rest(_) if tile.is_some() => rest.push(dependence),
                    Carried::Always => {}
                    Carried::Rest(left) if role.is_free() => {
                        if !stays(group, &dependence, reader, writer, facts) {
                            return false;
                        }
                        rest.push(*left);
                    }
                    Carried::Rest(left) => rest.push(*left),
                    Carried::Never => return false,
                }
            }
            respects(group, inner, rest, facts)
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
