//! Expressions as mathematics and text.

use super::math::{Math, number_text};
use super::scope::{Scope, Writer};
use crate::hir::*;
use crate::types::Ty;

impl Writer<'_> {
    /// The value of an expression.
    pub(super) fn value(&self, scope: &Scope, expr: ExprId) -> Math {
        match self.body(scope).kind(expr) {
            ExprKind::Literal(Literal::Int(number, _)) => Math::number(*number as f64),
            ExprKind::Literal(Literal::Float(number, _)) => Math::number(*number),
            ExprKind::Name(res) => self.name(scope, *res),
            ExprKind::Unary(UnaryOp::Neg, operand) => self.value(scope, *operand).negated(),
            ExprKind::Binary(op, a, b) => self.binary(scope, expr, *op, *a, *b),
            ExprKind::Differential(of) if scope.rule => self.rule_change(scope, *of),
            ExprKind::Block(Block { statements, value: Some(value), .. })
                if statements.is_empty() =>
            {
                self.value(scope, *value)
            }
            ExprKind::Cast(value, _)
                if self.has_floats(self.ty(scope, *value))
                    && self.has_floats(self.ty(scope, expr)) =>
            {
                self.value(scope, *value)
            }
            ExprKind::If { .. }
            | ExprKind::Where { .. }
            | ExprKind::With { .. }
            | ExprKind::OrElse(..)
            | ExprKind::Lambda { .. }
            | ExprKind::Cast(..) => Math::loose(self.text(scope, expr)),
            _ => Math::atom(self.text(scope, expr)),
        }
    }

    fn binary(&self, scope: &Scope, expr: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Math {
        if matches!(self.body(scope).kind(b), ExprKind::Differential(_)) && !scope.rule {
            return Math::loose(self.text(scope, expr));
        }
        // Integer division does not commute with products, so integers stay as they are written.
        let is_exact =
            op == BinaryOp::Add || op == BinaryOp::Sub || self.has_floats(self.ty(scope, expr));
        let (left, right) = (self.value(scope, a), self.value(scope, b));
        match op {
            BinaryOp::Add => left.plus(right),
            BinaryOp::Sub => left.plus(right.negated()),
            BinaryOp::Mul if is_exact => left.times(right),
            BinaryOp::Div if is_exact => left.over(right),
            BinaryOp::Pow => left.raised(right),
            _ => Math::loose(format!("{} {} {}", left.grouped(), op.spelling(), right.grouped())),
        }
    }

    /// The text of an expression's value.
    pub(super) fn text(&self, scope: &Scope, expr: ExprId) -> String {
        let one = |expr: &ExprId| self.value(scope, *expr).text();
        let list = |exprs: &[ExprId]| exprs.iter().map(one).collect::<Vec<_>>().join(", ");
        match self.body(scope).kind(expr) {
            ExprKind::Literal(Literal::Bool(value)) => value.to_string(),
            ExprKind::Literal(Literal::Str(text)) => format!("{text:?}"),
            ExprKind::Last => "last".to_owned(),
            ExprKind::Coordinate(name) => self.spelling(name.name).to_owned(),
            ExprKind::Tuple(items) => format!("({})", list(items)),
            ExprKind::Array(items) => format!("[{}]", list(items)),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                format!("!{}", self.value(scope, *operand).grouped())
            }
            ExprKind::Differential(of) => format!("@{}", self.value(scope, *of).grouped()),
            ExprKind::Binary(BinaryOp::Div, a, b) => {
                format!("{} / {}", self.value(scope, *a).grouped(), one(b))
            }
            ExprKind::Range { start, end, inclusive } => {
                let side = |side: &Option<ExprId>| side.as_ref().map_or(String::new(), one);
                format!("{}{}{}", side(start), if *inclusive { "..=" } else { ".." }, side(end))
            }
            ExprKind::Cast(value, _) => match self.ty(scope, expr) {
                Ty::Scalar(to) => {
                    format!("{} as {}", self.value(scope, *value).grouped(), to.as_str())
                }
                _ => one(value),
            },
            ExprKind::If { condition, then, otherwise } => {
                let otherwise = otherwise.map_or_else(|| "()".to_owned(), |e| one(&e));
                choice(&one(condition), &one(then), &otherwise)
            }
            ExprKind::Call { callee, args } => {
                let callee = self.value(scope, *callee).grouped();
                format!("{callee}({})", self.args_text(scope, args))
            }
            ExprKind::CoordCall { callee, indices, args } => {
                let indices = self.subscripts(scope, indices);
                format!("{}[{indices}]({})", one(callee), self.args_text(scope, args))
            }
            ExprKind::Reduce { op, indices, body } => {
                format!("{}[{}]({})", op.as_str(), self.subscripts(scope, indices), one(body))
            }
            ExprKind::UserReduce { indices, init, combine, body } => {
                let indices = self.subscripts(scope, indices);
                format!("reduce[{indices}]({}, {})({})", one(init), one(combine), one(body))
            }
            ExprKind::Access { base, subscripts, default } => {
                let default = default.map_or(String::new(), |e| format!(" else {}", one(&e)));
                let at = self.bracketed(scope, subscripts, &default);
                format!("{}{at}", self.value(scope, *base).grouped())
            }
            ExprKind::Field(base, field) => {
                let base = self.value(scope, *base).grouped();
                format!("{base}.{}", self.spelling(field.name))
            }
            ExprKind::Lambda { params, body } => {
                let names = params.iter().map(|param| self.pattern_text(scope, &param.pattern));
                format!("|{}| {}", names.collect::<Vec<_>>().join(", "), one(body))
            }
            ExprKind::With { base, updates } => {
                let updates = updates.iter().map(|(subscripts, value)| {
                    format!("[{}] = {}", self.subscripts(scope, subscripts), one(value))
                });
                let updates = updates.collect::<Vec<_>>().join(", ");
                format!("{} with {updates}", self.value(scope, *base).grouped())
            }
            ExprKind::Where { value, items, otherwise } => {
                let items = items.iter().map(|item| match item {
                    WhereItem::Binding(local, value) => {
                        format!("{} = {}", self.local_text(scope, *local), one(value))
                    }
                    WhereItem::Guard(guard) => one(guard),
                });
                let items = items.collect::<Vec<_>>().join(", ");
                let otherwise = otherwise.map_or(String::new(), |e| format!(" else {}", one(&e)));
                format!("{} where {items}{otherwise}", one(value))
            }
            ExprKind::Struct { res, fields } => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| format!("{}: {}", self.spelling(name.name), one(value)));
                let fields = fields.collect::<Vec<_>>().join(", ");
                format!("{} {{ {fields} }}", self.res_text(scope, *res))
            }
            ExprKind::OrElse(value, otherwise) => {
                let [value, otherwise] =
                    [value, otherwise].map(|e| self.value(scope, *e).grouped());
                format!("{value} else {otherwise}")
            }
            ExprKind::Comprehension { element, items } => {
                let items = items.iter().map(|item| match item {
                    CompItem::Generator(pattern, over) => {
                        format!("{} in {}", self.pattern_text(scope, pattern), one(over))
                    }
                    CompItem::Binding(local, value) => {
                        format!("{} = {}", self.local_text(scope, *local), one(value))
                    }
                    CompItem::Condition(condition) => one(condition),
                });
                format!("[{} | {}]", one(element), items.collect::<Vec<_>>().join(", "))
            }
            ExprKind::Block(Block { value: Some(value), .. }) => format!("{{ …; {} }}", one(value)),
            _ => "…".to_owned(),
        }
    }

    pub(super) fn args_text(&self, scope: &Scope, args: &[Arg]) -> String {
        let args = args.iter().map(|arg| {
            let value = self.value(scope, arg.value).text();
            match arg.name {
                Some(name) => format!("{} = {value}", self.spelling(name.name)),
                None => value,
            }
        });
        args.collect::<Vec<_>>().join(", ")
    }

    /// Subscripts in brackets, unless there are none.
    pub(super) fn bracketed(&self, scope: &Scope, subscripts: &[Subscript], end: &str) -> String {
        let text = self.subscripts(scope, subscripts);
        if text.is_empty() { text } else { format!("[{text}{end}]") }
    }

    /// Subscripts, slots and indices as they are written; rests of no axes are not.
    pub(super) fn subscripts(&self, scope: &Scope, subscripts: &[Subscript]) -> String {
        let rests = &self.typed.instance(scope.instance).rests;
        let is_there = |subscript: &&Subscript| match subscript {
            Subscript::Rest { local: Res::Local(local), .. } => rests.get(local) != Some(&0),
            _ => true,
        };
        let text = subscripts.iter().filter(is_there).map(|subscript| match subscript {
            Subscript::All(_) => ":".to_owned(),
            Subscript::Rest { local, .. } => format!("..{}", self.res_text(scope, *local)),
            Subscript::Expr(expr) => self.value(scope, *expr).text(),
            Subscript::Index(binder) => {
                let name = self.name(scope, Res::Local(binder.local)).text();
                match (binder.range, binder.coordinate) {
                    (Some(range), _) => {
                        format!("{name} in {}", self.value(scope, range).text())
                    }
                    (None, Some((coordinate, _))) => {
                        format!("{name}: {}", self.spelling(coordinate.name))
                    }
                    (None, None) => name,
                }
            }
        });
        text.collect::<Vec<_>>().join(", ")
    }

    /// A pattern as it is written, as far as it is short.
    pub(super) fn pattern_text(&self, scope: &Scope, pattern: &Pattern) -> String {
        let list = |items: &[Pattern], between: &str| {
            let items = items.iter().map(|item| self.pattern_text(scope, item));
            items.collect::<Vec<_>>().join(between)
        };
        match &pattern.kind {
            PatternKind::Wildcard => "_".to_owned(),
            PatternKind::Bind(local, None) => self.local_text(scope, *local),
            PatternKind::Bind(local, Some(inner)) => {
                format!("{} @ {}", self.local_text(scope, *local), self.pattern_text(scope, inner))
            }
            PatternKind::Literal(literal) => literal_text(literal),
            PatternKind::Range { start, end, inclusive } => {
                let end = end.as_ref().map_or(String::new(), literal_text);
                let dots = if *inclusive { "..=" } else { ".." };
                format!("{}{dots}{end}", literal_text(start))
            }
            PatternKind::Or(items) => list(items, " | "),
            PatternKind::Tuple(items) => format!("({})", list(items, ", ")),
            PatternKind::Array(items) => format!("[{}]", list(items, ", ")),
            PatternKind::Rest(local) => {
                format!("..{}", local.map_or(String::new(), |l| self.local_text(scope, l)))
            }
            PatternKind::Variant(res, items) => {
                format!("{}({})", self.res_text(scope, *res), list(items, ", "))
            }
            PatternKind::Value(res) => self.res_text(scope, *res),
            PatternKind::Typed(inner, _) => self.pattern_text(scope, inner),
            PatternKind::Struct { res, .. } => format!("{} {{ … }}", self.res_text(scope, *res)),
            PatternKind::Error => "…".to_owned(),
        }
    }
}

/// `if c { a } else { b }`
pub(super) fn choice(condition: &str, then: &str, otherwise: &str) -> String {
    format!("if {condition} {{ {then} }} else {{ {otherwise} }}")
}

fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Int(number, _) => number.to_string(),
        Literal::Float(number, _) => number_text(*number),
        Literal::Bool(value) => value.to_string(),
        Literal::Str(text) => format!("{text:?}"),
    }
}
