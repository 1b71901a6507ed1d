//! Ranges of reductions that are computed among the code around, but the same for all indices.
//!
//! In `sum[i](sort(x)[i])` the number of points is computed from the shape of `x` just before the
//! sum, wherever the sum stands. A bound that no index around changes is computed once, as a binding
//! of one point, and is then a symbol like any other.

use super::fault::R;
use super::lift::Lifter;
use super::uses::Uses;
use crate::constant::Const;
use crate::module::{Condition, Relation, SymbolSource};
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind, Region};
use crate::substitute::Substitution;
use crate::types::Elem;

impl Lifter<'_, '_> {
    /// A reduction with symbols of the module for the bounds that are the same everywhere. Under a
    /// condition nothing is moved: what is computed there may be an error elsewhere.
    pub(super) fn share_range(&mut self, mut inst: Inst) -> R<Inst> {
        let InstKind::Reduce(reduction) = &inst.kind else { return Ok(inst) };
        if self.conditions().next().is_some() {
            return Ok(inst);
        }
        let mut later = Substitution::default();
        for var in reduction.domain.params() {
            if self.ad.module.source(var) != Some(&SymbolSource::Local) {
                continue;
            }
            let Some(value) = self.value_of(var) else { continue };
            if !self.needed(Uses::of_args([&value])).is_empty() || self.reads_base(&value) {
                continue;
            }
            let is_count = self.is_count(&value);
            let elem = value.elem().unwrap_or(Elem::I64);
            let name = self.ad.fresh_name(&format!("{}.bound", self.base.as_str()));
            self.make(name.clone(), elem, Region::yielding([value]))?;
            // Where there are no points around, there is no bound either, and any number will do.
            let only = self.over_all(&name, &[], elem, Op::Add)?;
            let shared = self.ad.module.vars.symbol("bound");
            self.declare(shared, SymbolSource::Value(only));
            if is_count {
                self.ad.module.assumptions.push(Condition::new(shared, Relation::Ge, 0));
            }
            self.ad.facts = self.ad.module.facts();
            later.vars.insert(var, shared.into());
        }
        later.inst(&mut inst)?;
        Ok(inst)
    }

    /// Whether a value is never negative because it is the maximum of zero and another.
    fn is_count(&self, value: &Arg) -> bool {
        let Arg::Value(value) = value else { return false };
        let zero = Arg::from(Const::zero(value.elem));
        self.before.iter().any(|inst| {
            let is_here = inst.results.iter().filter_map(Def::as_scalar).any(|own| own == *value);
            is_here && matches!(&inst.kind, InstKind::Op(Op::Max, args) if args.contains(&zero))
        })
    }
}
