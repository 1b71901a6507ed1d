//! Values that meet: operands, branches, elements.

use einlang_source::Name;

use super::layout::{Axis, Layout};
use super::variants::Node;
use super::{Checker, Dep, Reach, Val};
use crate::errors;
use crate::hir::*;
use crate::types::Ty;

/// More tensors than this are not remembered for one operand.
const MAX_TENSORS: usize = 16;

impl Val {
    pub(super) fn of_layout(layout: Layout) -> Val {
        Val { layout, reach: Reach::default() }
    }

    pub(super) fn of_index(local: LocalId) -> Val {
        let reach = Reach { deps: vec![Dep::Index(local)], tensors: Vec::new() };
        Val { layout: Layout::default(), reach }
    }

    /// The value under its own name.
    pub(super) fn reading(mut self, name: Name) -> Val {
        self.reach.tensors = vec![name];
        self
    }

    /// What the value depends on, its own axes included.
    pub(super) fn reached(&self) -> Reach {
        let mut reach = self.reach.clone();
        let own = self.layout.coordinates().flatten().map(Dep::Axis);
        reach.add(&own.collect::<Vec<_>>(), &[]);
        reach
    }
}

impl Reach {
    pub(super) fn add(&mut self, deps: &[Dep], tensors: &[Name]) {
        for dep in deps {
            if let Err(position) = self.deps.binary_search(dep) {
                self.deps.insert(position, *dep);
            }
        }
        for tensor in tensors {
            if self.tensors.len() < MAX_TENSORS && !self.tensors.contains(tensor) {
                self.tensors.push(*tensor);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Reach) {
        self.add(&other.deps, &other.tensors);
    }

    /// Without the indices that a reduction consumes.
    pub(super) fn without(&mut self, consumed: &[Dep]) {
        self.deps.retain(|dep| !consumed.contains(dep));
    }
}

impl Checker<'_> {
    /// Records operands that are combined, and gives what the whole depends on.
    pub(super) fn node(&mut self, expr: ExprId, operands: &[(ExprId, &Val)]) -> Reach {
        let mut whole = Reach::default();
        let mut reached = Vec::new();
        for (operand, val) in operands {
            whole.merge(&val.reach);
            reached.push((*operand, val.reached()));
        }
        if reached.iter().any(|(_, reach)| !reach.deps.is_empty()) && reached.len() > 1 {
            let (binding, listed) = (self.place.binding, self.place.listed);
            self.work_mut().nodes.insert(expr, Node { operands: reached, binding, listed });
        }
        whole
    }

    pub(super) fn binary(&mut self, expr: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Val {
        let (left, right) = (self.expr(a), self.expr(b));
        let divisor = self.typed.instance(self.work().instance).expr(b);
        if op == BinaryOp::Div && matches!(divisor, Ty::Differential(_)) {
            let mut reach = left.reach.clone();
            reach.merge(&right.reach);
            return Val { layout: derivative(&left.layout, &right.layout), reach };
        }
        let reach = self.node(expr, &[(a, &left), (b, &right)]);
        if op == BinaryOp::In {
            return Val { layout: Layout::default(), reach };
        }
        Val { layout: self.elementwise((a, &left.layout), (b, &right.layout)), reach }
    }

    /// Whole tensors of one shape, or a tensor and a scalar.
    pub(super) fn elementwise(&mut self, a: (ExprId, &Layout), b: (ExprId, &Layout)) -> Layout {
        if let Some((x, y)) = a.1.clash(b.1) {
            let (left, right) = (self.snippet(a.0), self.snippet(b.0));
            let (x, y) = (self.text(x.name), self.text(y.name));
            let (shown_a, shown_b) = (self.show(a.1), self.show(b.1));
            let places = (self.span(a.0), self.span(b.0));
            self.report(errors::operand_layouts(
                (&left, &shown_a, x),
                (&right, &shown_b, y),
                places,
            ));
        }
        match (a.1.axes.is_empty(), b.1.axes.is_empty()) {
            (true, false) if a.1.parts.is_empty() => b.1.clone(),
            (false, true) if b.1.parts.is_empty() => a.1.clone(),
            _ => a.1.joined(b.1),
        }
    }

    /// The layout of one of several values, which must not contradict each other.
    pub(super) fn agree(&mut self, a: (ExprId, &Layout), b: (ExprId, &Layout)) -> Layout {
        if let Some((x, y)) = a.1.clash(b.1) {
            let (first, second) = (self.show(a.1), self.show(b.1));
            let (at_first, at_second) = (self.tail_span(a.0), self.tail_span(b.0));
            let (x, y) = (self.text(x.name), self.text(y.name));
            self.report(errors::branch_layouts(&first, &second, (x, y), at_second, at_first));
        }
        a.1.joined(b.1)
    }
}

/// The axes of `y`, then those of `x`; records give records.
fn derivative(y: &Layout, x: &Layout) -> Layout {
    if !y.parts.is_empty() && y.axes.is_empty() {
        return Layout::of_parts(y.parts.iter().map(|part| derivative(part, x)).collect());
    }
    let outer: Vec<Axis> = y.axes.clone();
    if !x.parts.is_empty() && x.axes.is_empty() {
        return Layout::of_parts(x.parts.iter().map(|part| derivative(y, part)).collect());
    }
    x.clone().after(outer)
}
