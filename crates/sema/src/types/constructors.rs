//! Values of structs and enums.

use einlang_source::Span;

use super::Checker;
use super::annotations::Env;
use super::calls::Fault;
use super::ty::{FnTy, Ty};
use super::vars::Kind;
use crate::builtins::Constructor;
use crate::errors;
use crate::hir::*;

impl<'p> Checker<'p> {
    /// `Some(x)`, `Ok(x)`, `Err(x)`
    pub(super) fn constructed(
        &mut self,
        constructor: Constructor,
        args: &[Ty],
        span: Span,
    ) -> Result<Ty, Fault> {
        let [value] = args else {
            return Err(Box::new(errors::wrong_arity(
                constructor.as_str(),
                1,
                args.len(),
                span,
                None,
            )));
        };
        let value = Box::new(value.clone());
        let open = Box::new(self.vars.fresh(Kind::Any));
        Ok(match constructor {
            Constructor::Some | Constructor::None => Ty::Option(value),
            Constructor::Ok => Ty::Result(value, open),
            Constructor::Err => Ty::Result(open, value),
        })
    }

    pub(super) fn variants(&self, def: DefId) -> &'p [Variant] {
        match &self.program.def(def).kind {
            DefKind::Enum(item) => &item.variants,
            _ => &[],
        }
    }

    pub(super) fn variant_name(&self, def: DefId, index: u32) -> String {
        let owner = self.name(self.program.def(def).name.name);
        match self.variants(def).get(index as usize) {
            Some(variant) => format!("{owner}::{}", self.name(variant.name.name)),
            None => owner.to_string(),
        }
    }

    /// A variant as a value: itself without payload, a function with one.
    pub(super) fn variant_value(&mut self, def: DefId, index: u32, expr: ExprId) -> Ty {
        match self.variants(def).get(index as usize).map(|variant| &variant.payload) {
            Some(Payload::Unit) => {
                let n_generics = self.n_generics(def);
                Ty::Enum(def, (0..n_generics).map(|_| self.vars.fresh(Kind::Any)).collect())
            }
            Some(Payload::Tuple(_)) => Ty::Fn(FnTy::Variant(def, index)),
            Some(Payload::Fields(fields)) => {
                let names: Vec<&str> =
                    fields.iter().map(|field| self.name(field.name.name)).collect();
                let (variant, span) = (self.variant_name(def, index), self.span(expr));
                self.fail(errors::variant_needs_fields(&variant, &names, span))
            }
            None => Ty::Error,
        }
    }

    /// A variant with its values by position.
    pub(super) fn variant_of(
        &mut self,
        def: DefId,
        index: u32,
        args: &[Ty],
        spans: &[Span],
        span: Span,
    ) -> Result<Ty, Fault> {
        let Some(Variant { payload: Payload::Tuple(types), name }) =
            self.variants(def).get(index as usize)
        else {
            return Ok(Ty::Error);
        };
        if types.len() != args.len() {
            let variant = self.variant_name(def, index);
            return Err(Box::new(errors::wrong_arity(
                &variant,
                types.len(),
                args.len(),
                span,
                Some(name.span),
            )));
        }
        let Some(mut env) = self.item_env(def) else { return Ok(Ty::Error) };
        for ((ty, arg), span) in types.iter().zip(args).zip(spans) {
            if self.fit(ty, arg, &mut env).is_none() {
                let (wanted, got) = (self.spell_in(ty, env.body), self.show(arg));
                return Err(Box::new(errors::wrong_argument(&wanted, &got, *span, Some(ty.span))));
            }
        }
        Ok(Ty::Enum(def, self.learned(env)))
    }

    fn item_env(&self, def: DefId) -> Option<Env> {
        Env::of_item(def, self.program, vec![None; self.n_generics(def)])
    }

    /// The type arguments that the fields told.
    fn learned(&mut self, env: Env) -> Vec<Ty> {
        let generics = env.generics.into_iter();
        generics.map(|ty| ty.unwrap_or_else(|| self.vars.fresh(Kind::Any))).collect()
    }

    /// `P { x: 1.0 }`
    pub(super) fn structure(&mut self, expr: ExprId, res: Res, fields: &[(Ident, ExprId)]) -> Ty {
        let Some((def, declared, owner)) = self.declared_fields(res) else {
            for (_, value) in fields {
                self.infer(*value);
            }
            return Ty::Error;
        };
        let Some(mut env) = self.item_env(def) else { return Ty::Error };
        for (name, value) in fields {
            self.field_value(declared, &owner, *name, *value, &mut env);
        }
        let given: Vec<&str> = fields.iter().map(|(name, _)| self.name(name.name)).collect();
        let missing = declared.iter().map(|field| self.name(field.name.name));
        let missing: Vec<&str> = missing.filter(|name| !given.contains(name)).collect();
        if !missing.is_empty() {
            let (span, at) = (self.span(expr), self.program.def(def).name.span);
            self.report(errors::missing_fields(&owner, &missing, span, at));
        }
        let args = self.learned(env);
        match self.program.def(def).kind {
            DefKind::Struct(_) => Ty::Struct(def, args),
            _ => Ty::Enum(def, args),
        }
    }

    /// The named fields of a struct or variant.
    pub(super) fn declared_fields(&self, res: Res) -> Option<(DefId, &'p [Field], String)> {
        match res {
            Res::Def(def) => match &self.program.def(def).kind {
                DefKind::Struct(item) => Some((
                    def,
                    &item.fields,
                    self.name(self.program.def(def).name.name).to_string(),
                )),
                _ => None,
            },
            Res::Variant(def, index) => match &self.variants(def).get(index as usize)?.payload {
                Payload::Fields(fields) => Some((def, fields, self.variant_name(def, index))),
                _ => Some((def, &[], self.variant_name(def, index))),
            },
            _ => None,
        }
    }

    fn field_value(
        &mut self,
        declared: &[Field],
        owner: &str,
        name: Ident,
        value: ExprId,
        env: &mut Env,
    ) {
        let text = self.name(name.name);
        let Some(field) = declared.iter().find(|field| self.name(field.name.name) == text) else {
            self.infer(value);
            let known: Vec<&str> =
                declared.iter().map(|field| self.name(field.name.name)).collect();
            self.report(errors::unknown_field(text, owner, name.span, &known));
            return;
        };
        let hint = self.lower(&field.ty, env);
        let found = self.infer_hinted(value, Some(&hint));
        if self.fit(&field.ty, &found, env).is_none() {
            let (wanted, got) = (self.spell_in(&field.ty, env.body), self.show(&found));
            let span = self.tail_span(value);
            self.report(errors::wrong_annotation(&wanted, &got, span, field.ty.span));
        }
    }
}
