//! The reduction that a clause consists of: which kinds stay, and what others become.

use einlang_index::Domain;

use super::fault::R;
use super::lift::Lifter;
use super::scan::Surroundings;
use super::uses::{Uses, slice};
use crate::constant::Const;
use crate::op::Op;
use crate::region::{Arg, Combiner, Def, Inst, InstKind, Reduction, Region, Start};
use crate::types::Elem;

/// What becomes of the reduction that a clause consists of.
pub(super) enum Rooted {
    /// It stays, with what is inside lifted.
    Stays(Inst),
    /// Other instructions do the same, and are looked at again.
    Becomes(Vec<Inst>),
}

impl Lifter<'_, '_> {
    /// The reduction that a clause consists of.
    pub(super) fn root(&mut self, mut inst: Inst) -> R<Rooted> {
        let mut elems = inst.results.iter().filter_map(Def::as_scalar).map(|value| value.elem);
        if !self.reductions || !elems.any(Elem::is_float) {
            self.inside(&mut inst)?;
            return Ok(Rooted::Stays(inst));
        }
        inst = self.share_range(inst)?;
        inst = self.bound_range(inst)?;
        let InstKind::Reduce(reduction) = &inst.kind else { return Ok(Rooted::Stays(inst)) };
        let Combiner::Op(op @ (Op::Add | Op::Max | Op::Min)) = reduction.combine else {
            return self.scan(inst).map(Rooted::Becomes);
        };
        if let Start::Init(args) = &reduction.start
            && let [Arg::Value(_)] = args[..]
        {
            return self.start_apart(&inst, op, args[0].clone()).map(Rooted::Becomes);
        }
        if op != Op::Add && reduction.domain.dims().len() > 1 {
            self.nest(&mut inst)?;
            return Ok(Rooted::Becomes(vec![inst]));
        }
        self.inside(&mut inst)?;
        Ok(Rooted::Stays(inst))
    }

    /// `op(init, reduction)` instead of a reduction that starts with a value.
    fn start_apart(&mut self, inst: &Inst, op: Op, init: Arg) -> R<Vec<Inst>> {
        let [Def::Scalar(result)] = inst.results[..] else { return Ok(vec![inst.clone()]) };
        let value = self.ad.module.supply.value(result.elem);
        let mut plain = Inst { results: vec![Def::Scalar(value)], ..inst.clone() };
        if let InstKind::Reduce(reduction) = &mut plain.kind {
            let identity = op.identity(result.elem).unwrap_or(Const::zero(result.elem));
            reduction.start = Start::Identity(vec![identity.into()]);
        }
        let kind = InstKind::Op(op, vec![init, value.into()]);
        let joined = Inst { results: inst.results.clone(), kind, loc: inst.loc };
        Ok(vec![plain, joined])
    }

    /// An extremum over several indices is one over the first of extrema over the others.
    fn nest(&mut self, inst: &mut Inst) -> R<()> {
        let loc = inst.loc;
        let elem = inst.results[0].as_scalar().map_or(Elem::F32, |value| value.elem);
        let InstKind::Reduce(outer) = &mut inst.kind else { return Ok(()) };
        let dims = outer.domain.dims().to_vec();
        let inner_domain = Domain::of_sets(&dims[1..], outer.domain.sets().iter().cloned());
        let first = outer.domain.project(&dims[..1])?;
        let inner = Reduction {
            domain: inner_domain.into(),
            guard: outer.guard.take(),
            body: std::mem::take(&mut outer.body),
            ..(**outer).clone()
        };
        let value = self.ad.module.supply.value(elem);
        let results = vec![Def::Scalar(value)];
        let inner = Inst { results, kind: InstKind::Reduce(Box::new(inner)), loc };
        outer.domain = first.into();
        outer.body = Region { params: Vec::new(), insts: vec![inner], results: vec![value.into()] };
        Ok(())
    }

    /// A reduction by any other operator is the last point of a recurrence.
    fn scan(&mut self, mut inst: Inst) -> R<Vec<Inst>> {
        inst.regions_mut().into_iter().for_each(|region| self.relocate_all(region));
        let around = Surroundings {
            axes: self.axes.clone(),
            domain: self.domain.clone(),
            base: self.base.clone(),
        };
        let mut uses = Uses::default();
        uses.inst(&inst);
        let before = slice(&self.before, &mut uses);
        let (made, insts) = self.ad.scanned(&inst, &around, &before)?;
        self.made.extend(made);
        Ok(insts)
    }
}
