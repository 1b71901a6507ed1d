//! The arithmetic of subscripts, which is exact: `x[i * j]` with large indices is out of bounds and
//! never wraps around into the tensor.
//!
//! What is not an index expression is computed with 64 bits. Operands that could leave those (there
//! are none among 32-bit integers up to one product) are tested, and the program stops there.

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::host::{Block, HostKind};
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{InstKind, Region};
use einlang_tir::types::{Elem, ElemKind};

use super::Lower;
use super::module::loc;
use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use crate::hir::{BinaryOp, ExprId, ExprKind, UnaryOp};

/// Indices and sizes are 32-bit integers.
const INDEX_BOUND: u128 = 1 << 31;

/// Integers from here on are no subscripts of anything.
const LARGEST: f64 = 9e18;

impl<'p> Lower<'p> {
    /// The value of a subscript.
    pub(super) fn subscript(&mut self, expr: ExprId) -> R<Val<'p>> {
        match self.exact_integer(expr)? {
            Some((scalar, _)) => Ok(Val::Scalar(scalar)),
            None => self.eval(expr),
        }
    }

    /// Arithmetic on integers with the largest absolute value; none for anything else.
    fn exact_integer(&mut self, expr: ExprId) -> R<Option<(Scalar, u128)>> {
        let is_known = self.frame.hoisted.contains_key(&expr);
        if is_known || !elem_of(&self.ty(expr)).is_some_and(Elem::is_int) {
            return Ok(None);
        }
        let span = self.body().span(expr);
        let (op, args) = match self.body().kind(expr) {
            ExprKind::Binary(op, left, right) => {
                let op = match op {
                    BinaryOp::Add => Op::Add,
                    BinaryOp::Sub => Op::Sub,
                    BinaryOp::Mul => Op::Mul,
                    BinaryOp::Div => Op::Div,
                    BinaryOp::Rem => Op::Rem,
                    _ => return Ok(None),
                };
                (op, vec![*left, *right])
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => (Op::Neg, vec![*operand]),
            _ => return Ok(None),
        };
        let outer = std::mem::replace(&mut self.here, span);
        self.conditional_checks(span, false)?;
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            operands.push(self.exact_operand(arg)?);
        }
        let result = self.exact_op(op, &operands);
        self.here = outer;
        result.map(Some)
    }

    fn exact_operand(&mut self, expr: ExprId) -> R<(Scalar, u128)> {
        self.depth += 1;
        let known = match self.depth > super::MAX_DEPTH {
            true => super::unsupported(self.here, "expressions nested this deeply"),
            false => self.exact_integer(expr),
        };
        self.depth -= 1;
        if let Some(known) = known? {
            return Ok(known);
        }
        let value = self.eval(expr)?;
        let scalar = self.expect_scalar(value, self.here)?;
        let bound = match &scalar.form {
            Form::Const(constant) => constant.as_int().map_or(u128::MAX, i128::unsigned_abs),
            Form::Index(_, expr) => index_bound(expr),
            _ if scalar.elem.kind() == ElemKind::Signed => {
                1 << scalar.elem.bits().saturating_sub(1)
            }
            _ => 1 << scalar.elem.bits(),
        };
        Ok((scalar, bound))
    }

    fn exact_op(&mut self, op: Op, args: &[(Scalar, u128)]) -> R<(Scalar, u128)> {
        let of = |at: usize| args.get(at).map_or(0, |arg| arg.1);
        let bound = match op {
            Op::Add | Op::Sub => of(0).saturating_add(of(1)),
            Op::Mul => of(0).saturating_mul(of(1)),
            Op::Rem => of(1),
            _ => of(0),
        };
        let scalars: Vec<Scalar> = args.iter().map(|arg| arg.0.clone()).collect();
        let elem = scalars[0].elem;
        if scalars.iter().all(|arg| arg.elem == elem)
            && let Some(index) = self.apply_index(op, &scalars, elem)
        {
            return Ok((index, bound));
        }
        let is_unsigned = |arg: &Scalar| arg.elem == Elem::U64;
        if matches!(op, Op::Div | Op::Rem) && scalars.iter().all(is_unsigned) {
            return Ok((self.apply(op, &scalars, Elem::U64)?, bound));
        }
        let mut wide = Vec::with_capacity(scalars.len());
        for (scalar, bound) in args {
            if is_unsigned(scalar) && *bound > i64::MAX.unsigned_abs().into() {
                self.check_product(Op::Abs, std::slice::from_ref(scalar))?;
            }
            wide.push(self.widened(scalar)?);
        }
        if bound > i64::MAX.unsigned_abs().into() {
            self.check_product(op, &wide)?;
        }
        let result = self.apply(op, &wide, Elem::I64)?;
        Ok((result, bound.min(1 << 63)))
    }

    /// The integer with 64 bits; index expressions have no width.
    fn widened(&mut self, scalar: &Scalar) -> R<Scalar> {
        match &scalar.form {
            Form::Index(..) => Ok(Scalar { elem: Elem::I64, form: scalar.form.clone() }),
            Form::Const(constant) => match constant.as_int() {
                Some(number) => Ok(Scalar::constant(Const::int(Elem::I64, number))),
                None => Ok(scalar.clone()),
            },
            _ => self.cast(scalar, Elem::I64),
        }
    }

    /// Stops the program where a subscript leaves 64 bits.
    fn check_product(&mut self, op: Op, args: &[Scalar]) -> R<()> {
        let mut floats = Vec::with_capacity(args.len());
        for arg in args {
            floats.push(self.cast(arg, Elem::F64)?);
        }
        let size = self.apply(op, &floats, Elem::F64)?;
        let size = self.apply(Op::Abs, &[size], Elem::F64)?;
        let limit = Scalar::constant(Const::float(Elem::F64, LARGEST));
        let fits = self.apply(Op::Lt, &[size, limit], Elem::Bool)?;
        let (at, message) = (loc(self.here), "this subscript is beyond 64 bits");
        if self.in_region() {
            let condition = self.arg(&fits)?;
            let (otherwise, ()) = self.region(|cx| {
                cx.trap(Trap::OutOfBounds, message, at);
                Ok((Vec::new(), ()))
            })?;
            let kind = InstKind::If { condition, then: Region::default(), otherwise };
            self.push_inst(Vec::new(), kind, at);
            return Ok(());
        }
        let condition = self.host_scalar(&fits)?;
        let (otherwise, ()) = self.block(Vec::new(), |cx| {
            cx.host_inst(Vec::new(), HostKind::Trap(Trap::OutOfBounds, message.to_owned()), at);
            Ok((Vec::new(), ()))
        })?;
        self.host_inst(Vec::new(), HostKind::If(condition, Block::default(), otherwise), at);
        Ok(())
    }
}

/// The largest absolute value of an index expression.
fn index_bound(expr: &Quasi) -> u128 {
    let terms = expr.affine().terms().iter().map(|term| term.1);
    let divisions = expr.divisions().iter().map(|division| division.1);
    let sizes: u128 = terms.chain(divisions).map(|c| u128::from(c.unsigned_abs())).sum();
    let constant = u128::from(expr.affine().constant_part().unsigned_abs());
    INDEX_BOUND.saturating_mul(sizes).saturating_add(constant)
}
