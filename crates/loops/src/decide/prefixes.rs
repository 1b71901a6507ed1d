//! `run_prefixes`: what is reduced up to each point, with axes behind that one, becomes a recurrence.
//!
//! `y[i, k] = sum[j in 0..=i](x[j, k])` computes each sum from the one before it. Along the innermost axis a fold
//! goes on where the round before ended; here the loops over `k` are inside, so the state has to be a tensor,
//! which `y` is already: `y[i, k] = (y[i - 1, k] else 0) + x[i, k]`.
//!
//! Invariant: the terms of every point are combined as before, from the first to the last.

use einlang_index::{Domain, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::free::Free;
use einlang_tir::module::{Clause, Group, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, Inst, InstKind, Over, Place, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::substitute::Substitution;

/// A prefix along an axis of a binding.
struct Prefix {
    axis: usize,
    /// 0 if the last term is that of the point itself, -1 if it is the one before.
    last: i64,
    op: Op,
    start: Const,
    reduction: Reduction,
}

/// Makes recurrences of reductions over prefixes.
pub fn run_prefixes(mut module: Module) -> Module {
    for at in 0..module.groups.len() {
        if let Some(prefix) = found(&module.groups[at])
            && let Some(clauses) = recurrence(&mut module, at, prefix)
        {
            module.groups[at].bindings[0].clauses = clauses;
        }
    }
    module
}

/// The prefix that a group is, if it is one.
fn found(group: &Group) -> Option<Prefix> {
    let ([binding], None) = (&group.bindings[..], &group.until) else { return None };
    let [Clause { domain, guard: None, body, .. }] = &binding.clauses[..] else { return None };
    let ([inst], [Arg::Value(result)]) = (&body.insts[..], &body.results[..]) else { return None };
    let (InstKind::Reduce(reduction), [Def::Scalar(total)]) = (&inst.kind, &inst.results[..])
    else {
        return None;
    };
    let (Combiner::Op(op), Start::Identity(start), None) =
        (&reduction.combine, &reduction.start, &reduction.guard)
    else {
        return None;
    };
    let ([Arg::Const(start)], [index], true) =
        (&start[..], reduction.domain.dims(), total == result && !binding.zero_fill)
    else {
        return None;
    };
    // Numbers of few bits may be summed with more of them.
    if binding.elem.is_float() && binding.elem.bits() < 32 {
        return None;
    }
    let inner = binding.axes.iter().rev();
    let n_single = inner.take_while(|axis| axis.dim.extent.as_constant() == Some(1)).count();
    let free = Free::of_region(&reduction.body);
    let n_outer = binding.axes.len().saturating_sub(n_single + 1);
    for (axis, var) in binding.dims().into_iter().enumerate().take(n_outer) {
        let is_fixed = !free.vars.contains(&var) && !free.tensors.contains(&binding.name);
        if let Some(last) = is_fixed.then(|| last_term(&reduction.domain, *index, var)).flatten()
            && is_whole(domain, var)
        {
            let (op, start, reduction) = (*op, *start, (**reduction).clone());
            return Some(Prefix { axis, last, op, start, reduction });
        }
    }
    None
}

/// Where the terms of a point end, if they begin at 0.
fn last_term(domain: &Domain, index: Var, point: Var) -> Option<i64> {
    [0, -1].into_iter().find(|last| {
        let end = Quasi::from(point).add_constant(*last).and_then(|end| end.sub(&index.into()));
        let prefix =
            end.and_then(|end| Domain::where_nonnegative(vec![index], &[index.into(), end]));
        prefix.is_ok_and(|prefix| domain.is_same(&prefix).is_true())
    })
}

/// Whether a domain has all points of an axis from 0 on, whatever those of the others are.
fn is_whole(domain: &Domain, var: Var) -> bool {
    let [set] = domain.sets() else { return false };
    let others = domain.dims().iter().filter(|other| **other != var);
    let others: Vec<Var> = others.copied().collect();
    let mut constraints = set.constraints().filter(|constraint| constraint.expr().coeff(var) != 0);
    set.eqs().is_empty()
        && set.mods().is_empty()
        && constraints.all(|constraint| {
            let expr = constraint.expr();
            let alone = others.iter().all(|other| expr.coeff(*other) == 0);
            let begins =
                expr.coeff(var) == 1 && expr.terms().len() == 1 && expr.constant_part() == 0;
            alone && (expr.coeff(var) == -1 || begins)
        })
}

/// The clauses of the recurrence.
fn recurrence(module: &mut Module, at: usize, prefix: Prefix) -> Option<Vec<Clause>> {
    let binding = &module.groups[at].bindings[0];
    let (name, elem, dims) = (binding.name.clone(), binding.elem, binding.dims());
    let Clause { domain, loc, .. } = binding.clauses[0].clone();
    let point = dims[prefix.axis];
    let mut term = prefix.reduction.body;
    let mut later = Substitution::default();
    let index = *prefix.reduction.domain.dims().first()?;
    later.vars.insert(index, Quasi::from(point).add_constant(prefix.last).ok()?);
    later.region(&mut term).ok()?;
    let mut place: Vec<Subscript> =
        dims.iter().map(|dim| Subscript::Index((*dim).into())).collect();
    place[prefix.axis] = Subscript::Index(Quasi::from(point).add_constant(-1).ok()?);
    let start = Region::yielding([prefix.start.into()]);
    let first = (prefix.last == -1).then(|| start.clone());
    let default = first.is_none().then_some(start);
    let read = Read { place: Place { tensor: name, at: place }, default, proved: true };
    let (before, result) = (module.supply.value(elem), module.supply.value(elem));
    let [own] = &term.results[..] else { return None };
    let both = vec![before.into(), own.clone()];
    let mut insts =
        vec![Inst { results: vec![Def::Scalar(before)], kind: InstKind::Read(read), loc }];
    insts.append(&mut term.insts);
    let (results, kind) = (vec![Def::Scalar(result)], InstKind::Op(prefix.op, both));
    insts.push(Inst { results, kind, loc });
    let body = Region { params: Vec::new(), insts, results: vec![result.into()] };
    let Some(first) = first else {
        return Some(vec![Clause { domain, guard: None, body, loc }]);
    };
    let within = |expr: Quasi| {
        let part = Domain::where_nonnegative(domain.dims().to_vec(), &[expr]).ok()?;
        domain.intersect(&part).ok().map(Over)
    };
    let begins = within(Quasi::from(point).neg().ok()?)?;
    let goes_on = within(Quasi::from(point).add_constant(-1).ok()?)?;
    Some(vec![
        Clause { domain: begins, guard: None, body: first, loc },
        Clause { domain: goes_on, guard: None, body, loc },
    ])
}
