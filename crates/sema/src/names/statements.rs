//! Blocks and their statements.

use std::sync::OnceLock;

use einlang_source::Span;
use einlang_syntax::ast::{self, Attributed};

use super::Resolver;
use super::clauses::{self, Binds};
use crate::errors;
use crate::hir::*;
use crate::modules::collect;

impl<'t> Resolver<'_, 't> {
    /// The statements of the module.
    pub(super) fn module_body(&mut self, statements: &[ast::Statement<'t>]) {
        let Some(id) = self.cx.program.modules[self.module].body else {
            return;
        };
        self.in_body(id, |r| {
            let span = einlang_source::Span::at(r.file, 0);
            let block = r.block_contents(statements, None, true);
            let value = r.expr(ExprKind::Block(block), span);
            r.body().value = Some(value);
        });
    }

    /// `{ …; e }`
    pub(super) fn block(&mut self, block: ast::Block<'t>) -> ExprId {
        let span = self.span(block);
        let statements: Vec<_> = block.statements().collect();
        let contents = self.in_frame(|r| r.block_contents(&statements, block.value(), false));
        self.expr(ExprKind::Block(contents), span)
    }

    pub(super) fn block_contents(
        &mut self,
        statements: &[ast::Statement<'t>],
        value: Option<ast::Expr<'t>>,
        top: bool,
    ) -> Block {
        let inner =
            if top { std::mem::take(&mut self.pending) } else { self.declare_items(statements) };
        let mut inner = inner.into_iter();
        self.announce_indexed(statements);
        let (mut resolved, mut binds) = (Vec::new(), Vec::new());
        for (index, statement) in statements.iter().enumerate() {
            if value.is_some_and(|value| is_value(*statement, value)) {
                continue;
            }
            self.scope().time += 1;
            self.frame().statement = index as u32;
            match statement {
                ast::Statement::Fn(_)
                | ast::Statement::Struct(_)
                | ast::Statement::Enum(_)
                | ast::Statement::Const(_)
                | ast::Statement::Input(_) => {
                    if let Some(pending) = inner.next_if_node(*statement) {
                        self.item(pending.def, pending.item);
                    }
                }
                ast::Statement::Rule(rule) => self.rule(*rule),
                ast::Statement::Mod(_) | ast::Statement::Use(_) => {}
                ast::Statement::Let(binding) => {
                    if let Some((statement, bound)) = self.binding(*binding, index as u32) {
                        resolved.push(statement);
                        binds.push(bound);
                    }
                }
                ast::Statement::For(loops) => resolved.push(self.for_loop(*loops)),
                ast::Statement::Expr(statement) => {
                    if let Some(expr) = statement.expr() {
                        resolved.push(Statement::Expr(self.expression(expr)));
                    }
                }
            }
        }
        self.scope().time += 1;
        self.frame().statement = statements.len() as u32;
        let value = value.map(|value| self.expression(value));
        self.check_clauses(&binds);
        Block { statements: resolved, value, groups: OnceLock::new() }
    }

    fn check_clauses(&mut self, binds: &[Binds]) {
        let id = self.scope().id;
        let depth = self.stack.len() - 1;
        let frame = self.stack[depth].frames.last().expect("invariant: a body has a scope");
        clauses::report_late_clauses(self.cx, frame, binds, |cx, local| {
            cx.program.bodies[id].locals[local].name.name
        });
    }

    /// Declares the items of a block, so that they are visible in all of it.
    fn declare_items(&mut self, statements: &[ast::Statement<'t>]) -> Vec<collect::Pending<'t>> {
        let inside = Some(self.scope().id);
        let mut pending = Vec::new();
        for statement in statements {
            let declared = collect::declare(self.cx, self.module, inside, self.file, *statement);
            if let Some(item) = declared {
                let def = &self.cx.program.defs[item.def];
                let (name, namespace) = (def.name, collect::namespace(&def.kind));
                let key = (name.name, namespace);
                if let Some((_, first)) =
                    self.frame().items.insert(key, (Res::Def(item.def), name.span))
                {
                    let text = self.text(name.name);
                    self.cx.report(errors::name_clash(&text, name.span, first));
                }
                pending.push(item);
            }
        }
        self.block_imports(statements);
        pending
    }

    /// Makes the indexed definitions of a block known to what comes before them.
    fn announce_indexed(&mut self, statements: &[ast::Statement<'t>]) {
        for statement in statements {
            let ast::Statement::Let(binding) = statement else {
                continue;
            };
            let (Some(_), Some(pattern)) = (binding.slots(), binding.pattern()) else {
                continue;
            };
            for name in pattern.names() {
                let ident = self.ident(name);
                if !self.frame().indexed.contains_key(&ident.name) {
                    let local = self.new_local(ident, LocalKind::Indexed);
                    self.frame().indexed.insert(ident.name, local);
                }
            }
        }
    }

    fn binding(&mut self, binding: ast::LetStmt<'t>, index: u32) -> Option<(Statement, Binds)> {
        let pattern = binding.pattern()?;
        let attrs = self.attributes(binding);
        if let Some(slots) = binding.slots() {
            return self.clause(binding, pattern, slots, attrs, index);
        }
        let value = binding.value()?;
        let ty = binding.ty().map(|ty| self.ty(ty));
        let value = self.expression(value);
        let before = self.frame().locals.len();
        let pattern = self.pattern(pattern, LocalKind::Let);
        let locals: Vec<LocalId> =
            self.frame().locals.since(before).iter().map(|(_, l)| *l).collect();
        let binds = Binds { statement: index, locals, clause: None };
        Some((Statement::Let { pattern, ty, value, attrs }, binds))
    }

    fn clause(
        &mut self,
        binding: ast::LetStmt<'t>,
        pattern: ast::Pattern<'t>,
        slots: ast::Slots<'t>,
        attrs: Vec<Attr>,
        index: u32,
    ) -> Option<(Statement, Binds)> {
        let span = self.span(binding);
        let names: Vec<_> = pattern.names().map(|name| self.ident(name)).collect();
        let targets: Vec<LocalId> = names.iter().map(|name| self.target(*name)).collect();
        let first = names.first().map(|name| name.span);
        let (slots, ty, value, until) = self.in_frame(|r| {
            let slots = r.slots(slots);
            let ty = binding.ty().map(|ty| r.ty(ty));
            let value = binding.value().map(|value| r.expression(value));
            let until = binding.until().and_then(|until| r.until(until));
            (slots, ty, value, until)
        });
        let binds = Binds { statement: index, locals: targets.clone(), clause: first };
        let clause = Clause { targets, slots, ty, value: value?, until, attrs, span };
        Some((Statement::Clause(clause), binds))
    }

    fn until(&mut self, until: ast::UntilClause<'t>) -> Option<Until> {
        let condition = self.expression(until.condition()?);
        let max = self.expression(until.max()?);
        Some(Until { condition, max })
    }

    /// The binding that a clause belongs to, visible from its first clause on.
    fn target(&mut self, name: Ident) -> LocalId {
        let local = match self.frame().indexed.get(&name.name) {
            Some(local) => *local,
            None => self.new_local(name, LocalKind::Indexed),
        };
        let bound = self.frame().locals.get(name.name);
        match bound {
            Some(other) if other == local => {}
            Some(other) => self.plain_clash(name, other),
            None => match self.parameter_named(name) {
                Some(param) => self.plain_clash(name, param),
                None => self.show(local),
            },
        }
        local
    }

    fn plain_clash(&mut self, name: Ident, other: LocalId) {
        let first = &self.body().locals[other];
        let what = match first.kind {
            LocalKind::Param => "a parameter",
            _ => "a plain value",
        };
        let (first, text) = (first.name.span, self.text(name.name));
        self.cx.report(errors::clause_of_plain_name(&text, name.span, first, what));
    }

    /// A parameter of the function whose outermost block this is.
    fn parameter_named(&mut self, name: Ident) -> Option<LocalId> {
        let scope = self.scope();
        let params = scope.frames.first().filter(|_| scope.frames.len() == 2)?;
        let local = params.locals.get(name.name)?;
        (self.body().locals[local].kind == LocalKind::Param).then_some(local)
    }

    fn for_loop(&mut self, loops: ast::ForStmt<'t>) -> Statement {
        let span = self.span(loops);
        let iterable = self.expression_or_error(loops.iterable(), span);
        self.in_frame(|r| {
            let pattern = r.pattern_or_error(loops.pattern(), LocalKind::Pattern, span);
            let body = match loops.body() {
                Some(body) => r.block(body),
                None => r.expr(ExprKind::Error, span),
            };
            Statement::For { pattern, iterable, body }
        })
    }

    pub(super) fn attributes(&mut self, item: impl Attributed<'t>) -> Vec<Attr> {
        item.attributes().filter_map(|attr| self.attribute(attr)).collect()
    }

    fn attribute(&mut self, attr: ast::Attr<'t>) -> Option<Attr> {
        let name = self.ident(attr.name()?);
        let mut args = Vec::new();
        for arg in attr.args() {
            let key = arg.name().map(|name| self.ident(name));
            let value = arg.value().and_then(|value| value.as_name());
            if let Some(token) = value {
                args.push((key, self.cx.token(self.file, token)));
            }
        }
        Some(Attr { name, args })
    }

    pub(super) fn expression_or_error(
        &mut self,
        expr: Option<ast::Expr<'t>>,
        span: Span,
    ) -> ExprId {
        match expr {
            Some(expr) => self.expression(expr),
            None => self.expr(ExprKind::Error, span),
        }
    }
}

/// The last expression of a block is its value and not one of its statements.
fn is_value(statement: ast::Statement<'_>, value: ast::Expr<'_>) -> bool {
    match statement {
        ast::Statement::Expr(statement) => statement.expr() == Some(value),
        _ => false,
    }
}

/// Items come in the order of their statements, but a statement without a name made none.
trait NextIfNode<'t> {
    fn next_if_node(&mut self, statement: ast::Statement<'t>) -> Option<collect::Pending<'t>>;
}

impl<'t> NextIfNode<'t> for std::vec::IntoIter<collect::Pending<'t>> {
    fn next_if_node(&mut self, statement: ast::Statement<'t>) -> Option<collect::Pending<'t>> {
        let same = self.as_slice().first().is_some_and(|item| item.item == statement);
        if same { self.next() } else { None }
    }
}
