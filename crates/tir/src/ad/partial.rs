//! Products of partial derivatives of operations, as instructions.

use super::context::{Ad, is_number, one, zero};
use super::fault::{Fault, R};
use crate::constant::Const;
use crate::op::{Derivative, Op, Partial, Typing};
use crate::region::{Arg, Inst, Region};
use crate::types::{Elem, Loc};

/// An operation that was applied.
pub(super) struct Applied<'a> {
    pub(super) op: Op,
    pub(super) args: &'a [Arg],
    pub(super) result: Arg,
    pub(super) loc: Loc,
}

impl Ad<'_> {
    /// The partial derivative of an operation by one operand times a factor, as a value of type
    /// `to`: the operand's when adjoints are propagated, the result's for tangents. `None` is zero.
    pub(super) fn scaled(
        &mut self,
        out: &mut Vec<Inst>,
        applied: &Applied<'_>,
        which: usize,
        factor: Arg,
        to: Elem,
    ) -> R<Option<Arg>> {
        let elem = applied.result.elem().unwrap_or(to);
        let operand = applied.args.get(which).and_then(Arg::elem);
        if operand.is_some_and(Elem::is_int) && elem.is_float() {
            return Err(Fault::through_integer(applied.loc));
        }
        match applied.op {
            Op::Cast => return Ok(Some(self.cast(out, factor, to))),
            Op::Powi => return self.power(out, applied, factor, elem).map(Some),
            _ => {}
        }
        match applied.op.info().derivative {
            Derivative::Zero => Ok(None),
            Derivative::None => {
                let what = format!("`{}`", applied.op.name());
                Err(Fault::no_rule(&what, applied.loc))
            }
            Derivative::Partials(texts) => {
                let text = texts.get(which).copied().unwrap_or("0");
                let what = || Fault::no_rule(&format!("`{}`", applied.op.name()), applied.loc);
                let partial = Partial::parse(text).map_err(|_| what())?;
                self.product(out, &partial, applied, factor, elem)
            }
        }
    }

    /// `factor * partial`.
    fn product(
        &mut self,
        out: &mut Vec<Inst>,
        partial: &Partial,
        applied: &Applied<'_>,
        factor: Arg,
        elem: Elem,
    ) -> R<Option<Arg>> {
        match partial {
            Partial::Number(number) if *number == 0.0 => Ok(None),
            Partial::Apply(Op::Neg, inner) => {
                let product = self.product(out, &inner[0], applied, factor, elem)?;
                Ok(product.map(|product| self.neg(out, product)))
            }
            Partial::Apply(Op::Div, inner) => {
                let number = self.product(out, &inner[0], applied, factor, elem)?;
                let divisor = self.partial(out, &inner[1], applied, elem);
                Ok(number.map(|number| self.op(out, Op::Div, vec![number, divisor], elem)))
            }
            Partial::Apply(Op::Select, inner) => {
                let condition = self.partial(out, &inner[0], applied, Elem::Bool);
                let mut arms = Vec::with_capacity(2);
                for arm in &inner[1..] {
                    let mut insts = Vec::new();
                    let product = self.product(&mut insts, arm, applied, factor.clone(), elem)?;
                    let results = vec![product.unwrap_or_else(|| zero(elem))];
                    arms.push(Region { params: Vec::new(), insts, results });
                }
                let otherwise = arms.pop().unwrap_or_default();
                let then = arms.pop().unwrap_or_default();
                Ok(Some(self.branch(out, condition, then, otherwise, elem)))
            }
            _ => {
                let partial = self.partial(out, partial, applied, elem);
                Ok((!is_number(&partial, 0.0)).then(|| self.mul(out, factor, partial)))
            }
        }
    }

    /// The value of a partial derivative.
    fn partial(
        &mut self,
        out: &mut Vec<Inst>,
        partial: &Partial,
        applied: &Applied<'_>,
        elem: Elem,
    ) -> Arg {
        match partial {
            Partial::Arg(at) => applied.args.get(*at).cloned().unwrap_or_else(|| zero(elem)),
            Partial::Result => applied.result.clone(),
            Partial::Number(number) => Const::float(elem, *number).into(),
            Partial::Apply(Op::Select, inner) => {
                let condition = self.partial(out, &inner[0], applied, Elem::Bool);
                let mut arms = inner[1..].iter().map(|arm| {
                    let mut insts = Vec::new();
                    let results = vec![self.partial(&mut insts, arm, applied, elem)];
                    Region { params: Vec::new(), insts, results }
                });
                let then = arms.next().unwrap_or_default();
                let otherwise = arms.next().unwrap_or_default();
                self.branch(out, condition, then, otherwise, elem)
            }
            Partial::Apply(op, inner) => {
                let typing = op.info().typing;
                let wanted = |at: usize| match (typing, at) {
                    (Typing::IntFloat, 0) | (Typing::FloatInt, 1) => {
                        let int = applied.args.iter().filter_map(Arg::elem).find(|e| e.is_int());
                        int.unwrap_or(Elem::I32)
                    }
                    _ if elem == Elem::Bool => {
                        applied.args.first().and_then(Arg::elem).unwrap_or(elem)
                    }
                    _ => elem,
                };
                let elems: Vec<Elem> = (0..inner.len()).map(wanted).collect();
                let args = inner.iter().zip(elems);
                let args =
                    args.map(|(inner, elem)| self.partial(out, inner, applied, elem)).collect();
                self.op(out, *op, args, elem)
            }
        }
    }

    /// `n * x ** (n - 1)` times a factor, without what a known exponent makes trivial.
    fn power(
        &mut self,
        out: &mut Vec<Inst>,
        applied: &Applied<'_>,
        factor: Arg,
        elem: Elem,
    ) -> R<Arg> {
        let [x, n] = applied.args else { return Ok(zero(elem)) };
        if let Some(n) = n.as_const().and_then(Const::as_int) {
            let scale = Const::float(elem, n as f64).into();
            let power = match n {
                0 => return Ok(zero(elem)),
                1 => one(elem),
                2 => x.clone(),
                _ => {
                    let less = Const::int(applied.args[1].elem().unwrap_or(Elem::I32), n - 1);
                    self.op(out, Op::Powi, vec![x.clone(), less.into()], elem)
                }
            };
            let scaled = self.mul(out, scale, power);
            return Ok(self.mul(out, factor, scaled));
        }
        let int = n.elem().unwrap_or(Elem::I32);
        let is_zero = self.op(out, Op::Eq, vec![n.clone(), Const::zero(int).into()], Elem::Bool);
        let mut insts = Vec::new();
        let less = self.op(&mut insts, Op::Sub, vec![n.clone(), Const::one(int).into()], int);
        let power = self.op(&mut insts, Op::Powi, vec![x.clone(), less], elem);
        let scale = self.op(&mut insts, Op::Cast, vec![n.clone()], elem);
        let scaled = self.mul(&mut insts, scale, power);
        let results = vec![self.mul(&mut insts, factor, scaled)];
        let otherwise = Region { params: Vec::new(), insts, results };
        let then = Region::yielding([zero(elem)]);
        Ok(self.branch(out, is_zero, then, otherwise, elem))
    }
}
