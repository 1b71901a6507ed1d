//! `run_extremes`: the extremum of a whole recurrence is kept up to date while it runs.
//!
//! `max[i, j](h[i, j])` over a recurrence `h` would keep all of `h` until the end. It becomes a recurrence
//! beside `h`, `r[i, j] = max(r[i, j - 1], h[i, j])`, and the extremum of its last plane: the recurrence then
//! keeps a window, and a grid may run by its diagonals. It goes along the axis of the innermost loop, and every
//! other index stays free: what runs in lanes has an extremum in each of them.
//!
//! Invariant: every value stays what it was, to the bit but for the sign of zeros, for nothing but the order
//! of terms changes and an extremum does not depend on that. If the recurrence would not get a window, the
//! module stays as it is.

use einlang_index::{Affine, Constraint, Domain, Facts, Quasi, Set, Var, VarKind};
use einlang_tir::module::{Axis, Binding, Clause, Module};
use einlang_tir::op::Op;
use einlang_tir::order::{Form, Statement, dependences};
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::at_reads::kept;
use super::fuse::statements;
use super::strips::run_diagonals;
use super::windows::Observers;
use super::work::Works;
use super::{Deciding, reads_itself_by_data};
use crate::schedule::{Layout, Nest, Schedule};

/// Computes extrema of recurrences along with them.
pub fn run_extremes(mut module: Module) -> Module {
    let kept = kept(&module);
    let names: Vec<Ident> = module.bindings().map(|binding| binding.name.clone()).collect();
    for name in names.iter().filter(|name| !kept.contains(*name)) {
        let Some(site) = found(&module, name) else { continue };
        if let Some(made) = site.along.iter().find_map(|along| with_running(&module, &site, along))
        {
            module = made;
        }
    }
    module
}

/// An axis, its first and its last plane, both inclusive.
struct Planes {
    axis: usize,
    first: Affine,
    last: Affine,
}

/// The only thing outside of its group that reads a recurrence.
struct Site {
    /// The group of the recurrence, and its binding there.
    group: usize,
    binding: usize,
    /// The group, binding, clause and instruction of the extremum.
    reader: (usize, usize, usize, usize),
    /// The axes along which it may be kept up to date, the best first.
    along: Vec<Planes>,
}

/// The extremum over a recurrence, if nothing else reads that.
fn found(module: &Module, name: &Ident) -> Option<Site> {
    let has = |binding: &Binding| binding.name == *name;
    let group = module.groups.iter().position(|group| group.bindings.iter().any(has))?;
    let own = &module.groups[group];
    let binding = own.bindings.iter().position(has)?;
    let mut readers = Vec::new();
    let mut n_reads = 0;
    for (at, other) in module.groups.iter().enumerate().filter(|(at, _)| *at != group) {
        for region in other.regions() {
            region.for_each_inst(&mut |inst| {
                n_reads += usize::from(inst.tensors().into_iter().any(|read| read == name));
            });
        }
        for (b, binding) in other.bindings.iter().enumerate() {
            for (c, clause) in binding.clauses.iter().enumerate() {
                let insts = clause.body.insts.iter().enumerate();
                let whole = insts.filter(|(_, inst)| extremum_of(inst, name).is_some());
                readers.extend(whole.map(|(inst, _)| (at, b, c, inst)));
            }
        }
    }
    let ([reader], 1) = (&readers[..], n_reads) else { return None };
    let plain = own.until.is_none() && !reads_itself_by_data(own) && module.is_recurrent(name);
    let inst = &module.groups[reader.0].bindings[reader.1].clauses[reader.2].body.insts[reader.3];
    let reduction = extremum_of(inst, name).filter(|_| plain)?;
    let (axes, facts) = (axes_of_loops(module, group, binding)?, module.facts());
    let along =
        axes.into_iter().filter_map(|axis| planes(&facts, &own.bindings[binding], reduction, axis));
    Some(Site { group, binding, reader: *reader, along: along.collect() })
}

/// The axes along which the loops around some clause of a tensor go upwards, innermost first.
fn axes_of_loops(module: &Module, group: usize, binding: usize) -> Option<Vec<usize>> {
    let deciding = Deciding { module, facts: module.facts(), observers: None };
    let nest = deciding.alone(&module.groups[group]).ok()?.nest;
    let clauses = statements(&nest).into_iter().filter(|statement| statement.binding == binding);
    let around = clauses.filter_map(|statement| loops_around(&nest, statement));
    let axis = |form: Form| {
        let mut moved = form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
        moved.next().filter(|(_, c)| moved.next().is_none() && **c == 1).map(|(axis, _)| axis)
    };
    Some(around.max_by_key(Vec::len)?.into_iter().filter_map(axis).collect())
}

/// The forms of a clause in the loops around it, innermost first.
fn loops_around(nest: &Nest, of: Statement) -> Option<Vec<Form>> {
    match nest {
        Nest::Points { statement, .. } => (*statement == of).then(Vec::new),
        Nest::Phases(phases) => phases.iter().find_map(|phase| loops_around(phase, of)),
        Nest::Loop { forms, inner, .. } => {
            let mut found = loops_around(inner, of)?;
            found.push(forms.iter().find(|(statement, _)| *statement == of)?.1.clone());
            Some(found)
        }
    }
}

/// The extremum of a tensor over some of its points, each read at its place.
fn extremum_of<'i>(inst: &'i Inst, name: &Ident) -> Option<&'i Reduction> {
    let InstKind::Reduce(reduction) = &inst.kind else { return None };
    let Combiner::Op(Op::Min | Op::Max) = reduction.combine else { return None };
    let ([Inst { kind: InstKind::Read(read), results, .. }], [Arg::Value(term)]) =
        (&reduction.body.insts[..], &reduction.body.results[..])
    else {
        return None;
    };
    let dims = reduction.domain.dims();
    let at = |(at, var): (&Subscript, &Var)| matches!(at, Subscript::Index(at) if at.as_var() == Some(*var));
    let whole = read.place.at.len() == dims.len() && read.place.at.iter().zip(dims).all(at);
    let is_term = matches!(results[..], [Def::Scalar(value)] if value == *term);
    let flags = reduction.flags;
    let free = flags.idempotent && flags.commutative && flags.reassociable;
    let plain = read.place.tensor == *name && read.proved && read.default.is_none();
    let starts = matches!(reduction.start, Start::Identity(_)) && reduction.guard.is_none();
    (whole && is_term && free && plain && starts).then_some(reduction)
}

/// The first and the last plane of the points of an extremum, if every other index has the same values in
/// all of them, there is at least one, and they are known when the recurrence runs.
fn planes(facts: &Facts, binding: &Binding, reduction: &Reduction, axis: usize) -> Option<Planes> {
    let ([set], dims) = (reduction.domain.sets(), reduction.domain.dims()) else { return None };
    let (number, axis) = (axis, *dims.get(axis)?);
    let mut known: HashSet<Var> = HashSet::default();
    for at in &binding.axes {
        at.dim.extent.for_each_var(&mut |var| {
            known.insert(var);
        });
    }
    let symbols = binding.clauses.iter().flat_map(|clause| clause.domain.params());
    known.extend(symbols.filter(|var| var.kind() == VarKind::Symbol));
    if !set.vars().iter().all(|var| known.contains(var) || dims.contains(var)) {
        return None;
    }
    let (mut first, mut last) = (None, None);
    for constraint in set.constraints().filter(|c| c.expr().mentions(axis)) {
        let Constraint::Ge(expr) = &constraint else { return None };
        let rest = expr.without(axis);
        let bound = match expr.coeff(axis) {
            1 => first.replace(rest.neg().ok()?),
            -1 => last.replace(rest.clone()),
            _ => return None,
        };
        if bound.is_some() || dims.iter().any(|var| rest.mentions(*var)) {
            return None;
        }
    }
    let (first, last) = (first?, last?);
    let some = Quasi::from(last.sub(&first).ok()?);
    let nonempty = facts.prove(&Domain::everything([]), &some).is_true();
    nonempty.then_some(Planes { axis: number, first, last })
}

/// The module with the extremum as a recurrence along an axis, if the tensor and that get windows.
fn with_running(module: &Module, site: &Site, along: &Planes) -> Option<Module> {
    let mut made = module.clone();
    let tensor = module.groups[site.group].bindings[site.binding].clone();
    let (g, b, c, i) = site.reader;
    let inst = &mut made.groups[g].bindings[b].clauses[c].body.insts[i];
    let InstKind::Reduce(reduction) = inst.kind.clone() else { return None };
    let running = running(&mut made, &tensor, &reduction, along)?;
    let last = last_plane(&reduction, &running.name, along)?;
    made.groups[g].bindings[b].clauses[c].body.insts[i].kind = last;
    let names = [tensor.name, running.name.clone()];
    made.groups[site.group].bindings.push(running);
    let group = &made.groups[site.group];
    let (observers, facts) = (Some(Observers::of(&made)), made.facts());
    let deciding = Deciding { module: &made, facts, observers };
    let decided = deciding.alone(group).ok()?;
    let windowed = |layouts: &[Layout]| layouts.iter().any(|l| matches!(l, Layout::Mod(_)));
    let mut both = decided.tensors.iter().filter(|tensor| names.contains(&tensor.name));
    let diagonals = || {
        let works = Works::new(&made, &Schedule::default());
        let (observers, dependences) = (Observers::of(&made), dependences(&made, group));
        run_diagonals(&made, group, &decided, &works, &observers, &dependences).is_some()
    };
    (both.all(|tensor| windowed(&tensor.storage)) || diagonals()).then_some(made)
}

/// What is extremal among the planes so far, at each point of a plane.
fn running(
    module: &mut Module,
    tensor: &Binding,
    reduction: &Reduction,
    Planes { axis: number, first, .. }: &Planes,
) -> Option<Binding> {
    let Combiner::Op(op) = reduction.combine else { return None };
    let mut name = Ident::new(&format!("{}.{}", tensor.name.as_str(), op.name()));
    let names = module.tensor_names();
    while names.contains(&name) {
        name = Ident::new(&format!("{}'", name.as_str()));
    }
    let axis = |axis: &Axis| Axis { var: module.vars.fresh_like(axis.var), dim: axis.dim.clone() };
    let axes: Vec<Axis> = tensor.axes.iter().map(axis).collect();
    let dims: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
    let points = reduction.domain.renamed(&dims).ok()?;
    let plane = Affine::var(*dims.get(*number)?);
    let begin = Set::new([Constraint::Eq(plane.sub(first).ok()?)]).ok()?;
    let later = Set::new([Constraint::lt(first, &plane).ok()?]).ok()?;
    let (begin, later) = (points.restricted(&begin).ok()?, points.restricted(&later).ok()?);
    let here: Vec<Subscript> = dims.iter().map(|var| Subscript::Index((*var).into())).collect();
    let mut before = here.clone();
    before[*number] = Subscript::Index(Quasi::from(plane).add_constant(-1).ok()?);
    let mut clause = |domain: Domain, first: bool| {
        let mut body = Region::default();
        let mut push = |kind: InstKind| {
            let value = module.supply.value(tensor.elem);
            body.insts.push(Inst { results: vec![Def::Scalar(value)], kind, loc: tensor.loc });
            Arg::Value(value)
        };
        let mut result = push(read(&tensor.name, here.clone()));
        if !first {
            let so_far = push(read(&name, before.clone()));
            result = push(InstKind::Op(op, vec![so_far, result]));
        }
        body.results = vec![result];
        Clause { domain: domain.simplified().into(), guard: None, body, loc: tensor.loc }
    };
    let mut clauses = vec![clause(begin, true)];
    clauses.extend(parts(tensor, &later, &dims)?.into_iter().map(|part| clause(part, false)));
    Some(Binding { name, elem: tensor.elem, axes, clauses, zero_fill: false, loc: tensor.loc })
}

/// The points of each clause of a tensor, so that what is computed together can be read together.
fn parts(tensor: &Binding, points: &Domain, dims: &[Var]) -> Option<Vec<Domain>> {
    let (mut rest, mut parts) = (points.clone(), Vec::new());
    for clause in &tensor.clauses {
        let own = clause.domain.renamed(dims).ok()?;
        let part = points.intersect(&own).ok()?;
        rest = rest.subtract(&own).ok()?;
        if !part.is_empty().is_true() {
            parts.push(part);
        }
    }
    let whole = rest.is_empty().is_true() && tensor.clauses.iter().all(|c| c.guard.is_none());
    Some(if whole { parts } else { vec![points.clone()] })
}

/// The extremum of the last plane.
fn last_plane(reduction: &Reduction, name: &Ident, along: &Planes) -> Option<InstKind> {
    let ([set], dims) = (reduction.domain.sets(), reduction.domain.dims()) else { return None };
    let axis = *dims.get(along.axis)?;
    let place = |var: &Var| match *var == axis {
        true => Quasi::from(along.last.clone()),
        false => Quasi::from(*var),
    };
    let kind = read(name, dims.iter().map(|var| Subscript::Index(place(var))).collect());
    let others: Vec<Var> = dims.iter().copied().filter(|var| *var != axis).collect();
    if others.is_empty() {
        return Some(kind);
    }
    let left = Set::new(set.constraints().filter(|c| !c.expr().mentions(axis))).ok()?;
    let mut reduction = reduction.clone();
    reduction.domain = Domain::new(others, left).into();
    reduction.body.insts.first_mut()?.kind = kind;
    Some(InstKind::Reduce(Box::new(reduction)))
}

fn read(tensor: &Ident, at: Vec<Subscript>) -> InstKind {
    let place = Place { tensor: tensor.clone(), at };
    InstKind::Read(Read { place, default: None, proved: true })
}
