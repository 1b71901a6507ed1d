//! Array literals, comprehensions and updates.

use einlang_index::{MinMax, Range};

use super::Analyser;
use super::expressions::plain;
use super::formula::Formula;
use super::frame::IndexOwner;
use super::result::CheckKind;
use super::symbols::Source;
use super::value::{Shape, natural};
use crate::errors;
use crate::hir::*;
use crate::types::Ty;

impl<'p> Analyser<'p> {
    pub(super) fn array(&mut self, expr: ExprId, items: &[ExprId]) -> Shape {
        let shapes: Vec<Shape> = items.iter().map(|item| self.eval(*item)).collect();
        if !matches!(self.value_ty(expr), Ty::Tensor(..)) {
            return Shape::Opaque;
        }
        let integers: Option<Vec<MinMax>> = shapes
            .iter()
            .map(|shape| match shape {
                Shape::Int(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        if let Some(values) = integers
            && !values.is_empty()
            && values.len() <= 16
        {
            return Shape::Ints(values);
        }
        let length = MinMax::from(items.len() as i64);
        let Some(first) = shapes.first() else { return self.unknown(expr) };
        for (item, shape) in items.iter().zip(&shapes).skip(1) {
            let pairs: Vec<_> = first.extents().into_iter().zip(shape.extents()).collect();
            for (axis, (x, y)) in pairs.into_iter().enumerate() {
                let names = ("the first element".to_owned(), "another element".to_owned());
                let (span, places) = (self.span(expr), (self.span(items[0]), self.span(*item)));
                let answer = self.require_equal(&x, &y, CheckKind::Whole, names, span, places);
                if answer.is_false() {
                    let (x, y) = (self.symbols.show(&x), self.symbols.show(&y));
                    self.report(errors::element_extents((&x, places.0), (&y, places.1), axis));
                    break;
                }
            }
        }
        Shape::tensor(vec![length], plain(first.clone()))
    }

    pub(super) fn comprehension(
        &mut self,
        expr: ExprId,
        element: ExprId,
        items: &'p [CompItem],
    ) -> Shape {
        let mut length = Some(MinMax::from(1));
        let n_before = self.frame.scope.len();
        let n_conditions = self.conditions.len();
        let outermost = self.frame.scope.is_empty();
        for item in items {
            match item {
                CompItem::Generator(pattern, iterable) => {
                    let found = self.eval(*iterable);
                    let step = self.generator(pattern, *iterable, &found);
                    length = length.zip(step).and_then(|(a, b)| product(&a, &b));
                }
                CompItem::Binding(local, value) => {
                    let shape = self.eval(*value);
                    self.bind_value(*local, *value, shape);
                }
                CompItem::Condition(condition) => {
                    self.eval(*condition);
                    let held = self.formula(*condition);
                    self.conditions.push(held);
                    length = None;
                }
            }
        }
        let inner = self.eval(element);
        self.conditions.truncate(n_conditions);
        self.close_scope(n_before, outermost);
        match self.value_ty(expr) {
            Ty::Tensor(_, extents) => {
                let length = length.unwrap_or_else(|| {
                    self.fresh_axis(Source::Expr(self.cur, expr), &Vec::new(), 0, extents.len())
                });
                Shape::tensor(vec![length], plain(inner))
            }
            _ => Shape::Opaque,
        }
    }

    /// Binds what a generator yields, and tells how many values there are.
    fn generator(
        &mut self,
        pattern: &'p Pattern,
        iterable: ExprId,
        found: &Shape,
    ) -> Option<MinMax> {
        match found {
            Shape::Range(ends) if ends.1.is_some() => {
                let (start, Some(end)) = &**ends else { return None };
                let length = end.sub(start).ok().map(natural);
                let span = self.span(iterable);
                let range = Range::new(start.clone(), end.clone(), span);
                let name = self.pattern_name(pattern).trim_matches('`').to_owned();
                let var = self.open_index(&name, IndexOwner::Anonymous, Some(range), false, span);
                self.bind_pattern(pattern, &Shape::Int(var.into()));
                length
            }
            Shape::Tensor(extents, element) => {
                let inner = Shape::tensor(extents[1..].to_vec(), (**element).clone());
                self.bind_pattern(pattern, &inner);
                extents.first().cloned()
            }
            Shape::Ints(values) => {
                self.bind_pattern(pattern, &Shape::Opaque);
                Some(MinMax::from(values.len() as i64))
            }
            _ => {
                self.bind_unknown(pattern);
                None
            }
        }
    }

    pub(super) fn with(
        &mut self,
        expr: ExprId,
        base: ExprId,
        updates: &'p [(Vec<Subscript>, ExprId)],
    ) -> Shape {
        let whole = self.eval(base);
        for (subscripts, value) in updates {
            let part = self.select(expr, base, &whole, subscripts, None);
            let given = self.eval(*value);
            let pairs: Vec<_> = part.extents().into_iter().zip(given.extents()).collect();
            for (axis, (x, y)) in pairs.into_iter().enumerate() {
                let names =
                    ("the points that are replaced".to_owned(), "the new values".to_owned());
                let (span, places) = (self.span(*value), (self.span(base), self.span(*value)));
                let answer = self.require_equal(&x, &y, CheckKind::Whole, names, span, places);
                if answer.is_false() {
                    let (x, y) = (self.symbols.show(&x), self.symbols.show(&y));
                    self.report(errors::update_extents(&x, &y, axis, places.1, places.0));
                    break;
                }
            }
        }
        plain(whole)
    }

    /// The loop of a `for` statement.
    pub(super) fn for_loop(&mut self, pattern: &'p Pattern, iterable: ExprId, body: ExprId) {
        let outermost = self.frame.scope.is_empty();
        let n_before = self.frame.scope.len();
        let found = self.eval(iterable);
        self.generator(pattern, iterable, &found);
        self.under(Formula::Unknown, |cx| cx.eval(body));
        self.close_scope(n_before, outermost);
    }
}

/// The product of two lengths, where it is an expression.
fn product(a: &MinMax, b: &MinMax) -> Option<MinMax> {
    match (a.as_constant(), b.as_constant()) {
        (Some(factor), _) => b.scale(factor).ok(),
        (_, Some(factor)) => a.scale(factor).ok(),
        _ => None,
    }
}
