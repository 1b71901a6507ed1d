//! The work of statements, counted from loops and sizes. Loops whose bounds depend on others are counted
//! at the middle of those. Sizes that the kernel computes itself are seen in the extents of its buffers.

use std::collections::{BTreeSet, HashMap};

use einlang_index::{MinMax, Var};
use einlang_loops::ir::{Block, Buffer, BufferId, Combine, Fold, Kernel, Layout, Range, Stmt};
use einlang_tir::op::Op;

use super::Stored;

/// What statements do.
#[derive(Debug, Default)]
pub(super) struct Cost {
    pub(super) flops: f64,
    pub(super) bytes: f64,
    /// The buffers that are stored to, in order.
    pub(super) stored: Vec<BufferId>,
}

/// What some statements of a kernel do.
pub(super) fn of(kernel: &Kernel, stmts: &[Stmt], seen: &Seen<'_>) -> Cost {
    let mut count =
        Count { vars: values(kernel, seen), touched: BTreeSet::new(), stored: Vec::new() };
    let flops = count.stmts(stmts);
    let touched = count.touched.iter().filter_map(|id| Some((*id, kernel.buffer(*id)?)));
    let bytes = touched.map(|(id, buffer)| {
        let each = f64::from(buffer.elem.bits() / 8);
        dims(buffer, seen.shape(id)).iter().fold(each, |bytes, (kept, _)| bytes * *kept as f64)
    });
    let bytes = bytes.sum();
    // Panels are told only where nothing else is stored.
    let is_tensor = |id: &BufferId| kernel.buffer(*id).is_some_and(|buffer| !buffer.has_panels());
    if count.stored.iter().any(is_tensor) {
        count.stored.retain(is_tensor);
    }
    Cost { flops, bytes, stored: count.stored }
}

/// What a call of a kernel had to do with.
pub(crate) struct Seen<'s> {
    pub(crate) sizes: &'s [i64],
    /// The extents of each buffer.
    pub(crate) shapes: Vec<&'s [i64]>,
}

impl Seen<'_> {
    fn shape(&self, buffer: BufferId) -> &[i64] {
        self.shapes.get(buffer.0 as usize).copied().unwrap_or_default()
    }
}

/// How a buffer is kept.
pub(super) fn stored(
    kernel: &Kernel,
    (id, buffer): (BufferId, &Buffer),
    seen: &Seen<'_>,
) -> Stored {
    let mut shape = seen.shape(id).to_vec();
    // What only a round or a thread has was never seen.
    if buffer.stack {
        let vars = values(kernel, seen);
        shape = buffer.dims.iter().map(|dim| value(&vars, &dim.extent.clone().into())).collect();
    }
    let each = dims(buffer, &shape).into_iter().map(|(kept, of)| match kept == of {
        true => kept.to_string(),
        false => format!("{kept} of {of}"),
    });
    let layout = each.collect::<Vec<_>>().join(" x ");
    let layout = if layout.is_empty() { "one value".to_owned() } else { layout };
    Stored { name: buffer.name.as_str().to_owned(), layout }
}

/// The values of sizes: those that were given, and those that extents show.
fn values(kernel: &Kernel, seen: &Seen<'_>) -> HashMap<Var, i64> {
    let mut vars: HashMap<Var, i64> = HashMap::new();
    for (buffer, shape) in kernel.buffers.iter().zip(&seen.shapes) {
        for (dim, extent) in buffer.dims.iter().zip(*shape) {
            if let Some(var) = dim.extent.as_var() {
                vars.insert(var, *extent);
            }
        }
    }
    vars.extend(kernel.sizes.iter().map(|(var, _)| *var).zip(seen.sizes.iter().copied()));
    // An extent is often `max(0, n)`; it shows `n`, unless that is negative and nothing runs.
    for stmt in &kernel.body.stmts {
        if let Stmt::Bind { var, expr: MinMax::Max(list) } = stmt
            && let Some(extent) = vars.get(var).copied()
        {
            let bare = list.iter().filter_map(|item| match item {
                MinMax::Value(quasi) => quasi.as_var(),
                _ => None,
            });
            bare.for_each(|var| {
                vars.entry(var).or_insert(extent);
            });
        }
    }
    vars
}

/// The planes that are kept of each axis, and its extent.
fn dims(buffer: &Buffer, shape: &[i64]) -> Vec<(i64, i64)> {
    let each = buffer.dims.iter().zip(shape).map(|(dim, extent)| match dim.layout {
        Layout::Mod(width) => (width.min((*extent).max(1)), *extent),
        _ => (*extent, *extent),
    });
    each.collect()
}

/// What a bound is, with 0 for what is not known.
fn value(vars: &HashMap<Var, i64>, bound: &MinMax) -> i64 {
    let value = bound.eval(&|var| vars.get(&var).copied().unwrap_or(0));
    value.ok().and_then(|n| i64::try_from(n).ok()).unwrap_or(0)
}

struct Count {
    vars: HashMap<Var, i64>,
    touched: BTreeSet<BufferId>,
    stored: Vec<BufferId>,
}

impl Count {
    fn value(&self, bound: &MinMax) -> i64 {
        value(&self.vars, bound)
    }

    /// The rounds of a range, whose index is then in its middle.
    fn rounds(&mut self, range: &Range) -> f64 {
        let (lo, hi) = (self.value(&range.lo), self.value(&range.hi));
        let n = hi.saturating_sub(lo).max(0);
        self.vars.insert(range.var, lo.saturating_add(n / 2));
        n as f64
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> f64 {
        stmts.iter().map(|stmt| self.stmt(stmt)).sum()
    }

    fn block(&mut self, block: &Block) -> f64 {
        self.stmts(&block.stmts)
    }

    fn stmt(&mut self, stmt: &Stmt) -> f64 {
        match stmt {
            Stmt::Op { op, result, .. } => match result.elem.is_int() {
                true => 0.0,
                false => weight(*op),
            },
            Stmt::Bind { var, expr } => {
                let value = self.value(expr);
                self.vars.insert(*var, value);
                0.0
            }
            Stmt::Load { buffer, .. } => {
                self.touched.insert(*buffer);
                0.0
            }
            Stmt::Store { buffer, .. } => {
                self.touched.insert(*buffer);
                if !self.stored.contains(buffer) {
                    self.stored.push(*buffer);
                }
                0.0
            }
            Stmt::If { then, otherwise, .. } => (self.block(then) + self.block(otherwise)) / 2.0,
            Stmt::Loop(of) => {
                let n = self.rounds(&of.range);
                n * self.block(&of.body)
            }
            Stmt::Fold(fold) => self.fold(fold),
            _ => 0.0,
        }
    }

    fn fold(&mut self, fold: &Fold) -> f64 {
        // One that goes on where it was computes each term once in all rounds around it.
        let mut n: f64 = fold.ranges.iter().map(|range| self.rounds(range)).product();
        if fold.resume.is_some() || fold.key.is_some() {
            n = n.min(1.0);
        }
        let guard = fold.guard.as_ref().map_or(0.0, |guard| self.block(guard));
        let combine = match &fold.combine {
            Combine::Op(op) | Combine::Pairs(op) => {
                let int = fold.results.first().is_some_and(|value| value.elem.is_int());
                if int { 0.0 } else { weight(*op) }
            }
            Combine::Block { block, .. } => self.block(block),
        };
        n * (guard + combine + self.block(&fold.body))
    }
}

/// What an operation counts for.
fn weight(op: Op) -> f64 {
    match op {
        Op::Cast | Op::Select | Op::Detach | Op::Bitcast | Op::And | Op::Or | Op::Not => 0.0,
        Op::Fma => 2.0,
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Neg
        | Op::Abs
        | Op::Sign
        | Op::Min
        | Op::Max
        | Op::Eq
        | Op::Ne
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::IsNan
        | Op::IsFinite
        | Op::Floor
        | Op::Ceil
        | Op::Round
        | Op::Trunc => 1.0,
        _ => 10.0,
    }
}
