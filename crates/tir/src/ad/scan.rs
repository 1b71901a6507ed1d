//! Reductions by a product or by an operator of the user's, as recurrences.
//!
//! `s[p, r] = f(s[p, r - 1], term(p, r))` has the states on the way as points, so the derivative
//! of a reduction by any operator is that of a recurrence, with zeros in a product no exception.

use einlang_index::{Affine, Domain, Quasi, Var};

use super::context::{Ad, zero};
use super::fault::{Fault, R};
use super::lift::extended;
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::module::{Axis, Binding, Clause};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript, Value,
};
use crate::types::{Elem, Ident, Loc};

/// What a reduction stands in.
pub(super) struct Surroundings {
    pub(super) axes: Vec<Axis>,
    pub(super) domain: Domain,
    pub(super) base: Ident,
}

/// The parts of a scan.
struct Scan<'a> {
    reduction: &'a Reduction,
    states: Vec<Value>,
    names: Vec<Ident>,
    around: &'a Surroundings,
    var: Var,
    before: &'a [Inst],
    loc: Loc,
}

impl Ad<'_> {
    /// The states of a reduction as bindings, and the instructions that take the last ones.
    pub(super) fn scanned(
        &mut self,
        inst: &Inst,
        around: &Surroundings,
        before: &[Inst],
    ) -> R<(Vec<Binding>, Vec<Inst>)> {
        let loc = inst.loc;
        let InstKind::Reduce(reduction) = &inst.kind else { return Ok((Vec::new(), Vec::new())) };
        let mut reduction = (**reduction).clone();
        self.inline_exports(&mut reduction.guard, &mut reduction.body)?;
        let states: Option<Vec<Value>> = inst.results.iter().map(Def::as_scalar).collect();
        let states = states.ok_or_else(|| Fault::unsupported("a reduction to tensors", loc))?;
        let [var] = reduction.domain.dims()[..] else {
            if let Start::Init(init) = reduction.start.clone() {
                let insts = self.with_presence(inst, reduction, init, &states)?;
                return Ok((Vec::new(), insts));
            }
            return self.nested_scan(inst, reduction, &states);
        };
        let is_local = |var: &einlang_index::Var| {
            self.module.source(*var).is_some() && !self.is_global(&(*var).into())
        };
        if reduction.domain.params().iter().any(is_local) {
            return Err(Fault::unsupported("a range that is computed at each point", loc));
        }
        let guarded_first = reduction.start == Start::First && reduction.guard.is_some();
        let strided = reduction.domain.sets().len() != 1
            || reduction.domain.sets().iter().any(|set| !set.mods().is_empty());
        if guarded_first || strided {
            return Err(Fault::unsupported("a reduction by this operator over gaps", loc));
        }
        let base = format!("{}.scan", around.base.as_str());
        let names = states.iter().map(|_| self.fresh_name(&base)).collect();
        let scan = Scan { reduction: &reduction, states, names, around, var, before, loc };
        let made = self.scan_bindings(&scan)?;
        let insts = self.last_states(inst, &scan)?;
        Ok((made, insts))
    }

    /// Over several indices: over the first, of what the others give.
    fn nested_scan(
        &mut self,
        inst: &Inst,
        mut outer: Reduction,
        states: &[Value],
    ) -> R<(Vec<Binding>, Vec<Inst>)> {
        if !matches!(outer.start, Start::Identity(_)) {
            let what = "a reduction by this operator over several indices";
            return Err(Fault::unsupported(what, inst.loc));
        }
        let dims = outer.domain.dims().to_vec();
        let inner_domain = Domain::of_sets(&dims[1..], outer.domain.sets().iter().cloned());
        let first = outer.domain.project(&dims[..1])?;
        let combine = match &outer.combine {
            Combiner::Op(op) => Combiner::Op(*op),
            Combiner::Region(region) => Combiner::Region(self.copy(region)?),
        };
        let inner = Reduction {
            domain: inner_domain.into(),
            guard: outer.guard.take(),
            body: std::mem::take(&mut outer.body),
            combine,
            ..outer.clone()
        };
        let values: Vec<Value> =
            states.iter().map(|state| self.module.supply.value(state.elem)).collect();
        let results = values.iter().map(|value| Def::Scalar(*value)).collect();
        let inner = Inst { results, kind: InstKind::Reduce(Box::new(inner)), loc: inst.loc };
        let results = values.into_iter().map(Arg::from).collect();
        outer.domain = first.into();
        outer.body = Region { params: Vec::new(), insts: vec![inner], results };
        let kind = InstKind::Reduce(Box::new(outer));
        Ok((Vec::new(), vec![Inst { kind, ..inst.clone() }]))
    }

    fn scan_bindings(&mut self, scan: &Scan<'_>) -> R<Vec<Binding>> {
        let whole = extended(&scan.around.domain, &scan.reduction.domain)?;
        let earlier = shifted(&whole, scan.var, -1)?;
        let later = whole.intersect(&earlier)?;
        let first = whole.subtract(&earlier)?;
        let mut axes = scan.around.axes.clone();
        let extent = self.extent_of(&whole, scan.var, scan.loc)?;
        axes.push(Axis { var: scan.var, dim: extent.into() });
        let mut made = Vec::with_capacity(scan.states.len());
        for (at, state) in scan.states.iter().enumerate() {
            let mut clauses = Vec::new();
            for (domain, is_first) in [(&first, true), (&later, false)] {
                let body = self.scan_body(scan, at, is_first)?;
                let domain = domain.clone().into();
                clauses.push(Clause { domain, guard: None, body, loc: scan.loc });
            }
            let (name, elem) = (scan.names[at].clone(), state.elem);
            let axes = axes.clone();
            made.push(Binding { name, elem, axes, clauses, zero_fill: false, loc: scan.loc });
        }
        Ok(made)
    }

    /// One step: the state before, combined with the term.
    fn scan_body(&mut self, scan: &Scan<'_>, at: usize, is_first: bool) -> R<Region> {
        let reduction = scan.reduction;
        let mut insts = scan.before.to_vec();
        let mut left: Vec<Arg> = Vec::new();
        match (&reduction.start, is_first) {
            (Start::Identity(args) | Start::Init(args), true) => left.extend(args.iter().cloned()),
            (Start::First, true) => {}
            (_, false) => {
                for (name, state) in scan.names.iter().zip(&scan.states) {
                    let mut subscripts: Vec<Subscript> =
                        scan.around.axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
                    subscripts.push(Subscript::Index(Quasi::from(scan.var).add_constant(-1)?));
                    left.push(self.read(&mut insts, name, subscripts, state.elem, true));
                }
            }
        }
        let term = self.copy(&reduction.body)?;
        let (mut step, right) = (term.insts, term.results);
        let next = match (&reduction.combine, left.is_empty()) {
            (_, true) => right[at].clone(),
            (Combiner::Op(op), false) => {
                let args = vec![left[0].clone(), right[0].clone()];
                self.op(&mut step, *op, args, scan.states[at].elem)
            }
            (Combiner::Region(combine), false) => {
                let args: Vec<Arg> = left.iter().chain(&right).cloned().collect();
                let region = Fresh::new(self.module, &mut self.names).inline(combine, &args)?;
                step.extend(region.insts);
                region.results[at].clone()
            }
        };
        let result = match &reduction.guard {
            None => {
                insts.extend(step);
                next
            }
            Some(guard) => {
                let guard = self.copy(guard)?;
                insts.extend(guard.insts);
                let then = Region { params: Vec::new(), insts: step, results: vec![next] };
                let otherwise = Region::yielding([left[at].clone()]);
                let elem = scan.states[at].elem;
                self.branch(&mut insts, guard.results[0].clone(), then, otherwise, elem)
            }
        };
        Ok(Region { params: Vec::new(), insts, results: vec![result] })
    }

    /// The states at the end of the range, or the start where the range is empty.
    fn last_states(&mut self, inst: &Inst, scan: &Scan<'_>) -> R<Vec<Inst>> {
        let domain = &scan.reduction.domain;
        let after = shifted(domain, scan.var, 1)?;
        let last = domain.subtract(&after)?;
        let whole = extended(&scan.around.domain, domain)?;
        let dims: Vec<Var> = scan.around.domain.dims().to_vec();
        let with_terms = whole.project(&dims)?;
        let rest = scan.around.domain.subtract(&with_terms)?;
        let never_empty = rest.always_empty_given(self.facts.set()).is_true();
        let mut insts = Vec::new();
        let count = match never_empty {
            true => None,
            false => Some(self.count(&mut insts, &last, scan.loc)?),
        };
        for (at, def) in inst.results.iter().enumerate() {
            let state = scan.states[at];
            let mut subscripts: Vec<Subscript> =
                scan.around.axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
            let var = self.module.vars.fresh_like(scan.var);
            subscripts.push(Subscript::Index(var.into()));
            let read = self.module.supply.value(state.elem);
            let place = Place { tensor: scan.names[at].clone(), at: subscripts };
            let kind = InstKind::Read(Read { place, default: None, proved: true });
            let read_inst = Inst { results: vec![Def::Scalar(read)], kind, loc: scan.loc };
            let results = vec![read.into()];
            let body = Region { params: Vec::new(), insts: vec![read_inst], results };
            let over = last.renamed(&[var])?;
            let sum = Inst {
                results: vec![def.clone()],
                kind: InstKind::Reduce(Box::new(single(over, body, state.elem))),
                loc: scan.loc,
            };
            match (&count, &scan.reduction.start) {
                (None, _) => insts.push(sum),
                (Some(_), Start::First) => {
                    let what = "a reduction that may have no terms";
                    return Err(Fault::unsupported(what, scan.loc));
                }
                (Some(count), Start::Identity(args) | Start::Init(args)) => {
                    let inner = self.module.supply.value(state.elem);
                    let sum = Inst { results: vec![Def::Scalar(inner)], ..sum };
                    let results = vec![inner.into()];
                    let then = Region { params: Vec::new(), insts: vec![sum], results };
                    let otherwise = Region::yielding([args[at].clone()]);
                    let kind = InstKind::If { condition: count.clone(), then, otherwise };
                    insts.push(Inst { results: vec![def.clone()], kind, loc: scan.loc });
                }
            }
        }
        Ok(insts)
    }

    /// Whether a domain has a point.
    fn count(&mut self, insts: &mut Vec<Inst>, domain: &Domain, loc: Loc) -> R<Arg> {
        let dims: Vec<Var> =
            domain.dims().iter().map(|dim| self.module.vars.fresh_like(*dim)).collect();
        let over = domain.renamed(&dims)?;
        let body = Region::yielding([Const::bool(true).into()]);
        let kind = InstKind::Reduce(Box::new(single(over, body, Elem::Bool)));
        Ok(self.push(insts, Elem::Bool, kind, loc))
    }
}

/// A reduction over a domain of at most one point.
fn single(over: Domain, body: Region, elem: Elem) -> Reduction {
    let op = if elem == Elem::Bool { Op::Or } else { Op::Add };
    Reduction {
        domain: over.into(),
        guard: None,
        body,
        combine: Combiner::Op(op),
        start: Start::Identity(vec![zero(elem)]),
        flags: ReduceFlags { commutative: true, idempotent: false, reassociable: true },
    }
}

/// The points `x` for which `x + by` along one dimension is in the domain, shifted back: `by = -1`
/// gives those whose predecessor is in it.
fn shifted(domain: &Domain, var: Var, by: i64) -> R<Domain> {
    let moved = Affine::var(var).add_constant(by)?;
    let mut replace = |v: Var| (v == var).then(|| moved.clone());
    let sets: Result<Vec<_>, _> = domain.sets().iter().map(|s| s.replace(&mut replace)).collect();
    Ok(Domain::of_sets(domain.dims(), sets?))
}
