//! Integers and conditions on them, as expressions of indices and symbols.
//!
//! Subscript arithmetic is exact, so integer expressions are taken for what they say on paper;
//! what is not affine (or a quotient by a positive constant) has no expression.

use einlang_index::{MinMax, Quasi};

use super::Analyser;
use super::expressions::integer;
use super::formula::Formula;
use super::symbols::{Origin, Source};
use super::value::Shape;
use crate::builtins::{Builtin, Function};
use crate::hir::*;
use crate::types::Ty;

impl Analyser<'_> {
    /// `last`: the last point of the axis whose subscript is being read.
    pub(super) fn last(&mut self) -> Shape {
        match self.lasts.last() {
            Some(extent) => integer(extent.add_constant(-1)),
            None => Shape::Opaque,
        }
    }

    pub(super) fn arithmetic(&self, op: BinaryOp, x: &MinMax, y: &MinMax) -> Shape {
        let constant = |value: &MinMax| value.as_constant();
        match op {
            BinaryOp::Add => integer(x.add(y)),
            BinaryOp::Sub => integer(x.sub(y)),
            BinaryOp::Mul => match (constant(x), constant(y)) {
                (_, Some(factor)) => integer(x.scale(factor)),
                (Some(factor), _) => integer(y.scale(factor)),
                _ => Shape::Opaque,
            },
            BinaryOp::Div | BinaryOp::Rem => match (constant(x), constant(y)) {
                (Some(x), Some(y)) if y != 0 => {
                    let value =
                        if op == BinaryOp::Div { x.checked_div(y) } else { x.checked_rem(y) };
                    value.map_or(Shape::Opaque, |value| Shape::Int(value.into()))
                }
                (_, Some(divisor)) if divisor > 0 => self.quotient(op, x, divisor),
                _ => Shape::Opaque,
            },
            _ => Shape::Opaque,
        }
    }

    fn quotient(&self, op: BinaryOp, x: &MinMax, divisor: i64) -> Shape {
        match (x, op) {
            (MinMax::Value(x), BinaryOp::Div) => {
                integer(x.trunc_div(divisor).and_then(|q| self.with_floors(&q)).map(MinMax::from))
            }
            (MinMax::Value(x), _) => {
                integer(x.trunc_rem(divisor).and_then(|q| self.with_floors(&q)).map(MinMax::from))
            }
            (_, BinaryOp::Div) => integer(x.map(true, &mut |q| Ok(q.trunc_div(divisor)?.into()))),
            _ => Shape::Opaque,
        }
    }

    /// Quotients of what is never negative round down, which is easier to reason about.
    fn with_floors(&self, quasi: &Quasi) -> einlang_index::Result<Quasi> {
        quasi.with_floors(&mut |number| {
            let mut vars = Vec::new();
            number.for_each_var(&mut |var| vars.push(var));
            // Indices of the solver's domains start at 0 or above.
            let mut facts = self.facts.about(vars.iter().copied());
            for var in vars {
                if var.kind() == einlang_index::VarKind::Index && self.is_natural(var) {
                    facts.assume_nonnegative(var);
                }
            }
            facts.implies(number).is_true()
        })
    }

    /// Whether an index never goes below 0: inferred ranges do not, written ones may.
    fn is_natural(&self, var: einlang_index::Var) -> bool {
        let index = self.frame.indices.iter().find(|index| index.var == var);
        match index.map(|index| &index.range) {
            Some(Some(range)) => range.lo().is_some_and(|lo| {
                let facts = self.facts.about(super::facts::vars_of([&lo]));
                MinMax::from(0).at_most(&lo, &facts)
            }),
            Some(None) => true,
            None => false,
        }
    }

    /// The expression of an integer; one that has none becomes a symbol.
    pub(super) fn as_integer(&mut self, expr: ExprId, shape: Shape) -> Option<MinMax> {
        match shape {
            Shape::Int(value) => Some(value),
            Shape::Opaque if matches!(self.ty(expr), Ty::Scalar(s) if s.is_integer()) => {
                let source = Source::Expr(self.cur, expr);
                let name = self.describe(self.body(), expr);
                let var = self.symbols.symbol(&name, Origin::Value(source, Vec::new()));
                if !self.frame.scope.is_empty() {
                    self.local_data.insert(var);
                }
                self.here().exprs.insert(expr, Shape::Int(var.into()));
                Some(var.into())
            }
            _ => None,
        }
    }

    /// What a condition says about indices and symbols. Its expression has been walked.
    pub(super) fn formula(&self, expr: ExprId) -> Formula {
        let body = self.body();
        if let Some(decided) = self.typed_here().conditions.get(&expr) {
            return Formula::Constant(*decided);
        }
        match body.kind(expr) {
            ExprKind::Literal(Literal::Bool(value)) => Formula::Constant(*value),
            ExprKind::Unary(UnaryOp::Not, inner) => self.formula(*inner).negated(),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                Formula::and(vec![self.formula(*a), self.formula(*b)])
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                Formula::Or(vec![self.formula(*a), self.formula(*b)])
            }
            ExprKind::Binary(op, a, b) => self.comparison(*op, *a, *b),
            ExprKind::Block(Block { statements, value: Some(value), .. })
                if statements.is_empty() =>
            {
                self.formula(*value)
            }
            _ => Formula::Unknown,
        }
    }

    fn comparison(&self, op: BinaryOp, a: ExprId, b: ExprId) -> Formula {
        if op == BinaryOp::In {
            return self.membership(a, b);
        }
        let (Some(x), Some(y)) = (self.known_quasi(a), self.known_quasi(b)) else {
            return Formula::Unknown;
        };
        let less = |low: &Quasi, high: &Quasi, by: i64| {
            high.sub(low).and_then(|gap| gap.add_constant(-by)).map(Formula::AtLeast)
        };
        let formula = match op {
            BinaryOp::Lt => less(&x, &y, 1),
            BinaryOp::Le => less(&x, &y, 0),
            BinaryOp::Gt => less(&y, &x, 1),
            BinaryOp::Ge => less(&y, &x, 0),
            BinaryOp::Eq => x.sub(&y).map(Formula::Zero),
            BinaryOp::Ne => x.sub(&y).map(|gap| Formula::Zero(gap).negated()),
            _ => return Formula::Unknown,
        };
        formula.unwrap_or(Formula::Unknown)
    }

    /// `i in a..b`
    fn membership(&self, value: ExprId, range: ExprId) -> Formula {
        let Some(x) = self.known_quasi(value) else { return Formula::Unknown };
        let Some(Shape::Range(ends)) = self.instances[self.cur.index()].exprs.get(&range) else {
            return Formula::Unknown;
        };
        let (start, Some(end)) = &**ends else { return Formula::Unknown };
        let (Some(start), Some(end)) = (start.as_quasi(), end.as_quasi()) else {
            return Formula::Unknown;
        };
        let above = x.sub(start).map(Formula::AtLeast);
        let below = end.sub(&x).and_then(|gap| gap.add_constant(-1)).map(Formula::AtLeast);
        match (above, below) {
            (Ok(above), Ok(below)) => Formula::and(vec![above, below]),
            _ => Formula::Unknown,
        }
    }

    fn known_quasi(&self, expr: ExprId) -> Option<Quasi> {
        self.instances[self.cur.index()].exprs.get(&expr)?.as_quasi().cloned()
    }

    /// `min(a, b)` and `max(a, b)` of integers.
    pub(super) fn extremum(&self, function: Builtin, x: &MinMax, y: &MinMax) -> Shape {
        let both = [x.clone(), y.clone()];
        match function {
            Builtin::Function(Function::Min) => integer(MinMax::min_of(both)),
            Builtin::Function(Function::Max) => integer(MinMax::max_of(both)),
            _ => Shape::Opaque,
        }
    }
}
