//! Local tensors whose extents differ from point to point, and a local `until`.
//!
//! A local tensor is lifted over the indices around it. Where its extent is computed at each point,
//! the lifted one has the largest of them, and its clauses ask whether a point was there at all. A
//! local `until` comes to the same: how many steps there are at each point is counted first, by the
//! group as it is (or `taken`), and the tensors are then defined for that many. The number of steps is a constant
//! for derivatives, so nothing is lost. Where the sizes depend on what is being lifted, as in a
//! recurrence whose step iterates, the largest number of steps that the `until` allows stands in.

use einlang_index::{Domain, Quasi, Set, Var};
use rustc_hash::FxHashSet as HashSet;

use super::fault::{Fault, R};
use super::lift::{Lifter, extended};
use super::regroup::uses_of;
use super::taken::Asked;
use super::uses::{Uses, slice};
use crate::constant::Const;
use crate::module::{Axis, Binding, Clause, Condition, Group, Relation, Symbol, SymbolSource};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript,
};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident};

/// Symbols that are computed at each point, each with a bound that is known outside.
pub(super) struct Sizes {
    bounds: Vec<(Var, Quasi)>,
}

impl Sizes {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The points for every value the symbols may have, with the symbols as further dimensions.
    pub(super) fn over(&self, domain: &Domain) -> R<Domain> {
        let dims: Vec<Var> = self.bounds.iter().map(|(var, _)| *var).collect();
        let mut within = Vec::with_capacity(2 * dims.len());
        for (var, bound) in &self.bounds {
            within.push(Quasi::from(*var));
            within.push(bound.sub(&(*var).into())?);
        }
        extended(domain, &Domain::where_nonnegative(dims, &within)?)
    }

    fn mentions(&self, var: Var) -> bool {
        self.bounds.iter().any(|(own, _)| *own == var)
    }
}

impl Lifter<'_, '_> {
    /// A group without its `until`, over as many steps as there are at each point. What comes after
    /// it is changed accordingly.
    pub(super) fn close(&mut self, group: &Group, after: &mut Region) -> R<Vec<Inst>> {
        let Some(until) = &group.until else { return Ok(Vec::new()) };
        let mut insts = Vec::new();
        let steps = self.ask(group, Asked::Steps, &mut insts)?;
        let open = self.ad.module.vars.symbol("steps");
        self.declare(open, SymbolSource::Local);
        if let Ok(most) = until.first.add(&until.max)
            && self.ad.is_global(&most)
        {
            self.most.insert(open, most);
        }
        let kind = InstKind::Param { var: open, value: steps };
        insts.push(Inst { results: Vec::new(), kind, loc: self.loc });
        let mut later = Substitution::default();
        later.vars.insert(until.extent, open.into());
        let is_asked = |inst: &Inst| inst.kind == InstKind::Converged(until.extent);
        let mut asks = false;
        after.for_each_inst(&mut |inst| asks |= is_asked(inst));
        if asks {
            let converged = self.ask(group, Asked::Converged, &mut insts)?;
            after.for_each_region_mut(&mut |region| {
                for inst in region.insts.extract_if(.., |inst| is_asked(inst)) {
                    let asked = inst.results.iter().filter_map(Def::as_scalar);
                    later.values.extend(asked.map(|value| (value.number, converged.clone())));
                }
            });
        }
        later.region(after)?;
        let mut closed = Group { until: None, ..group.clone() };
        later.group(&mut closed)?;
        insts.push(Inst {
            results: Vec::new(),
            kind: InstKind::Group(Box::new(closed)),
            loc: self.loc,
        });
        Ok(insts)
    }

    /// What is known after a group has run, as a binding over the indices around; reads it here.
    fn ask(&mut self, group: &Group, asked: Asked, out: &mut Vec<Inst>) -> R<Arg> {
        let mut copy = group.clone();
        copy.regions_mut().into_iter().for_each(|region| self.relocate_all(region));
        let elem = asked.elem();
        let body = match &copy.until {
            Some(until) if self.asks_within(&copy) => self.answer_by_steps(&copy, until, asked)?,
            until => {
                let Some(extent) = until.as_ref().map(|until| until.extent) else {
                    return Ok(Const::zero(elem).into());
                };
                let kind = match asked {
                    Asked::Steps => InstKind::Index(extent.into()),
                    Asked::Converged => InstKind::Converged(extent),
                };
                let group = InstKind::Group(Box::new(copy));
                let mut insts = vec![Inst { results: Vec::new(), kind: group, loc: self.loc }];
                let value = self.ad.push(&mut insts, elem, kind, self.loc);
                Region { params: Vec::new(), insts, results: vec![value] }
            }
        };
        let name = self.ad.fresh_name(&format!("{}.{}", self.base.as_str(), asked.name()));
        let around = self.make(name.clone(), elem, body)?;
        let at = around.into_iter().map(|var| Subscript::Index(var.into())).collect();
        Ok(self.ad.read(out, &name, at, elem, true))
    }

    /// The symbols computed at each point that a group's extents and domains mention.
    pub(super) fn sizes(&mut self, group: &Group) -> R<Sizes> {
        let mut vars: Vec<Var> = Vec::new();
        for binding in &group.bindings {
            binding
                .axes
                .iter()
                .for_each(|axis| axis.dim.extent.for_each_var(&mut |v| vars.push(v)));
            binding.clauses.iter().for_each(|clause| vars.extend(clause.domain.params()));
        }
        vars.retain(|var| self.ad.module.source(*var) == Some(&SymbolSource::Local));
        self.sizes_of(vars)
    }

    /// Symbols computed at each point, with their bounds.
    pub(super) fn sizes_of(&mut self, mut vars: Vec<Var>) -> R<Sizes> {
        vars.sort_unstable();
        vars.dedup();
        let bound = |var| Ok((var, self.bound(var)?));
        Ok(Sizes { bounds: vars.into_iter().map(bound).collect::<R<_>>()? })
    }

    /// The largest value of a symbol that is computed at each point.
    fn bound(&mut self, var: Var) -> R<Quasi> {
        let not = |loc| Fault::unsupported("an extent that is computed at each point", loc);
        let value = self.value_of(var).ok_or_else(|| not(self.loc))?;
        if self.reads_base(&value) {
            return self.most.get(&var).cloned().ok_or_else(|| not(self.loc));
        }
        let elem = value.elem().unwrap_or(Elem::I64);
        let sizes = self.ad.fresh_name(&format!("{}.sizes", self.base.as_str()));
        let around = self.make(sizes.clone(), elem, Region::yielding([value]))?;
        let longest = self.over_all(&sizes, &around, elem, Op::Max)?;
        let bound = self.ad.module.vars.symbol("longest");
        self.declare(bound, SymbolSource::Value(longest));
        self.ad.module.assumptions.push(Condition::new(bound, Relation::Ge, 0));
        self.ad.facts = self.ad.module.facts();
        self.most.insert(var, bound.into());
        Ok(bound.into())
    }

    /// The value that a symbol computed at each point has here.
    pub(super) fn value_of(&self, var: Var) -> Option<Arg> {
        self.before.iter().rev().find_map(|inst| match &inst.kind {
            InstKind::Param { var: own, value } if *own == var => Some(value.clone()),
            _ => None,
        })
    }

    /// The maximum or sum of some sizes, as a binding of one point; zero if there are none.
    pub(super) fn over_all(
        &mut self,
        sizes: &Ident,
        around: &[Var],
        elem: Elem,
        op: Op,
    ) -> R<Ident> {
        let mut body = Region::default();
        let at = around.iter().map(|var| Subscript::Index((*var).into())).collect();
        let size = self.ad.read(&mut body.insts, sizes, at, elem, true);
        body.results.push(size);
        let reduction = Reduction {
            domain: self.domain.project(around)?.into(),
            guard: None,
            body,
            combine: Combiner::Op(op),
            start: Start::Identity(vec![Const::zero(elem).into()]),
            flags: ReduceFlags { commutative: true, idempotent: op == Op::Max, reassociable: true },
        };
        let mut body = Region::default();
        let kind = InstKind::Reduce(Box::new(reduction));
        let one = self.ad.push(&mut body.insts, elem, kind, self.loc);
        body.results.push(one);
        let what = if op == Op::Max { "longest" } else { "all" };
        let name = self.ad.fresh_name(&format!("{}.{what}", self.base.as_str()));
        let domain = Domain::everything([]).into();
        let clauses = vec![Clause { domain, guard: None, body, loc: self.loc }];
        let (axes, loc) = (Vec::new(), self.loc);
        let binding = Binding { name: name.clone(), elem, axes, clauses, zero_fill: false, loc };
        self.made.push(binding);
        Ok(name)
    }

    pub(super) fn declare(&mut self, var: Var, source: SymbolSource) {
        self.ad.module.symbols.push(Symbol { var, source, loc: self.loc });
    }

    /// Whether a value here is computed from the binding that is being made flat.
    pub(super) fn reads_base(&self, value: &Arg) -> bool {
        let mut uses = Uses::of_args([value]);
        self.conditions().for_each(|condition| uses.arg(condition));
        slice(&self.before, &mut uses);
        let mut open: Vec<Ident> = uses.tensors.into_iter().collect();
        let mut seen: HashSet<Ident> = open.iter().cloned().collect();
        while let Some(name) = open.pop() {
            if name == self.base {
                return true;
            }
            let made = self.made.iter().find(|binding| binding.name == name);
            let Some(binding) = made.or_else(|| self.ad.binding(&name)) else { continue };
            let uses = uses_of(&Group { bindings: vec![binding.clone()], until: None });
            let values = uses.vars.iter().filter_map(|var| match self.ad.module.source(*var) {
                Some(SymbolSource::Value(of)) => Some(of.clone()),
                _ => None,
            });
            open.extend(values.chain(uses.tensors).filter(|name| seen.insert(name.clone())));
        }
        false
    }

    /// The clauses of a local binding over the indices around, one for each set of points if there
    /// are symbols that are computed at each point.
    pub(super) fn sized_clauses(
        &mut self,
        clause: &Clause,
        outer: &Domain,
        sizes: &Sizes,
    ) -> R<Vec<Clause>> {
        let mut clauses = Vec::new();
        let outer = sizes.over(outer)?;
        for set in clause.domain.disjoint()?.sets() {
            let own = Domain::new(clause.domain.dims(), set.clone());
            let whole = extended(&outer, &own)?;
            let dims: Vec<Var> =
                whole.dims().iter().copied().filter(|var| !sizes.mentions(*var)).collect();
            let guard = self.within(set, sizes, clause.guard.clone())?;
            let guard = guard.map(|guard| self.ad.copy(&guard)).transpose()?;
            let body = self.ad.copy(&clause.body)?;
            clauses.push(self.clause(whole.project(&dims)?, guard, body)?);
        }
        Ok(clauses)
    }

    /// Whether a point is one, where that depends on the symbols, and then what else is asked.
    pub(super) fn within(
        &mut self,
        set: &Set,
        sizes: &Sizes,
        guard: Option<Region>,
    ) -> R<Option<Region>> {
        let (mut insts, mut all) = (Vec::new(), None::<Arg>);
        for constraint in set.constraints() {
            let of = Set::new([constraint.clone()])?;
            if !of.vars().into_iter().any(|var| sizes.mentions(var)) {
                continue;
            }
            let holds = self.ad.constraint(&mut insts, &constraint)?;
            all = Some(match all {
                None => holds,
                Some(all) => self.ad.op(&mut insts, Op::And, vec![all, holds], Elem::Bool),
            });
        }
        let Some(all) = all else { return Ok(guard) };
        let no = Region::yielding([Const::bool(false).into()]);
        let result = match guard {
            None => all,
            Some(guard) => self.ad.branch(&mut insts, all, guard, no, Elem::Bool),
        };
        Ok(Some(Region { params: Vec::new(), insts, results: vec![result] }))
    }

    /// Reads of some tensors at subscripts that are computed at each point, as reads at values.
    pub(super) fn read_at_values(&mut self, insts: Vec<Inst>, of: &[Binding]) -> Vec<Inst> {
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            for region in inst.regions_mut() {
                region.insts = self.read_at_values(std::mem::take(&mut region.insts), of);
            }
            if let InstKind::Read(Read { place: Place { tensor, at }, .. }) = &mut inst.kind
                && of.iter().any(|binding| binding.name == *tensor)
            {
                for subscript in at {
                    let Subscript::Index(expr) = subscript else { continue };
                    if self.is_sized(expr) {
                        let kind = InstKind::Index(expr.clone());
                        let value = self.ad.push(&mut out, Elem::I64, kind, inst.loc);
                        *subscript = Subscript::Value(value);
                    }
                }
            }
            out.push(inst);
        }
        out
    }

    fn is_sized(&self, expr: &Quasi) -> bool {
        let mut sized = false;
        expr.for_each_var(&mut |var| {
            sized |= self.ad.module.source(var) == Some(&SymbolSource::Local);
        });
        sized
    }
}

/// The axes of a local binding, with extents that are known outside.
pub(super) fn sized_axes(
    lifter: &mut Lifter<'_, '_>,
    binding: &Binding,
    domain: &Domain,
    sizes: &Sizes,
) -> R<Vec<Axis>> {
    let whole = extended(&sizes.over(domain)?, &binding.whole()?)?;
    let mut axes = Vec::with_capacity(binding.axes.len());
    for axis in &binding.axes {
        let mut axis = axis.clone();
        if !lifter.ad.is_global(&axis.dim.extent) {
            axis.dim.extent = lifter.ad.extent_of(&whole, axis.var, binding.loc)?;
        }
        if !lifter.ad.is_global(&axis.dim.extent) {
            let what = "an extent that is computed at each point";
            return Err(Fault::unsupported(what, binding.loc));
        }
        axes.push(axis);
    }
    Ok(axes)
}
