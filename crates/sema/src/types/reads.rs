//! Reads `A[i, j else e]`: subscripts against axes.

use super::Checker;
use super::ty::{Extent, Ty};
use super::walk;
use crate::errors;
use crate::hir::*;

/// What a subscript does to its axis.
enum Axes {
    /// Takes one point of it.
    Point,
    /// Keeps one, with this extent if the axis has it.
    Keep { whole: bool },
    /// Takes points of so many axes.
    Rest(Option<usize>),
}

impl Checker<'_> {
    pub(super) fn access(
        &mut self,
        base: ExprId,
        subscripts: &[Subscript],
        default: Option<ExprId>,
    ) -> Ty {
        let found = self.infer(base);
        let part = self.part(base, &found, subscripts);
        let Some(default) = default else { return part };
        // A row of a jagged array is spelled like any other list.
        let other = match &part {
            Ty::Jagged(..) => self.infer_hinted(default, Some(&part)),
            _ => self.infer(default),
        };
        match self.join(&part, &other) {
            Some(ty) => ty,
            None => {
                let part = self.operand(&part, base);
                let other = self.operand(&other, default);
                self.fail(errors::default_differs(&part, &other))
            }
        }
    }

    /// The type of what subscripts select.
    pub(super) fn part(&mut self, base: ExprId, found: &Ty, subscripts: &[Subscript]) -> Ty {
        let axes: Vec<Axes> =
            subscripts.iter().map(|subscript| self.subscript(subscript)).collect();
        match self.shallow(found) {
            Ty::Differential(inner) => match self.part_of(base, &inner, subscripts, &axes) {
                ty if ty.is_silent() => ty,
                ty => Ty::Differential(Box::new(ty)),
            },
            ty => self.part_of(base, &ty, subscripts, &axes),
        }
    }

    fn part_of(&mut self, base: ExprId, ty: &Ty, subscripts: &[Subscript], axes: &[Axes]) -> Ty {
        let ty = &self.vars.deep(ty);
        let name = self.snippet(base).0;
        let span = self.span(base);
        match ty {
            ty if ty.is_silent() => ty.clone(),
            Ty::Tensor(element, extents) => match selected(extents, axes) {
                Ok(left) => Ty::tensor((**element).clone(), left),
                Err(Some(n_subscripts)) => {
                    let span = self.access_span(base, subscripts);
                    self.fail(errors::too_many_subscripts(&name, extents.len(), n_subscripts, span))
                }
                // A rest that nothing determines takes whatever there is.
                Err(None) => Ty::Error,
            },
            Ty::Range(element) => match selected(&[None], axes) {
                Ok(left) => Ty::tensor((**element).clone(), left),
                Err(_) => Ty::Error,
            },
            Ty::Jagged(element, levels) => {
                self.part_of_jagged(base, element, *levels, subscripts, axes)
            }
            Ty::Tuple(_) => {
                let shown = self.show(ty);
                let span = self.access_span(base, subscripts);
                let index = self.constant_subscript(subscripts);
                self.fail(errors::tuple_subscript(&name, &shown, index, span))
            }
            // The type is still open: a parameter of an unused lambda, or an empty list.
            Ty::Var(_) if self.vars.literal(ty).is_none() => Ty::Error,
            _ if axes.iter().all(|axis| matches!(axis, Axes::Rest(Some(0) | None))) => ty.clone(),
            Ty::Scalar(_) | Ty::Var(_) => {
                let shown = self.show(ty);
                let span = self.access_span(base, subscripts);
                self.fail(errors::subscript_of_scalar(&name, &shown, span))
            }
            _ => {
                let shown = self.show(ty);
                self.fail(errors::no_subscripts(&name, &shown, span))
            }
        }
    }

    fn access_span(&self, base: ExprId, subscripts: &[Subscript]) -> einlang_source::Span {
        let mut span = self.span(base);
        for subscript in subscripts {
            let end = match subscript {
                Subscript::All(span) | Subscript::Rest { span, .. } => *span,
                Subscript::Expr(expr) => self.span(*expr),
                Subscript::Index(binder) => self.body()[binder.local].name.span,
            };
            span = span.cover(end);
        }
        span
    }

    fn constant_subscript(&self, subscripts: &[Subscript]) -> Option<i128> {
        match subscripts {
            [Subscript::Expr(expr)] => match self.body().kind(*expr) {
                ExprKind::Literal(Literal::Int(value, _)) => Some(*value),
                _ => None,
            },
            _ => None,
        }
    }

    /// Jagged arrays are read one level at a time, never by indices.
    fn part_of_jagged(
        &mut self,
        base: ExprId,
        element: &Ty,
        levels: u32,
        subscripts: &[Subscript],
        axes: &[Axes],
    ) -> Ty {
        let by_index = subscripts.iter().any(|subscript| match subscript {
            Subscript::Expr(expr) => self.uses_index(*expr),
            Subscript::Rest { .. } | Subscript::Index(_) => true,
            Subscript::All(_) => false,
        });
        if axes.len() > 1 || by_index {
            let (name, _) = self.snippet(base);
            let (shown, span) = (
                self.show(&Ty::Jagged(Box::new(element.clone()), levels)),
                self.access_span(base, subscripts),
            );
            return self.fail(errors::jagged_read(&name, &shown, span));
        }
        match axes.first() {
            Some(Axes::Point) if levels > 1 => Ty::Jagged(Box::new(element.clone()), levels - 1),
            Some(Axes::Point) => element.clone(),
            _ => Ty::Jagged(Box::new(element.clone()), levels),
        }
    }

    fn uses_index(&self, expr: ExprId) -> bool {
        let body = self.body();
        let mut found = false;
        walk::visit(body, vec![expr], &mut |_, kind| {
            found |= matches!(kind, ExprKind::Name(Res::Local(local)) if body[*local].kind == LocalKind::Index);
        });
        found
    }

    fn subscript(&mut self, subscript: &Subscript) -> Axes {
        match subscript {
            Subscript::All(_) => Axes::Keep { whole: true },
            Subscript::Index(_) => Axes::Point,
            Subscript::Rest { local: Res::Local(rest), .. } => Axes::Rest(self.rest_rank(*rest)),
            Subscript::Rest { .. } => Axes::Rest(None),
            Subscript::Expr(expr) => self.subscript_value(*expr),
        }
    }

    fn subscript_value(&mut self, expr: ExprId) -> Axes {
        if self.passes_whole(expr) {
            self.infer(expr);
            return Axes::Keep { whole: true };
        }
        let found = self.infer(expr);
        match self.shallow(&found) {
            Ty::Range(element) => {
                self.vars.default_in(&element);
                Axes::Keep { whole: false }
            }
            _ if self.is_integer(&found) => {
                if self.vars.literal(&found).is_some() {
                    self.unify(&found, &Ty::I32);
                }
                Axes::Point
            }
            _ => {
                let (got, span) = (self.show(&found), self.span(expr));
                self.report(errors::subscript_not_integer(&got, span));
                Axes::Point
            }
        }
    }

    /// A coordinate in the arguments of a coordinate call that is no index in scope.
    fn passes_whole(&self, expr: ExprId) -> bool {
        let body = self.body();
        match body.kind(expr) {
            ExprKind::Coordinate(_) => true,
            ExprKind::Name(Res::Local(local)) if self.coordinate_calls > 0 => {
                self.coordinates.contains(local)
                    || matches!(body[*local].kind, LocalKind::Extent(None))
            }
            _ => false,
        }
    }
}

/// The extents that are left, the number of subscripts if there are too many, or nothing when a
/// rest is undetermined.
fn selected(extents: &[Extent], axes: &[Axes]) -> Result<Vec<Extent>, Option<usize>> {
    let mut n_taken = 0;
    let mut left = Vec::new();
    for axis in axes {
        match axis {
            Axes::Point => n_taken += 1,
            Axes::Keep { whole } => {
                left.push(if *whole { extents.get(n_taken).copied().flatten() } else { None });
                n_taken += 1;
            }
            Axes::Rest(Some(n)) => n_taken += n,
            Axes::Rest(None) => return Err(None),
        }
    }
    if n_taken > extents.len() {
        return Err(Some(n_taken));
    }
    left.extend_from_slice(&extents[n_taken..]);
    Ok(left)
}
