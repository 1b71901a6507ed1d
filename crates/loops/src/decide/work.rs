//! What a clause does at one point: the elements it reads, the operations, the reductions.
//!
//! Tensors that are computed where they are read are followed, their subscripts in terms of the
//! clause's own indices. This is what costs are estimated from; nothing is proved here.

use einlang_index::{Affine, Quasi, Var};
use einlang_tir::module::{Binding, Clause, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Combiner, Def, Inst, InstKind, Read, Reduction, Region, Start, Subscript,
};
use einlang_tir::types::{Elem, Ident};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cost::{PARTS, block_of_terms};
use crate::schedule::{Compute, Schedule};

/// More reads than that are not looked at: the clause is left as it is.
const MOST_READS: usize = 400;

/// Tensors that are computed where they are read are followed so far.
const DEEPEST: usize = 12;

/// One read of an element.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The tensor.
    pub(super) tensor: Ident,
    /// Its subscripts in terms of the clause's indices and those of reductions; `None` for data.
    pub(super) at: Vec<Option<Quasi>>,
    /// The index that changes fastest in the reductions around, if there are any.
    pub(super) along: Option<Var>,
    /// Whether it is certain to lie inside.
    pub(super) proved: bool,
}

/// How an access moves from one value of an index to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Not at all.
    Same,
    /// To the next element in memory.
    Next,
    /// Anywhere.
    Far,
}

impl Access {
    /// How it moves with an index.
    pub(super) fn step(&self, var: Var) -> Step {
        let Some(last) = self.at.len().checked_sub(1) else { return Step::Same };
        let mut step = Step::Same;
        for (axis, at) in self.at.iter().enumerate() {
            let Some(at) = at else { return Step::Far };
            if !at.mentions(var) {
                continue;
            }
            let unit = at.as_affine().is_some_and(|affine| affine.coeff(var) == 1);
            if axis != last || !unit {
                return Step::Far;
            }
            step = Step::Next;
        }
        step
    }
}

/// What a clause does.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// The reads.
    pub(super) reads: Vec<Access>,
    /// How many operations there are outside of reductions and inside.
    pub(super) n_ops: [usize; 2],
    /// How many of them are functions that take as long as many others.
    pub(super) n_slow: [usize; 2],
    /// How many reductions there are, and how many of them are sums of floats in any association.
    pub(super) n_folds: usize,
    pub(super) n_sums: usize,
    /// How many of them are minima or maxima.
    pub(super) n_extremes: usize,
    /// How many of them have one index, and as many terms as are worth blocks.
    pub(super) n_long: usize,
    /// How many of them have fewer terms than partial sums.
    pub(super) n_short: usize,
    /// The widest element of what is computed with, in bytes.
    pub(super) bytes: u32,
    /// Why it cannot run in lanes: it may trap, asks the surroundings, or has bounds of its own.
    pub(super) scalar: bool,
    /// The indices of the clause that bounds of reductions depend on.
    pub(super) bounds: HashSet<Var>,
}

/// What the clauses of a module do.
pub(super) struct Works<'m> {
    inline: HashMap<&'m Ident, &'m Binding>,
}

impl<'m> Works<'m> {
    pub(super) fn new(module: &'m Module, schedule: &Schedule) -> Works<'m> {
        let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
        let at_reads: HashSet<&Ident> =
            tensors.filter(|t| t.compute == Compute::AtReads).map(|t| &t.name).collect();
        let all = module.groups.iter().flat_map(|group| &group.bindings);
        let inline = all.filter(|b| at_reads.contains(&b.name)).map(|b| (&b.name, b)).collect();
        Works { inline }
    }

    /// What a clause of a binding does.
    pub(super) fn of(&self, binding: &Binding, clause: &Clause) -> Work {
        let work = Work { bytes: binding.elem.bits().max(8) / 8, ..Work::default() };
        let mut walk = Walk { works: self, work, along: None, places: HashMap::default(), arms: 0 };
        for region in clause.guard.iter().chain([&clause.body]) {
            walk.region(region, 0);
        }
        walk.work
    }
}

struct Walk<'w, 'm> {
    works: &'w Works<'m>,
    work: Work,
    along: Option<Var>,
    /// What the indices of tensors that are followed stand for.
    places: HashMap<Var, Option<Quasi>>,
    /// How many branches are around.
    arms: usize,
}

impl Walk<'_, '_> {
    fn region(&mut self, region: &Region, depth: usize) {
        region.insts.iter().for_each(|inst| self.inst(inst, depth));
    }

    fn inst(&mut self, inst: &Inst, depth: usize) {
        for def in &inst.results {
            match def {
                Def::Scalar(value) => self.elem(value.elem),
                Def::Tensor(_) => self.work.scalar = true,
            }
        }
        match &inst.kind {
            InstKind::Op(op, args) => {
                let elem = args.first().and_then(|arg| arg.elem());
                self.work.scalar |= elem.is_some_and(|elem| op.may_trap(elem, false));
                let at = usize::from(self.along.is_some());
                self.work.n_ops[at] += 1;
                self.work.n_slow[at] += usize::from(is_slow(*op));
            }
            InstKind::Index(expr) => self.work.scalar |= self.resolved(expr).is_none(),
            InstKind::Read(read) => self.read(read, depth),
            InstKind::If { .. } | InstKind::Switch { .. } => {
                self.arms += 1;
                inst.regions().into_iter().for_each(|region| self.region(region, depth));
                self.arms -= 1;
            }
            InstKind::Reduce(reduction) => self.reduction(reduction, depth),
            _ => self.work.scalar = true,
        }
    }

    fn elem(&mut self, elem: Elem) {
        let odd = matches!(elem, Elem::F16 | Elem::BF16 | Elem::F8E4M3);
        self.work.scalar |= odd;
        if elem.is_float() {
            self.work.bytes = self.work.bytes.max(elem.bits() / 8);
        }
    }

    /// An expression in terms of the clause's indices; `None` if some are data.
    fn resolved(&self, expr: &Quasi) -> Option<Quasi> {
        let mut found = Vec::new();
        expr.for_each_var(&mut |var| found.push(var));
        let mut expr = expr.clone();
        for var in found {
            if let Some(place) = self.places.get(&var) {
                expr = expr.substitute(var, place.as_ref()?).ok()?;
            }
        }
        Some(expr)
    }

    fn read(&mut self, read: &Read, depth: usize) {
        if let Some(default) = &read.default {
            self.region(default, depth);
        }
        let place = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => self.resolved(expr),
            Subscript::Value(_) => None,
        };
        let at: Vec<Option<Quasi>> = read.place.at.iter().map(place).collect();
        let inline = self.works.inline.get(&read.place.tensor).copied();
        if let Some((binding, clause)) = inline.and_then(|b| Some((b, b.clauses.first()?))) {
            if depth >= DEEPEST || self.work.reads.len() >= MOST_READS {
                self.work.scalar = true;
                return;
            }
            let outer = self.places.clone();
            self.places.extend(binding.axes.iter().map(|axis| axis.var).zip(at));
            self.region(&clause.body, depth + 1);
            self.places = outer;
            return;
        }
        if self.work.reads.len() >= MOST_READS {
            self.work.scalar = true;
            return;
        }
        let proved = read.proved && read.default.is_none();
        // A test of a subscript under a condition cannot be done for some lanes only.
        self.work.scalar |= !read.proved && self.arms > 0;
        let tensor = read.place.tensor.clone();
        self.work.reads.push(Access { tensor, at, along: self.along, proved });
    }

    fn reduction(&mut self, reduction: &Reduction, depth: usize) {
        // A term that does not count is the identity of an operation.
        let plain =
            matches!((&reduction.start, &reduction.combine), (Start::Identity(_), Combiner::Op(_)));
        let fixed = matches!(reduction.start, Start::First) || reduction.guard.is_some() && !plain;
        self.work.scalar |= fixed || self.arms > 0;
        let float = match reduction.start {
            Start::Identity(ref args) | Start::Init(ref args) => {
                matches!(&args[..], [one] if one.elem().is_some_and(Elem::is_float))
            }
            Start::First => false,
        };
        let sum = matches!(reduction.combine, Combiner::Op(Op::Add));
        self.work.n_folds += 1;
        self.work.n_sums += usize::from(sum && float && reduction.flags.reassociable);
        let extreme = matches!(reduction.combine, Combiner::Op(Op::Min | Op::Max));
        self.work.n_extremes += usize::from(extreme && plain);
        self.work.n_long += usize::from(is_long(reduction, self.work.bytes));
        self.work.n_short += usize::from(last_term(reduction).is_some_and(|last| last < PARTS));
        for set in reduction.domain.sets() {
            for var in set.vars() {
                match self.places.get(&var) {
                    Some(Some(place)) => {
                        place.for_each_var(&mut |var| {
                            self.work.bounds.insert(var);
                        });
                    }
                    Some(None) => self.work.scalar = true,
                    None => {
                        self.work.bounds.insert(var);
                    }
                }
            }
        }
        let outer = self.along;
        self.along = reduction.domain.dims().last().copied().or(outer);
        if let Some(guard) = &reduction.guard {
            self.region(guard, depth);
            self.arms += 1;
        }
        self.region(&reduction.body, depth);
        self.arms -= usize::from(reduction.guard.is_some());
        if let Combiner::Region(region) = &reduction.combine {
            self.region(region, depth);
        }
        self.along = outer;
    }
}

/// Whether a reduction over one index may have more terms than a block of them, which have so many bytes.
fn is_long(reduction: &Reduction, bytes: u32) -> bool {
    let ([_], [set]) = (reduction.domain.dims(), reduction.domain.sets()) else { return false };
    set.eqs().is_empty() && last_term(reduction).is_none_or(|last| last >= block_of_terms(bytes))
}

/// The largest value of the only index of a reduction, where it is known.
fn last_term(reduction: &Reduction) -> Option<i64> {
    let ([var], [set]) = (reduction.domain.dims(), reduction.domain.sets()) else { return None };
    // Of `n - var`, the number.
    let bound = |affine: &Affine| {
        let alone = affine.without(*var).as_constant();
        alone.filter(|_| affine.coeff(*var) == -1)
    };
    set.ges().iter().filter_map(bound).min()
}

/// How many terms a reduction over one index has at most, where it is known.
pub(super) fn n_terms(reduction: &Reduction) -> Option<i64> {
    last_term(reduction)?.checked_add(1)
}

/// Whether an operation takes as long as many others.
pub(super) fn is_slow(op: Op) -> bool {
    matches!(
        op,
        Op::Exp
            | Op::Log
            | Op::Sin
            | Op::Cos
            | Op::Tanh
            | Op::Pow
            | Op::Erf
            | Op::Log1p
            | Op::Expm1
    )
}
