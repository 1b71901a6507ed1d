//! Where differentials may go: `@y` is bound, added to others, scaled, divided and printed. It is no
//! value of its own, so it is not passed, returned, chosen, stored or computed with otherwise.
//!
//! In a rule `@x` is the tangent of a parameter, a value like any other; rules and what they call
//! are left alone.

use einlang_source::Span;

use super::Checker;
use super::differentiable::is_rule;
use super::instances::InstanceId;
use super::ty::{FnTy, Ty};
use super::typed::Callee;
use crate::builtins::Function;
use crate::errors;
use crate::hir::{BinaryOp, Block, Body, ExprId, ExprKind, Statement};

/// Reports differentials that go where only values can.
pub(super) fn report(cx: &mut Checker<'_>) {
    for index in 0..cx.instances.len() {
        let id = InstanceId(index as u32);
        if !cx.instances[index].alive || in_rule(cx, id) {
            continue;
        }
        let found = misplaced(cx, id);
        cx.cur = id;
        for (span, how) in found {
            cx.report(errors::differential_as_value(how, span));
        }
    }
}

/// Whether an instance is a rule, is called by one with tangents, or stands in such a one.
fn in_rule(cx: &Checker<'_>, id: InstanceId) -> bool {
    let mut around = Some(id);
    while let Some(id) = around {
        let work = &cx.instances[id.index()];
        let body = &cx.program.bodies[work.body];
        if is_rule(cx.program, body) || work.params.iter().any(|ty| is_differential(cx, ty)) {
            return true;
        }
        around = work.parent;
    }
    false
}

fn is_differential(cx: &Checker<'_>, ty: &Ty) -> bool {
    cx.vars.deep(ty).any(&|part| matches!(part, Ty::Differential(_)))
}

fn misplaced(cx: &Checker<'_>, id: InstanceId) -> Vec<(Span, &'static str)> {
    let work = &cx.instances[id.index()];
    let body = &cx.program.bodies[work.body];
    let differs = |expr: &ExprId| work.exprs.get(expr).is_some_and(|ty| is_differential(cx, ty));
    let mut found = Vec::new();
    for expr in work.exprs.keys() {
        let (parts, how): (Vec<ExprId>, &'static str) = match body.kind(expr) {
            ExprKind::Array(items) | ExprKind::Tuple(items) => (items.clone(), "stored"),
            ExprKind::Comprehension { element, .. } => (vec![*element], "stored"),
            ExprKind::Struct { fields, .. } => (fields.iter().map(|f| f.1).collect(), "stored"),
            ExprKind::If { then, otherwise, .. } => {
                (std::iter::once(*then).chain(*otherwise).collect(), "chosen")
            }
            ExprKind::Match { arms, .. } => (arms.iter().map(|arm| arm.value).collect(), "chosen"),
            ExprKind::Call { args, .. } => {
                let callee = work.calls.get(&expr).map(|record| &record.callee);
                if let Some(Callee::Function(FnTy::Builtin(Function::Print))) | None = callee {
                    continue;
                }
                (args.iter().map(|arg| arg.value).collect(), "passed")
            }
            ExprKind::Reduce { body, .. } => (vec![*body], "reduced"),
            ExprKind::UserReduce { init, body, .. } => (vec![*init, *body], "reduced"),
            ExprKind::Cast(of, _) => (vec![*of], "converted"),
            ExprKind::Differential(of) => (vec![*of], "differentiated again"),
            ExprKind::Access { base, .. } => (vec![*base], "read at a point"),
            ExprKind::Binary(op, left, right) => {
                let silent = |expr: &ExprId| work.exprs.get(expr).is_none_or(Ty::is_silent);
                if silent(left) || silent(right) {
                    continue;
                }
                let sides = (differs(left), differs(right));
                match no_operand(body, *op, sides, *right) {
                    Some(how) => (vec![if sides.1 { *right } else { *left }], how),
                    None => continue,
                }
            }
            ExprKind::Block(block) => {
                let clauses = block.statements.iter().filter_map(|statement| match statement {
                    Statement::Clause(clause) => Some(clause.value),
                    _ => None,
                });
                (clauses.collect(), "stored")
            }
            _ => continue,
        };
        found.extend(parts.iter().filter(|e| differs(e)).map(|e| (body.span(*e), how)));
    }
    let value = match work.lambda {
        None => body.value,
        Some(closure) => match body.kind(cx.closures[closure.index()].lambda) {
            ExprKind::Lambda { body, .. } => Some(*body),
            _ => None,
        },
    };
    if let Some(value) = value.map(|value| tail(body, value)) {
        // What a function that was passed gives may be one, in a rule.
        let is_call = matches!(body.kind(value), ExprKind::Call { .. });
        if is_differential(cx, &work.ret) || !is_call && differs(&value) {
            found.push((body.span(value), "returned"));
        }
    }
    found
}

/// What an operator would do with a differential, on the sides where there is one, that cannot be done.
fn no_operand(
    body: &Body,
    op: BinaryOp,
    sides: (bool, bool),
    right: ExprId,
) -> Option<&'static str> {
    let is_written = matches!(body.kind(right), ExprKind::Differential(_));
    match (op, sides) {
        (_, (false, false)) => None,
        (BinaryOp::Add | BinaryOp::Sub, (true, true)) => None,
        (BinaryOp::Add, _) => Some("added to a value"),
        (BinaryOp::Sub, _) => Some("subtracted from a value, or a value from it"),
        (BinaryOp::Mul, (true, true)) => Some("multiplied by another one"),
        (BinaryOp::Mul, _) | (BinaryOp::Div, (true, false)) => None,
        (BinaryOp::Div, (true, true)) if is_written => None,
        (BinaryOp::Div, (true, true)) => Some("named after `/`: write `@` and the binding there"),
        (BinaryOp::Div, _) => Some("what a value is divided by"),
        _ => Some("an operand here"),
    }
}

/// The expression that gives a block its value.
fn tail(body: &Body, expr: ExprId) -> ExprId {
    let mut at = expr;
    while let ExprKind::Block(Block { value: Some(value), .. }) = body.kind(at) {
        at = *value;
    }
    at
}
