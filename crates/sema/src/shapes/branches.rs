//! Branches, `where` and what they have in common: a value under a condition.

use einlang_index::{MinMax, Truth};

use super::Analyser;
use super::formula::Formula;
use super::symbols::{Path, Source};
use super::value::Shape;
use crate::hir::*;

impl<'p> Analyser<'p> {
    pub(super) fn if_else(
        &mut self,
        expr: ExprId,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
    ) -> Shape {
        self.eval(condition);
        let held = match self.typed_here().conditions.get(&expr) {
            Some(decided) => Formula::Constant(*decided),
            None => self.formula(condition),
        };
        if let Formula::Constant(value) = held {
            // Decided for this instance: the other branch is not part of it.
            return match (value, otherwise) {
                (true, _) => self.eval(then),
                (false, Some(otherwise)) => self.eval(otherwise),
                (false, None) => Shape::Opaque,
            };
        }
        let negated = held.negated();
        let first = self.under(held, |cx| cx.eval(then));
        match otherwise {
            Some(otherwise) => {
                let second = self.under(negated, |cx| cx.eval(otherwise));
                self.join(expr, &first, &second, &mut Vec::new())
            }
            None => Shape::Opaque,
        }
    }

    pub(super) fn match_arms(&mut self, expr: ExprId, scrutinee: ExprId, arms: &'p [Arm]) -> Shape {
        let found = self.eval(scrutinee);
        let mut result: Option<Shape> = None;
        for arm in arms {
            self.bind_pattern(&arm.pattern, &found);
            let whole =
                matches!(arm.pattern.kind, PatternKind::Wildcard | PatternKind::Bind(_, None));
            let only = whole && arms.len() == 1 && arm.guard.is_none();
            let condition = if only { Formula::Constant(true) } else { Formula::Unknown };
            let shape = self.under(condition, |cx| {
                if let Some(guard) = arm.guard {
                    cx.eval(guard);
                }
                cx.eval(arm.value)
            });
            result = Some(match result {
                None => shape,
                Some(before) => self.join(expr, &before, &shape, &mut Vec::new()),
            });
        }
        result.unwrap_or(Shape::Opaque)
    }

    /// The shape of one value or another: what they share, and symbols for the rest.
    pub(super) fn join(&mut self, expr: ExprId, a: &Shape, b: &Shape, path: &mut Path) -> Shape {
        if a == b {
            return a.clone();
        }
        match (a, b) {
            (Shape::Tensor(..) | Shape::Ints(_), Shape::Tensor(..) | Shape::Ints(_)) => {
                let (x, y) = (a.extents(), b.extents());
                if x.len() != y.len() {
                    return self.unknown(expr);
                }
                let n_axes = x.len();
                let extents: Vec<MinMax> = (x.iter().zip(&y).enumerate())
                    .map(|(axis, (x, y))| {
                        let (x, y) = (self.symbols.resolved(x), self.symbols.resolved(y));
                        // An extent that is still to be found is what the other branch says.
                        if self.symbols.mentions_open(&x) {
                            return y;
                        }
                        if self.symbols.mentions_open(&y) {
                            return x;
                        }
                        match self.facts.compare(&x, &y) {
                            Truth::True => x,
                            _ => self.fresh_axis(Source::Expr(self.cur, expr), path, axis, n_axes),
                        }
                    })
                    .collect();
                let element = self.join(expr, a.element(), b.element(), path);
                Shape::tensor(extents, element)
            }
            (Shape::Record(x), Shape::Record(y)) if x.len() == y.len() => {
                let mut parts = Vec::with_capacity(x.len());
                for (position, (x, y)) in x.iter().zip(y).enumerate() {
                    path.push(position);
                    parts.push(self.join(expr, x, y, path));
                    path.pop();
                }
                Shape::Record(parts)
            }
            _ => Shape::Opaque,
        }
    }

    pub(super) fn where_items(
        &mut self,
        value: ExprId,
        items: &'p [WhereItem],
        otherwise: Option<ExprId>,
    ) -> Shape {
        let before = self.conditions.len();
        let mut guards = Vec::new();
        for item in items {
            match item {
                WhereItem::Binding(local, value) => {
                    let shape = self.eval(*value);
                    self.bind_value(*local, *value, shape);
                }
                WhereItem::Guard(guard) => {
                    self.eval(*guard);
                    let held = self.formula(*guard);
                    guards.push(held.clone());
                    self.conditions.push(held);
                }
            }
        }
        let shape = self.eval(value);
        self.conditions.truncate(before);
        if let Some(otherwise) = otherwise {
            let failed = Formula::and(guards).negated();
            self.under(failed, |cx| cx.eval(otherwise));
        }
        shape
    }

    /// Binds a name to a value; an integer without an expression gets a symbol.
    pub(super) fn bind_value(&mut self, local: LocalId, value: ExprId, shape: Shape) {
        let shape = match self.as_integer(value, shape.clone()) {
            Some(integer) => Shape::Int(integer),
            None => shape,
        };
        self.bind(local, shape);
    }
}
