//! Linear combinations of differentials, and what they give when divided by one: `D / @p`.
//!
//! `D` is a list of terms, each a factor times the differential of an expression. As in all arithmetic
//! on whole values, a factor and an expression have the fields and axes of `D`, or go with each of them:
//! `(v * @s) / @p` is `v[i] * (@s / @p)` at each `i`. The axes of `D` come first in the result, those of
//! the parameter after them, so a factor is read at the axes in front.

use std::rc::Rc;

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Subscript as At;
use einlang_tir::types::Elem;

use super::derive::Target;
use super::value::{R, Scalar, Term, Val};
use super::{Lower, unsupported};
use crate::hir::{BinaryOp, ExprId, ExprKind};
use crate::types::Ty;

/// One term of one leaf of `D`, by one leaf of the parameter.
#[derive(Clone)]
struct Summand<'p> {
    negated: bool,
    factor: Option<Val<'p>>,
    /// The axes of what is differentiated.
    rank: usize,
    entries: Val<'p>,
}

/// The differential with the other sign.
pub(super) fn negated<'p>(terms: &[Term<'p>]) -> Val<'p> {
    let turn = |term: &Term<'p>| Term { negated: !term.negated, ..term.clone() };
    Val::Differential(Rc::new(terms.iter().map(turn).collect()))
}

impl<'p> Lower<'p> {
    /// An operator with a differential on some side.
    pub(super) fn differential_op(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        if op == BinaryOp::Div
            && let ExprKind::Differential(by) = self.body().kind(right)
        {
            let hint = self.hint.take();
            let Val::Differential(terms) = self.eval(left)? else {
                return unsupported(self.here, "a derivative of this value");
            };
            self.hint = hint;
            return match &terms[..] {
                [Term { negated: false, factor: None, target, frame }] => {
                    self.request(*target, frame.clone(), *by, expr)
                }
                terms => self.combined_request(terms, left, *by, expr),
            };
        }
        let (a, b) = (self.eval(left)?, self.eval(right)?);
        match (op, a, b) {
            (BinaryOp::Add, Val::Differential(a), Val::Differential(b)) => {
                Ok(Val::Differential(Rc::new([&a[..], &b[..]].concat())))
            }
            (BinaryOp::Sub, Val::Differential(a), Val::Differential(b)) => match negated(&b) {
                Val::Differential(b) => Ok(Val::Differential(Rc::new([&a[..], &b[..]].concat()))),
                _ => unsupported(self.here, "this difference"),
            },
            (BinaryOp::Mul, Val::Differential(terms), factor)
            | (BinaryOp::Mul, factor, Val::Differential(terms)) => self.scaled(&terms, &factor),
            (BinaryOp::Div, Val::Differential(terms), divisor) => {
                let factor = self.leaf_by_leaf(&divisor, None, |cx, divisor, _| {
                    let one = Scalar::constant(Const::one(divisor.elem));
                    cx.apply(Op::Div, &[one, divisor.clone()], divisor.elem)
                })?;
                self.scaled(&terms, &factor)
            }
            _ => unsupported(self.here, "this operator on differentials"),
        }
    }

    /// The differential times a factor.
    fn scaled(&mut self, terms: &[Term<'p>], factor: &Val<'p>) -> R<Val<'p>> {
        let mut scaled = Vec::with_capacity(terms.len());
        for term in terms {
            let factor = match &term.factor {
                None => factor.clone(),
                Some(own) => self.leaf_by_leaf(own, Some(factor), |cx, a, b| {
                    cx.apply(Op::Mul, &[a.clone(), b.clone()], a.elem)
                })?,
            };
            scaled.push(Term { factor: Some(factor), ..term.clone() });
        }
        Ok(Val::Differential(Rc::new(scaled)))
    }

    /// Combines two factors, or changes one, which is then given twice.
    fn leaf_by_leaf(
        &mut self,
        a: &Val<'p>,
        b: Option<&Val<'p>>,
        f: impl Fn(&mut Self, &Scalar, &Scalar) -> R<Scalar> + Clone + 'p,
    ) -> R<Val<'p>> {
        let b = b.unwrap_or(a);
        let n_parts = [a, b].into_iter().find_map(|value| match value {
            Val::Record(parts) => Some(parts.len()),
            _ => None,
        });
        if let Some(n_parts) = n_parts {
            let mut parts = Vec::with_capacity(n_parts);
            for at in 0..n_parts {
                let (a, b) = (super::whole::part(a, at), super::whole::part(b, at));
                parts.push(self.leaf_by_leaf(&a, Some(&b), f.clone())?);
            }
            return Ok(Val::Record(parts));
        }
        let (rank, largest) = match axes(b) > axes(a) {
            true => (axes(b), b.clone()),
            false => (axes(a), a.clone()),
        };
        let (Some(elem), true) = (elem_of_leaf(a), elem_of_leaf(b).is_some()) else {
            return unsupported(self.here, "this multiple of a differential");
        };
        let (a, b) = (a.clone(), b.clone());
        let combined = move |cx: &mut Self, at: &[At]| {
            let (a, b) = (cx.leading(&a, at)?, cx.leading(&b, at)?);
            f(cx, &a, &b)
        };
        match rank {
            0 => combined(self, &[]).map(Val::Scalar),
            _ => Ok(Val::lazy(elem, rank, false, move |cx| cx.extents_of(&largest), combined)),
        }
    }

    /// A leaf of a factor at the first of these subscripts.
    fn leading(&mut self, leaf: &Val<'p>, at: &[At]) -> R<Scalar> {
        match leaf {
            Val::Scalar(scalar) => Ok(scalar.clone()),
            Val::Tensor(tensor) => {
                let at = &at[..tensor.rank.min(at.len())];
                self.element(tensor, at, true, self.here)
            }
            _ => unsupported(self.here, "this multiple of a differential"),
        }
    }

    /// `@y / @p`
    fn request(
        &mut self,
        target: ExprId,
        frame: super::value::Frame<'p>,
        by: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let hint = self.hint.take();
        let by_type = self.ty(by);
        let by = self.targets(by, false)?;
        let (of_type, of) =
            self.within(frame, |cx| Ok((cx.ty(target), cx.targets(target, true)?)))?;
        if of.len() * by.len() == 1 {
            self.hint = hint;
        }
        let mut leaves = Vec::with_capacity(of.len() * by.len());
        for (of_at, by_at) in self.leaf_pairs(&of_type, &by_type) {
            let (Some(of), Some(by)) = (of.get(of_at), by.get(by_at)) else {
                return unsupported(self.here, "a derivative of these parts");
            };
            leaves.push(self.jacobian(of, by)?);
        }
        self.as_declared(&ty, leaves)
    }

    /// The leaves of a derivative, as those of what is differentiated and of the parameter, in the order
    /// of its type: a tuple that is differentiated is outermost, then a tuple of parameters.
    fn leaf_pairs(&self, of: &Ty, by: &Ty) -> Vec<(usize, usize)> {
        let n_leaves = |ty: &Ty| self.leaf_types(ty).map_or(0, |leaves| leaves.len());
        let mut pairs = Vec::new();
        let mut start = 0;
        match (of, by) {
            (Ty::Tuple(parts), _) => {
                for part in parts {
                    let inner = self.leaf_pairs(part, by);
                    pairs.extend(inner.into_iter().map(|(of, by)| (start + of, by)));
                    start += n_leaves(part);
                }
            }
            (_, Ty::Tuple(parts)) => {
                for part in parts {
                    let inner = self.leaf_pairs(of, part);
                    pairs.extend(inner.into_iter().map(|(of, by)| (of, start + by)));
                    start += n_leaves(part);
                }
            }
            _ => {
                let n_by = n_leaves(by);
                pairs.extend((0..n_leaves(of)).flat_map(|of| (0..n_by).map(move |by| (of, by))));
            }
        }
        pairs
    }

    /// Derivatives as a value of a type, whose fields need not have the precision of what was differentiated.
    fn as_declared(&mut self, ty: &Ty, leaves: Vec<Val<'p>>) -> R<Val<'p>> {
        let kinds = self.leaf_types(ty).unwrap_or_default();
        let mut cast = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.into_iter().enumerate() {
            let other = kinds.get(at).map(|kind| kind.elem);
            let other = other.filter(|elem| elem_of_leaf(&leaf).is_some_and(|own| own != *elem));
            cast.push(match (other, axes(&leaf)) {
                (None, _) => leaf,
                (Some(elem), 0) => {
                    let value = self.leading(&leaf, &[])?;
                    Val::Scalar(self.cast(&value, elem)?)
                }
                (Some(elem), rank) => {
                    let sized = leaf.clone();
                    let entry = move |cx: &mut Self, at: &[At]| {
                        let value = cx.leading(&leaf, at)?;
                        cx.cast(&value, elem)
                    };
                    Val::lazy(elem, rank, false, move |cx| cx.extents_of(&sized), entry)
                }
            });
        }
        Ok(self.record(ty, &mut cast.into_iter()))
    }

    /// `D / @p` for all other `D`, which is the expression `left`.
    fn combined_request(
        &mut self,
        terms: &[Term<'p>],
        left: ExprId,
        by: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        self.hint = None;
        let (whole, ty) = (self.ty(left), self.ty(expr));
        let by_type = self.ty(by);
        let by = self.targets(by, false)?;
        let mut parts: Vec<(&Term<'p>, Vec<Val<'p>>, Vec<Target>)> = Vec::new();
        for term in terms {
            let of = self.within(term.frame.clone(), |cx| cx.targets(term.target, true))?;
            let factor = term.factor.as_ref().map(Val::leaves).unwrap_or_default();
            parts.push((term, factor, of));
        }
        let whole = match whole {
            Ty::Differential(inner) => *inner,
            ty => ty,
        };
        let kinds = self.leaf_types(&whole).unwrap_or_default();
        let mut leaves = Vec::with_capacity(kinds.len() * by.len());
        for (at, by_at) in self.leaf_pairs(&whole, &by_type) {
            let (Some(kind), Some(by)) = (kinds.get(at), by.get(by_at)) else {
                return unsupported(self.here, "a derivative of these parts");
            };
            let mut summands = Vec::with_capacity(parts.len());
            for (term, factor, of) in &parts {
                let Some(of) = own_or_only(of, at) else {
                    return unsupported(self.here, "this combination of differentials");
                };
                let (negated, factor) = (term.negated, own_or_only(factor, at).cloned());
                let entries = self.jacobian(of, by)?;
                summands.push(Summand { negated, factor, rank: of.rank, entries });
            }
            leaves.push(self.combination(summands, kind.elem, kind.rank, by.rank)?);
        }
        self.as_declared(&ty, leaves)
    }

    /// The sum of all terms, with the axes of the differential and then those of the parameter.
    fn combination(
        &mut self,
        summands: Vec<Summand<'p>>,
        elem: Elem,
        rank: usize,
        n_by: usize,
    ) -> R<Val<'p>> {
        let span = self.here;
        let sized = summands.clone();
        let sum = move |cx: &mut Self, at: &[At]| {
            let outer = std::mem::replace(&mut cx.here, span);
            let value = cx.summed(&summands, rank, at);
            cx.here = outer;
            value
        };
        if rank + n_by == 0 {
            return sum(self, &[]).map(Val::Scalar);
        }
        let extents = move |cx: &mut Self| cx.combined_extents(&sized, rank);
        Ok(Val::lazy(elem, rank + n_by, false, extents, sum))
    }

    fn summed(&mut self, summands: &[Summand<'p>], rank: usize, at: &[At]) -> R<Scalar> {
        let (own, by) = at.split_at(rank.min(at.len()));
        let mut sum: Option<Scalar> = None;
        for Summand { negated, factor, rank, entries } in summands {
            let point = [&own[..(*rank).min(own.len())], by].concat();
            let mut value = self.leading(entries, &point)?;
            if let Some(factor) = factor {
                let factor = self.leading(factor, own)?;
                value = self.binary_op(BinaryOp::Mul, &[factor, value])?;
            }
            sum = Some(match (sum, negated) {
                (None, false) => value,
                (None, true) => {
                    let elem = value.elem;
                    self.apply(Op::Neg, &[value], elem)?
                }
                (Some(sum), false) => self.binary_op(BinaryOp::Add, &[sum, value])?,
                (Some(sum), true) => self.binary_op(BinaryOp::Sub, &[sum, value])?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => unsupported(self.here, "an empty differential"),
        }
    }

    fn combined_extents(&mut self, summands: &[Summand<'p>], rank: usize) -> R<Vec<Quasi>> {
        let (mut own, mut by): (Option<Vec<Quasi>>, Vec<Quasi>) = (None, Vec::new());
        for Summand { factor, rank: n_own, entries, .. } in summands {
            let mut extents = match entries {
                Val::Tensor(tensor) => self.extents(tensor)?,
                _ => Vec::new(),
            };
            by = extents.split_off((*n_own).min(extents.len()));
            match factor {
                _ if *n_own == rank => own = own.or(Some(extents)),
                Some(factor) if axes(factor) == rank && own.is_none() => {
                    own = Some(self.extents_of(factor)?);
                }
                _ => {}
            }
        }
        match own {
            Some(own) => Ok([own, by].concat()),
            None => unsupported(self.here, "this combination of differentials"),
        }
    }
}

/// What belongs to one leaf; the only thing there is belongs to all.
fn own_or_only<T>(leaves: &[T], at: usize) -> Option<&T> {
    match leaves {
        [only] => Some(only),
        leaves => leaves.get(at),
    }
}

fn axes(leaf: &Val<'_>) -> usize {
    match leaf {
        Val::Tensor(tensor) => tensor.rank,
        _ => 0,
    }
}

fn elem_of_leaf(leaf: &Val<'_>) -> Option<Elem> {
    match leaf {
        Val::Scalar(scalar) => Some(scalar.elem),
        Val::Tensor(tensor) => Some(tensor.elem),
        _ => None,
    }
}
