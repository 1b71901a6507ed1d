//! The arms of a `match`: all values are covered (E0405), and every arm is needed (W0406).

use super::Checker;
use super::ty::Ty;
use super::usefulness::{Pat, Split, witness};
use crate::builtins::{Builtin, Constructor};
use crate::errors;
use crate::hir::*;

/// How much work one `match` is worth.
const BUDGET: u32 = 100_000;

/// How many missing cases a message names.
const MAX_NAMED: usize = 4;

/// Whether a name in a pattern was reported already.
fn is_unresolved(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Error => true,
        PatternKind::Value(res) => *res == Res::Error,
        PatternKind::Variant(res, parts) => *res == Res::Error || parts.iter().any(is_unresolved),
        PatternKind::Struct { res, fields, .. } => {
            *res == Res::Error || fields.iter().any(|(_, part)| is_unresolved(part))
        }
        PatternKind::Or(parts) | PatternKind::Tuple(parts) | PatternKind::Array(parts) => {
            parts.iter().any(is_unresolved)
        }
        PatternKind::Bind(_, Some(inner)) | PatternKind::Typed(inner, _) => is_unresolved(inner),
        _ => false,
    }
}

impl Checker<'_> {
    pub(super) fn check_arms(&mut self, scrutinee: ExprId, matched: &Ty, arms: &[Arm]) {
        let ty = self.vars.settled(matched);
        // Where a part is unknown nothing can be claimed.
        if ty.any(&Ty::is_silent) || arms.iter().any(|arm| is_unresolved(&arm.pattern)) {
            return;
        }
        let types = [ty.clone()];
        let mut rows: Vec<Vec<Pat>> = Vec::new();
        let mut budget = BUDGET;
        for arm in arms {
            let pat = self.pat(&arm.pattern, &ty);
            let split = |ty: &Ty| self.split(ty);
            match witness(&rows, std::slice::from_ref(&pat), &types, &split, &mut budget) {
                Ok(None) if pat != Pat::Opaque => {
                    let before = arms.first().map(|arm| arm.pattern.span);
                    let span = arm.pattern.span;
                    self.report(errors::unreachable_arm(
                        span,
                        before.filter(|first| *first != span),
                    ));
                }
                Ok(_) => {}
                Err(_) => return,
            }
            if arm.guard.is_none() {
                rows.push(vec![pat]);
            }
        }
        let missing = self.missing(rows, &types, &mut budget);
        if !missing.is_empty() {
            let span = self.span(scrutinee);
            let guarded = arms.iter().any(|arm| arm.guard.is_some());
            let shown: Vec<String> = missing.iter().map(|pat| self.show_pat(pat, &ty)).collect();
            self.report(errors::not_exhaustive(&shown, guarded, span));
        }
    }

    /// Values that no row covers, a few of them.
    fn missing(&self, mut rows: Vec<Vec<Pat>>, types: &[Ty], budget: &mut u32) -> Vec<Pat> {
        let split = |ty: &Ty| self.split(ty);
        let mut missing = Vec::new();
        while missing.len() < MAX_NAMED {
            match witness(&rows, &[Pat::Wild], types, &split, budget) {
                Ok(Some(mut found)) if !found.is_empty() => {
                    let pat = found.swap_remove(0);
                    rows.push(vec![pat.clone()]);
                    missing.push(pat);
                }
                _ => break,
            }
        }
        missing
    }

    /// The constructors of a type.
    fn split(&self, ty: &Ty) -> Split {
        match ty {
            Ty::Scalar(Scalar::Bool) => Split::Variants(vec![Vec::new(), Vec::new()]),
            Ty::Scalar(scalar) => match scalar.bounds() {
                Some((low, high)) => Split::Integers(low, high),
                None => Split::Open,
            },
            Ty::Tuple(parts) => Split::Single(parts.clone()),
            Ty::Struct(..) => {
                Split::Single(self.fields_of(ty).into_iter().map(|(_, ty)| ty).collect())
            }
            Ty::Option(inner) => Split::Variants(vec![vec![(**inner).clone()], Vec::new()]),
            Ty::Result(ok, err) => {
                Split::Variants(vec![vec![(**ok).clone()], vec![(**err).clone()]])
            }
            Ty::Enum(def, args) => {
                let n_variants = self.variants(*def).len() as u32;
                Split::Variants(
                    (0..n_variants).map(|i| self.payload_types(*def, i, args)).collect(),
                )
            }
            Ty::Tensor(element, extents) => {
                Split::Slices(Ty::tensor((**element).clone(), extents[1..].to_vec()))
            }
            Ty::Jagged(element, levels) => Split::Slices(match levels {
                0 | 1 => (**element).clone(),
                _ => Ty::Jagged(element.clone(), levels - 1),
            }),
            _ => Split::Open,
        }
    }

    /// A pattern without names.
    fn pat(&self, pattern: &Pattern, ty: &Ty) -> Pat {
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wildcard | PatternKind::Rest(_) => Pat::Wild,
            PatternKind::Bind(_, None) => Pat::Wild,
            PatternKind::Bind(_, Some(inner)) | PatternKind::Typed(inner, _) => self.pat(inner, ty),
            PatternKind::Literal(literal) => literal_pat(literal, ty),
            PatternKind::Range { start, end, inclusive } => {
                range_pat(start, end.as_ref(), *inclusive, ty)
            }
            PatternKind::Or(parts) => {
                Pat::Or(parts.iter().map(|part| self.pat(part, ty)).collect())
            }
            PatternKind::Tuple(parts) => Pat::Single(self.pats(parts, &self.inner_types(ty, 0))),
            PatternKind::Array(parts) => self.array_pat(parts, ty),
            PatternKind::Struct { res, fields, .. } => self.struct_pat(*res, fields, ty),
            PatternKind::Variant(res, parts) => match variant_index(*res) {
                Some(index) => Pat::Variant(index, self.pats(parts, &self.inner_types(ty, index))),
                None => Pat::Opaque,
            },
            PatternKind::Value(res) => match (variant_index(*res), res) {
                (Some(index), _) => Pat::Variant(index, Vec::new()),
                (None, Res::Def(def)) => self.constant_pat(*def, ty),
                (None, Res::External | Res::Error) => Pat::Opaque,
                _ => Pat::Opaque,
            },
        }
    }

    fn pats(&self, parts: &[Pattern], types: &[Ty]) -> Vec<Pat> {
        let ty = |index: usize| types.get(index).unwrap_or(&Ty::Error);
        parts.iter().enumerate().map(|(index, part)| self.pat(part, ty(index))).collect()
    }

    fn inner_types(&self, ty: &Ty, index: usize) -> Vec<Ty> {
        match self.split(ty) {
            Split::Single(types) => types,
            Split::Variants(mut variants) if index < variants.len() => variants.swap_remove(index),
            _ => Vec::new(),
        }
    }

    fn array_pat(&self, parts: &[Pattern], ty: &Ty) -> Pat {
        let element = match self.split(ty) {
            Split::Slices(element) => element,
            _ => Ty::Error,
        };
        let lowered =
            |parts: &[Pattern]| parts.iter().map(|part| self.pat(part, &element)).collect();
        match parts.iter().position(|part| matches!(part.kind, PatternKind::Rest(_))) {
            Some(rest) => Pat::Slice(lowered(&parts[..rest]), Some(lowered(&parts[rest + 1..]))),
            None => Pat::Slice(lowered(parts), None),
        }
    }

    fn struct_pat(&self, res: Res, fields: &[(Ident, Pattern)], ty: &Ty) -> Pat {
        let Some((_, declared, _)) = self.declared_fields(res) else { return Pat::Opaque };
        let index = variant_index(res);
        let types = self.inner_types(ty, index.unwrap_or(0));
        let parts = declared.iter().enumerate().map(|(position, field)| {
            let same =
                |(name, _): &&(Ident, Pattern)| self.name(name.name) == self.name(field.name.name);
            match fields.iter().find(same) {
                Some((_, part)) => self.pat(part, types.get(position).unwrap_or(&Ty::Error)),
                None => Pat::Wild,
            }
        });
        let parts = parts.collect();
        match index {
            Some(index) => Pat::Variant(index, parts),
            None => Pat::Single(parts),
        }
    }

    fn constant_pat(&self, def: DefId, ty: &Ty) -> Pat {
        let DefKind::Const(constant) = &self.program.def(def).kind else { return Pat::Opaque };
        let body = &self.program.bodies[constant.body];
        match body.value.map(|value| body.kind(value)) {
            Some(ExprKind::Literal(literal)) => literal_pat(literal, ty),
            _ => Pat::Opaque,
        }
    }

    fn show_pat(&self, pat: &Pat, ty: &Ty) -> String {
        let list = |parts: &[Pat], types: &[Ty]| {
            let shown = parts.iter().enumerate();
            let shown =
                shown.map(|(i, part)| self.show_pat(part, types.get(i).unwrap_or(&Ty::Error)));
            shown.collect::<Vec<_>>()
        };
        match pat {
            Pat::Wild | Pat::Opaque | Pat::Or(_) => "_".to_string(),
            Pat::Text(text) => text.clone(),
            Pat::Range(low, high) if low == high => low.to_string(),
            Pat::Range(low, high) => match self.split(ty) {
                Split::Integers(first, last) if (first, last) == (*low, *high) => "_".to_string(),
                Split::Integers(_, last) if last == *high => format!("{low}.."),
                _ => format!("{low}..={high}"),
            },
            Pat::Slice(first, last) => {
                let element = self.element_of_shown(ty);
                let mut shown: Vec<String> =
                    first.iter().map(|part| self.show_pat(part, &element)).collect();
                if last.is_some() {
                    shown.push("..".to_string());
                }
                format!("[{}]", shown.join(", "))
            }
            Pat::Single(parts) => {
                self.show_record(parts, &list(parts, &self.inner_types(ty, 0)), ty)
            }
            Pat::Variant(index, parts) => {
                self.show_variant(*index, list(parts, &self.inner_types(ty, *index)), ty)
            }
        }
    }

    fn element_of_shown(&self, ty: &Ty) -> Ty {
        match self.split(ty) {
            Split::Slices(element) => element,
            _ => Ty::Error,
        }
    }

    fn show_record(&self, parts: &[Pat], shown: &[String], ty: &Ty) -> String {
        let Ty::Struct(def, _) = ty else { return format!("({})", shown.join(", ")) };
        let owner = self.name(self.program.def(*def).name.name);
        if parts.iter().all(|part| *part == Pat::Wild) {
            return format!("{owner} {{ .. }}");
        }
        let fields = self.fields_of(ty);
        let named = fields
            .iter()
            .zip(shown)
            .map(|((name, _), part)| format!("{}: {part}", self.name(name.name)));
        format!("{owner} {{ {} }}", named.collect::<Vec<_>>().join(", "))
    }

    fn show_variant(&self, index: usize, shown: Vec<String>, ty: &Ty) -> String {
        let (name, fields): (String, Option<&[Field]>) = match ty {
            Ty::Scalar(_) => (if index == 1 { "true" } else { "false" }.to_string(), None),
            Ty::Option(_) => (if index == 0 { "Some" } else { "None" }.to_string(), None),
            Ty::Result(..) => (if index == 0 { "Ok" } else { "Err" }.to_string(), None),
            Ty::Enum(def, _) => {
                let fields = match self.variants(*def).get(index).map(|variant| &variant.payload) {
                    Some(Payload::Fields(fields)) => Some(&fields[..]),
                    _ => None,
                };
                (self.variant_name(*def, index as u32), fields)
            }
            _ => ("_".to_string(), None),
        };
        match fields {
            Some(_) => format!("{name} {{ .. }}"),
            None if shown.is_empty() => name,
            None => format!("{name}({})", shown.join(", ")),
        }
    }
}

fn variant_index(res: Res) -> Option<usize> {
    match res {
        Res::Variant(_, index) => Some(index as usize),
        Res::Builtin(Builtin::Constructor(Constructor::Some | Constructor::Ok)) => Some(0),
        Res::Builtin(Builtin::Constructor(Constructor::None | Constructor::Err)) => Some(1),
        _ => None,
    }
}

fn literal_pat(literal: &Literal, ty: &Ty) -> Pat {
    let integers = matches!(ty, Ty::Scalar(scalar) if scalar.is_integer());
    match literal {
        Literal::Bool(value) => Pat::Variant(usize::from(*value), Vec::new()),
        Literal::Int(value, _) if integers => Pat::Range(*value, *value),
        Literal::Int(value, _) => Pat::Text(format!("{:?}", *value as f64)),
        Literal::Float(value, _) => Pat::Text(format!("{value:?}")),
        Literal::Str(text) => Pat::Text(format!("{text:?}")),
    }
}

fn range_pat(start: &Literal, end: Option<&Literal>, inclusive: bool, ty: &Ty) -> Pat {
    let Ty::Scalar(scalar) = ty else { return Pat::Opaque };
    let (Literal::Int(first, _), Some((_, high))) = (start, scalar.bounds()) else {
        return Pat::Opaque;
    };
    let last = match end {
        Some(Literal::Int(last, _)) => *last - i128::from(!inclusive),
        Some(_) => return Pat::Opaque,
        None => high,
    };
    if *first > last { Pat::Opaque } else { Pat::Range(*first, last) }
}
