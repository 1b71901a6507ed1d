//! Expressions: each is walked once, and its shape recorded.

use einlang_index::MinMax;

use super::Analyser;
use super::derivatives::derivative;
use super::formula::Formula;
use super::result::CheckKind;
use super::symbols::Source;
use super::value::Shape;
use crate::errors;
use crate::hir::*;
use crate::types::{Callee, Ty};

impl<'p> Analyser<'p> {
    /// The shape of an expression.
    pub(super) fn eval(&mut self, expr: ExprId) -> Shape {
        let shape = self.eval_kind(expr);
        self.here().exprs.insert(expr, shape.clone());
        shape
    }

    fn eval_kind(&mut self, expr: ExprId) -> Shape {
        match self.body().kind(expr) {
            ExprKind::Error | ExprKind::Coordinate(_) => Shape::Opaque,
            ExprKind::Literal(literal) => literal_shape(literal),
            ExprKind::Format(parts) => {
                for part in parts {
                    if let FormatPart::Value(value, _) = part {
                        self.eval(*value);
                    }
                }
                Shape::Opaque
            }
            ExprKind::Name(res) => {
                self.whole_use(*res, expr);
                self.name_shape(*res)
            }
            ExprKind::Last => self.last(),
            ExprKind::Tuple(items) => {
                Shape::Record(items.iter().map(|item| self.eval(*item)).collect())
            }
            ExprKind::Array(items) => self.array(expr, items),
            ExprKind::Comprehension { element, items } => self.comprehension(expr, *element, items),
            ExprKind::Block(block) => self.block(block),
            ExprKind::If { condition, then, otherwise } => {
                self.if_else(expr, *condition, *then, *otherwise)
            }
            ExprKind::Match { scrutinee, arms } => self.match_arms(expr, *scrutinee, arms),
            ExprKind::Lambda { .. } => self.lambda(expr),
            ExprKind::Unary(op, operand) => self.unary(*op, *operand),
            ExprKind::Differential(operand) => self.eval(*operand),
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, *a, *b),
            ExprKind::Range { start, end, inclusive } => self.range(*start, *end, *inclusive),
            ExprKind::Cast(value, ty) => self.cast(expr, *value, ty),
            ExprKind::Call { callee, args } => self.call(expr, *callee, args),
            ExprKind::Reduce { op, indices, body } => self.reduce(expr, *op, indices, *body),
            ExprKind::UserReduce { indices, init, combine, body } => {
                self.user_reduce(indices, *init, *combine, *body)
            }
            ExprKind::CoordCall { callee, indices, args } => {
                self.coordinate_call(expr, *callee, indices, args)
            }
            ExprKind::Access { base, subscripts, default } => {
                self.access(expr, *base, subscripts, *default)
            }
            ExprKind::Field(base, field) => self.field(expr, *base, *field),
            ExprKind::Struct { res, fields } => self.record(expr, *res, fields),
            ExprKind::AndThen(a, b) | ExprKind::OkThen(a, b)
                if matches!(self.body().kind(*b), ExprKind::Call { .. }) =>
            {
                self.eval(*a);
                self.under(Formula::Unknown, |cx| cx.piped(*b));
                self.unknown(expr)
            }
            ExprKind::AndThen(a, b)
            | ExprKind::OkThen(a, b)
            | ExprKind::OrElse(a, b)
            | ExprKind::Catch(a, b) => {
                self.eval(*a);
                self.under(Formula::Unknown, |cx| cx.eval(*b));
                self.unknown(expr)
            }
            ExprKind::Try(inner) => {
                self.under(Formula::Unknown, |cx| cx.eval(*inner));
                self.unknown(expr)
            }
            ExprKind::With { base, updates } => self.with(expr, *base, updates),
            ExprKind::Where { value, items, otherwise } => {
                self.where_items(*value, items, *otherwise)
            }
        }
    }

    /// The call on the right of `?>` and `!>`, whose first argument is what the left side holds. What
    /// the function needs of its arguments it tests itself.
    fn piped(&mut self, then: ExprId) {
        let ExprKind::Call { callee, args } = self.body().kind(then) else { return };
        self.eval(*callee);
        for arg in args {
            self.eval(arg.value);
        }
        if let Some(Callee::Instance(id)) = self.typed_here().calls.get(&then) {
            let id = *id;
            self.analyse_instance(id);
        }
    }

    /// A value of which only the type is known.
    pub(super) fn unknown(&mut self, expr: ExprId) -> Shape {
        let ty = self.ty(expr).clone();
        self.fresh(&ty, Source::Expr(self.cur, expr), false)
    }

    fn lambda(&mut self, expr: ExprId) -> Shape {
        let key = (self.typed_here().body, expr);
        for id in self.lambdas.get(&key).cloned().unwrap_or_default() {
            if self.typed.instance(id).parent == Some(self.cur) {
                self.analyse_lambda(id);
            }
        }
        Shape::Opaque
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Shape {
        match (op, self.eval(operand)) {
            (UnaryOp::Neg, Shape::Int(value)) => self.fitting(operand, integer(value.scale(-1))),
            (_, Shape::Int(_)) => Shape::Opaque,
            (_, Shape::Ints(values)) => plain(Shape::Ints(values)),
            (_, other) => other,
        }
    }

    fn binary(&mut self, expr: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Shape {
        let left = self.eval(a);
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let held = self.formula(a);
            let held = if op == BinaryOp::And { held } else { held.negated() };
            self.under(held, |cx| cx.eval(b));
            return Shape::Opaque;
        }
        let right = self.eval(b);
        if op == BinaryOp::In {
            return Shape::Opaque;
        }
        if op == BinaryOp::Div
            && let Ty::Differential(x) = self.ty(b)
        {
            let y = match self.ty(a) {
                Ty::Differential(y) => y,
                ty => ty,
            };
            return derivative((&left, y), (&right, x));
        }
        if let (Shape::Int(x), Shape::Int(y)) = (&left, &right) {
            return match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                    self.fitting(expr, self.arithmetic(op, x, y))
                }
                _ => Shape::Opaque,
            };
        }
        self.whole(expr, &left, &right, a, b)
    }

    /// What is computed in a narrow or unsigned type may wrap, so only constants that fit are known.
    fn fitting(&self, expr: ExprId, shape: Shape) -> Shape {
        let Ty::Scalar(scalar) = self.ty(expr) else { return shape };
        let wide = matches!(scalar, Scalar::I32 | Scalar::I64);
        if wide && shape.as_quasi().is_none_or(|value| value.as_constant().is_none()) {
            return shape;
        }
        let constant = shape.as_quasi().and_then(|value| value.as_constant());
        let fits = |value: i64| {
            scalar.bounds().is_some_and(|(low, high)| (low..=high).contains(&i128::from(value)))
        };
        if constant.is_some_and(fits) { shape } else { Shape::Opaque }
    }

    /// Whole-tensor arithmetic, leaf by leaf.
    fn whole(&mut self, expr: ExprId, left: &Shape, right: &Shape, a: ExprId, b: ExprId) -> Shape {
        match (left, right) {
            (Shape::Tensor(..) | Shape::Ints(_), Shape::Tensor(..) | Shape::Ints(_)) => {
                let (x, y) = (left.extents(), right.extents());
                for (axis, (x, y)) in x.iter().zip(&y).enumerate() {
                    if !self.same_extent(expr, x, y, axis, a, b) {
                        break;
                    }
                }
                Shape::tensor(x, element_only(left.element()))
            }
            (Shape::Tensor(extents, element), _) | (_, Shape::Tensor(extents, element)) => {
                Shape::Tensor(extents.clone(), element.clone())
            }
            (Shape::Ints(_), _) => plain(left.clone()),
            (_, Shape::Ints(_)) => plain(right.clone()),
            (Shape::Record(x), Shape::Record(y)) if x.len() == y.len() => {
                let parts = x.iter().zip(y).map(|(x, y)| self.whole(expr, x, y, a, b));
                Shape::Record(parts.collect())
            }
            (Shape::Record(parts), _) | (_, Shape::Record(parts)) => {
                Shape::Record(parts.iter().map(element_only).collect())
            }
            _ => Shape::Opaque,
        }
    }

    pub(super) fn same_extent(
        &mut self,
        expr: ExprId,
        x: &MinMax,
        y: &MinMax,
        axis: usize,
        a: ExprId,
        b: ExprId,
    ) -> bool {
        let body = self.body();
        let (left, right) = (self.describe(body, a), self.describe(body, b));
        let names = (format!("axis {axis} of `{left}`"), format!("axis {axis} of `{right}`"));
        let (span, places) = (self.span(expr), (self.span(a), self.span(b)));
        let answer = self.require_equal(x, y, CheckKind::Whole, names, span, places);
        if answer.is_false() {
            let (x, y) = (self.symbols.show(x), self.symbols.show(y));
            self.report(errors::whole_extents((&left, &x, places.0), (&right, &y, places.1), axis));
        }
        !answer.is_false()
    }

    fn range(&mut self, start: Option<ExprId>, end: Option<ExprId>, inclusive: bool) -> Shape {
        let start = match start {
            Some(start) => {
                let shape = self.eval(start);
                self.as_integer(start, shape)
            }
            None => Some(0.into()),
        };
        let end = match end {
            Some(end) => {
                let shape = self.eval(end);
                let value = self.as_integer(end, shape);
                value.and_then(
                    |value| if inclusive { value.add_constant(1).ok() } else { Some(value) },
                )
            }
            None => return start.map_or(Shape::Opaque, |start| Shape::range(start, None)),
        };
        match (start, end) {
            (Some(start), Some(end)) => Shape::range(start, Some(end)),
            _ => Shape::Opaque,
        }
    }

    fn field(&mut self, expr: ExprId, base: ExprId, field: Ident) -> Shape {
        let n_accesses = self.frame.accesses.len();
        let shape = self.eval(base);
        let name = self.text(field.name);
        if name == "shape" && matches!(self.ty(base), Ty::Tensor(..)) {
            self.frame.accesses.truncate(n_accesses);
        }
        let mut ty = self.ty(base);
        if let Ty::Differential(inner) = ty {
            ty = inner;
        }
        let element = match ty {
            Ty::Tensor(element, _) => element,
            other => other,
        };
        let position = match element {
            Ty::Struct(def, _) => match &self.program.def(*def).kind {
                DefKind::Struct(item) => {
                    item.fields.iter().position(|other| self.text(other.name.name) == name)
                }
                _ => None,
            },
            Ty::Tuple(_) => name.parse().ok(),
            _ => None,
        };
        match (&shape, position) {
            (Shape::Record(parts), Some(position)) if position < parts.len() => {
                parts[position].clone()
            }
            (Shape::Tensor(extents, element), Some(position)) => match &**element {
                Shape::Record(parts) if position < parts.len() => {
                    Shape::tensor(extents.clone(), parts[position].clone())
                }
                _ => self.unknown(expr),
            },
            (Shape::Tensor(..) | Shape::Ints(_) | Shape::Range(..), None) if name == "shape" => {
                Shape::Ints(shape.extents())
            }
            _ => self.unknown(expr),
        }
    }

    fn record(&mut self, expr: ExprId, res: Res, fields: &[(Ident, ExprId)]) -> Shape {
        let shapes: Vec<(Ident, Shape)> =
            fields.iter().map(|(name, value)| (*name, self.eval(*value))).collect();
        let Res::Def(def) = res else { return Shape::Opaque };
        let DefKind::Struct(item) = &self.program.def(def).kind else { return Shape::Opaque };
        let parts = item.fields.iter().map(|field| {
            let given = shapes.iter().find(|(name, _)| name.name == field.name.name);
            given.map_or(Shape::Opaque, |(_, shape)| shape.clone())
        });
        let parts: Vec<Shape> = parts.collect();
        // Elsewhere the extents may be those of a state that is still to be computed.
        let is_statement = matches!(self.body().owner, Owner::Module(_));
        if is_statement && self.frame.scope.is_empty() && self.condition().is_true() {
            let name = format!("`{}`", self.text(self.program.def(def).name.name));
            self.fields_fit(def, &parts, self.span(expr), &name);
        }
        Shape::Record(parts)
    }

    fn cast(&mut self, expr: ExprId, value: ExprId, ty: &'p TypeRef) -> Shape {
        let found = self.eval(value);
        let target = self.ty(expr).clone();
        let found = match (&found, &target) {
            (Shape::Int(_), Ty::Scalar(scalar)) if !scalar.is_integer() => Shape::Opaque,
            (Shape::Int(value), Ty::Scalar(scalar)) => match value.as_constant() {
                // A constant that fits stays what it is; others may wrap only when narrowed.
                Some(constant) if !fits(constant, *scalar) => Shape::Opaque,
                None if !matches!(scalar, Scalar::I32 | Scalar::I64) => Shape::Opaque,
                _ => found,
            },
            (Shape::Opaque, Ty::Tensor(..) | Ty::Struct(..) | Ty::Tuple(_)) => self.unknown(expr),
            (Shape::Range(..), Ty::Tensor(..)) => Shape::tensor(found.extents(), Shape::Opaque),
            (Shape::Ints(_), _) => plain(found),
            _ => found,
        };
        match ty.kind {
            TypeKind::Tensor(..) | TypeKind::Tuple(_) => {
                let (span, name) = (self.span(value), self.describe(self.body(), value));
                let n_before = self.diagnostics.len();
                let shape = self.annotate_value(&found, value, ty, span, &format!("`{name}`"));
                for diagnostic in &mut self.diagnostics[n_before..] {
                    // What a cast says of a shape is no annotation that the value could be made for.
                    *diagnostic = errors::cast_extent(diagnostic.clone());
                }
                shape
            }
            _ => found,
        }
    }
}

/// An integer that could be expressed.
pub(super) fn integer(value: einlang_index::Result<MinMax>) -> Shape {
    value.map_or(Shape::Opaque, Shape::Int)
}

/// The shape without what is known of the integers in it.
pub(super) fn plain(shape: Shape) -> Shape {
    match shape {
        Shape::Ints(values) => {
            Shape::Tensor(vec![MinMax::from(values.len() as i64)], Box::new(Shape::Opaque))
        }
        Shape::Int(_) => Shape::Opaque,
        other => other,
    }
}

fn element_only(shape: &Shape) -> Shape {
    plain(shape.clone())
}

fn literal_shape(literal: &Literal) -> Shape {
    match literal {
        Literal::Int(value, _) => match i64::try_from(*value) {
            Ok(value) => Shape::Int(value.into()),
            Err(_) => Shape::Opaque,
        },
        _ => Shape::Opaque,
    }
}

/// Whether an integer type holds a number that is no larger than sizes are.
fn fits(number: i64, scalar: Scalar) -> bool {
    match scalar {
        Scalar::I8 => i8::try_from(number).is_ok(),
        Scalar::I16 => i16::try_from(number).is_ok(),
        Scalar::U8 => u8::try_from(number).is_ok(),
        Scalar::U16 => u16::try_from(number).is_ok(),
        Scalar::U32 | Scalar::U64 => (0..=i64::from(i32::MAX)).contains(&number),
        _ => i32::try_from(number).is_ok(),
    }
}
