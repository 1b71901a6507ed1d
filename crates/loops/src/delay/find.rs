//! Which recurrences can take many steps at once.

use einlang_index::{Domain, Quasi, Var};
use einlang_tir::module::{Binding, Clause, Module};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Def, Inst, InstKind, Read, Subscript};
use einlang_tir::types::Ident;

use super::{BLOCK, corner_name, pivot_name};
use crate::decide::whole_uses;

/// A recurrence whose updates can be delayed.
pub(super) struct Delayed {
    /// Its first plane, and one step.
    pub(super) base: Clause,
    pub(super) step: Clause,
    /// The combination of a point with what a step brings: `min` or `max`.
    pub(super) op: Op,
    /// The instruction that reads the point itself, and the one that combines.
    pub(super) own: usize,
    pub(super) last: usize,
    /// What a step brings.
    pub(super) term: Arg,
    /// The different pivots.
    pub(super) pivots: Vec<Pivot>,
    /// The number of steps.
    pub(super) n_steps: Quasi,
}

/// Elements that move with time: on some axes a constant more than the step, on others any.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pivot {
    /// For each axis but time, how much it is more than the step; none where it is the index itself.
    pub(super) at: Vec<Option<i64>>,
}

impl Pivot {
    /// The pivot that a read of the recurrence is, if it is one.
    pub(super) fn of(read: &Read, axes: &[Var]) -> Option<Pivot> {
        let (time, others) = axes.split_first()?;
        let is_before = |expr: &Quasi| is_offset(expr, *time) == Some(-1);
        let index = |subscript: &Subscript| match subscript {
            Subscript::Index(expr) => Some(expr.clone()),
            Subscript::Value(_) => None,
        };
        let at: Option<Vec<Quasi>> = read.place.at.iter().map(index).collect();
        let at = at.filter(|_| read.proved && read.default.is_none())?;
        let (first, rest) = at.split_first().filter(|(first, _)| is_before(first))?;
        debug_assert!(first.mentions(*time));
        let moves = |(expr, axis): (&Quasi, &Var)| match expr.as_var() {
            Some(var) if var == *axis => Some(None),
            _ => is_offset(expr, *time).map(Some),
        };
        let at: Option<Vec<Option<i64>>> = rest.iter().zip(others).map(moves).collect();
        at.map(|at| Pivot { at })
    }

    /// Whether it is the point itself.
    pub(super) fn is_own(&self) -> bool {
        self.at.iter().all(Option::is_none)
    }

    /// The first axis that it does not move along.
    pub(super) fn free(&self) -> Option<usize> {
        self.at.iter().position(Option::is_none)
    }
}

/// How much an expression is more than a variable.
fn is_offset(expr: &Quasi, var: Var) -> Option<i64> {
    let affine = expr.as_affine()?;
    let alone = affine.coeff(var) == 1 && affine.without(var).as_constant().is_some();
    alone.then(|| affine.constant_part())
}

/// What a group is as a recurrence whose updates can be delayed.
pub(super) fn find(module: &Module, at: usize) -> Option<Delayed> {
    let group = module.groups.get(at)?;
    let [binding] = &group.bindings[..] else { return None };
    let [base, step] = &binding.clauses[..] else { return None };
    if group.until.is_some() || binding.axes.len() < 3 {
        return None;
    }
    let extent = &binding.axes[0].dim.extent;
    let n_steps = extent.add_constant(-1).ok()?;
    let short = n_steps.as_constant().is_some_and(|n| n < 2 * BLOCK);
    let fits = !short && n_steps.as_affine().is_some() && covers(module, binding, base, step)?;
    if !fits || !only_the_last_is_read(module, binding, at, &n_steps) {
        return None;
    }
    let mut found = body(binding, step)?;
    (found.base, found.n_steps) = (base.clone(), n_steps);
    Some(found)
}

/// Whether the clauses are the first plane and all others.
fn covers(module: &Module, binding: &Binding, base: &Clause, step: &Clause) -> Option<bool> {
    let plain = base.guard.is_none() && step.guard.is_none();
    let (time, whole, facts) = (binding.axes[0].var, binding.whole().ok()?, module.facts());
    let first = Domain::where_zero(binding.dims(), &Quasi::from(time)).ok()?;
    let first = whole.intersect(&first).ok()?;
    let rest = whole.subtract(&first).ok()?;
    let same = |a: &Domain, b: &Domain| {
        let none = |a: &Domain, b: &Domain| {
            a.subtract(b).is_ok_and(|left| left.always_empty_given(facts.set()).is_true())
        };
        none(a, b) && none(b, a)
    };
    let reads = |clause: &Clause| {
        let mut any = false;
        clause.body.for_each_inst(&mut |inst| {
            any |= inst.tensors().into_iter().any(|name| *name == binding.name);
        });
        any
    };
    Some(plain && !reads(base) && same(&base.domain, &first) && same(&step.domain, &rest))
}

/// Whether everything outside of the group reads the last plane, point by point.
fn only_the_last_is_read(module: &Module, binding: &Binding, own: usize, last: &Quasi) -> bool {
    let mut fine = !module.outputs.contains(&binding.name);
    fine &= !module.symbols.iter().any(|symbol| mentions(&symbol.source, &binding.name));
    for (at, group) in module.groups.iter().enumerate() {
        for region in group.regions() {
            fine &= !whole_uses(region).contains(&binding.name);
            region.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                if read.place.tensor == binding.name && at != own {
                    let first = read.place.at.first();
                    fine &= matches!(first, Some(Subscript::Index(expr)) if expr == last);
                    fine &= read.proved && read.default.is_none();
                }
            });
        }
    }
    fine
}

fn mentions(source: &einlang_tir::module::SymbolSource, name: &Ident) -> bool {
    use einlang_tir::module::SymbolSource;
    matches!(source, SymbolSource::Value(of) | SymbolSource::Shape(of, _) if of == name)
}

/// The parts of a step, if it combines a point with what its pivots give.
fn body(binding: &Binding, step: &Clause) -> Option<Delayed> {
    let (axes, insts) = (binding.dims(), &step.body.insts);
    let [Arg::Value(result)] = &step.body.results[..] else { return None };
    let last = insts.len().checked_sub(1)?;
    let (InstKind::Op(op @ (Op::Min | Op::Max), args), [Def::Scalar(value)]) =
        (&insts[last].kind, &insts[last].results[..])
    else {
        return None;
    };
    let [Arg::Value(own_value), term] = &args[..] else { return None };
    let own = insts.iter().position(|inst| defines(inst, own_value.number))?;
    let (mut pivots, mut own_reads) = (Vec::new(), 0);
    for (at, inst) in insts.iter().enumerate() {
        match &inst.kind {
            InstKind::Op(..) | InstKind::Index(_) => {}
            InstKind::Read(read) if read.place.tensor == binding.name => {
                let pivot = Pivot::of(read, &axes)?;
                if pivot.is_own() {
                    own_reads += 1;
                } else if !pivots.contains(&pivot) {
                    pivots.push(pivot);
                }
            }
            InstKind::Read(read) if read.default.is_none() && is_shared(read, &axes) => {}
            _ => return None,
        }
        let uses_own = at != last && inst.args().into_iter().any(|arg| arg == &args[0]);
        if uses_own {
            return None;
        }
    }
    let is_own = matches!(&insts[own].kind, InstKind::Read(read)
        if read.place.tensor == binding.name && Pivot::of(read, &axes)?.is_own());
    let fits = is_own && own_reads == 1 && value == result && *term != args[0];
    (fits && !pivots.is_empty() && pivots.len() <= MOST_PIVOTS).then(|| Delayed {
        base: step.clone(),
        step: step.clone(),
        op: *op,
        own,
        last,
        term: term.clone(),
        pivots,
        n_steps: Quasi::from(0),
    })
}

/// The most pivots.
const MOST_PIVOTS: usize = 4;

fn defines(inst: &Inst, number: u32) -> bool {
    inst.results.iter().any(|def| matches!(def, Def::Scalar(value) if value.number == number))
}

/// Whether an element of another tensor serves all points along some axis: only then is a step over a
/// plane a contraction.
fn is_shared(read: &Read, axes: &[Var]) -> bool {
    axes.iter().skip(1).any(|axis| {
        read.place.at.iter().all(|subscript| match subscript {
            Subscript::Index(expr) => !expr.mentions(*axis),
            Subscript::Value(_) => false,
        })
    })
}

/// The name of a pivot, or of its corner.
pub(super) fn name_of(
    tensor: &Ident,
    delayed: &Delayed,
    pivot: &Pivot,
    corner: bool,
) -> Option<Ident> {
    let number = delayed.pivots.iter().position(|of| of == pivot)?;
    let name = if corner { corner_name } else { pivot_name };
    Some(name(tensor, number))
}
