//! Clauses: walked one by one, their questions left in the frame.

use einlang_index::MinMax;
use einlang_source::Span;

use super::Analyser;
use super::formula::Formula;
use super::frame::Mark;
use super::scopes::Opened;
use super::value::Shape;
use crate::hir::*;

/// A clause, or a plain `let` of a recursive group, after it was walked.
#[derive(Debug)]
pub(super) struct Record<'p> {
    /// Missing for a plain `let`.
    pub(super) clause: Option<&'p Clause>,
    pub(super) targets: Vec<LocalId>,
    pub(super) slots: Vec<Opened>,
    /// The shape of the body.
    pub(super) body: Shape,
    /// The points it covers.
    pub(super) guard: Formula,
    /// What it left in the frame.
    pub(super) from: Mark,
    pub(super) to: Mark,
    pub(super) span: Span,
}

impl<'p> Analyser<'p> {
    pub(super) fn clause(&mut self, clause: &'p Clause) -> Record<'p> {
        if clause.attrs.iter().any(|attr| self.text(attr.name.name) == "zero_fill") {
            self.zero_filled.extend(clause.targets.iter().copied());
        }
        let from = self.frame.mark();
        let n_before = self.frame.scope.len();
        let slots = self.open_indices(&clause.slots, true);
        let body = self.eval(clause.value);
        let guard = self.guard_of(clause.value);
        // The condition is tested after the step: what it reads of the binding is computed.
        let n_accesses = self.frame.accesses.len();
        if let Some(until) = clause.until {
            self.under(Formula::Unknown, |cx| cx.eval(until.condition));
        }
        self.frame.scope.truncate(n_before);
        if let Some(until) = clause.until {
            self.eval(until.max);
        }
        let mut to = self.frame.mark();
        to.accesses = n_accesses;
        let targets = clause.targets.clone();
        Record { clause: Some(clause), targets, slots, body, guard, from, to, span: clause.span }
    }

    /// A plain `let` that takes part in a recursive group like a binding without axes.
    pub(super) fn plain_member(&mut self, statement: &'p Statement) -> Record<'p> {
        let from = self.frame.mark();
        self.statement(statement);
        let (value, span) = match statement {
            Statement::Let { value, .. } | Statement::Expr(value) => {
                (Some(*value), self.span(*value))
            }
            Statement::For { body, .. } => (None, self.span(*body)),
            Statement::Clause(clause) => (None, clause.span),
        };
        let body = value.and_then(|value| self.here().exprs.get(&value).cloned());
        Record {
            clause: None,
            targets: crate::types::groups::bound(statement),
            slots: Vec::new(),
            body: body.unwrap_or(Shape::Opaque),
            guard: Formula::Constant(true),
            from,
            to: self.frame.mark(),
            span,
        }
    }

    /// Where a clause covers its points: everywhere, unless a guard without `else` says otherwise.
    fn guard_of(&self, value: ExprId) -> Formula {
        let ExprKind::Where { items, otherwise: None, .. } = self.body().kind(value) else {
            return Formula::Constant(true);
        };
        let guards = items.iter().filter_map(|item| match item {
            WhereItem::Guard(guard) => Some(self.formula(*guard)),
            WhereItem::Binding(..) => None,
        });
        Formula::and(guards.collect())
    }
}

impl Record<'_> {
    /// The part of the body that one target gets.
    pub(super) fn part(&self, target: LocalId) -> Shape {
        if self.targets.len() < 2 || self.clause.is_none() {
            return self.body.clone();
        }
        let position = self.targets.iter().position(|other| *other == target);
        match (&self.body, position) {
            (Shape::Record(parts), Some(position)) if position < parts.len() => {
                parts[position].clone()
            }
            _ => Shape::Opaque,
        }
    }

    /// The extents of the axes that the body brings.
    pub(super) fn body_extents(&self, target: LocalId) -> Vec<MinMax> {
        self.part(target).extents()
    }
}
