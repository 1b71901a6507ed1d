//! Whether a value can be written as the specification after its colon says: `"{x:d}"` is for integers, other
//! letters but `s` are for numbers.
//!
//! Asked when all types are known, because a literal may become a float by a later use.

use einlang_syntax::format_spec::Presentation;

use super::Checker;
use super::instances::InstanceId;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

/// Reports specifications that are not for the type of their value.
pub(super) fn report(cx: &mut Checker<'_>) {
    for index in 0..cx.instances.len() {
        if !cx.instances[index].alive {
            continue;
        }
        cx.cur = InstanceId(index as u32);
        let work = &cx.instances[index];
        let body = &cx.program.bodies[work.body];
        let mut found = Vec::new();
        for expr in work.exprs.keys() {
            let ExprKind::Format(parts) = body.kind(expr) else { continue };
            for part in parts {
                let FormatPart::Value(value, spec) = part else { continue };
                let Some((presentation, ty)) = spec.presentation.zip(work.exprs.get(value)) else {
                    continue;
                };
                let ty = cx.vars.settled(ty);
                if let Some(wanted) = misfit(presentation, &ty) {
                    let letter = presentation.letter();
                    let (got, span) = (cx.show(&ty), body.span(*value));
                    found.push(errors::wrong_format(letter, wanted, &got, span));
                }
            }
        }
        found.sort_by_key(|diagnostic| diagnostic.primary.span);
        cx.instances[index].diagnostics.extend(found);
    }
}

/// What a presentation is for, if that is not this.
fn misfit(presentation: Presentation, ty: &Ty) -> Option<&'static str> {
    let of_integers = matches!(
        presentation,
        Presentation::Decimal | Presentation::Hexadecimal | Presentation::Binary
    );
    let element = match ty {
        Ty::Tensor(element, _) => element,
        other => other,
    };
    let (is_number, is_float) = match element {
        Ty::Error | Ty::Unknown | Ty::Var(_) => return None,
        Ty::Scalar(scalar) => (*element != Ty::STR, scalar.is_float()),
        _ => (false, false),
    };
    match (presentation, of_integers) {
        (Presentation::Text, _) => None,
        (_, true) => (!is_number || is_float).then_some("integers"),
        (_, false) => (!is_number).then_some("numbers"),
    }
}
