//! The differentials of expressions, in terms of those of the names in them.

use einlang_tir::op::{Derivative, Op, Partial};

use super::math::{Math, is_short};
use super::scope::{Scope, Writer};
use super::value::choice;
use crate::builtins::Function;
use crate::hir::*;
use crate::types::{Callee, FnTy, Ty};

impl Writer<'_> {
    /// The differential of an expression.
    pub(super) fn change(&mut self, scope: &Scope, expr: ExprId) -> Math {
        let body = self.body(scope);
        let ty = self.ty(scope, expr);
        match body.kind(expr) {
            ExprKind::Literal(_) => Math::zero(),
            ExprKind::Name(res) => self.name_change(scope, *res, ty),
            _ if self.is_fixed(ty) => Math::zero(),
            ExprKind::Unary(UnaryOp::Neg, operand) => self.change(scope, *operand).negated(),
            ExprKind::Binary(op, a, b) => self.binary_change(scope, expr, *op, *a, *b),
            ExprKind::Cast(value, _) => match self.is_rounded(scope, *value) {
                true => self.own(scope, expr),
                false => self.change(scope, *value),
            },
            ExprKind::Tuple(items) => self.list_change(scope, items, '(', ')'),
            ExprKind::Array(items) => self.list_change(scope, items, '[', ']'),
            ExprKind::Struct { res, fields } => {
                let changes: Vec<(String, Math)> = fields
                    .iter()
                    .map(|(name, value)| {
                        (self.spelling(name.name).to_owned(), self.change(scope, *value))
                    })
                    .collect();
                if changes.iter().all(|(_, change)| change.is_zero()) {
                    return Math::zero();
                }
                let fields: Vec<String> = changes
                    .iter()
                    .map(|(name, change)| format!("{name}: {}", change.text()))
                    .collect();
                let name = self.res_text(scope, *res);
                Math::atom(format!("{name} {{ {} }}", fields.join(", ")))
            }
            ExprKind::Block(block) => self.block_change(scope, expr, block),
            ExprKind::If { condition, then, otherwise: Some(otherwise) } => {
                let condition = self.value(scope, *condition).text();
                let (then, otherwise) = (self.change(scope, *then), self.change(scope, *otherwise));
                match then == otherwise && !is_short(&then.text()) {
                    true => then,
                    false => Math::loose(choice(&condition, &then.text(), &otherwise.text())),
                }
            }
            ExprKind::Match { scrutinee, arms } => self.match_change(scope, *scrutinee, arms),
            ExprKind::Call { args, .. } | ExprKind::CoordCall { args, .. } => {
                self.call_change(scope, expr, args)
            }
            ExprKind::Reduce { op, indices, body } => {
                self.reduce_change(scope, expr, *op, indices, *body)
            }
            ExprKind::Access { base, subscripts, default } => {
                let own = self.change(scope, *base);
                let other = default.map(|default| self.change(scope, default));
                let other = other.unwrap_or_default();
                if own.is_zero() && other.is_zero() {
                    return Math::zero();
                }
                let other = match default {
                    Some(_) => format!(" else {}", other.text()),
                    None => String::new(),
                };
                let at = self.bracketed(scope, subscripts, &other);
                Math::atom(format!("{}{at}", own.grouped()))
            }
            ExprKind::Field(base, field) => {
                let own = self.change(scope, *base);
                let field = self.spelling(field.name);
                match own.is_zero() {
                    true => own,
                    false => Math::atom(format!("{}.{field}", own.grouped())),
                }
            }
            ExprKind::With { base, updates } => self.with_change(scope, *base, updates),
            ExprKind::Where { value, items, otherwise } => {
                self.where_change(scope, *value, items, *otherwise)
            }
            _ => self.own(scope, expr),
        }
    }

    /// `@(e)`: the differential of what has no short formula.
    pub(super) fn own(&self, scope: &Scope, expr: ExprId) -> Math {
        Math::atom(format!("@{}", self.value(scope, expr).grouped()))
    }

    /// Whether values of a type never change: integers, texts, functions.
    fn is_fixed(&self, ty: &Ty) -> bool {
        !matches!(ty, Ty::Error) && !self.has_floats(ty)
    }

    /// Whether an integer was computed from floats.
    fn is_rounded(&self, scope: &Scope, expr: ExprId) -> bool {
        if self.has_floats(self.ty(scope, expr)) {
            return false;
        }
        let mut found = false;
        crate::types::walk::visit(self.body(scope), vec![expr], &mut |inner, kind| {
            found |= matches!(kind, ExprKind::Cast(..)) && self.has_floats(self.ty(scope, inner));
            if let ExprKind::Cast(from, _) = kind {
                found |= self.has_floats(self.ty(scope, *from));
            }
        });
        found
    }

    fn list_change(&mut self, scope: &Scope, items: &[ExprId], open: char, close: char) -> Math {
        let changes: Vec<Math> = items.iter().map(|item| self.change(scope, *item)).collect();
        if changes.iter().all(Math::is_zero) {
            return Math::zero();
        }
        let items: Vec<String> = changes.iter().map(Math::text).collect();
        Math::atom(format!("{open}{}{close}", items.join(", ")))
    }

    fn with_change(
        &mut self,
        scope: &Scope,
        base: ExprId,
        updates: &[(Vec<Subscript>, ExprId)],
    ) -> Math {
        let own = self.change(scope, base);
        let mut parts = Vec::with_capacity(updates.len());
        for (subscripts, value) in updates {
            let subscripts = self.subscripts(scope, subscripts);
            parts.push(format!("[{subscripts}] = {}", self.change(scope, *value).text()));
        }
        Math::loose(format!("{} with {}", own.grouped(), parts.join(", ")))
    }

    fn binary_change(
        &mut self,
        scope: &Scope,
        expr: ExprId,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
    ) -> Math {
        let is_request = matches!(self.body(scope).kind(b), ExprKind::Differential(_));
        if is_request && op == BinaryOp::Div {
            return self.own(scope, expr);
        }
        let (da, db) = (self.change(scope, a), self.change(scope, b));
        match op {
            BinaryOp::Add => return da.plus(db),
            BinaryOp::Sub => return da.plus(db.negated()),
            _ => {}
        }
        let (va, vb) = (self.value(scope, a), self.value(scope, b));
        match op {
            BinaryOp::Mul => vb.scaling(&da).plus(va.scaling(&db)),
            BinaryOp::Div => {
                let first = Math::number(1.0).over(vb.clone()).scaling(&da);
                let square = vb.raised(Math::number(2.0));
                first.plus(va.over(square).scaling(&db).negated())
            }
            BinaryOp::Pow => {
                let less = vb.clone().plus(Math::number(-1.0));
                let base = vb.clone().times(va.clone().raised(less)).scaling(&da);
                let log = Math::atom(format!("log({})", va.text()));
                base.plus(log.times(va.raised(vb)).scaling(&db))
            }
            BinaryOp::Rem => {
                let quotient = format!("trunc({})", va.over(vb).text());
                da.plus(Math::atom(quotient).scaling(&db).negated())
            }
            _ => Math::zero(),
        }
    }

    fn call_change(&mut self, scope: &Scope, expr: ExprId, args: &[Arg]) -> Math {
        match self.typed.instance(scope.instance).calls.get(&expr) {
            Some(Callee::Instance(id)) => self.expand_call(scope, expr, *id, args),
            Some(Callee::Function(FnTy::Builtin(function))) => {
                self.builtin_change(scope, expr, *function, args)
            }
            _ => self.own(scope, expr),
        }
    }

    fn builtin_change(
        &mut self,
        scope: &Scope,
        expr: ExprId,
        function: Function,
        args: &[Arg],
    ) -> Math {
        if let (Function::Pow, [a, b]) = (function, args) {
            return self.binary_change(scope, expr, BinaryOp::Pow, a.value, b.value);
        }
        if let (Function::Max | Function::Min, [a, b]) = (function, args) {
            let sign = if function == Function::Max { '>' } else { '<' };
            let (first, second) = (self.change(scope, a.value), self.change(scope, b.value));
            let (a, b) = (self.value(scope, a.value), self.value(scope, b.value));
            let condition = format!("{} {sign} {}", b.grouped(), a.grouped());
            return match first.is_zero() && second.is_zero() {
                true => first,
                false => Math::loose(choice(&condition, &second.text(), &first.text())),
            };
        }
        let op = match function {
            Function::Detach | Function::Len | Function::Shape => return Math::zero(),
            other => Op::parse(other.as_str()),
        };
        let partials = match op.map(|op| op.info().derivative) {
            Some(Derivative::Zero) => return Math::zero(),
            Some(Derivative::Partials(texts)) => texts,
            _ => return self.own(scope, expr),
        };
        let values: Vec<Math> = args.iter().map(|arg| self.value(scope, arg.value)).collect();
        let result = self.value(scope, expr);
        let mut sum = Math::zero();
        for (arg, partial) in args.iter().zip(partials) {
            let change = self.change(scope, arg.value);
            let Ok(partial) = Partial::parse(partial) else { return self.own(scope, expr) };
            sum = sum.plus(written(&partial, &values, &result).scaling(&change));
        }
        sum
    }
}

/// A partial derivative of the table, written for operands.
fn written(partial: &Partial, args: &[Math], result: &Math) -> Math {
    let one = |partial: &Partial| written(partial, args, result);
    match partial {
        Partial::Arg(at) => args.get(*at).cloned().unwrap_or_default(),
        Partial::Result => result.clone(),
        Partial::Number(number) => Math::number(*number),
        Partial::Apply(op, inner) => match (op, &inner[..]) {
            (Op::Neg, [a]) => one(a).negated(),
            (Op::Cast, [a]) => one(a),
            (Op::Add, [a, b]) => one(a).plus(one(b)),
            (Op::Sub, [a, b]) => one(a).plus(one(b).negated()),
            (Op::Mul, [a, b]) if a == b => one(a).raised(Math::number(2.0)),
            (Op::Mul, [a, b]) => one(a).times(one(b)),
            (Op::Div, [a, b]) => one(a).over(one(b)),
            (Op::Pow, [a, b]) => one(a).raised(one(b)),
            (Op::Select, [c, a, b]) => {
                Math::loose(choice(&one(c).text(), &one(a).text(), &one(b).text()))
            }
            (Op::Lt, [a, b]) => Math::loose(format!("{} < {}", one(a).text(), one(b).text())),
            (Op::Gt, [a, b]) => Math::loose(format!("{} > {}", one(a).text(), one(b).text())),
            (Op::Eq, [a, b]) => Math::loose(format!("{} == {}", one(a).text(), one(b).text())),
            (op, args) => {
                let args: Vec<String> = args.iter().map(|arg| one(arg).text()).collect();
                Math::atom(format!("{}({})", op.name(), args.join(", ")))
            }
        },
    }
}
