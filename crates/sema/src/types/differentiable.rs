//! Whether what follows `@` can be differentiated: every part of it is a float, what a derivative is
//! taken by is a binding or a part of one, for nothing depends on anything else, and the result has a type:
//! a struct has the fields it was declared with, so there is none for all fields by all of another.
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
            if let ExprKind::Binary(BinaryOp::Div, left, right) = body.kind(expr)
                && let ExprKind::Differential(by) = body.kind(*right)
            {
                if let Some((part, is_const)) = no_binding(cx.program, body, *by) {
                    let (name, span) = (cx.snippet(part).0, body.span(part));
                    found.push(errors::not_a_binding(&name, is_const, span));
                }
                let plain = |expr: &ExprId| match work.exprs.get(expr).map(|ty| cx.vars.settled(ty))
                {
                    Some(Ty::Differential(inner)) => *inner,
                    Some(ty) => ty,
                    None => Ty::Error,
                };
                let (of, by) = (plain(left), plain(by));
                if let Some(record) = cx.no_result(&of, &by, 0) {
                    let (record, by) = (cx.show(&record), cx.show(&by));
                    found.push(errors::no_type_for_derivative(&record, &by, body.span(expr)));
                }
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
    /// A struct in a target that has no derivative of its own type: that is, by another struct, or by a
    /// tensor if there are tensors in it, whose axes would have to come before those of the parameter.
    fn no_result(&self, of: &Ty, by: &Ty, depth: usize) -> Option<Ty> {
        if depth > MAX_DEPTH {
            return None;
        }
        match (of, by) {
            (Ty::Tuple(parts), _) => parts.iter().find_map(|of| self.no_result(of, by, depth + 1)),
            (_, Ty::Tuple(parts)) => parts.iter().find_map(|by| self.no_result(of, by, depth + 1)),
            (Ty::Tensor(element, _), _) => self.no_result(element, by, depth + 1),
            (Ty::Struct(..), Ty::Struct(..)) => Some(of.clone()),
            (Ty::Struct(..), Ty::Tensor(element, _)) => match self.has_tensor(of, depth) {
                true => Some(of.clone()),
                false => self.no_result(of, element, depth + 1),
            },
            _ => None,
        }
    }

    fn has_tensor(&self, ty: &Ty, depth: usize) -> bool {
        let inner = |ty: &Ty| depth <= MAX_DEPTH && self.has_tensor(ty, depth + 1);
        match ty {
            Ty::Tensor(..) => true,
            Ty::Tuple(parts) => parts.iter().any(inner),
            Ty::Struct(..) => {
                let mut fields = self.fields_of(ty).into_iter();
                fields.any(|(_, field)| inner(&self.vars.settled(&field)))
            }
            _ => false,
        }
    }

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
