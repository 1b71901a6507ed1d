//! Blocks and their statements.

use super::Analyser;
use super::value::Shape;
use crate::hir::*;
use crate::types::groups;

impl<'p> Analyser<'p> {
    pub(super) fn block(&mut self, block: &'p Block) -> Shape {
        if block.statements.iter().any(|statement| matches!(statement, Statement::Clause(_))) {
            let id = self.typed_here().body;
            for group in groups::order(self.program, id, block, &self.captures) {
                self.group(&block.statements, group);
            }
        } else {
            for statement in &block.statements {
                self.closed(|cx| cx.statement(statement));
            }
        }
        match block.value {
            Some(value) => self.closed(|cx| cx.eval(value)),
            None => Shape::Opaque,
        }
    }

    /// A statement other than a clause.
    pub(super) fn statement(&mut self, statement: &'p Statement) {
        match statement {
            statement if self.is_given(statement) => {}
            Statement::Let { pattern, ty, value, .. } => {
                let mut shape = self.eval(*value);
                if let Some(ty) = ty {
                    let (span, name) = (self.tail_span(*value), self.pattern_name(pattern));
                    shape = self.annotate_value(&shape, *value, ty, span, &name);
                }
                self.test_with_statement(*value);
                self.bind_pattern(pattern, &shape);
            }
            Statement::For { pattern, iterable, body } => self.for_loop(pattern, *iterable, *body),
            Statement::Expr(value) => {
                self.eval(*value);
            }
            Statement::Clause(_) => {}
        }
    }
}
