//! Brackets: reads, slots, reductions and coordinate calls. The parser knows only `f[…](…)`; what
//! `f` means decides which of them it is.

use einlang_syntax::ast::{self, AstNode};

use super::Resolver;
use crate::builtins::{Builtin, Reduction};
use crate::errors;
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    /// `f(x)`, `sum[k](e)`, `reduce[k](init, op)(e)`, `softmax[c](e)`
    pub(super) fn call(&mut self, call: ast::CallExpr<'t>) -> Option<ExprKind> {
        match call.callee()? {
            ast::Expr::Index(index) => self.subscripted_call(call, index),
            ast::Expr::Call(inner) => match inner.callee()? {
                ast::Expr::Index(index)
                    if self.head(index) == Some(Res::Builtin(Builtin::Reduce)) =>
                {
                    self.user_reduction(call, inner, index)
                }
                _ => self.plain_call(call),
            },
            _ => self.plain_call(call),
        }
    }

    fn plain_call(&mut self, call: ast::CallExpr<'t>) -> Option<ExprKind> {
        let callee = self.expression(call.callee()?);
        Some(ExprKind::Call { callee, args: self.arguments(call)? })
    }

    fn arguments(&mut self, call: ast::CallExpr<'t>) -> Option<Vec<Arg>> {
        self.outside_subscripts(|r| {
            let mut args = Vec::new();
            for arg in call.args() {
                args.push(match arg {
                    ast::Arg::Positional(value) => Arg { name: None, value: r.expression(value) },
                    ast::Arg::Named(named) => {
                        let name = Some(r.ident(named.name()?));
                        Arg { name, value: r.expression(named.value()?) }
                    }
                });
            }
            Some(args)
        })
    }

    /// What stands before the brackets, when it is a name.
    fn head(&mut self, index: ast::IndexExpr<'t>) -> Option<Res> {
        let ast::Expr::Path(path) = index.base()? else {
            return None;
        };
        match path.single() {
            Some(token) => {
                let name = self.cx.token(self.file, token);
                self.find_value(name)
            }
            None => Some(self.value_path(path)),
        }
    }

    fn subscripted_call(
        &mut self,
        call: ast::CallExpr<'t>,
        index: ast::IndexExpr<'t>,
    ) -> Option<ExprKind> {
        let head = self.head(index);
        if let Some(op) = head.and_then(|head| self.reduction_named(head)) {
            return self.reduction(call, index, op);
        }
        match head {
            Some(Res::Def(_) | Res::External | Res::Builtin(_)) => {
                self.coordinate_call(call, index)
            }
            _ => self.plain_call(call),
        }
    }

    /// The reduction that a name with brackets means. `mean` and its like of the library are
    /// functions of whole tensors, and still reductions when an index follows.
    fn reduction_named(&self, head: Res) -> Option<Reduction> {
        match head {
            Res::Builtin(builtin) => builtin.reduction(),
            Res::Def(def) if self.cx.program.is_library(def) => {
                Reduction::parse(self.cx.spelling(self.cx.program.def(def).name.name))
            }
            _ => None,
        }
    }

    fn reduction(
        &mut self,
        call: ast::CallExpr<'t>,
        index: ast::IndexExpr<'t>,
        op: Reduction,
    ) -> Option<ExprKind> {
        let span = call.arg_list().map_or_else(|| self.span(call), |list| self.span(list));
        self.in_frame(|r| {
            let indices = r.binders(index.subscripts()?.items());
            let body = r.reduced(call, span);
            Some(ExprKind::Reduce { op, indices, body })
        })
    }

    /// The single argument of a reduction.
    fn reduced(&mut self, call: ast::CallExpr<'t>, span: einlang_source::Span) -> ExprId {
        let value = call.args().find_map(|arg| match arg {
            ast::Arg::Positional(value) => Some(value),
            ast::Arg::Named(_) => None,
        });
        self.outside_subscripts(|r| r.expression_or_error(value, span))
    }

    /// The indices are visible in the last parentheses only.
    fn user_reduction(
        &mut self,
        call: ast::CallExpr<'t>,
        inner: ast::CallExpr<'t>,
        index: ast::IndexExpr<'t>,
    ) -> Option<ExprKind> {
        let span = self.span(call);
        let mut first = self.arguments(inner)?.into_iter().map(|arg| arg.value);
        let init = first.next().unwrap_or_else(|| self.expr(ExprKind::Error, span));
        let combine = first.next().unwrap_or_else(|| self.expr(ExprKind::Error, span));
        self.in_frame(|r| {
            let indices = r.binders(index.subscripts()?.items());
            let body = r.reduced(call, span);
            Some(ExprKind::UserReduce { indices, init, combine, body })
        })
    }

    /// `softmax[class](logits[batch, class])`: the coordinate is bound inside the arguments.
    fn coordinate_call(
        &mut self,
        call: ast::CallExpr<'t>,
        index: ast::IndexExpr<'t>,
    ) -> Option<ExprKind> {
        let callee = self.expression(index.base()?);
        self.in_frame(|r| {
            let indices = r.binders(index.subscripts()?.items());
            r.coordinate_calls += 1;
            let args = r.arguments(call);
            r.coordinate_calls -= 1;
            Some(ExprKind::CoordCall { callee, indices, args: args? })
        })
    }

    /// `A[i, j else e]`
    pub(super) fn access(&mut self, index: ast::IndexExpr<'t>) -> Option<ExprKind> {
        let base = self.expression(index.base()?);
        let brackets = index.subscripts()?;
        let subscripts = self.subscripts(brackets.items());
        let default = brackets.default();
        let default = default.map(|default| self.outside_subscripts(|r| r.expression(default)));
        Some(ExprKind::Access { base, subscripts, default })
    }

    pub(super) fn subscripts(
        &mut self,
        items: impl Iterator<Item = ast::Subscript<'t>>,
    ) -> Vec<Subscript> {
        self.subscript_depth += 1;
        let subscripts = items.map(|item| self.subscript(item)).collect();
        self.subscript_depth -= 1;
        subscripts
    }

    /// Whether `last` has a meaning here.
    pub(super) fn in_subscript(&self) -> bool {
        self.subscript_depth > 0
    }

    /// Runs `f` where `last` has no meaning, such as the arguments of a call in a subscript.
    fn outside_subscripts<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let depth = std::mem::take(&mut self.subscript_depth);
        let result = f(self);
        self.subscript_depth = depth;
        result
    }

    fn subscript(&mut self, item: ast::Subscript<'t>) -> Subscript {
        let span = self.span(item);
        match item {
            ast::Subscript::All(_) => Subscript::All(span),
            ast::Subscript::Rest(rest) => Subscript::Rest {
                local: rest.name().map_or(Res::Error, |name| self.rest_in_read(name)),
                of: rest.of().map(|of| self.expression(of)),
                span,
            },
            ast::Subscript::In(binder) => self.no_binder(binder.name(), span),
            ast::Subscript::Coord(binder) => self.no_binder(binder.name(), span),
            ast::Subscript::Expr(expr) => Subscript::Expr(self.subscript_value(expr)),
        }
    }

    /// A bare name in the arguments of a coordinate call may be a coordinate that nothing in
    /// scope knows.
    fn subscript_value(&mut self, expr: ast::Expr<'t>) -> ExprId {
        if let (Some(token), true) = (expr.as_name(), self.coordinate_calls > 0) {
            let name = self.cx.token(self.file, token);
            if token.text() != "last" && self.find_value(name).is_none() {
                return self.expr(ExprKind::Coordinate(name), name.span);
            }
        }
        self.expression(expr)
    }

    fn no_binder(&mut self, name: Option<ast::Name<'t>>, span: einlang_source::Span) -> Subscript {
        let text = name.map_or("", AstNode::text);
        self.cx.report(errors::binder_in_read(text, span));
        Subscript::Expr(self.expr(ExprKind::Error, span))
    }

    fn rest_in_read(&mut self, name: ast::Name<'t>) -> Res {
        let name = self.ident(name);
        if let Some(res) = self.find_binding(name) {
            return res;
        }
        let text = self.text(name.name);
        let diagnostic = errors::unknown_rest(&text, name.span, self.visible_values());
        self.cx.report(diagnostic);
        Res::Error
    }

    /// The indices of a reduction or coordinate call, visible from here on.
    fn binders(&mut self, items: impl Iterator<Item = ast::Subscript<'t>>) -> Vec<Subscript> {
        items.map(|item| self.binder(item).unwrap_or_else(|| self.subscript(item))).collect()
    }

    /// A subscript that introduces an index or a rest.
    fn binder(&mut self, item: ast::Subscript<'t>) -> Option<Subscript> {
        let span = self.span(item);
        Some(match item {
            ast::Subscript::In(binder) => {
                let range = self
                    .outside_subscripts(|r| r.expression_or_error(ast::SubIn::range(binder), span));
                let name = self.ident(binder.name()?);
                self.index_binder(name, Some(range), None)
            }
            ast::Subscript::Coord(binder) => {
                let coordinate = self.ident(binder.coordinate()?);
                let found = self.find_extent(coordinate).or_else(|| self.find_value(coordinate));
                let res = found.unwrap_or(Res::Error);
                let name = self.ident(binder.name()?);
                self.index_binder(name, None, Some((coordinate, res)))
            }
            ast::Subscript::Rest(rest) => {
                let of = rest.of().map(|of| self.expression(of));
                let name = self.ident(rest.name()?);
                let local = self.bind(name, LocalKind::Rest);
                Subscript::Rest { local: Res::Local(local), of, span }
            }
            ast::Subscript::Expr(expr) => {
                let token = expr.as_name()?;
                let name = self.cx.token(self.file, token);
                self.index_binder(name, None, None)
            }
            ast::Subscript::All(_) => return None,
        })
    }

    fn index_binder(
        &mut self,
        name: Ident,
        range: Option<ExprId>,
        coordinate: Option<(Ident, Res)>,
    ) -> Subscript {
        let shadows = self.find_binding(name).or_else(|| self.find_item(name.name));
        let shadows = shadows.filter(|res| !matches!(res, Res::Builtin(_)));
        let local = self.bind(name, LocalKind::Index);
        Subscript::Index(IndexBinder { local, range, coordinate, shadows })
    }

    /// The left side of a clause: indices, rests and points. Ranges may use indices to their left.
    pub(super) fn slots(&mut self, slots: ast::Slots<'t>) -> Vec<Subscript> {
        let items: Vec<_> = slots.items().collect();
        let mut resolved = Vec::new();
        for item in items {
            resolved.push(match self.binder(item) {
                Some(slot) => slot,
                None => self.point_slot(item),
            });
        }
        resolved
    }

    /// One point, computed from bound values.
    fn point_slot(&mut self, item: ast::Subscript<'t>) -> Subscript {
        let ast::Subscript::Expr(expr) = item else {
            return self.subscript(item);
        };
        if let Some(unbound) = self.unbound_name(expr) {
            let span = self.span(expr);
            let text = self.text(unbound.name);
            let rewritten = rewritten_slot(expr, &text);
            self.cx.report(errors::slot_of_unbound_index(expr.text(), &text, span, rewritten));
            // The name is an index for the rest of the clause, so that its uses are no errors.
            let local = self.bind(unbound, LocalKind::Index);
            let binder = IndexBinder { local, range: None, coordinate: None, shadows: None };
            return Subscript::Index(binder);
        }
        Subscript::Expr(self.expression(expr))
    }

    fn unbound_name(&mut self, expr: ast::Expr<'t>) -> Option<Ident> {
        for node in expr.node().descendants() {
            let Some(token) = ast::Path::cast(node).and_then(ast::Path::single) else {
                continue;
            };
            let name = self.cx.token(self.file, token);
            if self.find_value(name).is_none() {
                return Some(name);
            }
        }
        None
    }
}

/// For a slot `t + 1` or `t - 1`: the index with its range, and what a read of `t` becomes.
fn rewritten_slot(expr: ast::Expr<'_>, name: &str) -> Option<(String, String)> {
    let ast::Expr::Binary(binary) = expr else {
        return None;
    };
    let (left, right) = (binary.left()?, binary.right()?);
    let offset = match right {
        ast::Expr::Literal(literal) => literal.token()?.text().to_string(),
        _ => return None,
    };
    if left.as_name()?.text() != name {
        return None;
    }
    match binary.operator()?.text() {
        "+" => Some((format!("{name} in {offset}.."), format!("{name} - {offset}"))),
        "-" => Some((name.to_string(), format!("{name} + {offset}"))),
        _ => None,
    }
}
