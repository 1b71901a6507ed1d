//! A clause of a flat binding as one piece of straight-line code over all its indices.

use einlang_index::{Domain, Var};

use super::context::Ad;
use super::fault::{Fault, R};
use super::lift::extended;
use super::uses::{Uses, slice};
use crate::constant::Const;
use crate::module::{Binding, Clause};
use crate::op::Op;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Reduction, Region, Start, Subscript};
use crate::types::{Elem, Ident, Loc};

/// The value of a clause is the sum, over the points of the reduction where all guards hold, of
/// what the code yields; without a reduction it is what the code yields. An extremum is the sum
/// over its first extremal point.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The axes of the binding, and then the indices of the reduction.
    pub(super) domain: Domain,
    /// The points of the clause, over the axes alone.
    pub(super) outer: Domain,
    /// How many of them are axes.
    pub(super) n_axes: usize,
    /// The guards of the reduction, each to be asked only if those before hold.
    pub(super) guards: Vec<Region>,
    /// The code.
    pub(super) code: Region,
    /// The guard of the clause.
    pub(super) guard: Option<Region>,
    pub(super) loc: Loc,
}

impl View {
    /// The indices of the reduction.
    pub(super) fn inner(&self) -> &[Var] {
        &self.domain.dims()[self.n_axes..]
    }
}

impl Ad<'_> {
    /// The clauses of a flat binding.
    pub(super) fn views(&mut self, name: &Ident) -> R<Vec<View>> {
        let Some(binding) = self.binding(name).cloned() else { return Ok(Vec::new()) };
        let mut views = Vec::with_capacity(binding.clauses.len());
        for (at, clause) in binding.clauses.iter().enumerate() {
            views.push(self.view(&binding, clause, at)?);
        }
        Ok(views)
    }

    fn view(&mut self, binding: &Binding, clause: &Clause, at: usize) -> R<View> {
        if let Some(sums) = self.calls.sums.get(&binding.name).cloned() {
            return self.sums_view(binding, clause, &sums);
        }
        let (domain, n_axes) = (clause.domain.0.clone(), binding.axes.len());
        let (guard, loc) = (clause.guard.clone(), clause.loc);
        let outer = domain.clone();
        let plain = |code| View { domain, outer, n_axes, guards: Vec::new(), code, guard, loc };
        let Some((reduction, before)) = root_of(&clause.body) else {
            return Ok(plain(clause.body.clone()));
        };
        let mut view = plain(Region::default());
        let (inner, bounds) = self.fixed_range(reduction, before, clause.loc)?;
        view.domain = extended(&view.domain, &inner)?;
        view.guards.extend(bounds);
        if let Some(guard) = &reduction.guard {
            view.guards.push(with_code(before, guard));
        }
        view.code = with_code(before, &reduction.body);
        if reduction.combine != Combiner::Op(Op::Add) {
            let first = self.first_of(binding, clause, at, &view, &inner)?;
            view.guards.push(self.is_first(binding, &first, &view));
        }
        Ok(view)
    }

    /// A result of a call follows its parameters by these sums.
    fn sums_view(&mut self, binding: &Binding, clause: &Clause, sums: &[Ident]) -> R<View> {
        let mut insts = Vec::new();
        let mut total: Option<Arg> = None;
        for sum in sums {
            let at = binding.axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
            let part = self.read(&mut insts, sum, at, binding.elem, true);
            self.add_to(&mut insts, &mut total, part);
        }
        let results = vec![total.unwrap_or_else(|| super::context::zero(binding.elem))];
        let (outer, loc) = (clause.domain.0.clone(), clause.loc);
        Ok(View {
            domain: outer.clone(),
            outer,
            n_axes: binding.axes.len(),
            guards: Vec::new(),
            code: Region { params: Vec::new(), insts, results },
            guard: clause.guard.clone(),
            loc,
        })
    }

    /// Whether the index of an extremum is the first extremal one.
    fn is_first(&mut self, binding: &Binding, first: &Ident, view: &View) -> Region {
        let mut insts = Vec::new();
        let at = binding.axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
        let first = self.read(&mut insts, first, at, Elem::I64, true);
        let index = view.inner().first().map_or(0.into(), |var| (*var).into());
        let own = self.push(&mut insts, Elem::I64, InstKind::Index(index), Loc::default());
        let results = vec![self.op(&mut insts, Op::Eq, vec![own, first], Elem::Bool)];
        Region { params: Vec::new(), insts, results }
    }

    /// The first index at which an extremum is taken, as a binding.
    fn first_of(
        &mut self,
        binding: &Binding,
        clause: &Clause,
        at: usize,
        view: &View,
        inner: &Domain,
    ) -> R<Ident> {
        let key = (binding.name.clone(), at);
        if let Some(name) = self.firsts.get(&key) {
            return Ok(name.clone());
        }
        let Some((reduction, _)) = root_of(&clause.body) else {
            return Err(Fault::unsupported("this reduction", clause.loc));
        };
        let mut insts = view.code.insts.clone();
        let around = binding.axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect();
        let extreme = self.read(&mut insts, &binding.name, around, binding.elem, true);
        let term = view.code.results.first().cloned().unwrap_or(Arg::Const(Const::bool(false)));
        let equal = self.op(&mut insts, Op::Eq, vec![term, extreme], Elem::Bool);
        let test = Region { params: Vec::new(), insts, results: vec![equal] };
        let guard = self.chain(view.guards.iter().cloned().chain([test]).collect());
        let mut insts = Vec::new();
        let index = view.inner().first().map_or(0.into(), |var| (*var).into());
        let index = self.push(&mut insts, Elem::I64, InstKind::Index(index), Loc::default());
        let body = Region { params: Vec::new(), insts, results: vec![index] };
        let none = Const::highest(Elem::I64);
        let least = Reduction {
            domain: inner.clone().into(),
            guard,
            body,
            combine: Combiner::Op(Op::Min),
            start: Start::Identity(vec![none.into()]),
            ..reduction.clone()
        };
        let mut insts = Vec::new();
        let kind = InstKind::Reduce(Box::new(least));
        let result = self.push(&mut insts, Elem::I64, kind, clause.loc);
        let body = Region { params: Vec::new(), insts, results: vec![result] };
        let name = self.fresh_name(&format!("{}_first", binding.name.as_str()));
        let clauses = vec![Clause { body, ..clause.clone() }];
        let first = Binding { name: name.clone(), elem: Elem::I64, clauses, ..binding.clone() };
        self.add_binding(first)?;
        self.firsts.insert(key, name.clone());
        Ok(name)
    }

    /// One guard for several, each asked only if those before hold.
    pub(super) fn chain(&mut self, guards: Vec<Region>) -> Option<Region> {
        let mut rest: Option<Region> = None;
        for mut guard in guards.into_iter().rev() {
            rest = Some(match rest {
                None => guard,
                Some(then) => {
                    let no = Region::yielding([Const::bool(false).into()]);
                    let condition = guard.results.remove(0);
                    let result = self.branch(&mut guard.insts, condition, then, no, Elem::Bool);
                    guard.results = vec![result];
                    guard
                }
            });
        }
        rest
    }
}

/// The reduction that a body ends with and yields, and the code before it.
fn root_of(body: &Region) -> Option<(&Reduction, &[Inst])> {
    let (last, before) = body.insts.split_last()?;
    let (InstKind::Reduce(reduction), [Def::Scalar(value)]) = (&last.kind, &last.results[..])
    else {
        return None;
    };
    let yields = matches!(&body.results[..], [Arg::Value(result)] if result == value);
    (yields && value.elem.is_float()).then_some((reduction, before))
}

/// A region with the instructions before it that it needs.
pub(super) fn with_code(before: &[Inst], region: &Region) -> Region {
    let mut uses = Uses::default();
    uses.region(region);
    let mut insts = slice(before, &mut uses);
    insts.extend(region.insts.iter().cloned());
    Region { params: Vec::new(), insts, results: region.results.clone() }
}
