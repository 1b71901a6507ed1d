//! `turn_guards`: in lanes, a term that does not count is the identity.
//!
//! Lanes go through the terms of a fold together, so a guard cannot leave one out for some of them. A
//! fold by an operation with an identity combines that instead, which changes no value.

use super::rewrite::{blocks, next_value_of};
use crate::ir::{Block, Combine, Condition, Fold, FoldStart, Kernel, Role, Stmt};
use einlang_tir::region::Value;

/// Turns the guards of folds in lanes into terms.
pub(super) fn turn_guards(kernel: &mut Kernel) {
    let mut next = next_value_of(kernel);
    let body = &mut kernel.body;
    turn(body, false, &mut next);
}

fn turn(block: &mut Block, in_lanes: bool, next: &mut u32) {
    for stmt in &mut block.stmts {
        let lanes = matches!(stmt, Stmt::Loop(of) if matches!(of.role, Role::Lane(_)));
        blocks(stmt, &mut |block| turn(block, in_lanes || lanes, next));
        if let Stmt::Fold(fold) = stmt
            && in_lanes
        {
            turn_guard(fold, next);
        }
    }
}

fn turn_guard(fold: &mut Fold, next: &mut u32) {
    let (Combine::Op(op) | Combine::Pairs(op)) = &fold.combine else { return };
    let ([result], FoldStart::From(_), None, None) =
        (&fold.results[..], &fold.start, &fold.key, fold.resume)
    else {
        return;
    };
    let (elem, Some(identity)) = (result.elem, op.identity(result.elem)) else { return };
    let Some(guard) = fold.guard.take() else { return };
    let [counts] = guard.results[..] else {
        fold.guard = Some(guard);
        return;
    };
    let term = Value { number: *next, elem };
    *next = next.saturating_add(1);
    let then = std::mem::take(&mut fold.body);
    let otherwise = Block { stmts: Vec::new(), results: vec![identity.into()] };
    let condition = Condition::Value(counts);
    let mut stmts = guard.stmts;
    stmts.push(Stmt::If { results: vec![term], condition, then, otherwise });
    fold.body = Block { stmts, results: vec![term.into()] };
}
