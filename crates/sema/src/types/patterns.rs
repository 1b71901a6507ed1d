//! Patterns: what they bind, and whether they fit what they match.

use super::Checker;
use super::annotations::Env;
use super::groups::pattern_locals;
use super::ty::Ty;
use super::vars::Kind;
use crate::builtins::{Builtin, Constructor};
use crate::errors;
use crate::hir::*;

impl<'p> Checker<'p> {
    /// Binds the names of a pattern to the parts of a value of this type.
    pub(super) fn bind_pattern(&mut self, pattern: &Pattern, ty: &Ty) {
        let found = self.shallow(ty);
        let plain = self.plain(&found);
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wildcard => {}
            PatternKind::Bind(local, inner) => {
                self.set_local(*local, ty.clone());
                if let Some(inner) = inner {
                    self.bind_pattern(inner, ty);
                }
            }
            PatternKind::Rest(local) => {
                if let Some(local) = local {
                    self.set_local(*local, ty.clone());
                }
            }
            PatternKind::Or(alternatives) => {
                for alternative in alternatives {
                    self.bind_pattern(alternative, ty);
                }
            }
            PatternKind::Typed(inner, declared) => {
                let ty = self.fitted(declared, ty, pattern.span);
                self.bind_pattern(inner, &ty);
            }
            // What is not inferred yet says nothing about its parts.
            _ if plain == Ty::Unknown => self.bind_all(pattern, &Ty::Unknown),
            _ if plain.is_silent() => self.bind_silently(pattern),
            PatternKind::Literal(literal) => self.literal_pattern(pattern, literal, &plain),
            PatternKind::Range { start, end, .. } => {
                for end in [Some(start), end.as_ref()].into_iter().flatten() {
                    self.literal_pattern(pattern, end, &plain);
                }
            }
            PatternKind::Tuple(parts) => self.tuple_pattern(pattern, parts, &plain),
            PatternKind::Array(parts) => self.array_pattern(pattern, parts, &plain),
            PatternKind::Struct { res, fields, open } => {
                self.struct_pattern(pattern, *res, fields, *open, &plain);
            }
            PatternKind::Variant(res, parts) => self.variant_pattern(pattern, *res, parts, &plain),
            PatternKind::Value(res) => self.value_pattern(pattern, *res, &plain),
        }
    }

    /// After a mistake the names of a pattern are bound to nothing in particular.
    fn bind_silently(&mut self, pattern: &Pattern) {
        self.bind_all(pattern, &Ty::Error);
    }

    fn bind_all(&mut self, pattern: &Pattern, ty: &Ty) {
        let mut locals = Vec::new();
        pattern_locals(pattern, &mut locals);
        for local in locals {
            self.set_local(local, ty.clone());
        }
    }

    fn misfit(&mut self, pattern: &Pattern, what: &str, ty: &Ty) {
        self.bind_silently(pattern);
        let got = self.show(ty);
        self.report(errors::wrong_pattern(what, &got, pattern.span));
    }

    fn literal_pattern(&mut self, pattern: &Pattern, literal: &Literal, ty: &Ty) {
        let found = self.literal(literal);
        if !self.unify(ty, &found) {
            let what = format!("a literal of type `{}`", self.show(&found));
            self.misfit(pattern, &what, ty);
        }
    }

    fn tuple_pattern(&mut self, pattern: &Pattern, parts: &[Pattern], ty: &Ty) {
        let mut types = match ty {
            Ty::Tuple(types) => types.clone(),
            Ty::Var(_) if self.vars.literal(ty).is_none() => {
                let types: Vec<Ty> = parts.iter().map(|_| self.vars.fresh(Kind::Any)).collect();
                self.unify(ty, &Ty::Tuple(types.clone()));
                types
            }
            _ => return self.misfit(pattern, "a tuple", ty),
        };
        if let Some(rest) = parts.iter().position(|part| matches!(part.kind, PatternKind::Rest(_)))
            && types.len() + 1 >= parts.len()
        {
            let n_rest = types.len() + 1 - parts.len();
            let skipped: Vec<Ty> = types.splice(rest..rest + n_rest, [Ty::Error]).collect();
            types[rest] = Ty::Tuple(skipped);
        }
        if types.len() != parts.len() {
            return self.misfit(pattern, &format!("a tuple of {}", parts.len()), ty);
        }
        for (part, ty) in parts.iter().zip(&types) {
            self.bind_pattern(part, ty);
        }
    }

    fn array_pattern(&mut self, pattern: &Pattern, parts: &[Pattern], ty: &Ty) {
        let Some(element) = self.element_of(ty).filter(|_| !matches!(ty, Ty::Range(_))) else {
            return self.misfit(pattern, "an array", ty);
        };
        let rest = match ty {
            Ty::Jagged(..) => ty.clone(),
            _ => Ty::tensor(element.clone(), vec![None]),
        };
        for part in parts {
            let ty = if matches!(part.kind, PatternKind::Rest(_)) { &rest } else { &element };
            self.bind_pattern(part, ty);
        }
    }

    fn struct_pattern(
        &mut self,
        pattern: &Pattern,
        res: Res,
        fields: &[(Ident, Pattern)],
        open: bool,
        ty: &Ty,
    ) {
        let Some((def, declared, owner)) = self.declared_fields(res) else {
            return self.bind_silently(pattern);
        };
        let (Ty::Struct(other, args) | Ty::Enum(other, args)) = ty else {
            return self.misfit(pattern, &format!("a `{owner}`"), ty);
        };
        if *other != def {
            return self.misfit(pattern, &format!("a `{owner}`"), ty);
        }
        let generics = args.iter().cloned().map(Some).collect();
        let Some(env) = Env::of_item(def, self.program, generics) else { return };
        for (name, part) in fields {
            let text = self.name(name.name);
            match declared.iter().find(|field| self.name(field.name.name) == text) {
                Some(field) => {
                    let ty = self.lower(&field.ty, &env);
                    self.bind_pattern(part, &ty);
                }
                None => {
                    self.bind_silently(part);
                    let known: Vec<&str> =
                        declared.iter().map(|f| self.name(f.name.name)).collect();
                    self.report(errors::unknown_field(text, &owner, name.span, &known));
                }
            }
        }
        let given: Vec<&str> = fields.iter().map(|(name, _)| self.name(name.name)).collect();
        let missing = declared.iter().map(|field| self.name(field.name.name));
        let missing: Vec<&str> = missing.filter(|name| !given.contains(name)).collect();
        if !open && !missing.is_empty() {
            self.report(errors::pattern_misses_fields(&owner, &missing, pattern.span));
        }
    }

    fn variant_pattern(&mut self, pattern: &Pattern, res: Res, parts: &[Pattern], ty: &Ty) {
        let (name, types) = match (res, ty) {
            (Res::Variant(def, index), Ty::Enum(other, args)) if def == *other => {
                (self.variant_name(def, index), self.payload_types(def, index, args))
            }
            (Res::Builtin(Builtin::Constructor(constructor)), _) => {
                match self.constructor_types(constructor, ty) {
                    Some(types) => (constructor.as_str().to_string(), types),
                    None => {
                        return self.misfit(pattern, &format!("`{}`", constructor.as_str()), ty);
                    }
                }
            }
            (Res::Variant(def, index), _) => {
                let name = self.variant_name(def, index);
                return self.misfit(pattern, &format!("a `{name}`"), ty);
            }
            _ => return self.bind_silently(pattern),
        };
        if types.len() != parts.len() {
            self.bind_silently(pattern);
            self.report(errors::wrong_arity(&name, types.len(), parts.len(), pattern.span, None));
            return;
        }
        for (part, ty) in parts.iter().zip(&types) {
            self.bind_pattern(part, ty);
        }
    }

    /// What a constructor of `Option` or `Result` carries, making an open type one of them.
    fn constructor_types(&mut self, constructor: Constructor, ty: &Ty) -> Option<Vec<Ty>> {
        if let Ty::Var(_) = ty {
            let (a, b) = (self.vars.fresh(Kind::Any), self.vars.fresh(Kind::Any));
            let whole = match constructor {
                Constructor::Some | Constructor::None => Ty::Option(Box::new(a)),
                _ => Ty::Result(Box::new(a), Box::new(b)),
            };
            return self.unify(ty, &whole).then(|| self.constructor_types(constructor, &whole))?;
        }
        Some(match (constructor, ty) {
            (Constructor::Some, Ty::Option(inner)) => vec![(**inner).clone()],
            (Constructor::None, Ty::Option(_)) => Vec::new(),
            (Constructor::Ok, Ty::Result(inner, _)) => vec![(**inner).clone()],
            (Constructor::Err, Ty::Result(_, inner)) => vec![(**inner).clone()],
            _ => return None,
        })
    }

    /// The types that a variant carries.
    pub(super) fn payload_types(&self, def: DefId, index: u32, args: &[Ty]) -> Vec<Ty> {
        let generics = args.iter().cloned().map(Some).collect();
        let Some(env) = Env::of_item(def, self.program, generics) else { return Vec::new() };
        match self.variants(def).get(index as usize).map(|variant| &variant.payload) {
            Some(Payload::Tuple(types)) => types.iter().map(|ty| self.lower(ty, &env)).collect(),
            Some(Payload::Fields(fields)) => {
                fields.iter().map(|field| self.lower(&field.ty, &env)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn value_pattern(&mut self, pattern: &Pattern, res: Res, ty: &Ty) {
        let found = match res {
            Res::Variant(def, index) => match ty {
                Ty::Enum(other, _) if *other == def => return,
                _ => {
                    return self.misfit(
                        pattern,
                        &format!("a `{}`", self.variant_name(def, index)),
                        ty,
                    );
                }
            },
            Res::Builtin(Builtin::Constructor(constructor)) => {
                if self.constructor_types(constructor, ty).is_none() {
                    self.misfit(pattern, &format!("`{}`", constructor.as_str()), ty);
                }
                return;
            }
            Res::Def(def) => self.def_value(def),
            _ => return,
        };
        if !self.unify(ty, &found) {
            let what = format!("a value of type `{}`", self.show(&found));
            self.misfit(pattern, &what, ty);
        }
    }
}
