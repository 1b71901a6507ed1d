//! Calls of function values.

use std::rc::Rc;

use einlang_tir::host::{HostKind, HostType};

use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::types::{Callee, FnTy, Ty};

impl<'p> Lower<'p> {
    /// Calls a function value with positional arguments.
    pub(super) fn apply_function(
        &mut self,
        function: &Val<'p>,
        target: Option<Callee>,
        args: Vec<Val<'p>>,
        types: &[Ty],
        ret: &Ty,
    ) -> R<Val<'p>> {
        match (target, function) {
            (Some(Callee::Instance(id)), function) => {
                let parent = match function {
                    Val::Fn(value) if self.typed.instance(id).lambda.is_some() => {
                        Some(Rc::new(value.frame.clone()))
                    }
                    Val::Fn(value) => {
                        let parent = self.typed.instance(id).parent;
                        let found = parent.and_then(|p| value.frame.find(p).cloned());
                        found.or_else(|| self.frame_of(parent?)).map(Rc::new)
                    }
                    _ => {
                        let parent = self.typed.instance(id).parent;
                        parent.and_then(|p| self.frame_of(p)).map(Rc::new)
                    }
                };
                let placed = args.into_iter().map(Some).collect();
                self.call_instance(id, parent, placed, ret)
            }
            (Some(Callee::Function(FnTy::Constructor(constructor))), _) => {
                self.construct_with(ret, constructor.as_str(), args, types)
            }
            (Some(Callee::Function(FnTy::Variant(def, at))), _) => {
                let name = self.variant_name(def, at);
                self.construct_with(ret, &name, args, types)
            }
            (Some(Callee::Function(FnTy::Builtin(function))), _) => {
                self.elementary(function, args, ret)
            }
            (Some(Callee::Function(FnTy::Python(path))), _) => {
                self.apply_python(path, args, types, ret)
            }
            (_, Val::Host(host, HostType::Fn(..))) => {
                let mut operands = Vec::with_capacity(args.len());
                for (arg, ty) in args.iter().zip(types) {
                    operands.push(self.hosted(arg, ty)?);
                }
                self.flush();
                let host_type = self.host_type(ret)?;
                let value = self.host_value_of(host_type, HostKind::Apply(host.clone(), operands));
                self.lifted(value, ret, "result")
            }
            (_, Val::Fn(value))
                if matches!(
                    value.ty,
                    FnTy::Builtin(_) | FnTy::Python(_) | FnTy::Constructor(_) | FnTy::Variant(..)
                ) =>
            {
                let target = Some(Callee::Function(value.ty.clone()));
                self.apply_function(function, target, args, types, ret)
            }
            (_, Val::Fn(value)) => match self.instance_for(&value.ty, types) {
                Some(id) => {
                    let target = Some(Callee::Instance(id));
                    self.apply_function(function, target, args, types, ret)
                }
                None => unsupported(self.here, "a call of this value"),
            },
            _ => unsupported(self.here, "a call of this value"),
        }
    }
}
