//! Ranges that are computed at each point, as ranges that are not and a condition.
//!
//! In `sum[j in 0..n[i]](x[j])` the index stays below the extent of `x`, or the value itself is an
//! error; so a derivative may sum over all of `x` where `j < n[i]`.

use einlang_index::{Constraint, Domain, Quasi, Set, Var};

use super::context::Ad;
use super::fault::{Fault, R};
use super::view::with_code;
use crate::module::{Axis, box_of};
use crate::op::Op;
use crate::region::{Arg, Combiner, Inst, InstKind, Reduction, Region, Subscript};
use crate::types::{Elem, Loc};

impl Ad<'_> {
    /// The range of a reduction with bounds that are known outside, and the condition that takes
    /// the place of the others.
    pub(super) fn fixed_range(
        &mut self,
        reduction: &Reduction,
        before: &[Inst],
        loc: Loc,
    ) -> R<(Domain, Option<Region>)> {
        let domain = &reduction.domain;
        let is_local = |ad: &Self, var: &Var| {
            let here = domain.dims().contains(var);
            !here && ad.module.source(*var).is_some() && !ad.is_global(&(*var).into())
        };
        if !domain.params().iter().any(|var| is_local(self, var)) {
            return Ok((domain.0.clone(), None));
        }
        let not = || Fault::unsupported("a range that is computed at each point", loc);
        let ([set], Combiner::Op(_)) = (domain.sets(), &reduction.combine) else {
            return Err(not());
        };
        let mut axes = Vec::with_capacity(domain.dims().len());
        for dim in domain.dims() {
            let extent = self.read_extent(&reduction.body, *dim).ok_or_else(not)?;
            axes.push(Axis { var: *dim, dim: extent.into() });
        }
        let (mut kept, mut insts, mut all) = (Vec::new(), Vec::new(), None::<Arg>);
        for constraint in set.constraints() {
            let mut local = false;
            each_var(&constraint, &mut |var| local |= is_local(self, &var));
            if !local {
                kept.push(constraint);
                continue;
            }
            let holds = self.constraint(&mut insts, &constraint)?;
            all = Some(match all {
                None => holds,
                Some(all) => self.op(&mut insts, Op::And, vec![all, holds], Elem::Bool),
            });
        }
        let fixed = box_of(&axes)?.intersect(&Domain::new(domain.dims(), Set::new(kept)?))?;
        let Some(all) = all else { return Ok((fixed, None)) };
        let guard = Region { params: Vec::new(), insts, results: vec![all] };
        Ok((fixed, Some(with_code(before, &guard))))
    }

    /// Whether each index reads an axis as it is, so that its bound is known.
    pub(super) fn reads_at_each(&self, body: &Region, dims: &[Var]) -> bool {
        dims.iter().all(|dim| self.read_extent(body, *dim).is_some())
    }

    /// The extent of an axis that an index reads as it is.
    fn read_extent(&self, body: &Region, dim: Var) -> Option<Quasi> {
        let mut found = None;
        body.for_each_inst(&mut |inst| {
            let InstKind::Read(read) = &inst.kind else { return };
            let Ok(ty) = self.tensor_type(&read.place.tensor) else { return };
            for (at, axis) in read.place.at.iter().zip(&ty.dims) {
                let is_bare = matches!(at, Subscript::Index(expr) if expr.as_var() == Some(dim));
                if is_bare && read.default.is_none() && self.is_global(&axis.extent) {
                    found = Some(axis.extent.clone());
                }
            }
        });
        found
    }
}

fn each_var(constraint: &Constraint, f: &mut dyn FnMut(Var)) {
    match constraint {
        Constraint::Eq(expr) | Constraint::Ge(expr) => expr.vars().for_each(f),
        Constraint::Mod(congruence) => congruence.expr().vars().for_each(f),
    }
}
