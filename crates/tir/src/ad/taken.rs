//! A local `until` whose steps ask for derivatives of what is local to them.
//!
//! How many steps it takes is counted by a copy (`sizes`), and what the copy asks for is lifted out of it, which
//! needs a range that is known outside. So this copy goes over all the steps that are allowed, and one more tensor
//! says of each whether it is taken. No clause covers a step that is not, so nothing is computed there.
//!
//! Invariant: a step is computed if and only if the `until` would have computed it.

use einlang_index::{Domain, Quasi, Var};

use super::fault::R;
use super::lift::Lifter;
use crate::constant::Const;
use crate::module::{Axis, Binding, Clause, Group, Until};
use crate::op::Op;
use crate::region::{
    Arg, Combiner, Inst, InstKind, Place, ReduceFlags, Reduction, Region, Start, Subscript,
};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident};

/// What is asked about a group that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// How long its open axes are.
    Steps,
    /// Whether its condition holds at the last step.
    Converged,
}

impl Asked {
    pub(super) fn elem(self) -> Elem {
        match self {
            Asked::Steps => Elem::I64,
            Asked::Converged => Elem::Bool,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Asked::Steps => "steps",
            Asked::Converged => "converged",
        }
    }
}

impl Lifter<'_, '_> {
    /// Whether a group asks for derivatives of tensors that are no bindings of the module.
    pub(super) fn asks_within(&self, group: &Group) -> bool {
        let is_local = |place: &Place| self.ad.tensor_type(&place.tensor).is_err();
        let mut asks = false;
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Deriv { of, by } = &inst.kind {
                    asks |= is_local(of) || is_local(by);
                }
            });
        }
        asks
    }

    /// The answer about a group, without an end that is found while it runs.
    pub(super) fn answer_by_steps(
        &mut self,
        group: &Group,
        until: &Until,
        asked: Asked,
    ) -> R<Region> {
        let limit = until.first.add(&until.max)?;
        let mut later = Substitution::default();
        later.vars.insert(until.extent, limit.clone());
        let mut closed = Group { until: None, ..group.clone() };
        later.group(&mut closed)?;
        let mut condition = until.condition.clone();
        later.region(&mut condition)?;
        let until = Until { condition, ..until.clone() };

        let taken = self.ad.fresh_name(&format!("{}.taken", self.base.as_str()));
        for (binding, before) in closed.bindings.iter_mut().zip(&group.bindings) {
            let is_open = |axis: &Axis| axis.dim.extent == Quasi::from(until.extent);
            let Some(open) = before.axes.iter().find(|axis| is_open(axis)) else { continue };
            for clause in &mut binding.clauses {
                self.only_where_taken(clause, &taken, open.var)?;
            }
        }
        closed.bindings.push(self.taken(&taken, &until, &limit)?);
        let answer = self.over_steps(&taken, &until, &limit, asked)?;
        let value = self.ad.module.supply.value(asked.elem());
        let group = InstKind::Group(Box::new(closed));
        let insts = vec![
            Inst { results: Vec::new(), kind: group, loc: self.loc },
            Inst {
                results: vec![crate::region::Def::Scalar(value)],
                kind: InstKind::Reduce(Box::new(answer)),
                loc: self.loc,
            },
        ];
        Ok(Region { params: Vec::new(), insts, results: vec![value.into()] })
    }

    /// Makes a clause cover only steps that are taken.
    fn only_where_taken(&mut self, clause: &mut Clause, taken: &Ident, step: Var) -> R<()> {
        self.ad.inline_exports(&mut clause.guard, &mut clause.body)?;
        let own = clause.guard.take();
        let own = own.unwrap_or_else(|| Region::yielding([Const::bool(true).into()]));
        clause.guard = Some(self.if_taken(taken, step.into(), own));
        Ok(())
    }

    /// What a region says if a step is taken, else no.
    fn if_taken(&mut self, taken: &Ident, step: Quasi, then: Region) -> Region {
        let mut insts = Vec::new();
        let at = vec![Subscript::Index(step)];
        let is_taken = self.ad.read(&mut insts, taken, at, Elem::Bool, true);
        let no = Region::yielding([Const::bool(false).into()]);
        let holds = self.ad.branch(&mut insts, is_taken, then, no, Elem::Bool);
        Region { params: Vec::new(), insts, results: vec![holds] }
    }

    /// Whether the `until` holds after a step.
    fn holds_after(&mut self, until: &Until, step: &Quasi) -> R<Region> {
        let mut condition = self.ad.copy(&until.condition)?;
        let mut later = Substitution::default();
        later.vars.insert(until.index, step.clone());
        later.region(&mut condition)?;
        Ok(condition)
    }

    /// All steps up to the first are taken, and every other one after which the one before did not end it.
    fn taken(&mut self, name: &Ident, until: &Until, limit: &Quasi) -> R<Binding> {
        let step = self.ad.module.vars.index("t");
        let past = limit.sub(&step.into())?.sub(&1.into())?;
        let early = [step.into(), until.first.sub(&step.into())?, past.clone()];
        let late = [Quasi::from(step).sub(&until.first)?.sub(&1.into())?, past];
        let before = Quasi::from(step).sub(&1.into())?;
        let mut goes_on = self.holds_after(until, &before)?;
        let ended: Vec<Arg> = std::mem::take(&mut goes_on.results);
        let not = self.ad.op(&mut goes_on.insts, Op::Not, ended, Elem::Bool);
        goes_on.results.push(not);
        let goes_on = self.if_taken(name, before, goes_on);
        let always = Region::yielding([Const::bool(true).into()]);
        let mut clauses = Vec::with_capacity(2);
        for (within, body) in [(&early[..], always), (&late[..], goes_on)] {
            let domain = Domain::where_nonnegative([step].to_vec(), within)?.into();
            clauses.push(Clause { domain, guard: None, body, loc: self.loc });
        }
        let axes = vec![Axis { var: step, dim: limit.clone().into() }];
        let (name, loc) = (name.clone(), self.loc);
        Ok(Binding { name, elem: Elem::Bool, axes, clauses, zero_fill: false, loc })
    }

    /// The number of steps that are taken, with those before the first; or whether one ends it.
    fn over_steps(
        &mut self,
        taken: &Ident,
        until: &Until,
        limit: &Quasi,
        asked: Asked,
    ) -> R<Reduction> {
        let step = self.ad.module.vars.index("t");
        let past = limit.sub(&step.into())?.sub(&1.into())?;
        let (start, body, op) = match asked {
            Asked::Steps => {
                let yes = Region::yielding([Const::bool(true).into()]);
                let mut body = self.if_taken(taken, step.into(), yes);
                let is_taken = body.results.pop().unwrap_or_else(|| Const::bool(true).into());
                let [one, none] =
                    [1, 0].map(|n| Region::yielding([Const::int(Elem::I64, n).into()]));
                let n = self.ad.branch(&mut body.insts, is_taken, one, none, Elem::I64);
                body.results.push(n);
                (Quasi::from(0), body, Op::Add)
            }
            Asked::Converged => {
                let holds = self.holds_after(until, &step.into())?;
                (until.first.clone(), self.if_taken(taken, step.into(), holds), Op::Or)
            }
        };
        let within = [Quasi::from(step).sub(&start)?, past];
        let domain = Domain::where_nonnegative([step].to_vec(), &within)?.into();
        let idempotent = asked == Asked::Converged;
        let flags = ReduceFlags { commutative: true, idempotent, reassociable: true };
        let start = Start::Identity(vec![Const::zero(asked.elem()).into()]);
        Ok(Reduction { domain, guard: None, body, combine: Combiner::Op(op), start, flags })
    }
}
