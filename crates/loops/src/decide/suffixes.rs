//! `run_suffixes`: what is reduced from each point on becomes a recurrence that goes back.
//!
//! `y[i] = f(sum[j in i..N](x[j]))` adds up the same terms again for every point. So the sums become a tensor of
//! their own, each from the one after it: `s[j] = (s[j + 1] else 0) + x[j]`, and `y` reads that. Adjoints of sums
//! over prefixes are such sums.
//!
//! Invariant: the terms are those of before, each computed once, and the last one is combined first. That changes
//! the rounding of sums and products of floats and nothing else: an extreme passes over NaN in either order, for it
//! starts with an infinity.

use std::collections::BTreeSet;

use einlang_index::{Affine, Domain, Quasi, Set, Var};
use einlang_tir::constant::Const;
use einlang_tir::free::Free;
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module, box_of};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::types::{Dim, Ident};

/// A reduction over a suffix, in a clause of a group.
struct Suffix {
    binding: usize,
    clause: usize,
    inst: usize,
    /// The axis of the point at which the terms begin, or after which they do.
    axis: usize,
    first: i64,
    /// Where they end.
    end: Affine,
    op: Op,
    start: Const,
}

/// Makes recurrences of reductions over suffixes.
pub fn run_suffixes(mut module: Module) -> Module {
    let mut names = None;
    let mut at = 0;
    while at < module.groups.len() {
        while let Some(suffix) = find(&module, &module.groups[at]) {
            let names = names.get_or_insert_with(|| module.tensor_names());
            let Some(made) = moved(&mut module, names, at, &suffix) else { break };
            module.groups.insert(at, made);
            at += 1;
        }
        at += 1;
    }
    module
}

/// A reduction over a suffix that every point of some clause computes.
fn find(module: &Module, group: &Group) -> Option<Suffix> {
    if group.until.is_some() {
        return None;
    }
    let own: BTreeSet<&Ident> = group.bindings.iter().map(|binding| &binding.name).collect();
    for (at, binding) in group.bindings.iter().enumerate() {
        for (clause, c) in binding.clauses.iter().enumerate().filter(|(_, c)| c.guard.is_none()) {
            for (inst, i) in c.body.insts.iter().enumerate() {
                let InstKind::Reduce(reduction) = &i.kind else { continue };
                let place = (at, clause, inst);
                if let Some(suffix) = suffix_of(binding, &own, i, reduction, place)
                    && terms(binding, c, reduction, &suffix)
                        .is_some_and(|(axes, domain)| is_whole(module, &axes, &domain))
                {
                    return Some(suffix);
                }
            }
        }
    }
    None
}

/// The reduction as one over a suffix, if it is one whose terms are the same for all points.
fn suffix_of(
    binding: &Binding,
    own: &BTreeSet<&Ident>,
    inst: &Inst,
    reduction: &Reduction,
    (at, clause, number): (usize, usize, usize),
) -> Option<Suffix> {
    let ([Def::Scalar(total)], [index]) = (&inst.results[..], reduction.domain.dims()) else {
        return None;
    };
    let (Combiner::Op(op), Start::Identity(start), None) =
        (&reduction.combine, &reduction.start, &reduction.guard)
    else {
        return None;
    };
    let ([Arg::Const(start)], [set]) = (&start[..], reduction.domain.sets()) else { return None };
    let is_order_free = matches!(op, Op::Add | Op::Mul | Op::Max | Op::Min | Op::And | Op::Or);
    // Numbers of few bits may be summed with more of them.
    if !is_order_free || (total.elem.is_float() && total.elem.bits() < 32) {
        return None;
    }
    let free = Free::of_region(&reduction.body);
    let (point, first, end) = ends(set, *index)?;
    let dims = binding.dims();
    let axis = dims.iter().position(|dim| *dim == point)?;
    let is_same = free.values.is_empty()
        && !free.vars.contains(&point)
        && !free.tensors.iter().any(|tensor| own.contains(tensor))
        && !dims.iter().any(|dim| end.coeff(*dim) != 0);
    is_same.then_some(Suffix {
        binding: at,
        clause,
        inst: number,
        axis,
        first,
        end,
        op: *op,
        start: *start,
    })
}

/// The point at which or after which the values of an index begin, and where they end.
fn ends(set: &Set, index: Var) -> Option<(Var, i64, Affine)> {
    let [a, b] = set.ges() else { return None };
    if !set.eqs().is_empty() || !set.mods().is_empty() {
        return None;
    }
    let (low, high) = if a.coeff(index) == 1 { (a, b) } else { (b, a) };
    if (low.coeff(index), high.coeff(index)) != (1, -1) {
        return None;
    }
    let begin = low.without(index);
    let [(point, -1)] = begin.terms()[..] else { return None };
    let first = -begin.constant_part();
    let end = high.without(index).add_constant(1).ok()?;
    ((0..=1).contains(&first)).then_some((point, first, end))
}

/// The axes of the sums, and the points at which they are wanted.
fn terms(
    binding: &Binding,
    clause: &Clause,
    reduction: &Reduction,
    suffix: &Suffix,
) -> Option<(Vec<Axis>, Domain)> {
    let index = *reduction.domain.dims().first()?;
    let free = Free::of_region(&reduction.body);
    let mut axes = Vec::with_capacity(binding.axes.len());
    for (at, axis) in binding.axes.iter().enumerate() {
        match at == suffix.axis {
            true => axes.push(Axis { var: index, dim: Dim::from(Quasi::from(suffix.end.clone())) }),
            false if free.vars.contains(&axis.var) => axes.push(axis.clone()),
            false => {}
        }
    }
    let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
    let dims: Vec<Var> = binding.dims().into_iter().chain([index]).collect();
    let of = Domain::of_sets(dims, clause.domain.sets().iter().cloned());
    let of = of.restricted(reduction.domain.sets().first()?).ok()?;
    Some((axes, of.project(&vars).ok()?.simplified()))
}

/// Whether a domain has all points of a box.
fn is_whole(module: &Module, axes: &[Axis], domain: &Domain) -> bool {
    let rest = box_of(axes).and_then(|whole| whole.subtract(domain));
    rest.is_ok_and(|rest| rest.always_empty_given(module.facts().set()).is_true())
}

/// Moves the sums into a group of their own, before the one that reads them.
fn moved(
    module: &mut Module,
    names: &mut BTreeSet<Ident>,
    at: usize,
    suffix: &Suffix,
) -> Option<Group> {
    let binding = module.groups[at].bindings[suffix.binding].clone();
    let clause = &binding.clauses[suffix.clause];
    let Inst { kind: InstKind::Reduce(reduction), results, loc } = &clause.body.insts[suffix.inst]
    else {
        return None;
    };
    let [Def::Scalar(total)] = results[..] else { return None };
    let (axes, domain) = terms(&binding, clause, reduction, suffix)?;
    let index = *reduction.domain.dims().first()?;
    let name = Ident::new(&format!("{}.suffix", binding.name.as_str()));
    let start = Region::yielding([suffix.start.into()]);
    let place = |tensor: &Ident, at: &Quasi| Place {
        tensor: tensor.clone(),
        at: axes
            .iter()
            .map(|axis| match axis.var == index {
                true => Subscript::Index(at.clone()),
                false => Subscript::Index(axis.var.into()),
            })
            .collect(),
    };
    let next = place(&name, &Quasi::from(index).add_constant(1).ok()?);
    let read = Read { place: next, default: Some(start.clone()), proved: true };
    let (after, sum) = (module.supply.value(total.elem), module.supply.value(total.elem));
    let [own] = &reduction.body.results[..] else { return None };
    let inst = |value, kind| Inst { results: vec![Def::Scalar(value)], kind, loc: *loc };
    let mut insts = vec![inst(after, InstKind::Read(read))];
    insts.extend(reduction.body.insts.iter().cloned());
    insts.push(inst(sum, InstKind::Op(suffix.op, vec![after.into(), own.clone()])));
    let body = Region { params: Vec::new(), insts, results: vec![sum.into()] };
    let clauses = vec![Clause { domain: domain.into(), guard: None, body, loc: clause.loc }];
    let made = Binding {
        name,
        elem: total.elem,
        axes: axes.clone(),
        clauses,
        zero_fill: false,
        loc: binding.loc,
    };
    let made = Group { bindings: vec![made], until: None };
    let made = Fresh::new(module, names).copy_group(&made).ok()?;
    let point = Quasi::from(*binding.dims().get(suffix.axis)?).add_constant(suffix.first).ok()?;
    // A sum without terms is not among them.
    let place = place(&made.bindings.first()?.name, &point);
    let read = Read { place, default: Some(start), proved: true };
    let own = &mut module.groups[at].bindings[suffix.binding].clauses[suffix.clause];
    own.body.insts[suffix.inst].kind = InstKind::Read(read);
    Some(made)
}
