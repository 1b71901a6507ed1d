//! Reductions that start with a given state, or with their first term, as ones that start with a
//! neutral state.
//!
//! The state gets one part more: whether there was a term. What has had none is neutral, so a
//! reduction over several indices can be one over the first of what the others give, and terms may
//! be left out. A given state is combined at the end, on the left, as the operator is associative.

use super::context::{Ad, zero};
use super::fault::R;
use crate::constant::Const;
use crate::fresh::Fresh;
use crate::op::Op;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Reduction, Region, Start, Value};
use crate::types::{Elem, Loc};

impl Ad<'_> {
    /// The instructions that stand for a reduction with a given state.
    pub(super) fn with_presence(
        &mut self,
        inst: &Inst,
        mut reduction: Reduction,
        init: Vec<Arg>,
        states: &[Value],
    ) -> R<Vec<Inst>> {
        let loc = inst.loc;
        let combine = reduction.combine.clone();
        reduction.combine = Combiner::Region(self.present(&combine, states, loc)?);
        let zeros = states.iter().map(|state| zero(state.elem));
        let neutral = std::iter::once(Const::bool(false).into()).chain(zeros).collect();
        reduction.start = Start::Identity(neutral);
        reduction.body.results.insert(0, Const::bool(true).into());
        let has = self.module.supply.value(Elem::Bool);
        let found = self.values_like(states);
        let results = std::iter::once(&has).chain(&found).map(|value| Def::Scalar(*value));
        let results = results.collect();
        let kind = InstKind::Reduce(Box::new(reduction));
        let reduced = Inst { results, kind, loc };
        let terms = found.iter().map(|value| Arg::from(*value));
        let args: Vec<Arg> = init.iter().cloned().chain(terms).collect();
        let then = self.combined(&combine, &args, states, loc)?;
        let otherwise = Region::yielding(init);
        let kind = InstKind::If { condition: has.into(), then, otherwise };
        Ok(vec![reduced, Inst { results: inst.results.clone(), kind, loc }])
    }

    fn values_like(&mut self, states: &[Value]) -> Vec<Value> {
        states.iter().map(|state| self.module.supply.value(state.elem)).collect()
    }

    /// The operator on states that may have had no term.
    fn present(&mut self, combine: &Combiner, states: &[Value], loc: Loc) -> R<Region> {
        let (a, b) = (self.values_like(states), self.values_like(states));
        let (has_a, has_b) =
            (self.module.supply.value(Elem::Bool), self.module.supply.value(Elem::Bool));
        let args = |values: &[Value]| values.iter().map(|value| Arg::from(*value)).collect();
        let (left, right): (Vec<Arg>, Vec<Arg>) = (args(&a), args(&b));
        let both = self.combined(combine, &[&left[..], &right].concat(), states, loc)?;
        let chosen = self.values_like(states);
        let results = chosen.iter().map(|value| Def::Scalar(*value)).collect();
        let kind =
            InstKind::If { condition: has_b.into(), then: both, otherwise: Region::yielding(left) };
        let inner = Inst { results, kind, loc };
        let then = Region { params: Vec::new(), insts: vec![inner], results: args(&chosen) };
        let outcome = self.values_like(states);
        let results = outcome.iter().map(|value| Def::Scalar(*value)).collect();
        let otherwise = Region::yielding(right);
        let kind = InstKind::If { condition: has_a.into(), then, otherwise };
        let mut insts = vec![Inst { results, kind, loc }];
        let any = self.op(&mut insts, Op::Or, vec![has_a.into(), has_b.into()], Elem::Bool);
        let params = [&[has_a], &a[..], &[has_b], &b].concat();
        let params = params.into_iter().map(Def::Scalar).collect();
        let results = std::iter::once(any).chain(args(&outcome)).collect();
        Ok(Region { params, insts, results })
    }

    /// The operator on two states.
    fn combined(
        &mut self,
        combine: &Combiner,
        args: &[Arg],
        states: &[Value],
        loc: Loc,
    ) -> R<Region> {
        match combine {
            Combiner::Region(region) => {
                Ok(Fresh::new(self.module, &mut self.names).inline(region, args)?)
            }
            Combiner::Op(op) => {
                let elem = states.first().map_or(Elem::F64, |state| state.elem);
                let mut insts = Vec::new();
                let kind = InstKind::Op(*op, args.to_vec());
                let result = self.push(&mut insts, elem, kind, loc);
                Ok(Region { params: Vec::new(), insts, results: vec![result] })
            }
        }
    }
}
