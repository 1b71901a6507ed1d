//! Calls: arguments find their parameters, parameters learn their types, and the callee is
//! specialised for them.

use einlang_source::{Diagnostic, Span};

use super::Checker;
use super::annotations::Env;
use super::instances::{InstanceId, Key};
use super::parameters::generics_from_defaults;
use super::ty::{FnTy, Ty};
use super::typed::Callee;
use crate::errors;
use crate::hir::*;

/// An argument, typed already or still an expression.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) name: Option<Ident>,
    pub(super) expr: Option<ExprId>,
    pub(super) ty: Option<Ty>,
    pub(super) span: Span,
}

/// Why a call is wrong.
pub(super) type Fault = Box<Diagnostic>;

/// The result of a call, what was called, and the types of the arguments.
pub(super) type Applied = (Ty, Callee, Vec<Ty>);

impl Checker<'_> {
    pub(super) fn call(&mut self, expr: ExprId, callee: ExprId, args: &[Arg]) -> Ty {
        let given = self.given(args);
        self.call_with(expr, callee, given)
    }

    pub(super) fn given(&self, args: &[Arg]) -> Vec<Given> {
        let given = |arg: &Arg| {
            let span = self.span(arg.value);
            Given { name: arg.name, expr: Some(arg.value), ty: None, span }
        };
        args.iter().map(given).collect()
    }

    pub(super) fn call_with(&mut self, expr: ExprId, callee: ExprId, given: Vec<Given>) -> Ty {
        let exprs: Vec<ExprId> = given.iter().filter_map(|given| given.expr).collect();
        let found = self.infer(callee);
        let span = self.span(callee);
        let applied = match self.shallow(&found) {
            Ty::Fn(function) => self.apply_given(&function, given, span),
            ty if ty.is_silent() => {
                for expr in exprs {
                    self.infer(expr);
                }
                return Ty::Error;
            }
            _ => {
                let (got, (text, _)) = (self.show(&found), self.snippet(callee));
                Err(Box::new(errors::not_callable(&text, &got, span)))
            }
        };
        match applied {
            Ok((ty, callee, args)) => {
                let span = self.span(expr);
                self.record_call(expr, callee, &args, span);
                ty
            }
            Err(diagnostic) => {
                self.infer_missed(&exprs);
                self.fail(*diagnostic)
            }
        }
    }

    /// After a wrong call its arguments are still checked.
    fn infer_missed(&mut self, exprs: &[ExprId]) {
        for expr in exprs {
            if !self.work().exprs.contains_key(expr) {
                self.infer(*expr);
            }
        }
    }

    /// The result of a function for arguments of these types, without a message if it has none.
    pub(super) fn apply(&mut self, function: &FnTy, args: Vec<Ty>) -> Option<Ty> {
        // Nothing is reported at this place; any place of the body will do.
        let body = self.body();
        let span = body.exprs.values().next().map(|expr| expr.span)?;
        let given = args.into_iter().map(|ty| Given { name: None, expr: None, ty: Some(ty), span });
        let given = given.collect();
        self.apply_given(function, given, span).ok().map(|(ty, _, _)| ty)
    }

    pub(super) fn apply_given(
        &mut self,
        function: &FnTy,
        given: Vec<Given>,
        span: Span,
    ) -> Result<Applied, Fault> {
        if let FnTy::Def(def, parent) = function {
            return self.apply_def(*def, *parent, given, span);
        }
        if let FnTy::Python(path) = function {
            let args = given.iter().map(|given| (self.given_type(given, None), given.span));
            let args: Vec<(Ty, Span)> = args.collect();
            let ty = self.python_result(*path, &args, span)?;
            let args = args.into_iter().map(|(ty, _)| ty).collect();
            return Ok((ty, Callee::Function(function.clone()), args));
        }
        let name = self.function_name(function);
        if let Some(named) = given.iter().find_map(|given| given.name) {
            return Err(Box::new(errors::no_named_arguments(
                &name,
                self.name(named.name),
                named.span,
            )));
        }
        let spans: Vec<Span> = given.iter().map(|given| given.span).collect();
        let args: Vec<Ty> = given.iter().map(|given| self.given_type(given, None)).collect();
        let plain = Callee::Function(function.clone());
        match function {
            FnTy::Closure(id) => match self.call_closure(*id, args.clone()) {
                Some((ty, instance)) => Ok((ty, Callee::Instance(instance), args)),
                None => {
                    let wanted = self.n_lambda_params(*id);
                    Err(Box::new(errors::wrong_arity(&name, wanted, args.len(), span, None)))
                }
            },
            FnTy::Declared(params, ret) => {
                self.apply_declared(params, &args, &spans, span)?;
                Ok(((**ret).clone(), plain, args))
            }
            FnTy::Builtin(builtin) => {
                let ty = self.builtin_result(*builtin, &args, &spans, span)?;
                Ok((ty, plain, args))
            }
            FnTy::Constructor(constructor) => {
                let ty = self.constructed(*constructor, &args, span)?;
                Ok((ty, plain, args))
            }
            FnTy::Variant(def, index) => {
                let ty = self.variant_of(*def, *index, &args, &spans, span)?;
                Ok((ty, plain, args))
            }
            FnTy::Def(..) | FnTy::Python(_) => Ok((Ty::Error, plain, args)),
        }
    }

    fn function_name(&self, function: &FnTy) -> String {
        match function {
            FnTy::Def(def, _) => self.name(self.program.def(*def).name.name).to_string(),
            FnTy::Builtin(function) => function.as_str().to_string(),
            FnTy::Python(path) => self.name(*path).to_string(),
            FnTy::Constructor(constructor) => constructor.as_str().to_string(),
            FnTy::Variant(def, index) => self.variant_name(*def, *index),
            FnTy::Closure(_) | FnTy::Declared(..) => "this closure".to_string(),
        }
    }

    fn n_lambda_params(&mut self, id: super::ClosureId) -> usize {
        let closure = &self.closures[id.0 as usize];
        let body = &self.program.bodies[self.instances[closure.owner.0 as usize].body];
        match body.kind(closure.lambda) {
            ExprKind::Lambda { params, .. } => params.len(),
            _ => 0,
        }
    }

    /// The type of an argument; literals see the parameter's type.
    fn given_type(&mut self, given: &Given, hint: Option<&Ty>) -> Ty {
        match (&given.ty, given.expr) {
            (Some(ty), _) => ty.clone(),
            (None, Some(expr)) => self.infer_hinted(expr, hint),
            (None, None) => Ty::Error,
        }
    }

    fn apply_declared(
        &mut self,
        params: &[Ty],
        args: &[Ty],
        spans: &[Span],
        span: Span,
    ) -> Result<(), Fault> {
        if params.len() != args.len() {
            return Err(Box::new(errors::wrong_arity(
                "this function",
                params.len(),
                args.len(),
                span,
                None,
            )));
        }
        for ((param, arg), span) in params.iter().zip(args).zip(spans) {
            if !self.unify(param, arg) {
                return Err(Box::new(errors::wrong_argument(
                    &self.show(param),
                    &self.show(arg),
                    *span,
                    None,
                )));
            }
        }
        Ok(())
    }

    fn apply_def(
        &mut self,
        def: DefId,
        parent: Option<InstanceId>,
        given: Vec<Given>,
        span: Span,
    ) -> Result<Applied, Fault> {
        let item = self.program.def(def);
        let DefKind::Fn(Function { body: id, attrs }) = &item.kind else {
            return Ok((Ty::Error, Callee::Function(FnTy::Def(def, parent)), Vec::new()));
        };
        let body = &self.program.bodies[*id];
        let placed = self.place(def, body, given, span)?;
        let mut env = Env::open(*id, self.program);
        env.call = self.placing.take();
        let spans: Vec<Option<Span>> =
            placed.iter().map(|given| Some(given.as_ref()?.span)).collect();
        let fitted = self.fit_arguments(body, placed, &mut env)?;
        generics_from_defaults(body, &fitted, &mut env);
        let mut args: Vec<Option<Ty>> =
            fitted.iter().map(|ty| ty.as_ref().map(|ty| self.argument(ty))).collect();
        for index in self.shape_params(body, attrs) {
            let (Some(Some(given)), Some(span)) = (fitted.get(index), spans[index]) else {
                continue;
            };
            let given = self.plain(given);
            match self.shallow(&given) {
                Ty::Tensor(_, extents) if extents[..] == [None] => {
                    let name = self.name(item.name.name);
                    return Err(Box::new(errors::unknown_rank(name, span, item.name.span)));
                }
                given => args[index] = Some(self.vars.deep(&given)),
            }
        }
        if args.iter().flatten().map(Ty::n_parts).sum::<usize>() > super::MAX_PARTS {
            return Err(Box::new(self.overflow(def, span)));
        }
        let mut rests: Vec<(LocalId, u32)> = env.rests.iter().map(|(r, n)| (*r, *n)).collect();
        rests.sort_unstable();
        let mut key = Key { body: *id, lambda: None, parent, args, rests };
        if let Some(ret) = self.adapt_literals(&key, &env) {
            let types = key.args.into_iter().flatten().collect();
            return Ok((ret, Callee::Function(FnTy::Def(def, parent)), types));
        }
        for ty in key.args.iter_mut().chain(&mut env.generics) {
            *ty = ty.take().map(|ty| self.vars.default_in(&ty));
        }
        let types: Vec<Ty> = key.args.iter().flatten().cloned().collect();
        if types.iter().any(|ty| ty.any(&|part| *part == Ty::Unknown)) {
            // Part of a recursive group that is not typed yet: only a declared result is certain.
            let ret = body.ret.as_ref().map_or(Ty::Unknown, |ret| self.lower(ret, &env));
            return Ok((ret, Callee::Function(FnTy::Def(def, parent)), types));
        }
        let Some(instance) = self.instance(key, env) else {
            return Err(Box::new(self.overflow(def, span)));
        };
        if self.is_too_deep(instance) {
            return Err(Box::new(errors::calls_too_deep(
                self.name(item.name.name),
                span,
                item.name.span,
            )));
        }
        Ok((self.result_of(instance), Callee::Instance(instance), types))
    }

    /// What an argument is inside the callee: without extents or `@`.
    fn argument(&mut self, ty: &Ty) -> Ty {
        let ty = self.plain(ty);
        self.vars.deep(&ty).without_extents()
    }

    fn overflow(&self, def: DefId, span: Span) -> Diagnostic {
        let item = self.program.def(def);
        errors::endless_specialisation(self.name(item.name.name), span, item.name.span)
    }

    /// Assigns arguments to parameters.
    fn place(
        &self,
        def: DefId,
        body: &Body,
        given: Vec<Given>,
        span: Span,
    ) -> Result<Vec<Option<Given>>, Fault> {
        let item = self.program.def(def);
        let (name, declared) = (self.name(item.name.name), item.name.span);
        let n_params = body.params.len();
        let n_given = given.len();
        let mut placed: Vec<Option<Given>> = vec![None; n_params];
        let mut next = 0;
        for argument in given {
            let position = match argument.name {
                None => next,
                Some(wanted) => match self.param_named(body, wanted) {
                    Some(position) => position,
                    None => {
                        let wanted_text = self.name(wanted.name);
                        let known =
                            body.params.iter().filter_map(|param| self.param_name(body, param));
                        return Err(Box::new(errors::unknown_argument(
                            name,
                            wanted_text,
                            wanted.span,
                            declared,
                            known,
                        )));
                    }
                },
            };
            next = if argument.name.is_none() { next + 1 } else { next };
            match placed.get_mut(position) {
                None => {
                    return Err(Box::new(errors::wrong_arity(
                        name,
                        n_params,
                        n_given,
                        span,
                        Some(declared),
                    )));
                }
                Some(Some(_)) => {
                    return Err(Box::new(errors::argument_twice(name, argument.span, declared)));
                }
                Some(slot) => *slot = Some(argument),
            }
        }
        let missing = body
            .params
            .iter()
            .zip(&placed)
            .filter(|(param, given)| given.is_none() && param.default.is_none());
        let missing: Vec<&str> =
            missing.map(|(param, _)| self.param_name(body, param).unwrap_or("_")).collect();
        match missing.is_empty() {
            true => Ok(placed),
            false => Err(Box::new(errors::missing_arguments(name, &missing, span, declared))),
        }
    }

    /// Types the arguments against the parameters. Functions come last, when the other arguments
    /// have told what the type parameters are.
    fn fit_arguments(
        &mut self,
        body: &Body,
        placed: Vec<Option<Given>>,
        env: &mut Env,
    ) -> Result<Vec<Option<Ty>>, Fault> {
        let mut fitted: Vec<Option<Ty>> = vec![None; placed.len()];
        for functions in [false, true] {
            for (index, (param, given)) in body.params.iter().zip(&placed).enumerate() {
                let is_function = matches!(&param.ty, Some(TypeRef { kind: TypeKind::Fn(..), .. }));
                if let (Some(given), true) = (given, is_function == functions) {
                    fitted[index] = Some(self.fit_argument(param, given, env)?);
                }
            }
        }
        Ok(fitted)
    }

    fn fit_argument(&mut self, param: &Param, given: &Given, env: &mut Env) -> Result<Ty, Fault> {
        let Some(declared) = &param.ty else { return Ok(self.given_type(given, None)) };
        let hint = self.lower(declared, env);
        let found = self.given_type(given, Some(&hint));
        match self.fit(declared, &found, env) {
            Some(ty) => Ok(ty),
            None => {
                let (wanted, got) = (self.spell_in(declared, env.body), self.show(&found));
                Err(Box::new(errors::wrong_argument(
                    &wanted,
                    &got,
                    given.span,
                    Some(declared.span),
                )))
            }
        }
    }
}
