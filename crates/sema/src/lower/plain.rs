//! Plain bindings among clauses: one that reads clauses which read it is a clause without slots.

use std::collections::HashMap;

use crate::hir::{
    Block, Body, BodyId, Clause, ExprKind, LocalId, Pattern, PatternKind, Program, Statement,
};

/// Plain bindings as clauses, by the body and the first name that they bind.
pub(super) type Plain = HashMap<(BodyId, LocalId), Clause>;

/// Every plain binding that stands in a block with clauses, as a clause.
pub(super) fn plain_clauses(program: &Program) -> Plain {
    let mut found = Plain::new();
    for (id, body) in program.bodies.iter() {
        for expr in body.exprs.values() {
            if let ExprKind::Block(block) = &expr.kind {
                of_block(id, body, block, &mut found);
            }
        }
    }
    found
}

fn of_block(id: BodyId, body: &Body, block: &Block, found: &mut Plain) {
    if !block.statements.iter().any(|statement| matches!(statement, Statement::Clause(_))) {
        return;
    }
    for statement in &block.statements {
        let Some(targets) = plain_targets(statement) else { continue };
        let Statement::Let { value, .. } = statement else { continue };
        let (Some(first), span) = (targets.first().copied(), body.span(*value)) else { continue };
        let (slots, attrs) = (Vec::new(), Vec::new());
        let clause = Clause { targets, slots, ty: None, value: *value, until: None, attrs, span };
        found.insert((id, first), clause);
    }
}

/// The names that a plain binding gives: to its value, or to the parts of a tuple.
pub(super) fn plain_targets(statement: &Statement) -> Option<Vec<LocalId>> {
    let Statement::Let { pattern, .. } = statement else { return None };
    match &untyped(pattern).kind {
        PatternKind::Bind(local, None) => Some(vec![*local]),
        PatternKind::Tuple(parts) => {
            let name = |part: &Pattern| match &untyped(part).kind {
                PatternKind::Bind(local, None) => Some(*local),
                _ => None,
            };
            parts.iter().map(name).collect::<Option<Vec<_>>>().filter(|names| names.len() > 1)
        }
        _ => None,
    }
}

fn untyped(pattern: &Pattern) -> &Pattern {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => untyped(inner),
        _ => pattern,
    }
}
