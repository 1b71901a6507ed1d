//! Folds over equal keys: `⊕[i](e where key[i] == b)` in one pass over the keys and one over the bins.
//!
//! The guard must first compare an integer that depends on the fold's indices alone (the key) with
//! one that does not depend on them (the bin), and be false where they differ. The key may read only
//! what is complete before the kernel comes to the fold and does not change afterwards.

use einlang_index::{Quasi, Var};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Def, Inst, InstKind, Reduction, Region, Subscript};
use einlang_tir::types::Elem;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::{Lower, Result};
use crate::ir::{Block, Key, Stmt};

/// What a value of the guard depends on.
#[derive(Clone, Copy, Default)]
struct Depends {
    /// The fold's indices.
    inner: bool,
    /// Anything that differs from one evaluation of the fold to the next.
    outer: bool,
}

impl Depends {
    fn or(self, other: Depends) -> Depends {
        Depends { inner: self.inner || other.inner, outer: self.outer || other.outer }
    }
}

impl Lower<'_> {
    /// The key of a reduction, and the statements that compute its bin.
    pub(super) fn keyed(
        &mut self,
        reduction: &Reduction,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Key>> {
        let dims: HashSet<Var> = reduction.domain.dims().iter().copied().collect();
        let fixed = reduction.domain.params().iter().all(|param| self.is_constant(*param));
        let Some(guard) = reduction.guard.as_ref().filter(|_| fixed && !dims.is_empty()) else {
            return Ok(None);
        };
        let Some((at, key, bin)) = self.compared(guard, &dims) else { return Ok(None) };
        let mut known = HashMap::default();
        let (mut of_key, mut of_bin) = (Region::default(), Region::default());
        for inst in &guard.insts[..at] {
            let Some(depends) = self.depends(inst, &dims, &known) else { return Ok(None) };
            if let [Def::Scalar(value)] = &inst.results[..] {
                known.insert(value.number, depends);
            }
            if !depends.outer {
                of_key.insts.push(inst.clone());
            }
            if !depends.inner {
                of_bin.insts.push(inst.clone());
            }
        }
        (of_key.results, of_bin.results) = (vec![key.clone()], vec![bin.clone()]);
        let bin = self.region(&of_bin, out)?;
        let (stmts, parts) = self.scoped(|lower, out| {
            dims.iter().for_each(|dim| lower.bound.push(*dim));
            lower.region(&of_key, out)
        })?;
        match (parts.first(), bin.first()) {
            (Some(super::Part::Scalar(key)), Some(super::Part::Scalar(bin))) => {
                let block = Block { stmts, results: vec![*key] };
                Ok(Some(Key { block, bin: *bin }))
            }
            _ => Ok(None),
        }
    }

    /// Whether a symbol has one value while the kernel runs.
    fn is_constant(&self, var: Var) -> bool {
        let until = self.module.groups.iter().filter_map(|group| group.until.as_ref());
        let open = until.map(|until| until.extent).any(|extent| extent == var);
        let outside = self.fixed.unwrap_or(self.bound.len());
        !open && self.bound.is_among_first(outside, var)
    }

    /// The key and the bin that a guard compares before anything else may fail.
    fn compared<'a>(
        &self,
        guard: &'a Region,
        dims: &HashSet<Var>,
    ) -> Option<(usize, &'a Arg, &'a Arg)> {
        let mut known: HashMap<u32, Depends> = HashMap::default();
        for (at, inst) in guard.insts.iter().enumerate() {
            let [Def::Scalar(result)] = &inst.results[..] else { return None };
            let depends = self.depends(inst, dims, &known)?;
            known.insert(result.number, depends);
            let InstKind::Op(Op::Eq, args) = &inst.kind else { continue };
            let [left, right] = &args[..] else { return None };
            if left.elem().is_none_or(Elem::is_float) {
                continue;
            }
            let of = |arg: &Arg| of_arg(arg, &known);
            let sides = [(left, right), (right, left)];
            let is_key = |d: Depends| d.inner && !d.outer;
            let found = sides.into_iter().find(|(a, b)| is_key(of(a)) && !of(b).inner)?;
            return decides(guard, at, result.number).then_some((at, found.0, found.1));
        }
        None
    }

    fn depends(
        &self,
        inst: &Inst,
        dims: &HashSet<Var>,
        known: &HashMap<u32, Depends>,
    ) -> Option<Depends> {
        let mut depends = Depends::default();
        for arg in inst.args() {
            depends = depends.or(of_arg(arg, known));
        }
        match &inst.kind {
            InstKind::Op(..) => {}
            InstKind::Index(expr) => depends = depends.or(self.of_vars(expr, dims)),
            InstKind::Read(read) if read.default.is_none() => {
                let name = &read.place.tensor;
                let complete = self.is_of_module(name)
                    && !self.around.iter().any(|around| around.names.contains(name));
                depends.outer |= !complete;
                for subscript in &read.place.at {
                    if let Subscript::Index(expr) = subscript {
                        depends = depends.or(self.of_vars(expr, dims));
                    }
                }
            }
            _ => return None,
        }
        let may_fail = !matches!(inst.kind, InstKind::Op(Op::Eq, _) | InstKind::Index(_));
        (!(may_fail && depends.inner && depends.outer)).then_some(depends)
    }

    fn of_vars(&self, expr: &Quasi, dims: &HashSet<Var>) -> Depends {
        let mut depends = Depends::default();
        expr.for_each_var(&mut |var| match dims.contains(&var) {
            true => depends.inner = true,
            false => depends.outer |= !self.is_constant(var),
        });
        depends
    }
}

fn of_arg(arg: &Arg, known: &HashMap<u32, Depends>) -> Depends {
    match arg {
        Arg::Const(_) => Depends::default(),
        Arg::Value(value) => match known.get(&value.number) {
            Some(depends) => *depends,
            None => Depends { inner: false, outer: true },
        },
        Arg::Tensor(_) => Depends { inner: true, outer: true },
    }
}

/// Whether a guard is false, and does nothing more, when the comparison at a position is.
fn decides(guard: &Region, at: usize, comparison: u32) -> bool {
    let is =
        |arg: Option<&Arg>, number: u32| matches!(arg, Some(Arg::Value(v)) if v.number == number);
    if guard.results.len() != 1 {
        return false;
    }
    match guard.insts.get(at + 1..) {
        Some([]) => is(guard.results.first(), comparison),
        Some([Inst { results, kind: InstKind::If { condition, otherwise, .. }, .. }]) => {
            let [Def::Scalar(result)] = &results[..] else { return false };
            let no =
                matches!(&otherwise.results[..], [Arg::Const(c)] if c.as_bool() == Some(false));
            is(Some(condition), comparison)
                && no
                && otherwise.insts.is_empty()
                && is(guard.results.first(), result.number)
        }
        _ => false,
    }
}
