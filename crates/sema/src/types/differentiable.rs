//! Whether what follows `@` can be differentiated: every part of it is a float, and what a derivative is
//! taken by is a binding or a part of one, for nothing depends on anything else.
//!
//! Asked when all types are known, because a literal may become a float by a later use. The rules
//! of functions are left out: they are typed for every signature that the function has, and a
//! request that leads there is judged where it is written.

use super::Checker;
use super::instances::InstanceId;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

/// Reports the targets and parameters of derivatives that are not floats.
pub(super) fn report(cx: &mut Checker<'_>) {
    for index in 0..cx.instances.len() {
        let work = &cx.instances[index];
        let body = &cx.program.bodies[work.body];
        if !work.alive || is_rule(cx.program, body) {
            continue;
        }
        cx.cur = InstanceId(index as u32);
        let mut found = Vec::new();
        let work = &cx.instances[index];
        for expr in work.exprs.keys() {
            if let ExprKind::Binary(BinaryOp::Div, _, right) = body.kind(expr)
                && let ExprKind::Differential(by) = body.kind(*right)
                && let Some((part, is_const)) = no_binding(cx.program, body, *by)
            {
                let (name, span) = (cx.snippet(part).0, body.span(part));
                found.push(errors::not_a_binding(&name, is_const, span));
            }
            let ExprKind::Differential(of) = body.kind(expr) else { continue };
            let Some(ty) = work.exprs.get(of) else { continue };
            let ty = cx.vars.settled(ty);
            if let Some((field, scalar)) = cx.no_float(&ty, String::new(), 0) {
                let name = cx.snippet(*of).0;
                let span = body.span(*of);
                found.push(errors::not_differentiable(&name, &scalar, &field, span));
            }
        }
        found.sort_by_key(|diagnostic| diagnostic.primary.span);
        cx.instances[index].diagnostics.extend(found);
    }
}

pub(super) fn is_rule(program: &Program, body: &Body) -> bool {
    match body.owner {
        Owner::Def(def) => matches!(program.def(def).kind, DefKind::Rule(_)),
        Owner::Module(_) => false,
    }
}

/// The part of a parameter that is no binding and no part of one, and whether it is a constant.
fn no_binding(program: &Program, body: &Body, expr: ExprId) -> Option<(ExprId, bool)> {
    let mut at = expr;
    loop {
        match body.kind(at) {
            ExprKind::Access { base, default: None, .. } | ExprKind::Field(base, _) => at = *base,
            ExprKind::Tuple(parts) => {
                return parts.iter().find_map(|part| no_binding(program, body, *part));
            }
            ExprKind::Name(Res::Def(def)) => {
                let is_const = matches!(program.def(*def).kind, DefKind::Const(_));
                return is_const.then_some((at, true));
            }
            ExprKind::Name(_) | ExprKind::Error => return None,
            _ => return Some((expr, false)),
        }
    }
}

/// Records nested deeper than this contain themselves.
const MAX_DEPTH: usize = 64;

impl Checker<'_> {
    /// The first part of a value that is no float, with the path to it.
    fn no_float(&self, ty: &Ty, path: String, depth: usize) -> Option<(String, String)> {
        if depth > MAX_DEPTH {
            return None;
        }
        match ty {
            Ty::Scalar(scalar) => (!scalar.is_float()).then(|| (path, scalar.as_str().to_owned())),
            Ty::Tensor(element, _) | Ty::Differential(element) => {
                self.no_float(element, path, depth + 1)
            }
            Ty::Tuple(parts) => parts
                .iter()
                .enumerate()
                .find_map(|(at, part)| self.no_float(part, format!("{path}.{at}"), depth + 1)),
            Ty::Struct(..) => self.fields_of(ty).into_iter().find_map(|(name, field)| {
                let path = format!("{path}.{}", self.name(name.name));
                self.no_float(&self.vars.settled(&field), path, depth + 1)
            }),
            Ty::Error | Ty::Unknown | Ty::Var(_) => None,
            _ => Some((path, self.show(ty))),
        }
    }
}
