//! Lambdas: a lambda is its own type, and its inside is typed for the arguments of each call.

use super::Checker;
use super::annotations::Env;
use super::instances::{InstanceId, Key};
use super::ty::{FnTy, Ty};
use crate::hir::*;

/// The number of a lambda of an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClosureId(pub(super) u32);

impl ClosureId {
    /// The position among the lambdas.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A lambda of an instance.
#[derive(Debug)]
pub(super) struct Closure {
    /// The instance it is written in.
    pub(super) owner: InstanceId,
    /// Its expression.
    pub(super) lambda: ExprId,
    /// Something called it.
    pub(super) called: bool,
    /// How many closures it may carry inside each other.
    pub(super) depth: u32,
}

impl Checker<'_> {
    /// The type of a lambda expression: the lambda itself.
    pub(super) fn lambda(&mut self, expr: ExprId) -> Ty {
        let owner = self.cur;
        let found = self.closures.iter().position(|c| c.owner == owner && c.lambda == expr);
        let id = found.unwrap_or_else(|| {
            let carried = self.work().args.iter().flatten().map(|ty| self.depth_in(ty)).max();
            let depth = 1 + carried.unwrap_or(0);
            self.closures.push(Closure { owner, lambda: expr, called: false, depth });
            self.closures.len() - 1
        });
        Ty::Fn(FnTy::Closure(ClosureId(id as u32)))
    }

    fn depth_in(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Fn(function) => self.closure_depth(function),
            Ty::Tuple(parts) => parts.iter().map(|ty| self.depth_in(ty)).max().unwrap_or(0),
            _ => 0,
        }
    }

    pub(super) fn closure_depth(&self, function: &FnTy) -> u32 {
        match function {
            FnTy::Closure(id) => self.closures[id.0 as usize].depth,
            _ => 0,
        }
    }

    /// Calls a lambda with arguments of these types. None when there are too few or too many.
    pub(super) fn call_closure(
        &mut self,
        id: ClosureId,
        args: Vec<Ty>,
    ) -> Option<(Ty, InstanceId)> {
        let Closure { owner, lambda, .. } = self.closures[id.0 as usize];
        self.closures[id.0 as usize].called = true;
        let body_id = self.at(owner).body;
        let body = &self.program.bodies[body_id];
        let ExprKind::Lambda { params, .. } = body.kind(lambda) else { return None };
        if params.len() != args.len() {
            return None;
        }
        let args: Vec<Option<Ty>> =
            args.iter().map(|ty| Some(self.vars.deep(ty).without_extents())).collect();
        let key =
            Key { body: body_id, lambda: Some(id), parent: Some(owner), args, rests: Vec::new() };
        let env = Env { generics: self.generics_of(owner), ..Env::empty(body_id) };
        let instance = self.instance(key, env)?;
        // It may have been typed for its errors alone before.
        self.at(instance).uncalled = false;
        let ret = match self.at(instance).state {
            super::instances::State::New => self.type_lambda(instance, lambda),
            _ => self.at(instance).ret.clone(),
        };
        Some((ret, instance))
    }

    fn generics_of(&mut self, owner: InstanceId) -> Vec<Option<Ty>> {
        self.at(owner).generics.iter().cloned().map(Some).collect()
    }

    /// Types the inside of a lambda. Literals of its arguments stay open: the caller's context
    /// still decides them.
    fn type_lambda(&mut self, id: InstanceId, lambda: ExprId) -> Ty {
        let body = &self.program.bodies[self.at(id).body];
        let ExprKind::Lambda { params, body: value } = body.kind(lambda) else { return Ty::Error };
        self.inside(id, |cx| {
            let args: Vec<Ty> =
                cx.work().args.iter().map(|ty| ty.clone().unwrap_or(Ty::Error)).collect();
            for (param, ty) in params.iter().zip(&args) {
                let ty = match &param.ty {
                    Some(declared) => cx.fitted(declared, ty, param.pattern.span),
                    None => ty.clone(),
                };
                cx.bind_pattern(&param.pattern, &ty);
            }
            cx.work_mut().params = args;
            let ret = cx.infer(*value);
            cx.work_mut().ret = ret.clone();
            ret
        })
    }

    /// Checks the lambdas of the current instance that nothing has called, for their errors.
    pub(super) fn type_idle_closures(&mut self) {
        let mut index = 0;
        while index < self.closures.len() {
            let Closure { owner, lambda, called, .. } = self.closures[index];
            let id = ClosureId(index as u32);
            index += 1;
            if owner != self.cur || called {
                continue;
            }
            let ExprKind::Lambda { params, .. } = self.body().kind(lambda) else { continue };
            let args = params.iter().map(|param| match &param.ty {
                Some(ty) => self.lower_here(ty),
                None => Ty::Error,
            });
            let args = args.collect();
            if let Some((_, instance)) = self.call_closure(id, args) {
                self.at(instance).uncalled = true;
            }
            self.closures[id.0 as usize].called = false;
        }
    }
}
