//! Expressions: one evaluator for the module, its regions and the host.
//!
//! Outside of regions, a scalar that tensor code can compute gets one region of its own; calls and
//! blocks inside it are evaluated before that region is opened, so their locals are bindings of
//! the module and calls of host functions are host code.

use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::combination::negated;
use super::types::elem_of;
use super::value::{Form, Frame, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{BinaryOp, ExprId, ExprKind, LocalId, Res, UnaryOp};
use crate::types::{Callee, Ty};

impl<'p> Lower<'p> {
    /// The type of an expression; a constant has the type of its use.
    pub(super) fn ty(&self, expr: ExprId) -> Ty {
        let ty = self.typed.instance(self.frame.instance).expr(expr).clone();
        if self.frame.tangents.is_some() {
            return plain(&ty);
        }
        match self.frame.retype {
            Some((from, to)) => retyped(&ty, from, to),
            None => ty,
        }
    }

    /// The type of a binding; in a rule, differentials are plain values.
    pub(super) fn local_ty(&self, local: LocalId) -> Ty {
        let ty = self.typed.instance(self.frame.instance).local(local);
        if self.frame.tangents.is_some() { plain(ty) } else { ty.clone() }
    }

    /// The value of an expression.
    pub(super) fn eval(&mut self, expr: ExprId) -> R<Val<'p>> {
        if let Some(known) = self.frame.hoisted.get(&expr) {
            return Ok(known.clone());
        }
        let span = self.body().span(expr);
        let outer = std::mem::replace(&mut self.here, span);
        let hint = self.hint.take();
        self.depth += 1;
        self.conditional_checks(span, false)?;
        let value = match self.depth > super::MAX_DEPTH {
            true => unsupported(span, "expressions nested this deeply"),
            false => self.eval_here(expr, hint),
        };
        self.depth -= 1;
        self.here = outer;
        let value = value?;
        let kind = self.body().kind(expr);
        if !matches!(kind, ExprKind::Literal(_) | ExprKind::Binary(..) | ExprKind::Unary(..))
            && matches!(value, Val::Scalar(_) | Val::Tensor(_) | Val::Record(_))
        {
            std::rc::Rc::make_mut(&mut self.frame.exprs).insert(expr, value.clone());
        }
        // What was loaded can be looked at only now.
        self.conditional_checks(span, true)?;
        Ok(value)
    }

    fn eval_here(&mut self, expr: ExprId, hint: Option<String>) -> R<Val<'p>> {
        let kind = self.body().kind(expr);
        let is_compound = matches!(
            kind,
            ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast(..)
                | ExprKind::If { .. }
                | ExprKind::Match { .. }
                | ExprKind::Where { .. }
                | ExprKind::Reduce { .. }
                | ExprKind::UserReduce { .. }
                | ExprKind::Access { .. }
                | ExprKind::Call { .. }
        );
        if !is_compound || self.in_region() || self.host_scalars {
            return self.eval_kind(expr, kind);
        }
        let Some(elem) = elem_of(&self.ty(expr)) else { return self.eval_kind(expr, kind) };
        if self.is_inlined_call(expr) || self.is_request(expr) {
            self.hint = hint;
            let value = self.eval_kind(expr, kind);
            self.hint = None;
            return value;
        }
        let mark = self.hoist(expr)?;
        let value = if self.needs_host_now(expr) {
            self.eval_kind(expr, kind)
        } else {
            let (name, span) = (hint.unwrap_or_else(|| self.fresh("v")), self.here);
            let mut known = None;
            let id = self.with_requests(vec![expr], |cx| {
                cx.define_scalar(&name, span, |cx| {
                    let value = cx.eval_kind(expr, kind)?;
                    let scalar = cx.expect_scalar(value, span)?;
                    known = scalar.as_const();
                    Ok(scalar)
                })
            });
            id.map(|id| match known {
                Some(constant) => Val::Scalar(Scalar::constant(constant)),
                None => Val::Scalar(Scalar { elem, form: Form::Named(id) }),
            })
        };
        mark.into_iter().for_each(|part| self.frame.forget(part));
        value
    }

    /// Whether a call is lowered in place.
    fn is_inlined_call(&self, expr: ExprId) -> bool {
        let callee = self.typed.instance(self.frame.instance).calls.get(&expr);
        let is_call = matches!(self.body().kind(expr), ExprKind::Call { .. });
        is_call && matches!(callee, Some(Callee::Instance(_)))
    }

    /// Whether an expression is `D / @p`, which may take in definitions from earlier modules.
    fn is_request(&self, expr: ExprId) -> bool {
        match self.body().kind(expr) {
            ExprKind::Binary(BinaryOp::Div, _, by) => {
                self.frame.tangents.is_none()
                    && matches!(self.body().kind(*by), ExprKind::Differential(_))
            }
            _ => false,
        }
    }

    /// Whether an expression still needs the host once its hoisted parts are known.
    fn needs_host_now(&mut self, expr: ExprId) -> bool {
        if !self.needs_host(expr) {
            return false;
        }
        if self.frame.hoisted.contains_key(&expr) {
            return false;
        }
        let kind = self.body().kind(expr);
        if self.reads_table(kind) {
            return true;
        }
        let strict = strict_children(kind);
        let all = crate::types::walk::children(kind);
        let lazy_needs = all.iter().filter(|e| !strict.contains(e)).any(|e| self.needs_host(*e));
        let callee_host = !matches!(
            kind,
            ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cast(..)
                | ExprKind::Access { .. }
        );
        lazy_needs || callee_host || strict.into_iter().any(|e| self.needs_host_now(e))
    }

    /// Evaluates the calls and blocks that an expression needs in any case.
    fn hoist(&mut self, expr: ExprId) -> R<Vec<ExprId>> {
        let mut parts = Vec::new();
        let mut open = strict_children(self.body().kind(expr));
        open.reverse();
        while let Some(part) = open.pop() {
            let kind = self.body().kind(part);
            let hoists = self.is_inlined_call(part)
                || self.is_request(part)
                || matches!(kind, ExprKind::Block(_))
                || (matches!(kind, ExprKind::Call { .. }) && self.needs_host(part));
            if hoists && !self.frame.hoisted.contains_key(&part) {
                let value = self.eval(part)?;
                let value = self.named(value, "v")?;
                self.frame.hoist(part, value);
                parts.push(part);
            } else {
                let mut below = strict_children(kind);
                below.reverse();
                open.extend(below);
            }
        }
        Ok(parts)
    }

    fn eval_kind(&mut self, expr: ExprId, kind: &'p ExprKind) -> R<Val<'p>> {
        match kind {
            ExprKind::Error => unsupported(self.here, "an expression with an error"),
            ExprKind::Literal(literal) => self.literal(literal, expr),
            ExprKind::Format(parts) => self.format(parts),
            ExprKind::Name(Res::Local(local)) if self.is_open_scalar(*local) => {
                self.open_scalar(*local, expr)
            }
            ExprKind::Name(res) => self.name(*res, expr),
            ExprKind::Last => match self.lasts.last() {
                Some(last) => Ok(Val::Scalar(last.clone())),
                None => unsupported(self.here, "`last` outside of a subscript"),
            },
            ExprKind::Coordinate(_) => unsupported(self.here, "a coordinate as a value"),
            ExprKind::Tuple(items) => {
                Ok(Val::Record(items.iter().map(|item| self.eval(*item)).collect::<R<_>>()?))
            }
            ExprKind::Array(items) => self.array(items, expr),
            ExprKind::Comprehension { element, items } => self.comprehension(*element, items, expr),
            ExprKind::Block(block) => self.eval_block(block),
            ExprKind::If { condition, then, otherwise } => {
                self.eval_if(*condition, *then, *otherwise, expr)
            }
            ExprKind::Match { scrutinee, arms } => self.eval_match(*scrutinee, arms, expr),
            ExprKind::Lambda { .. } => self.function_value(expr),
            ExprKind::Unary(op, operand) => self.unary(*op, *operand, expr),
            ExprKind::Differential(of) => self.differential(*of),
            ExprKind::Binary(op, left, right) => self.binary(*op, *left, *right, expr),
            ExprKind::Range { start, end, inclusive } => self.range(*start, *end, *inclusive),
            ExprKind::Cast(value, _) => self.eval_cast(*value, expr),
            ExprKind::Call { callee, args } => self.call(expr, *callee, args),
            ExprKind::CoordCall { callee, indices, args } => {
                self.coordinate_call(expr, *callee, indices, args)
            }
            ExprKind::Reduce { op, indices, body } => self.reduce(*op, indices, *body, expr),
            ExprKind::UserReduce { indices, init, combine, body } => {
                self.user_reduce(indices, *init, *combine, *body, expr)
            }
            ExprKind::Access { base, subscripts, default } => {
                self.access(expr, *base, subscripts, *default)
            }
            ExprKind::Field(base, field) => self.field(*base, *field),
            ExprKind::Struct { res, fields } => self.construct(*res, fields, expr),
            ExprKind::AndThen(value, f) => self.and_then(*value, *f, expr, "Some"),
            ExprKind::OkThen(value, f) => self.and_then(*value, *f, expr, "Ok"),
            ExprKind::OrElse(value, other) => self.or_else(*value, *other, expr),
            ExprKind::Catch(value, handler) => self.catch(*value, *handler, expr),
            ExprKind::Try(value) => self.attempt(*value, expr),
            ExprKind::With { base, updates } => self.update(*base, updates),
            ExprKind::Where { value, items, otherwise } => {
                self.eval_where(*value, items, *otherwise, expr)
            }
        }
    }

    /// Lowers with another activation.
    pub(super) fn within<T>(
        &mut self,
        frame: Frame<'p>,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let lasts = std::mem::take(&mut self.lasts);
        let value = f(self);
        self.lasts = lasts;
        self.frame = outer;
        value
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId, expr: ExprId) -> R<Val<'p>> {
        let value = self.eval(operand)?;
        if let Val::Differential(terms) = value {
            return Ok(negated(&terms));
        }
        let op = match op {
            UnaryOp::Neg => Op::Neg,
            UnaryOp::Not => Op::Not,
        };
        let ty = self.ty(expr);
        self.map_leaves(&[value], &ty, move |cx, args| {
            let elem = args[0].elem;
            cx.apply(op, args, elem)
        })
    }

    fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId, expr: ExprId) -> R<Val<'p>> {
        match op {
            BinaryOp::And | BinaryOp::Or => return self.lazy_logic(op, left, right),
            BinaryOp::In => return self.membership(left, right),
            _ => {}
        }
        let (left_ty, right_ty) = (self.ty(left), self.ty(right));
        if matches!(left_ty, Ty::Differential(_)) || matches!(right_ty, Ty::Differential(_)) {
            return self.differential_op(op, left, right, expr);
        }
        let (a, b) = (self.eval(left)?, self.eval(right)?);
        let ty = self.ty(expr);
        let is_host = matches!(a, Val::Host(..)) || matches!(b, Val::Host(..));
        let is_record = matches!(a, Val::Record(_)) || matches!(b, Val::Record(_));
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne)
            && matches!(ty, Ty::Tensor(..))
            && (is_host || is_record)
        {
            return self.elementwise_equality(op, (a, &left_ty), (b, &right_ty), &ty);
        }
        if is_host {
            return self.host_binary(op, a, b, &left_ty);
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && matches!(ty, Ty::Scalar(_)) {
            return self.equality(op, &a, &b, &left_ty);
        }
        self.map_leaves(&[a, b], &ty, move |cx, args| cx.binary_op(op, args))
    }

    pub(super) fn binary_op(&mut self, op: BinaryOp, args: &[Scalar]) -> R<Scalar> {
        let (left, right) = (args[0].elem, args[1].elem);
        if op == BinaryOp::Pow && left != right && left.is_int() && right.is_int() {
            return self.mixed_power(&args[0], &args[1]);
        }
        let Some(op) = super::scalar::op_of(op, left, right) else {
            return unsupported(self.here, "this operator");
        };
        let elem = match op.result(&[left, right], left) {
            Ok(elem) => elem,
            Err(message) => return unsupported(self.here, message),
        };
        self.apply(op, args, elem)
    }

    /// A power of integers of different types: it has the type of the base, and is computed in the
    /// wider one, so that no exponent is cut short.
    fn mixed_power(&mut self, base: &Scalar, exponent: &Scalar) -> R<Scalar> {
        let wide = match exponent.elem.bits() > base.elem.bits() {
            true => exponent.elem,
            false => base.elem,
        };
        let (a, b) = (self.cast(base, wide)?, self.cast(exponent, wide)?);
        let power = self.binary_op(BinaryOp::Pow, &[a, b])?;
        self.cast(&power, base.elem)
    }

    /// `&&` and `||`, whose right side is evaluated only if it matters.
    fn lazy_logic(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> R<Val<'p>> {
        let value = self.eval(left)?;
        let condition = self.expect_scalar(value, self.here)?;
        let known = Scalar::constant(einlang_tir::constant::Const::bool(op == BinaryOp::Or));
        if !self.in_region() && (self.host_scalars || self.needs_host(right)) {
            return self.host_logic(op, &condition, right);
        }
        let mut other = |cx: &mut Self| {
            let value = cx.eval(right)?;
            cx.expect_scalar(value, cx.here)
        };
        let mut fixed = |_: &mut Self| Ok(known.clone());
        let chosen = match op {
            BinaryOp::And => self.choose(&condition, Elem::Bool, &mut other, &mut fixed),
            _ => self.choose(&condition, Elem::Bool, &mut fixed, &mut other),
        };
        chosen.map(Val::Scalar)
    }

    fn range(&mut self, start: Option<ExprId>, end: Option<ExprId>, inclusive: bool) -> R<Val<'p>> {
        let zero = || Scalar::constant(einlang_tir::constant::Const::int(Elem::I32, 0));
        let lo = match start {
            Some(start) => {
                let value = self.eval(start)?;
                self.expect_scalar(value, self.here)?
            }
            None => zero(),
        };
        let Some(end) = end else { return Ok(Val::Range(lo, None)) };
        let value = self.eval(end)?;
        let mut hi = self.expect_scalar(value, self.here)?;
        if inclusive {
            let one = Scalar::constant(einlang_tir::constant::Const::int(hi.elem, 1));
            let elem = hi.elem;
            hi = match hi.as_const().and_then(|c| c.as_int()) {
                Some(n) => Scalar::constant(einlang_tir::constant::Const::int(elem, n + 1)),
                None => self.apply(Op::Add, &[hi, one], elem)?,
            };
        }
        Ok(Val::Range(lo, Some(hi)))
    }

    fn field(&mut self, base: ExprId, field: crate::hir::Ident) -> R<Val<'p>> {
        let value = self.eval(base)?;
        let ty = self.ty(base);
        let name = self.spelling(field.name);
        let ty = match &ty {
            Ty::Tensor(element, _) => (**element).clone(),
            ty => ty.clone(),
        };
        let at = self.parts(&ty).and_then(|parts| parts.iter().position(|part| part.0 == name));
        match (value, at) {
            (Val::Record(parts), Some(at)) if at < parts.len() => Ok(parts[at].clone()),
            _ => unsupported(self.here, format!("the field `{name}` of this value")),
        }
    }
}

/// The type without `@`.
fn plain(ty: &Ty) -> Ty {
    match ty {
        Ty::Differential(inner) => plain(inner),
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(plain).collect()),
        Ty::Tensor(element, extents) => Ty::Tensor(Box::new(plain(element)), extents.clone()),
        Ty::Jagged(element, rank) => Ty::Jagged(Box::new(plain(element)), *rank),
        Ty::Struct(def, args) => Ty::Struct(*def, args.iter().map(plain).collect()),
        Ty::Enum(def, args) => Ty::Enum(*def, args.iter().map(plain).collect()),
        Ty::Option(of) => Ty::Option(Box::new(plain(of))),
        Ty::Result(of, error) => Ty::Result(Box::new(plain(of)), Box::new(plain(error))),
        other => other.clone(),
    }
}

/// The type with one element type in place of another.
fn retyped(ty: &Ty, from: Elem, to: Elem) -> Ty {
    match ty {
        Ty::Scalar(scalar) if super::types::scalar_elem(*scalar) == Some(from) => {
            match crate::hir::Scalar::parse(to.as_str()) {
                Some(scalar) => Ty::Scalar(scalar),
                None => ty.clone(),
            }
        }
        Ty::Tensor(element, extents) => {
            Ty::Tensor(Box::new(retyped(element, from, to)), extents.clone())
        }
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|ty| retyped(ty, from, to)).collect()),
        other => other.clone(),
    }
}

/// The expressions below one that are evaluated whenever it is, outside of its own indices.
fn strict_children(kind: &ExprKind) -> Vec<ExprId> {
    match kind {
        ExprKind::Tuple(items) | ExprKind::Array(items) => items.clone(),
        ExprKind::If { condition, .. } => vec![*condition],
        ExprKind::Match { scrutinee, .. } => vec![*scrutinee],
        ExprKind::Unary(_, e) | ExprKind::Cast(e, _) | ExprKind::Field(e, _) => vec![*e],
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, _) => vec![*a],
        ExprKind::Binary(_, a, b) => vec![*a, *b],
        ExprKind::Call { args, .. } => args.iter().map(|arg| arg.value).collect(),
        ExprKind::Access { base, subscripts, .. } => {
            let exprs = subscripts.iter().filter_map(|subscript| match subscript {
                crate::hir::Subscript::Expr(expr) => Some(*expr),
                _ => None,
            });
            [*base].into_iter().chain(exprs).collect()
        }
        _ => Vec::new(),
    }
}
