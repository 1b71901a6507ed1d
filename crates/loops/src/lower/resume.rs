//! Folds that go on where the round before ended: prefix sums in one pass, and sums that are the same
//! in every round computed once.
//!
//! In the innermost loop around, the terms must be the same in every round, their range must start at
//! the same point and never end earlier than in the round before. The association of the state is
//! that of the terms so far, so nothing changes but the time.

use einlang_index::{Direction, Domain, MinMax, Quasi, Var};
use einlang_tir::region::{Arg, InstKind, Reduction, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::Lower;
use crate::ir::{FoldStart, Operand, Range};

impl Lower<'_> {
    /// The loop in whose rounds a reduction can go on.
    pub(super) fn resumable(
        &self,
        reduction: &Reduction,
        ranges: &[Range],
        within: Option<&Domain>,
        start: &FoldStart,
    ) -> Option<Var> {
        let (var, n_outside, down) = *self.loops.last()?;
        let constant = |operand: &Operand| matches!(operand, Operand::Const(_));
        if let FoldStart::From(operands) = start
            && !operands.iter().all(constant)
        {
            return None;
        }
        let (first, rest) = ranges.split_first()?;
        let fixed = |expr: &Quasi, inner: &HashSet<Var>| {
            let mut fixed = true;
            expr.for_each_var(&mut |v| {
                fixed &= self.bound.is_among_first(n_outside, v) || inner.contains(&v)
            });
            fixed
        };
        let mut inner: HashSet<Var> = HashSet::default();
        let grows = leaves(&first.hi).iter().all(|hi| {
            let hi = self.expanded(hi);
            let direction = hi.direction(var);
            let is_it: HashSet<Var> = [var].into_iter().collect();
            let widens = if down { Direction::Down } else { Direction::Up };
            fixed(&hi, &is_it) && (direction == Direction::Fixed || direction == widens)
        });
        if !grows || !leaves(&first.lo).iter().all(|lo| fixed(lo, &inner)) {
            return None;
        }
        inner.insert(first.var);
        for range in rest {
            let bounds = leaves(&range.lo).into_iter().chain(leaves(&range.hi));
            if !bounds.into_iter().all(|bound| fixed(&bound, &inner)) {
                return None;
            }
            inner.insert(range.var);
        }
        if within.is_some() {
            return None;
        }
        // What a round defines itself is different in the next one.
        let stays = |name: &Ident| {
            let of_module = self.is_of_module(name);
            let own = |around: &super::Around| {
                around.names.contains(name) && around.n_loops < self.loops.len()
            };
            of_module || self.around.iter().any(own)
        };
        let mut terms = Terms { fixed: &fixed, stays: &stays, inner, values: HashSet::default() };
        let regions = reduction.guard.iter().chain([&reduction.body]);
        regions.into_iter().all(|region| terms.region(region)).then_some(var)
    }

    /// The expression in terms of loops and symbols.
    fn expanded(&self, expr: &Quasi) -> Quasi {
        let mut expr = expr.clone();
        for _ in 0..8 {
            let mut next = None;
            expr.for_each_var(&mut |var| {
                if self.defined.contains_key(&var) && !self.loops.iter().any(|l| l.0 == var) {
                    next = Some(var);
                }
            });
            let Some(var) = next else { break };
            match expr.substitute(var, &self.defined[&var]) {
                Ok(replaced) => expr = replaced,
                Err(_) => break,
            }
        }
        expr
    }
}

fn leaves(bound: &MinMax) -> Vec<Quasi> {
    match bound {
        MinMax::Value(expr) => vec![expr.clone()],
        MinMax::Min(list) | MinMax::Max(list) => list.iter().flat_map(leaves).collect(),
    }
}

/// Whether terms are the same in every round.
struct Terms<'a> {
    fixed: &'a dyn Fn(&Quasi, &HashSet<Var>) -> bool,
    stays: &'a dyn Fn(&Ident) -> bool,
    inner: HashSet<Var>,
    values: HashSet<u32>,
}

impl Terms<'_> {
    fn region(&mut self, region: &Region) -> bool {
        self.values
            .extend(region.params.iter().filter_map(|def| def.as_scalar()).map(|v| v.number));
        for inst in &region.insts {
            let known = |arg: &&Arg| match arg {
                Arg::Const(_) => true,
                Arg::Value(value) => self.values.contains(&value.number),
                Arg::Tensor(_) => false,
            };
            let plain = match &inst.kind {
                InstKind::Op(..) | InstKind::If { .. } | InstKind::Switch { .. } => true,
                InstKind::Index(expr) => (self.fixed)(expr, &self.inner),
                InstKind::Read(read) => {
                    let fixed = |subscript: &Subscript| match subscript {
                        Subscript::Index(expr) => (self.fixed)(expr, &self.inner),
                        Subscript::Value(_) => true,
                    };
                    (self.stays)(&read.place.tensor) && read.place.at.iter().all(fixed)
                }
                _ => false,
            };
            if !plain || !inst.args().iter().all(known) {
                return false;
            }
            if !inst.regions().into_iter().all(|region| self.region(region)) {
                return false;
            }
            let defined = inst.results.iter().filter_map(|def| def.as_scalar());
            self.values.extend(defined.map(|value| value.number));
        }
        region.results.iter().all(|arg| match arg {
            Arg::Const(_) => true,
            Arg::Value(value) => self.values.contains(&value.number),
            Arg::Tensor(_) => false,
        })
    }
}
