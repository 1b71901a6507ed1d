//! Names: bindings, sizes, constants, functions, variants.

use std::rc::Rc;

use einlang_tir::types::{Elem, Ident};

use super::types::elem_of;
use super::value::{Frame, R, Src, Tensor, Val};
use super::{Lower, unsupported};
use crate::builtins::{Builtin, Constructor};
use crate::hir::{BodyId, DefId, DefKind, ExprId, LocalId, LocalKind, Res};
use crate::shapes::Shape;
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// Messages call a value that has no name yet by the name of its binding.
    pub(super) fn give_name(&mut self, value: &Val<'p>, name: &str) {
        match value {
            Val::Tensor(Tensor { src: Src::Named(id), .. }) if self.info(*id).nameless => {
                let info = &mut self.tensors[id.0];
                (info.name, info.nameless) = (Ident::new(name), false);
            }
            Val::Tensor(Tensor { src: Src::Lazy(lazy), .. }) => {
                // The first name stays.
                let _ = lazy.name.set(name.to_owned());
            }
            Val::Record(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    self.give_name(part, &format!("{name}.{at}"));
                }
            }
            _ => {}
        }
    }

    pub(super) fn name(&mut self, res: Res, expr: ExprId) -> R<Val<'p>> {
        let found = match res {
            Res::Local(local) => return self.local(self.frame.body, local),
            Res::Outer(body, local) => return self.local(body, local),
            Res::Def(def) => match &self.program.def(def).kind {
                DefKind::Const(_) => return self.constant(def, expr),
                DefKind::Input(_) => self.inputs.get(&def).cloned(),
                DefKind::Fn(_) => return self.function_value(expr),
                _ => None,
            },
            Res::Builtin(Builtin::Constructor(Constructor::None)) => {
                let ty = self.ty(expr);
                return self.variant(&ty, "None", Vec::new());
            }
            Res::Builtin(_) | Res::Python(_) => return self.function_value(expr),
            Res::Variant(def, at) => {
                let ty = self.ty(expr);
                if matches!(ty, Ty::Fn(_)) {
                    return self.function_value(expr);
                }
                let name = self.variant_name(def, at);
                return self.variant(&ty, &name, Vec::new());
            }
            Res::Module(_) | Res::External | Res::Error => None,
        };
        match found {
            Some(value) => Ok(value),
            None => unsupported(self.here, "this name as a value"),
        }
    }

    /// A binding, or the extent that a size or coordinate stands for.
    pub(super) fn local(&mut self, body: BodyId, local: LocalId) -> R<Val<'p>> {
        if let Some(value) = self.frame.lookup(body, local) {
            return Ok(value.clone());
        }
        let modules = self.module_frames.values();
        if let Some(value) = modules.into_iter().find_map(|frame| frame.lookup(body, local)) {
            return Ok(value.clone());
        }
        let kind = self.body_of(body)[local].kind;
        if let LocalKind::Extent(_) = kind {
            // Extents of inputs are those of their module, wherever they are used.
            let around = std::iter::successors(Some(&self.frame), |frame| frame.parent.as_deref());
            let modules = self.typed.modules.iter().flatten().copied();
            let mut instances = around.map(|frame| frame.instance).chain(modules);
            let found = instances.find_map(|id| {
                let own = (self.typed.instance(id).body == body).then(|| self.shapes.instance(id));
                match own?.locals.get(&local) {
                    Some(Shape::Int(value)) => Some(value.clone()),
                    _ => None,
                }
            });
            if let Some(value) = found {
                let extent = self.extent(&value)?;
                return Ok(Val::Scalar(self.index_scalar(Elem::I32, extent)));
            }
        }
        let name = self.spelling(self.body_of(body)[local].name.name);
        unsupported(self.here, format!("`{name}` used where its value is not known"))
    }

    /// A constant, lowered at its use.
    fn constant(&mut self, def: DefId, expr: ExprId) -> R<Val<'p>> {
        let wanted = self.ty(expr);
        let Some(instance) = self.typed.items.get(&def).copied() else {
            return unsupported(self.here, "a constant without a value");
        };
        let own = self.typed.instance(instance);
        let body = own.body;
        let Some(value) = self.body_of(body).value else {
            return unsupported(self.here, "a constant without a value");
        };
        let parent = own.parent.and_then(|parent| self.frame_of(parent));
        let mut frame = Frame::new(instance, body, parent.map(Rc::new));
        let scalar = |ty: &Ty| match ty {
            Ty::Tensor(element, _) => elem_of(element),
            ty => elem_of(ty),
        };
        if let (Some(from), Some(to)) = (scalar(&own.ret), scalar(&wanted))
            && from != to
        {
            frame.retype = Some((from, to));
        }
        self.within(frame, |cx| cx.eval(value))
    }
}
