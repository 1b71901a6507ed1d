//! Grouped reductions: `⊕[i](e where key[i] == b)` in one pass over the keys and one over the bins.
//!
//! A reduction is *grouped* if its domain is the same at every point, and its guard first compares
//! an integer that depends on the reduction's indices alone (the key) with one that does not depend
//! on them (the bin). The second time such a reduction is evaluated, the keys are written down as
//! they are computed; from the third time on, only the terms whose key is the bin are visited, in
//! the same order. The first term is visited in any case, because its guard computes the bin and
//! reports what goes wrong there. So nothing but the time changes: a term that is passed over has a
//! guard that is known to be false, and its key is known to have a value.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use einlang_index::Var;
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Def, Inst, InstKind, Reduction, Region, Subscript};

use super::code::{Operand, TensorRef};
use super::index::{DomainCode, VarRef};
use super::prepare::Prepare;
use super::reduce::Loop;
use crate::options::Meter;
use crate::stop::Stop;

/// Where the guard of a grouped reduction leaves the key and the bin.
#[derive(Debug)]
pub(super) struct GroupedCode {
    /// The number of the reduction among the grouped ones of its module.
    pub(super) number: usize,
    pub(super) key: Operand,
    pub(super) bin: Operand,
}

/// What is known of a grouped reduction.
#[derive(Debug, Default)]
pub(super) enum Keys {
    /// It has never been evaluated.
    #[default]
    Never,
    /// It has been evaluated before.
    Once,
    /// The terms by their keys.
    Known(Rc<Buckets>),
}

/// The terms of a reduction by their keys.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    n_dims: usize,
    /// The indices of all terms, one after the other.
    points: Vec<i64>,
    /// The positions of the terms with a key, in order.
    by_key: HashMap<u64, Rc<Vec<u64>>>,
}

/// The terms of one bin that are still to be visited.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) buckets: Rc<Buckets>,
    positions: Rc<Vec<u64>>,
    at: usize,
}

impl Buckets {
    /// The terms of a bin after the first one, which has been visited.
    pub(super) fn visit(self: &Rc<Buckets>, bin: u64) -> Visit {
        let positions = self.by_key.get(&bin).cloned().unwrap_or_default();
        let at = usize::from(positions.first() == Some(&0));
        Visit { buckets: Rc::clone(self), positions, at }
    }

    /// The indices of a term.
    pub(super) fn point(&self, position: u64) -> &[i64] {
        let from = position as usize * self.n_dims;
        self.points.get(from..from + self.n_dims).unwrap_or(&[])
    }
}

impl Visit {
    /// The position of the next term.
    pub(super) fn next(&mut self) -> Option<u64> {
        let position = self.positions.get(self.at).copied();
        self.at += 1;
        position
    }
}

/// Keys that are being written down.
#[derive(Debug)]
pub(super) struct Record {
    n_dims: usize,
    points: Vec<i64>,
    keys: Vec<u64>,
}

impl Record {
    pub(super) fn new(n_dims: usize) -> Record {
        Record { n_dims, points: Vec::new(), keys: Vec::new() }
    }

    pub(super) fn add(&mut self, key: u64, point: &[i64]) {
        self.keys.push(key);
        self.points.extend(point.iter().take(self.n_dims));
    }

    /// The terms by their keys. They stay until the evaluation ends.
    pub(super) fn finish(self, meter: &Meter) -> Result<Buckets, Stop> {
        let words = self.points.len() + 8 * self.keys.len();
        meter.take(8 * words as u64, &|| "the keys of a reduction".to_owned())?;
        let mut by_key: HashMap<u64, Vec<u64>> = HashMap::new();
        for (position, key) in self.keys.iter().enumerate() {
            by_key.entry(*key).or_default().push(position as u64);
        }
        let by_key = by_key.into_iter().map(|(key, list)| (key, Rc::new(list))).collect();
        Ok(Buckets { n_dims: self.n_dims, points: self.points, by_key })
    }
}

impl Loop {
    /// Takes note of the key of the current term, or of the bin whose terms remain.
    pub(super) fn group(&mut self, keys: Option<&Keys>, key: u64, bin: u64) {
        if let Some(record) = &mut self.record {
            record.add(key, &self.points.xs);
        } else if let (Some(Keys::Known(buckets)), None, true) = (keys, &self.visit, self.jumps) {
            self.visit = Some(buckets.visit(bin));
        }
    }
}

/// What a value of the guard depends on.
#[derive(Clone, Copy, Default)]
struct Depends {
    /// The reduction's indices.
    inner: bool,
    /// Anything that may differ from one evaluation of the reduction to the next.
    outer: bool,
}

impl Depends {
    fn or(self, other: Depends) -> Depends {
        Depends { inner: self.inner || other.inner, outer: self.outer || other.outer }
    }
}

impl Prepare<'_> {
    /// Recognises a grouped reduction, whose guard is resolved already.
    pub(super) fn grouped(
        &mut self,
        reduction: &Reduction,
        domain: &DomainCode,
    ) -> Option<GroupedCode> {
        let guard = reduction.guard.as_ref()?;
        let fixed = domain.params.iter().all(|param| matches!(param, VarRef::Symbol(_)));
        if !fixed || domain.dims.is_empty() {
            return None;
        }
        let dims: HashSet<Var> = reduction.domain.dims().iter().copied().collect();
        let (key, bin) = self.compared(guard, &dims)?;
        let operand = |arg: &Arg| match arg {
            Arg::Const(constant) => Some(Operand::Const(constant.bits())),
            Arg::Value(value) => self.values.get(&value.number).map(|slot| Operand::Slot(*slot)),
            Arg::Tensor(_) => None,
        };
        let (key, bin) = (operand(key)?, operand(bin)?);
        let number = self.code.n_grouped;
        self.code.n_grouped += 1;
        Some(GroupedCode { number, key, bin })
    }

    /// The key and the bin that a guard compares before anything else may fail.
    fn compared<'a>(&self, guard: &'a Region, dims: &HashSet<Var>) -> Option<(&'a Arg, &'a Arg)> {
        let mut known: HashMap<u32, Depends> = HashMap::new();
        for (at, inst) in guard.insts.iter().enumerate() {
            let [Def::Scalar(result)] = &inst.results[..] else { return None };
            let depends = self.depends(inst, dims, &known)?;
            known.insert(result.number, depends);
            let InstKind::Op(Op::Eq, args) = &inst.kind else { continue };
            let [left, right] = &args[..] else { return None };
            if left.elem().is_none_or(einlang_tir::types::Elem::is_float) {
                continue;
            }
            let of = |arg: &Arg| of_arg(arg, &known);
            let sides = [(left, right), (right, left)];
            let is_key = |d: Depends| d.inner && !d.outer;
            let found = sides.into_iter().find(|(a, b)| is_key(of(a)) && !of(b).inner)?;
            return decides(guard, at, result.number).then_some(found);
        }
        None
    }

    /// What an instruction depends on; none if terms may not be passed over because of it.
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
                let global = matches!(self.tensors.get(name), Some(TensorRef::Global(_)));
                depends.outer |= !global || self.around.iter().any(|names| names.contains(name));
                for subscript in &read.place.at {
                    if let Subscript::Index(expr) = subscript {
                        depends = depends.or(self.of_vars(expr, dims));
                    }
                }
            }
            _ => return None,
        }
        // What depends on both could fail at a term that is passed over.
        let may_fail = !matches!(inst.kind, InstKind::Op(Op::Eq, _) | InstKind::Index(_));
        (!(may_fail && depends.inner && depends.outer)).then_some(depends)
    }

    fn of_vars(&self, expr: &einlang_index::Quasi, dims: &HashSet<Var>) -> Depends {
        let mut depends = Depends::default();
        expr.for_each_var(&mut |var| match dims.contains(&var) {
            true => depends.inner = true,
            false => depends.outer |= !matches!(self.var(var), Ok(VarRef::Symbol(_))),
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
            let condition = is(Some(condition), comparison);
            condition
                && no
                && otherwise.insts.is_empty()
                && is(guard.results.first(), result.number)
        }
        _ => false,
    }
}
