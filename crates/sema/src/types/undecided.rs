//! Values whose type nothing decides: `[]`, `None` and the like need a context that says it.

use einlang_source::Severity;

use super::Checker;
use super::instances::InstanceId;
use super::ty::Ty;
use super::vars::Kind;
use crate::builtins::{Builtin, Constructor};
use crate::errors;
use crate::hir::*;

/// Reports every empty array and every constructor whose type is not decided, unless something else
/// is wrong, which may be why.
pub(super) fn report(cx: &mut Checker<'_>) {
    let is_error = |work: &super::Work| {
        work.alive && work.diagnostics.iter().any(|d| d.severity == Severity::Error)
    };
    if cx.instances.iter().any(is_error) {
        return;
    }
    for index in 0..cx.instances.len() {
        let work = &cx.instances[index];
        if !work.alive || work.uncalled {
            continue;
        }
        let body = &cx.program.bodies[work.body];
        let found = work.exprs.iter().filter(|(expr, ty)| {
            is_open(body.kind(*expr), body) && is_undecided(cx, &cx.vars.deep(ty))
        });
        let spans: Vec<_> = found.map(|(expr, _)| body.span(expr)).collect();
        cx.cur = InstanceId(index as u32);
        spans.into_iter().for_each(|span| cx.report(errors::undecided_type(span)));
    }
}

/// Whether an expression leaves a part of its type to its context.
fn is_open(kind: &ExprKind, body: &Body) -> bool {
    let constructor = |res: &Res| {
        matches!(
            res,
            Res::Builtin(Builtin::Constructor(
                Constructor::None | Constructor::Ok | Constructor::Err
            ))
        )
    };
    match kind {
        ExprKind::Array(items) => items.is_empty(),
        ExprKind::Name(res) => constructor(res),
        ExprKind::Call { callee, .. } => {
            matches!(body.kind(*callee), ExprKind::Name(res) if constructor(res))
        }
        _ => false,
    }
}

fn is_undecided(cx: &Checker<'_>, ty: &Ty) -> bool {
    !matches!(ty, Ty::Fn(_))
        && ty.any(&|part| matches!(part, Ty::Var(var) if cx.vars.kind(*var) == Kind::Any))
}
