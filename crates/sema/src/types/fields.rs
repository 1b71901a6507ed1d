//! `p.x`, `t.0`, `A.shape`.

use super::Checker;
use super::annotations::Env;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// The fields of a struct with their types.
    pub(super) fn fields_of(&self, ty: &Ty) -> Vec<(Ident, Ty)> {
        let Ty::Struct(def, args) = ty else { return Vec::new() };
        let DefKind::Struct(item) = &self.program.def(*def).kind else { return Vec::new() };
        let generics = args.iter().cloned().map(Some).collect();
        let Some(env) = Env::of_item(*def, self.program, generics) else { return Vec::new() };
        item.fields.iter().map(|field| (field.name, self.lower(&field.ty, &env))).collect()
    }

    pub(super) fn field(&mut self, base: ExprId, field: Ident) -> Ty {
        let found = self.infer(base);
        let plain = self.plain(&found);
        let ty = self.field_of(base, &plain, field);
        match self.shallow(&found) {
            Ty::Differential(_) if !ty.is_silent() => Ty::Differential(Box::new(ty)),
            _ => ty,
        }
    }

    fn field_of(&mut self, base: ExprId, ty: &Ty, field: Ident) -> Ty {
        let name = self.name(field.name);
        match ty {
            ty if ty.is_silent() => ty.clone(),
            Ty::Tuple(parts) => match name.parse::<usize>().ok().and_then(|index| parts.get(index))
            {
                Some(part) => part.clone(),
                None => {
                    let shown = self.show(ty);
                    self.fail(errors::unknown_tuple_field(name, &shown, parts.len(), field.span))
                }
            },
            Ty::Struct(..) => {
                let fields = self.fields_of(ty);
                match fields.iter().find(|(other, _)| self.name(other.name) == name) {
                    Some((_, ty)) => ty.clone(),
                    None => {
                        let known: Vec<&str> =
                            fields.iter().map(|(other, _)| self.name(other.name)).collect();
                        let owner = self.show(ty);
                        self.fail(errors::unknown_field(name, &owner, field.span, &known))
                    }
                }
            }
            Ty::Scalar(scalar) if name == "shape" && scalar.is_number() => {
                // A function for any rank may be called with a single number.
                Ty::tensor(Ty::I32, vec![Some(0)])
            }
            Ty::Tensor(_, extents) if name == "shape" => {
                Ty::tensor(Ty::I32, vec![Some(extents.len() as u64)])
            }
            Ty::Tensor(element, extents) if matches!(**element, Ty::Struct(..) | Ty::Tuple(_)) => {
                let (text, shown) = (self.snippet(base).0, self.show(ty));
                self.fail(errors::field_of_tensor(name, &text, &shown, extents.len(), field.span))
            }
            _ => {
                let shown = self.show(ty);
                self.fail(errors::no_fields(name, &shown, field.span))
            }
        }
    }
}
