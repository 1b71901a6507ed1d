//! Extents that are computed at each point, and are known after all.
//!
//! A function that is called inside a clause computes the extents of its tensors there. Where those
//! follow from what the module knows of its symbols, the symbol that stands for one is replaced by
//! its expression; only then can the tensor be lifted out of the clause.

use einlang_index::{Facts, Quasi, Result};
use rustc_hash::FxHashMap as HashMap;

use crate::module::{Group, Module};
use crate::op::Op;
use crate::region::{Arg, Def, Inst, InstKind, Region};
use crate::substitute::Substitution;

/// Replaces the local symbols whose value is an affine expression of what is around them.
pub(super) fn settle(module: &mut Module) -> Result<()> {
    let facts = module.facts();
    let (known, truths) = (HashMap::default(), HashMap::default());
    let mut settle = Settle { facts, known, truths, later: Substitution::default() };
    module.groups.iter_mut().try_for_each(|group| settle.group(group))
}

struct Settle {
    facts: Facts,
    known: HashMap<u32, Quasi>,
    truths: HashMap<u32, bool>,
    later: Substitution,
}

impl Settle {
    fn group(&mut self, group: &mut Group) -> Result<()> {
        group.regions_mut().into_iter().try_for_each(|region| self.region(region))
    }

    fn region(&mut self, region: &mut Region) -> Result<()> {
        let insts = std::mem::take(&mut region.insts);
        for mut inst in insts {
            if !self.later.is_empty() {
                self.later.inst(&mut inst)?;
            }
            match &mut inst.kind {
                InstKind::Group(group) => self.group(group)?,
                _ => inst.regions_mut().into_iter().try_for_each(|inner| self.region(inner))?,
            }
            if let InstKind::Param { var, value } = &inst.kind
                && let Some(expr) = self.index(value).filter(|expr| expr.as_affine().is_some())
            {
                self.later.vars.insert(*var, expr);
                continue;
            }
            self.learn(&inst);
            region.insts.push(inst);
        }
        Ok(())
    }

    fn index(&self, arg: &Arg) -> Option<Quasi> {
        match arg {
            Arg::Const(constant) => i64::try_from(constant.as_int()?).ok().map(Quasi::from),
            Arg::Value(value) => self.known.get(&value.number).cloned(),
            Arg::Tensor(_) => None,
        }
    }

    fn truth(&self, arg: &Arg) -> Option<bool> {
        match arg {
            Arg::Const(constant) => constant.as_bool(),
            Arg::Value(value) => self.truths.get(&value.number).copied(),
            Arg::Tensor(_) => None,
        }
    }

    fn learn(&mut self, inst: &Inst) {
        let [Def::Scalar(result)] = inst.results[..] else { return };
        let found = match &inst.kind {
            InstKind::Index(expr) => Some(expr.clone()),
            InstKind::Op(op, args) => {
                if let Some(truth) = self.compare(*op, args) {
                    self.truths.insert(result.number, truth);
                }
                // Extents fit every integer type that the language counts with.
                self.value(*op, args).filter(|_| result.elem.is_int() && result.elem.bits() >= 32)
            }
            InstKind::If { condition, then, otherwise } => {
                self.truth(condition).and_then(|holds| {
                    let arm = if holds { then } else { otherwise };
                    arm.results.first().and_then(|arg| self.index(arg))
                })
            }
            _ => None,
        };
        if let Some(expr) = found {
            self.known.insert(result.number, expr);
        }
    }

    fn at_least(&self, a: &Quasi, b: &Quasi) -> bool {
        a.sub(b).is_ok_and(|difference| self.facts.implies(&difference).is_true())
    }

    fn compare(&self, op: Op, args: &[Arg]) -> Option<bool> {
        let (a, b) = (self.index(args.first()?)?, self.index(args.get(1)?)?);
        let below = |a: &Quasi, b: &Quasi| match (self.at_least(a, b), b.sub(a)) {
            (true, _) => Some(false),
            (_, Ok(gap)) => gap
                .add_constant(-1)
                .is_ok_and(|gap| self.facts.implies(&gap).is_true())
                .then_some(true),
            _ => None,
        };
        match op {
            Op::Lt => below(&a, &b),
            Op::Gt => below(&b, &a),
            Op::Ge => below(&a, &b).map(|below| !below),
            Op::Le => below(&b, &a).map(|above| !above),
            _ => None,
        }
    }

    fn value(&self, op: Op, args: &[Arg]) -> Option<Quasi> {
        let a = self.index(args.first()?)?;
        let b = args.get(1).and_then(|arg| self.index(arg));
        let number = |expr: &Quasi| expr.as_constant();
        match (op, b) {
            (Op::Cast, None) => Some(a),
            (Op::Neg, None) => a.neg().ok(),
            (Op::Add, Some(b)) => a.add(&b).ok(),
            (Op::Sub, Some(b)) => a.sub(&b).ok(),
            (Op::Mul, Some(b)) => match (number(&a), number(&b)) {
                (Some(factor), _) => b.scale(factor).ok(),
                (_, Some(factor)) => a.scale(factor).ok(),
                _ => None,
            },
            (Op::Div, Some(b)) => number(&b).filter(|b| *b > 0).and_then(|b| a.trunc_div(b).ok()),
            (Op::Rem, Some(b)) => number(&b).filter(|b| *b > 0).and_then(|b| a.trunc_rem(b).ok()),
            (Op::Max, Some(b)) if self.at_least(&a, &b) => Some(a),
            (Op::Max, Some(b)) if self.at_least(&b, &a) => Some(b),
            (Op::Min, Some(b)) if self.at_least(&a, &b) => Some(b),
            (Op::Min, Some(b)) if self.at_least(&b, &a) => Some(a),
            _ => None,
        }
    }
}
