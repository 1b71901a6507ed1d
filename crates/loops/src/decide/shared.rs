//! `share_functions`: a function of the same numbers that several tensors of a group compute is computed once.
//!
//! A sum of exponentials and its gradient need `exp(logit[i, k] - top[i])` three times. Where all that is one group,
//! whose memory is that of a round, the function becomes a tensor of the group, over the points of one that it is
//! computed from. Outside of such groups it would pass through memory, which costs as much as computing it again.
//!
//! Invariant: values stay what they are, to the bit. Only operations that cannot trap and reads that were proved are
//! moved, and only if one place computes them at all points of the new tensor.

use std::collections::BTreeSet;

use einlang_index::{Domain, Facts, Set, Var};
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::region::{Arg, Inst, InstKind, Place, Read, Region, Subscript, Value};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::functions::{is_movable, replaced};
use super::reads_itself_by_data;
use super::work::is_slow;

/// More functions than that of a group stay where they are.
const MOST: usize = 8;

/// Gives functions that several clauses of a group compute tensors of their own.
pub fn share_functions(mut module: Module) -> Module {
    let facts = module.facts();
    let mut names = module.tensor_names();
    for at in 0..module.groups.len() {
        let is_joint = |group: &Group| group.bindings.len() > 1 && group.until.is_none();
        for _ in 0..MOST {
            let group = &module.groups[at];
            if !is_joint(group) || reads_itself_by_data(group) {
                break;
            }
            let group = group.clone();
            let Some(same) = shared(&group, &facts) else { break };
            let Some(changed) = with_shared(&mut module, &mut names, &group, &same) else { break };
            module.groups[at] = changed;
        }
    }
    module
}

/// Where a clause computes a function at all points of a tensor of its group, or at some.
struct Found<'g> {
    binding: usize,
    clause: usize,
    value: Value,
    insts: Vec<&'g Inst>,
    /// The tensor, and the indices that it is read at.
    of: usize,
    at: Vec<Var>,
    /// Where it is computed, over those indices.
    points: Option<Domain>,
}

/// The first function that two clauses of a group compute; where all do, the first of them at all points.
fn shared<'g>(group: &'g Group, facts: &Facts) -> Option<Vec<Found<'g>>> {
    let mut all: Vec<Found<'g>> = Vec::new();
    for (binding, of) in group.bindings.iter().enumerate() {
        for (clause, of) in of.clauses.iter().enumerate().filter(|(_, c)| c.guard.is_none()) {
            let mut looking =
                Looking { group, binding, clause, known: Vec::new(), found: &mut all };
            looking.region(&of.body, &of.domain);
        }
    }
    while let Some(first) = all.pop() {
        let (mut same, rest): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|other| is_same(&first, other));
        same.push(first);
        let everywhere = same.iter().position(|found| is_everywhere(group, found, facts));
        if let Some(everywhere) = everywhere.filter(|_| same.len() > 1) {
            same.swap(0, everywhere);
            return Some(same);
        }
        all = rest;
    }
    None
}

/// Whether a function is computed at all points of the tensor that it is computed from.
fn is_everywhere(group: &Group, found: &Found<'_>, facts: &Facts) -> bool {
    let of = &group.bindings[found.of];
    let [Clause { domain, guard: None, .. }] = &of.clauses[..] else { return false };
    let missing = |points: &Domain| {
        let left = domain.renamed(&found.at).ok()?.subtract(points).ok()?;
        Some(left.always_empty_given(facts.set()).is_true())
    };
    found.points.as_ref().and_then(missing) == Some(true) && !reads_itself(group, found.of)
}

/// Whether a tensor of a group is computed from itself.
fn reads_itself(group: &Group, of: usize) -> bool {
    let (mut seen, mut waiting) = (HashSet::default(), vec![of]);
    while let Some(at) = waiting.pop() {
        for region in
            group.bindings[at].clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body]))
        {
            region.for_each_inst(&mut |inst| {
                for name in inst.tensors() {
                    let read = group.bindings.iter().position(|b| b.name == *name);
                    waiting.extend(read.filter(|read| seen.insert(*read)));
                }
            });
        }
    }
    seen.contains(&of)
}

/// Looks for functions in a clause.
struct Looking<'a, 'g> {
    group: &'g Group,
    binding: usize,
    clause: usize,
    /// How values are computed, where that may be moved.
    known: Vec<(Value, Vec<&'g Inst>)>,
    found: &'a mut Vec<Found<'g>>,
}

impl<'g> Looking<'_, 'g> {
    /// Looks through a region that is computed at some points.
    fn region(&mut self, region: &'g Region, points: &Domain) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Op(..) | InstKind::Read(_) => drop(self.inst(inst, points)),
                InstKind::Reduce(reduction) if reduction.guard.is_none() => {
                    if let Some(points) = product(points, &reduction.domain) {
                        self.region(&reduction.body, &points);
                    }
                }
                // What is under a condition may be computed nowhere.
                _ => {}
            }
        }
    }

    fn inst(&mut self, inst: &'g Inst, points: &Domain) -> Option<()> {
        let value = inst.results.first().and_then(|def| def.as_scalar())?;
        let mut insts: Vec<&Inst> = Vec::new();
        for arg in inst.args() {
            if let Arg::Value(value) = arg {
                let (_, before) = self.known.iter().find(|(known, _)| known == value)?;
                let new: Vec<&Inst> =
                    before.iter().filter(|i| !insts.contains(i)).copied().collect();
                insts.extend(new);
            }
        }
        let slow = matches!(&inst.kind, InstKind::Op(op, _) if is_slow(*op));
        is_movable(inst).then_some(())?;
        insts.push(inst);
        if !slow {
            self.known.push((value, insts));
            return None;
        }
        let (of, at) = self.computed_from(&insts)?;
        let points = points.project(&at).ok();
        let (binding, clause) = (self.binding, self.clause);
        self.found.push(Found { binding, clause, value, insts, of, at, points });
        None
    }

    /// A tensor of the group that is read at all indices that there are, and those.
    fn computed_from(&self, insts: &[&Inst]) -> Option<(usize, Vec<Var>)> {
        let mut longest: Option<(usize, Vec<Var>)> = None;
        let mut all: HashSet<Var> = HashSet::default();
        for inst in insts {
            let InstKind::Read(read) = &inst.kind else { continue };
            let at = vars_of(&read.place.at)?;
            all.extend(&at);
            let of = self.group.bindings.iter().position(|b| b.name == read.place.tensor);
            let known = longest.as_ref().map_or(0, |(_, at)| at.len());
            if let Some(of) = of.filter(|_| at.len() > known) {
                longest = Some((of, at));
            }
        }
        longest.filter(|(_, at)| at.len() == all.len())
    }
}

/// The indices that subscripts are, each once.
fn vars_of(at: &[Subscript]) -> Option<Vec<Var>> {
    let var = |at: &Subscript| match at {
        Subscript::Index(expr) => expr.as_var(),
        _ => None,
    };
    let vars: Vec<Var> = at.iter().map(var).collect::<Option<_>>()?;
    let lone: HashSet<&Var> = vars.iter().collect();
    (lone.len() == vars.len()).then_some(vars)
}

/// The points of both, over the indices of both.
fn product(points: &Domain, more: &Domain) -> Option<Domain> {
    let dims: Vec<Var> = points.dims().iter().chain(more.dims()).copied().collect();
    let mut sets: Vec<Set> = Vec::new();
    for set in points.sets() {
        for other in more.sets() {
            sets.push(set.intersect(other).ok()?);
        }
    }
    Some(Domain::of_sets(dims, sets))
}

/// Whether two functions are the same, of the same tensors at the indices of each.
fn is_same(a: &Found<'_>, b: &Found<'_>) -> bool {
    if (a.of, a.insts.len(), a.value.elem) != (b.of, b.insts.len(), b.value.elem) {
        return false;
    }
    let number = |of: &Found<'_>, value: &Value| {
        let is =
            |inst: &&Inst| inst.results.first().and_then(|def| def.as_scalar()) == Some(*value);
        of.insts.iter().position(is)
    };
    let arg = |x: &Arg, y: &Arg| match (x, y) {
        (Arg::Value(x), Arg::Value(y)) => number(a, x).is_some() && number(a, x) == number(b, y),
        (x, y) => x == y,
    };
    let index = |x: &Subscript, y: &Subscript| match (x, y) {
        (Subscript::Index(x), Subscript::Index(y)) => {
            let place = |of: &Found<'_>, var| of.at.iter().position(|at| Some(*at) == var);
            place(a, x.as_var()) == place(b, y.as_var())
        }
        _ => false,
    };
    a.insts.iter().zip(&b.insts).all(|(x, y)| match (&x.kind, &y.kind) {
        (InstKind::Op(x, of_x), InstKind::Op(y, of_y)) => {
            x == y && of_x.len() == of_y.len() && of_x.iter().zip(of_y).all(|(x, y)| arg(x, y))
        }
        (InstKind::Read(x), InstKind::Read(y)) => {
            let (x, y) = (&x.place, &y.place);
            x.tensor == y.tensor
                && x.at.len() == y.at.len()
                && x.at.iter().zip(&y.at).all(|(x, y)| index(x, y))
        }
        _ => false,
    })
}

/// A group with a tensor for what the first of some places computes, which all of them read.
fn with_shared(
    module: &mut Module,
    names: &mut BTreeSet<Ident>,
    group: &Group,
    same: &[Found<'_>],
) -> Option<Group> {
    let first = same.first()?;
    let of = &group.bindings[first.of];
    let clause = of.clauses.first()?;
    let body = Region {
        insts: first.insts.iter().map(|inst| (*inst).clone()).collect(),
        ..Region::yielding([Arg::Value(first.value)])
    };
    let mut fresh = Fresh::new(module, names);
    for (var, by) in first.at.iter().zip(of.dims()) {
        fresh.replace_var(*var, by);
    }
    let body = fresh.copy(&body).ok()?;
    let made = Binding {
        name: Ident::new(&format!("{}.of", of.name.as_str())),
        elem: first.value.elem,
        clauses: vec![Clause { body, ..clause.clone() }],
        ..of.clone()
    };
    let made = Group { bindings: vec![made], until: None };
    let made = Fresh::new(module, names).copy_group(&made).ok()?.bindings.pop()?;
    let mut changed = group.clone();
    for found in same {
        let at = found.at.iter().map(|var| Subscript::Index((*var).into())).collect();
        let place = Place { tensor: made.name.clone(), at };
        let read = InstKind::Read(Read { place, default: None, proved: true });
        let body =
            &mut changed.bindings.get_mut(found.binding)?.clauses.get_mut(found.clause)?.body;
        replaced(body, found.value, &read).then_some(())?;
    }
    let before = same.iter().map(|found| found.binding).min()?;
    changed.bindings.insert(before, made);
    Some(changed)
}
