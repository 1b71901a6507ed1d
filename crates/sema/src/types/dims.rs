//! The expressions in dimensions, such as `N - K + 1`: integers of the instance that writes them.

use super::Checker;
use crate::hir::*;

impl Checker<'_> {
    /// Types the expressions in a written type of the current body.
    pub(super) fn type_dims(&mut self, ty: &TypeRef) {
        match &ty.kind {
            TypeKind::Error | TypeKind::Scalar(_) | TypeKind::Param(_) => {}
            TypeKind::Named(_, parts) | TypeKind::Tuple(parts) => {
                parts.iter().for_each(|part| self.type_dims(part));
            }
            TypeKind::Jagged(element, _) => self.type_dims(element),
            TypeKind::Fn(params, ret) => {
                params.iter().for_each(|param| self.type_dims(param));
                self.type_dims(ret);
            }
            TypeKind::Tensor(element, dims) => {
                self.type_dims(element);
                for dim in dims {
                    if let Dim::Expr(expr) = dim {
                        self.integer(*expr, "an extent");
                    }
                }
            }
        }
    }

    /// The types in the signature of the current body, and of the items that are written in it.
    pub(super) fn type_dims_of_items(&mut self) {
        let (body, id) = (self.body(), self.work().body);
        for param in &body.params {
            param.ty.iter().for_each(|ty| self.type_dims(ty));
        }
        body.ret.iter().for_each(|ty| self.type_dims(ty));
        let inside = self.items_of.get(&id).cloned().unwrap_or_default();
        for def in inside {
            self.type_dims_of_item(&self.program.defs[def].kind);
        }
    }

    fn type_dims_of_item(&mut self, item: &DefKind) {
        match item {
            DefKind::Input(input) => self.type_dims(&input.ty),
            DefKind::Struct(item) => item.fields.iter().for_each(|field| self.type_dims(&field.ty)),
            DefKind::Enum(item) => {
                for variant in &item.variants {
                    match &variant.payload {
                        Payload::Unit => {}
                        Payload::Tuple(types) => types.iter().for_each(|ty| self.type_dims(ty)),
                        Payload::Fields(fields) => {
                            fields.iter().for_each(|field| self.type_dims(&field.ty));
                        }
                    }
                }
            }
            DefKind::Fn(_) | DefKind::Rule(_) | DefKind::Const(_) => {}
        }
    }
}
