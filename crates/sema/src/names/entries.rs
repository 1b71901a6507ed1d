//! The entries of a session: each is a scope of its own inside those before it, and all of them
//! are one body, so that bindings are captured and shadowed as in any block.

use std::sync::OnceLock;

use einlang_source::FileId;
use einlang_syntax::ast;

use super::Resolver;
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    /// The statements of all entries, the last of which is the current one.
    pub(super) fn entries(&mut self, entries: &[(FileId, Vec<ast::Statement<'t>>)], shows: bool) {
        let Some(id) = self.cx.program.modules[self.module].body else {
            return;
        };
        self.in_body(id, |r| {
            let mut all = Vec::new();
            for (at, (file, statements)) in entries.iter().enumerate() {
                r.file = *file;
                r.open_frame();
                let is_current = at + 1 == entries.len();
                let left: Vec<_> =
                    statements.iter().filter(|s| is_current || is_kept(**s)).copied().collect();
                let block = r.block_contents(&left, None, false);
                all.extend(block.statements);
            }
            if shows {
                r.bind_value(&mut all);
            }
            let span = einlang_source::Span::at(r.file, 0);
            let block = Block { statements: all, value: None, groups: OnceLock::new() };
            let value = r.expr(ExprKind::Block(block), span);
            r.body().value = Some(value);
        });
    }

    /// The last statement, an expression, becomes a binding.
    fn bind_value(&mut self, statements: &mut Vec<Statement>) {
        let Some(Statement::Expr(value)) = statements.last() else { return };
        let value = *value;
        let span = self.body().span(value);
        let name = Ident { name: self.cx.interner.intern(ENTRY_VALUE), span };
        let local = self.bind(name, LocalKind::Let);
        let pattern = Pattern { kind: PatternKind::Bind(local, None), span };
        statements.pop();
        statements.push(Statement::Let { pattern, ty: None, value, attrs: Vec::new() });
    }
}

/// Whether an earlier statement still matters: effects are over.
fn is_kept(statement: ast::Statement<'_>) -> bool {
    !matches!(statement, ast::Statement::Expr(_) | ast::Statement::For(_))
}
