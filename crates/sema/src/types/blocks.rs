//! Blocks and their statements.

use super::Checker;
use super::groups;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

impl<'p> Checker<'p> {
    pub(super) fn block(&mut self, block: &'p Block, hint: Option<&Ty>) -> Ty {
        if block.statements.iter().any(|statement| matches!(statement, Statement::Clause(_))) {
            let id = self.work().body;
            for group in groups::order(self.program, id, block, &self.captures) {
                self.group(&block.statements, group);
            }
        } else {
            for statement in &block.statements {
                self.statement(statement);
            }
        }
        match block.value {
            Some(value) => self.infer_hinted(value, hint),
            None => Ty::unit(),
        }
    }

    fn group(&mut self, statements: &'p [Statement], group: &Group) {
        // A block may be typed again after a trial; its clauses start afresh.
        for local in group.statements.iter().flat_map(|index| groups::bound(&statements[*index])) {
            self.work_mut().locals.remove(&local);
        }
        if group.recursive {
            self.recursive_group(statements, group);
            return;
        }
        let first = self.vars.count();
        for index in &group.statements {
            self.statement(&statements[*index]);
        }
        self.decide_since(first);
    }

    /// Types a statement whose names are all known.
    pub(super) fn statement(&mut self, statement: &'p Statement) {
        let first = self.vars.count();
        match statement {
            Statement::Let { pattern, ty, value, .. } => {
                self.plain_let(pattern, ty.as_ref(), *value);
                self.decide_since(first);
            }
            // The clauses of a binding decide each other's literals, so these wait for the group.
            Statement::Clause(clause) => self.clause(clause),
            Statement::For { pattern, iterable, body } => {
                self.for_loop(pattern, *iterable, *body);
                self.decide_since(first);
            }
            Statement::Expr(value) => {
                let found = self.infer(*value);
                self.discard(&found);
                self.decide_since(first);
            }
        }
    }

    /// Decides the literals of a statement, unless it is only asked what it says about others.
    pub(super) fn decide_since(&mut self, first: u32) {
        if !self.guessing {
            self.vars.default_since(first);
        }
    }

    fn plain_let(&mut self, pattern: &Pattern, ty: Option<&TypeRef>, value: ExprId) {
        let found = match ty {
            Some(ty) => self.annotated(value, ty),
            None => self.infer(value),
        };
        self.bind_pattern(pattern, &found);
    }

    fn for_loop(&mut self, pattern: &Pattern, iterable: ExprId, body: ExprId) {
        let found = self.infer(iterable);
        let element = self.iterated(&found, iterable);
        self.bind_pattern(pattern, &element);
        self.infer(body);
    }

    /// What a generator or `for` binds.
    pub(super) fn iterated(&mut self, found: &Ty, iterable: ExprId) -> Ty {
        match self.element_of(found) {
            Some(element) => {
                // The numbers of a range of literals are integers from here on.
                if let Ty::Range(_) = self.shallow(found) {
                    return self.vars.default_in(&element);
                }
                element
            }
            None => {
                let (got, span) = (self.show(found), self.span(iterable));
                self.fail(errors::not_iterable(&got, span))
            }
        }
    }

    pub(super) fn set_local(&mut self, local: LocalId, ty: Ty) {
        self.work_mut().locals.insert(local, ty);
    }
}
