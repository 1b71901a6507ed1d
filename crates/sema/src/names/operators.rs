//! Operators, pipes, updates and `where`.

use einlang_syntax::SyntaxKind;
use einlang_syntax::ast::{self, AstNode};

use super::Resolver;
use crate::context::span_of;
use crate::errors;
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    pub(super) fn unary(&mut self, unary: ast::UnaryExpr<'t>) -> Option<ExprKind> {
        let operator = unary.operator()?.kind();
        let operand = self.expression(unary.operand()?);
        Some(match operator {
            SyntaxKind::MINUS => ExprKind::Unary(UnaryOp::Neg, operand),
            SyntaxKind::BANG => ExprKind::Unary(UnaryOp::Not, operand),
            _ => ExprKind::Differential(operand),
        })
    }

    pub(super) fn binary(&mut self, binary: ast::BinaryExpr<'t>) -> Option<ExprKind> {
        let operator = operator(binary.operator()?.kind())?;
        let left = self.expression(binary.left()?);
        Some(ExprKind::Binary(operator, left, self.expression(binary.right()?)))
    }

    pub(super) fn range(&mut self, range: ast::RangeExpr<'t>) -> ExprKind {
        let start = range.start().map(|start| self.expression(start));
        let end = range.end().map(|end| self.expression(end));
        ExprKind::Range { start, end, inclusive: range.is_inclusive() }
    }

    /// `x |> f(2)` is the call `f(x, 2)`.
    pub(super) fn pipe(&mut self, pipe: ast::PipeExpr<'t>) -> Option<ExprKind> {
        let value = self.expression(pipe.left()?);
        let right = pipe.right()?;
        Some(match pipe.operator()? {
            SyntaxKind::QUESTION_GT => ExprKind::AndThen(value, self.expression(right)),
            SyntaxKind::BANG_GT => ExprKind::OkThen(value, self.expression(right)),
            _ => self.piped_call(value, right)?,
        })
    }

    fn piped_call(&mut self, value: ExprId, right: ast::Expr<'t>) -> Option<ExprKind> {
        let first = Arg { name: None, value };
        if let ast::Expr::Call(call) = right {
            return match self.call(call)? {
                ExprKind::Call { callee, mut args } => {
                    args.insert(0, first);
                    Some(ExprKind::Call { callee, args })
                }
                ExprKind::CoordCall { callee, indices, mut args } => {
                    args.insert(0, first);
                    Some(ExprKind::CoordCall { callee, indices, args })
                }
                other => {
                    let span = self.span(right);
                    let callee = self.expr(other, span);
                    Some(ExprKind::Call { callee, args: vec![first] })
                }
            };
        }
        let callee = self.expression(right);
        Some(ExprKind::Call { callee, args: vec![first] })
    }

    pub(super) fn with_updates(&mut self, with: ast::WithExpr<'t>) -> Option<ExprKind> {
        let base = self.expression(with.base()?);
        let mut updates = Vec::new();
        for update in with.updates() {
            let subscripts = self.subscripts(update.subscripts()?.items());
            updates.push((subscripts, self.expression(update.value()?)));
        }
        Some(ExprKind::With { base, updates })
    }

    /// The items of a `where` see each other in order, and the value sees all of them; `else` sees
    /// the bindings before the first guard.
    pub(super) fn where_expression(&mut self, clause: ast::WhereExpr<'t>) -> Option<ExprKind> {
        let value = clause.value()?;
        self.in_frame(|r| {
            let (mut items, mut before_guard) = (Vec::new(), None);
            for item in clause.items() {
                match item {
                    ast::WhereItem::Binding(binding) => items.push(r.where_binding(binding)?),
                    ast::WhereItem::Guard(guard) => {
                        before_guard.get_or_insert(r.frame().locals.len());
                        r.refuse_index_range(guard);
                        items.push(WhereItem::Guard(r.expression(guard.expr()?)));
                    }
                }
            }
            let value = r.expression(value);
            let visible = before_guard.unwrap_or(r.frame().locals.len());
            r.frame().locals.truncate(visible);
            let otherwise = clause.fallback().map(|fallback| r.expression(fallback));
            Some(ExprKind::Where { value, items, otherwise })
        })
    }

    /// `i in 0..n` for an index `i` is no condition but a range.
    fn refuse_index_range(&mut self, guard: ast::WhereGuard<'t>) {
        let Some(ast::Expr::Binary(test)) = guard.expr() else { return };
        let is_in = test.operator().is_some_and(|token| token.kind() == SyntaxKind::IN);
        let (Some(left), Some(ast::Expr::Range(range))) = (test.left(), test.right()) else {
            return;
        };
        let Some(token) = left.as_name().filter(|_| is_in) else { return };
        let name = self.cx.token(self.file, token);
        if let Some(index) = self.index_in_scope(name) {
            let (text, introduced) = (self.text(name.name), self.body().locals[index].name.span);
            let span = self.span(test);
            self.cx.report(errors::range_in_where(&text, range.text(), span, introduced));
        }
    }

    fn where_binding(&mut self, binding: ast::WhereBinding<'t>) -> Option<WhereItem> {
        let name = self.ident(binding.name()?);
        if let Some(index) = self.index_in_scope(name) {
            let (text, introduced) = (self.text(name.name), self.body().locals[index].name.span);
            let equals = binding.node().token(SyntaxKind::EQ).map(|token| token.range());
            let equals = equals.map_or(name.span, |range| span_of(self.file, range));
            self.cx.report(errors::index_rebound(&text, name.span, introduced, equals));
        }
        let value = self.expression(binding.value()?);
        Some(WhereItem::Binding(self.bind(name, LocalKind::Where), value))
    }

    /// The index with this name, when the nearest binding of the name is one.
    fn index_in_scope(&mut self, name: Ident) -> Option<LocalId> {
        let frames = self.scope().frames.iter().rev();
        let local = frames.into_iter().find_map(|frame| frame.locals.get(name.name))?;
        (self.body().locals[local].kind == LocalKind::Index).then_some(local)
    }
}

fn operator(kind: SyntaxKind) -> Option<BinaryOp> {
    Some(match kind {
        SyntaxKind::PIPE2 => BinaryOp::Or,
        SyntaxKind::AND2 => BinaryOp::And,
        SyntaxKind::EQ2 => BinaryOp::Eq,
        SyntaxKind::NEQ => BinaryOp::Ne,
        SyntaxKind::LT => BinaryOp::Lt,
        SyntaxKind::GT => BinaryOp::Gt,
        SyntaxKind::LTEQ => BinaryOp::Le,
        SyntaxKind::GTEQ => BinaryOp::Ge,
        SyntaxKind::IN => BinaryOp::In,
        SyntaxKind::PLUS => BinaryOp::Add,
        SyntaxKind::MINUS => BinaryOp::Sub,
        SyntaxKind::STAR => BinaryOp::Mul,
        SyntaxKind::SLASH => BinaryOp::Div,
        SyntaxKind::PERCENT => BinaryOp::Rem,
        SyntaxKind::STAR2 => BinaryOp::Pow,
        _ => return None,
    })
}
