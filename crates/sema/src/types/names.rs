//! Names: the type of what they stand for, in the instance that binds it.

use super::Checker;
use super::annotations::Env;
use super::instances::{InstanceId, Key, State};
use super::ty::{FnTy, Ty};
use super::vars::Kind;
use crate::builtins::{Builtin, Constructor};
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// What a name stands for as a value.
    pub(super) fn name_type(&mut self, res: Res, expr: ExprId) -> Ty {
        match res {
            Res::Local(local) => self.local(local),
            Res::Outer(body, local) => self.outer_local(body, local),
            Res::Def(def) => self.def_value(def),
            Res::Variant(def, index) => self.variant_value(def, index, expr),
            Res::Builtin(builtin) => self.builtin_value(builtin, expr),
            Res::Python(path) => Ty::Fn(FnTy::Python(path)),
            Res::Module(_) | Res::External | Res::Error => Ty::Error,
        }
    }

    fn builtin_value(&mut self, builtin: Builtin, expr: ExprId) -> Ty {
        match builtin {
            Builtin::Function(function) => Ty::Fn(FnTy::Builtin(function)),
            Builtin::Constructor(Constructor::None) => {
                Ty::Option(Box::new(self.vars.fresh(Kind::Any)))
            }
            Builtin::Constructor(constructor) => Ty::Fn(FnTy::Constructor(constructor)),
            Builtin::Reduction(op) => {
                let span = self.span(expr);
                self.fail(errors::reduction_without_index(op.as_str(), span))
            }
            Builtin::Reduce => {
                let span = self.span(expr);
                self.fail(errors::reduction_without_index("reduce", span))
            }
            Builtin::Type(_) => Ty::Error,
        }
    }

    /// The type of a binding of the current body.
    pub(super) fn local(&mut self, local: LocalId) -> Ty {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.instances[id.0 as usize];
            if let Some(ty) = work.locals.get(&local) {
                return ty.clone();
            }
            at = work.parent.filter(|_| work.lambda.is_some());
        }
        match self.body()[local].kind {
            LocalKind::Index => Ty::I32,
            LocalKind::Extent(before) => self.extent_value(before),
            // In a recursive group whose types are still being found.
            _ => Ty::Unknown,
        }
    }

    /// A size stands for its extent, or for the integer that its name meant before.
    fn extent_value(&mut self, before: Option<Res>) -> Ty {
        let before = match before {
            Some(Res::Local(local)) if !matches!(self.body()[local].kind, LocalKind::Extent(_)) => {
                self.local(local)
            }
            Some(Res::Outer(body, local)) => self.outer_local(body, local),
            Some(Res::Def(def)) => self.def_value(def),
            _ => Ty::I32,
        };
        if self.is_integer(&before) { before } else { Ty::I32 }
    }

    /// The type of a binding of a body around, in the instance that is captured from.
    pub(super) fn outer_local(&mut self, body: BodyId, local: LocalId) -> Ty {
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.instances[id.0 as usize];
            if work.body == body
                && let Some(ty) = work.locals.get(&local)
            {
                return ty.clone();
            }
            at = work.parent;
        }
        self.module_local(body, local)
    }

    fn module_local(&mut self, body: BodyId, local: LocalId) -> Ty {
        let Owner::Module(module) = self.program.bodies[body].owner else { return Ty::Error };
        self.module_instance(module);
        let key = Key { body, lambda: None, parent: None, args: Vec::new(), rests: Vec::new() };
        let Some(id) = self.keys.get(&key).copied() else { return Ty::Error };
        if let Some(ty) = self.at(id).locals.get(&local) {
            return ty.clone();
        }
        match self.program.bodies[body][local].kind {
            LocalKind::Index | LocalKind::Extent(_) => Ty::I32,
            _ => Ty::Error,
        }
    }

    /// The instance around the current one that an item captures from.
    pub(super) fn captured_from(&self, def: DefId) -> Option<InstanceId> {
        let inside = self.program.def(def).inside?;
        let mut at = Some(self.cur);
        while let Some(id) = at {
            let work = &self.instances[id.0 as usize];
            if work.body == inside {
                return Some(id);
            }
            at = work.parent;
        }
        None
    }

    /// The value of an item.
    pub(super) fn def_value(&mut self, def: DefId) -> Ty {
        match &self.program.def(def).kind {
            DefKind::Fn(_) => Ty::Fn(FnTy::Def(def, self.captured_from(def))),
            DefKind::Const(constant) => self.constant(def, constant),
            DefKind::Input(input) => {
                let owner = self.program.def(def);
                let body = owner.inside.or(self.program.modules[owner.module].body);
                body.map_or(Ty::Error, |body| self.lower(&input.ty, &Env::empty(body)))
            }
            DefKind::Rule(_) | DefKind::Struct(_) | DefKind::Enum(_) => Ty::Error,
        }
    }

    /// An unannotated constant of literals is a literal itself: new at each use.
    pub(super) fn constant(&mut self, def: DefId, constant: &Const) -> Ty {
        let parent = self.captured_from(def);
        let key =
            Key { body: constant.body, lambda: None, parent, args: Vec::new(), rests: Vec::new() };
        let Some(id) = self.instance(key, Env::empty(constant.body)) else { return Ty::Error };
        match self.at(id).state {
            State::New => self.inside(id, |cx| cx.constant_body(constant)),
            State::Open => return Ty::Error,
            State::Done => {}
        }
        match self.at(id).constant.clone() {
            Some(frozen) => self.vars.thaw(&frozen),
            None => Ty::Error,
        }
    }

    fn constant_body(&mut self, constant: &Const) {
        let Some(value) = self.body().value else { return };
        let ty = match &constant.ty {
            Some(ty) => self.annotated(value, ty),
            None => self.infer(value),
        };
        self.type_idle_closures();
        self.work_mut().constant = Some(self.vars.freeze(&ty));
        self.work_mut().ret = ty;
    }
}
