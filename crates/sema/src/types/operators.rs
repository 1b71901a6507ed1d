//! Operators: both sides have one type; whole tensors of equal shape and records go leaf by leaf.
//! `**` is the one operator that mixes integers and floats.

use super::Checker;
use super::literals::differ;
use super::ty::{Extent, Ty};
use super::vars::Kind;
use crate::errors;
use crate::hir::*;

/// Why two operands do not go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clash {
    /// The types differ.
    Types,
    /// The types agree, but the operator is not for them.
    NotForThem,
    /// Whole tensors of different rank.
    Ranks,
    /// Whole tensors of different shape.
    Shapes,
}

/// What two scalars may be combined for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaf {
    /// `+`: numbers give a number.
    Number,
    /// `<`: numbers give a bool.
    Order,
    /// `==`: anything gives a bool.
    Equality,
    /// `**`: numbers, mixed.
    Power,
}

impl Checker<'_> {
    pub(super) fn binary(&mut self, expr: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logical(op, left, right);
        }
        let (a, b) = (self.infer(left), self.infer(right));
        if op == BinaryOp::In {
            return self.membership(expr, &a, &b, left, right);
        }
        if let Some(ty) = self.differential_operator(op, &a, &b) {
            return ty;
        }
        let leaf = leaf_of(op);
        let (plain_a, plain_b) = (self.plain(&a), self.plain(&b));
        match self.combine(leaf, &plain_a, &plain_b) {
            Ok(ty) => self.differential_result(leaf, &a, &b, ty),
            Err(clash) => self.operand_error(clash, expr, op, (&plain_a, left), (&plain_b, right)),
        }
    }

    fn logical(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Ty {
        for side in [left, right] {
            let found = self.infer(side);
            if !self.unify(&found, &Ty::BOOL) {
                let (got, span) = (self.show(&found), self.span(side));
                self.report(errors::not_bool(op.spelling(), &got, span));
            }
        }
        Ty::BOOL
    }

    /// `x in xs`
    fn membership(&mut self, expr: ExprId, a: &Ty, b: &Ty, left: ExprId, right: ExprId) -> Ty {
        let Some(element) = self.element_of(b) else {
            let (got, span) = (self.show(b), self.span(right));
            return self.fail(errors::not_iterable(&got, span));
        };
        if !self.unify(a, &element) {
            self.operand_error(Clash::Types, expr, BinaryOp::In, (a, left), (&element, right));
        }
        Ty::BOOL
    }

    /// What iterating over a value gives.
    pub(super) fn element_of(&mut self, ty: &Ty) -> Option<Ty> {
        Some(match self.shallow(ty) {
            Ty::Range(element) => *element,
            Ty::Tensor(element, extents) => Ty::tensor(*element, extents[1..].to_vec()),
            Ty::Jagged(element, 0 | 1) => *element,
            Ty::Jagged(element, levels) => Ty::Jagged(element, levels - 1),
            ty if ty.is_silent() => ty,
            _ => return None,
        })
    }

    /// The type of `a op b`, leaf by leaf.
    pub(super) fn combine(&mut self, leaf: Leaf, a: &Ty, b: &Ty) -> Result<Ty, Clash> {
        let (a, b) = (self.shallow(a), self.shallow(b));
        if self.record_depth > super::MAX_RECORD_DEPTH {
            return Ok(Ty::Error);
        }
        self.record_depth += 1;
        let result = match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(Ty::Error),
            (Ty::Unknown, _) | (_, Ty::Unknown) => Ok(Ty::Unknown),
            (Ty::Tensor(x, m), Ty::Tensor(y, n)) => self.combine_tensors(leaf, (x, m), (y, n)),
            (Ty::Tensor(x, m), scalar) => {
                self.combine(leaf, x, scalar).map(|ty| Ty::tensor(ty, m.clone()))
            }
            (scalar, Ty::Tensor(y, n)) => {
                self.combine(leaf, scalar, y).map(|ty| Ty::tensor(ty, n.clone()))
            }
            _ if leaf == Leaf::Equality => match self.join(&a, &b) {
                Some(Ty::Fn(_) | Ty::Range(_)) => Err(Clash::NotForThem),
                Some(_) => Ok(Ty::BOOL),
                None => Err(Clash::Types),
            },
            // Records have no order.
            (Ty::Tuple(_) | Ty::Struct(..), _) | (_, Ty::Tuple(_) | Ty::Struct(..))
                if leaf == Leaf::Order =>
            {
                Err(if self.unify(&a, &b) { Clash::NotForThem } else { Clash::Types })
            }
            _ => self.combine_records(leaf, &a, &b),
        };
        self.record_depth -= 1;
        result
    }

    fn combine_tensors(
        &mut self,
        leaf: Leaf,
        a: (&Ty, &[Extent]),
        b: (&Ty, &[Extent]),
    ) -> Result<Ty, Clash> {
        if a.1.len() != b.1.len() {
            return Err(Clash::Ranks);
        }
        if differ(a.1, b.1) {
            return Err(Clash::Shapes);
        }
        let element = self.combine(leaf, a.0, b.0)?;
        Ok(Ty::tensor(element, a.1.iter().zip(b.1).map(|(m, n)| m.or(*n)).collect()))
    }

    fn combine_records(&mut self, leaf: Leaf, a: &Ty, b: &Ty) -> Result<Ty, Clash> {
        match (a, b) {
            (Ty::Tuple(x), Ty::Tuple(y)) if x.len() == y.len() => {
                let parts = x.iter().zip(y).map(|(x, y)| self.combine(leaf, x, y));
                parts.collect::<Result<Vec<Ty>, Clash>>().map(Ty::Tuple)
            }
            (Ty::Struct(d, _), Ty::Struct(e, _)) if d == e => {
                let joined = self.join(a, b).ok_or(Clash::Types)?;
                for (_, field) in self.fields_of(&joined) {
                    self.combine(leaf, &field, &field)?;
                }
                Ok(joined)
            }
            (Ty::Tuple(_) | Ty::Struct(..), scalar) if is_leaf(scalar) => {
                self.combine_with_scalar(a, scalar, |cx, part, scalar| {
                    cx.combine(leaf, part, scalar)
                })
            }
            (scalar, Ty::Tuple(_) | Ty::Struct(..)) if is_leaf(scalar) => {
                self.combine_with_scalar(b, scalar, |cx, part, scalar| {
                    cx.combine(leaf, scalar, part)
                })
            }
            (Ty::Scalar(_) | Ty::Var(_), Ty::Scalar(_) | Ty::Var(_)) => {
                self.combine_leaves(leaf, a, b)
            }
            _ => match self.join(a, b) {
                Some(ty) if ty.is_silent() => Ok(ty),
                Some(_) => Err(Clash::NotForThem),
                None => Err(Clash::Types),
            },
        }
    }

    /// Combines every part of a record with one scalar. A literal takes the type of each part.
    fn combine_with_scalar(
        &mut self,
        record: &Ty,
        scalar: &Ty,
        combine: impl Fn(&mut Self, &Ty, &Ty) -> Result<Ty, Clash>,
    ) -> Result<Ty, Clash> {
        let literal = self.vars.literal(scalar).map(|_| self.vars.freeze(scalar));
        let one = |cx: &mut Self, part: &Ty| {
            let Some(literal) = &literal else { return combine(cx, part, scalar) };
            // Parts that are literals themselves must not decide each other through the scalar.
            if cx.vars.literal(part).is_none()
                && let Ok(ty) = combine(cx, part, scalar)
            {
                return Ok(ty);
            }
            let scalar = cx.vars.thaw(literal);
            combine(cx, part, &scalar)
        };
        if let Ty::Tuple(parts) = record {
            let parts = parts.iter().map(|part| one(self, part));
            return parts.collect::<Result<Vec<Ty>, Clash>>().map(Ty::Tuple);
        }
        for (_, field) in self.fields_of(record) {
            one(self, &field)?;
        }
        Ok(record.clone())
    }

    fn combine_leaves(&mut self, leaf: Leaf, a: &Ty, b: &Ty) -> Result<Ty, Clash> {
        if leaf == Leaf::Power {
            return self.power(a, b);
        }
        let joined = self.join(a, b).ok_or(Clash::Types)?;
        if matches!(joined, Ty::Scalar(scalar) if !scalar.is_number()) {
            return Err(Clash::NotForThem);
        }
        Ok(if leaf == Leaf::Order { Ty::BOOL } else { joined })
    }

    /// int**int→int, float**int→float, float**float→float.
    fn power(&mut self, base: &Ty, exponent: &Ty) -> Result<Ty, Clash> {
        let kind = |cx: &Checker<'_>, ty: &Ty| match ty {
            Ty::Scalar(scalar) if scalar.is_float() => Some(Kind::Float),
            Ty::Scalar(scalar) if scalar.is_integer() => Some(Kind::Int),
            Ty::Scalar(_) => None,
            _ => Some(cx.vars.literal(ty).unwrap_or(Kind::Any)),
        };
        let (Some(of_base), Some(of_exponent)) = (kind(self, base), kind(self, exponent)) else {
            return Err(if self.unify(base, exponent) { Clash::NotForThem } else { Clash::Types });
        };
        let literal_base = self.vars.literal(base).is_some();
        match (of_base, of_exponent) {
            (Kind::Float, Kind::Int) => Ok(base.clone()),
            // A literal base takes the exponent's type; other integers keep their own.
            (Kind::Int, Kind::Int) if !literal_base => Ok(base.clone()),
            _ => self.join(base, exponent).ok_or(Clash::Types),
        }
    }

    pub(super) fn operand_error(
        &mut self,
        clash: Clash,
        expr: ExprId,
        op: BinaryOp,
        left: (&Ty, ExprId),
        right: (&Ty, ExprId),
    ) -> Ty {
        let (a, b) = (self.operand(left.0, left.1), self.operand(right.0, right.1));
        let (op, span) = (op.spelling(), self.span(expr));
        self.fail(match clash {
            Clash::Types => errors::operands_differ(op, &a, &b, span),
            Clash::NotForThem => errors::operator_not_for(op, &a, &b, span),
            Clash::Ranks => errors::ranks_differ(op, &a, &b, span),
            Clash::Shapes => errors::shapes_differ(op, &a, &b, span),
        })
    }

    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Ty {
        let found = self.infer(operand);
        let plain = self.plain(&found);
        let fits = match op {
            UnaryOp::Neg => self.combine(Leaf::Number, &plain, &plain).is_ok(),
            UnaryOp::Not => match self.shallow(&plain) {
                Ty::Tensor(element, _) => self.unify(&element, &Ty::BOOL),
                ty => self.unify(&ty, &Ty::BOOL),
            },
        };
        if fits {
            return found;
        }
        let (operand, op) =
            (self.operand(&found, operand), if op == UnaryOp::Neg { "-" } else { "!" });
        self.fail(errors::unary_not_for(op, &operand))
    }
}

/// A scalar, or a literal that waits.
fn is_leaf(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(_) | Ty::Var(_))
}

fn leaf_of(op: BinaryOp) -> Leaf {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => Leaf::Equality,
        BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge => Leaf::Order,
        BinaryOp::Pow => Leaf::Power,
        _ => Leaf::Number,
    }
}
