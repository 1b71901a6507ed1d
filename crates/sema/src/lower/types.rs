//! Types on both sides: element types, leaves of records, host types and their declarations.

use einlang_tir::host::{HostType, TypeDecl, Variant as HostVariant};
use einlang_tir::types::{Elem, Ident};

use super::value::R;
use super::{Lower, unsupported};
use crate::hir::{self, BodyId, DefId, DefKind, Dim, Payload, Res, Scalar, TypeKind, TypeRef};
use crate::types::{FnTy, Ty};

/// A number at the end of a record: its path for names, and its type.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) elem: Elem,
    pub(super) rank: usize,
}

/// The element type of a scalar; none for strings.
pub(super) fn scalar_elem(scalar: Scalar) -> Option<Elem> {
    Elem::parse(scalar.as_str())
}

/// The element type of a number or truth value.
pub(super) fn elem_of(ty: &Ty) -> Option<Elem> {
    match ty {
        Ty::Scalar(scalar) => scalar_elem(*scalar),
        _ => None,
    }
}

/// The element type and rank of a number or tensor of numbers.
pub(super) fn numbers(ty: &Ty) -> Option<(Elem, usize)> {
    match ty {
        Ty::Tensor(element, extents) => Some((elem_of(element)?, extents.len())),
        _ => Some((elem_of(ty)?, 0)),
    }
}

impl<'p> Lower<'p> {
    /// The fields of a struct with their names.
    pub(super) fn fields(&self, def: DefId, args: &[Ty]) -> Vec<(String, Ty)> {
        let DefKind::Struct(item) = &self.program.def(def).kind else { return Vec::new() };
        let field = |field: &hir::Field| {
            (self.spelling(field.name.name).to_owned(), self.written(&field.ty, args))
        };
        item.fields.iter().map(field).collect()
    }

    /// The types of what a variant carries.
    pub(super) fn payload(&self, def: DefId, variant: u32, args: &[Ty]) -> Vec<Ty> {
        let DefKind::Enum(item) = &self.program.def(def).kind else { return Vec::new() };
        match item.variants.get(variant as usize).map(|variant| &variant.payload) {
            Some(Payload::Tuple(types)) => types.iter().map(|ty| self.written(ty, args)).collect(),
            Some(Payload::Fields(fields)) => {
                fields.iter().map(|field| self.written(&field.ty, args)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A type as written, with type parameters replaced.
    pub(super) fn written(&self, ty: &TypeRef, args: &[Ty]) -> Ty {
        let all = |types: &[TypeRef]| types.iter().map(|ty| self.written(ty, args)).collect();
        match &ty.kind {
            TypeKind::Error => Ty::Error,
            TypeKind::Scalar(scalar) => Ty::Scalar(*scalar),
            TypeKind::Param(at) => args.get(*at as usize).cloned().unwrap_or(Ty::Error),
            TypeKind::Named(Res::Def(def), types) => match &self.program.def(*def).kind {
                DefKind::Enum(_) => Ty::Enum(*def, all(types)),
                _ => Ty::Struct(*def, all(types)),
            },
            TypeKind::Named(Res::Builtin(builtin), types) => {
                let list: Vec<Ty> = all(types);
                let at = |n: usize| Box::new(list.get(n).cloned().unwrap_or(Ty::Error));
                match builtin.to_string().as_str() {
                    "Option" => Ty::Option(at(0)),
                    _ => Ty::Result(at(0), at(1)),
                }
            }
            TypeKind::Named(..) => Ty::Error,
            TypeKind::Tensor(element, dims) => {
                let extent =
                    |dim: &Dim| matches!(dim, Dim::Any(_) | Dim::Extent(..) | Dim::Expr(_));
                let n_axes = dims.iter().filter(|dim| extent(dim)).count();
                Ty::with_axes(self.written(element, args), n_axes)
            }
            TypeKind::Jagged(element, levels) => {
                Ty::Jagged(Box::new(self.written(element, args)), *levels)
            }
            TypeKind::Tuple(parts) => Ty::Tuple(all(parts)),
            TypeKind::Fn(params, ret) => {
                let ret = Box::new(self.written(ret, args));
                Ty::Fn(FnTy::Declared(all(params), ret))
            }
        }
    }

    /// The parts of a tuple or struct.
    pub(super) fn parts(&self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        match ty {
            Ty::Tuple(parts) => {
                let named = parts.iter().enumerate().map(|(at, ty)| (at.to_string(), ty.clone()));
                Some(named.collect())
            }
            Ty::Struct(def, args) => Some(self.fields(*def, args)),
            _ => None,
        }
    }

    /// The numbers that a value consists of, or none if there is something else in it.
    pub(super) fn leaf_types(&self, ty: &Ty) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.add_leaves(ty, "", 0, &mut leaves).then_some(leaves)
    }

    fn add_leaves(&self, ty: &Ty, path: &str, rank: usize, leaves: &mut Vec<Leaf>) -> bool {
        if let Some(elem) = elem_of(ty) {
            leaves.push(Leaf { path: path.to_owned(), elem, rank });
            return true;
        }
        if let Ty::Tensor(element, extents) = ty {
            return self.add_leaves(element, path, rank + extents.len(), leaves);
        }
        let Some(parts) = self.parts(ty) else { return false };
        parts.iter().all(|(name, ty)| self.add_leaves(ty, &format!("{path}.{name}"), rank, leaves))
    }

    /// Whether a value consists of numbers only.
    pub(super) fn is_numeric(&self, ty: &Ty) -> bool {
        self.leaf_types(ty).is_some()
    }

    /// The type of the host value for a type of the language.
    pub(super) fn host_type(&mut self, ty: &Ty) -> R<HostType> {
        Ok(match ty {
            Ty::Scalar(Scalar::Str) => HostType::Str,
            Ty::Scalar(scalar) => HostType::Scalar(scalar_elem(*scalar).unwrap_or(Elem::Bool)),
            Ty::Tensor(element, extents) => self.host_tensor_type(element, extents.len())?,
            Ty::Jagged(element, levels) => {
                let mut ty = self.host_type(element)?;
                for _ in 0..*levels {
                    ty = HostType::List(Box::new(ty));
                }
                ty
            }
            Ty::Tuple(parts) => HostType::Tuple(self.host_types(parts)?),
            Ty::Struct(..) => HostType::Struct(self.declare(ty)?),
            Ty::Enum(..) | Ty::Option(_) | Ty::Result(..) => HostType::Enum(self.declare(ty)?),
            Ty::Range(inner) => {
                let inner = self.host_type(inner)?;
                HostType::Tuple(vec![inner.clone(), inner])
            }
            Ty::Fn(FnTy::Declared(params, ret)) => {
                let params = self.host_types(params)?;
                HostType::Fn(params, vec![self.host_type(ret)?])
            }
            Ty::Fn(FnTy::Closure(id)) => {
                let captured = self.closure_captures(*id);
                HostType::Tuple(self.captured_types(&captured)?)
            }
            Ty::Fn(_) => HostType::Tuple(Vec::new()),
            Ty::Error | Ty::Unknown | Ty::Var(_) => {
                return Err(Box::new(crate::errors::undecided_type(self.here)));
            }
            Ty::Differential(_) => {
                return unsupported(self.here, "a value whose type is not known to the host");
            }
        })
    }

    fn host_tensor_type(&mut self, element: &Ty, rank: usize) -> R<HostType> {
        if let Some(elem) = elem_of(element) {
            return Ok(HostType::Tensor(elem, rank));
        }
        if let Some(parts) = self.parts(element)
            && self.is_numeric(element)
        {
            let axes = vec![None; rank];
            let parts: Vec<Ty> =
                parts.into_iter().map(|(_, ty)| Ty::tensor(ty, axes.clone())).collect();
            return Ok(HostType::Tuple(self.host_types(&parts)?));
        }
        let mut ty = self.host_type(element)?;
        for _ in 0..rank {
            ty = HostType::List(Box::new(ty));
        }
        Ok(ty)
    }

    pub(super) fn host_types(&mut self, types: &[Ty]) -> R<Vec<HostType>> {
        types.iter().map(|ty| self.host_type(ty)).collect()
    }

    /// The declaration of a struct or enum, made when it is first needed.
    pub(super) fn declare(&mut self, ty: &Ty) -> R<Ident> {
        let ty = ty.without_extents();
        if let Some(name) = self.type_names.get(&ty) {
            return Ok(name.clone());
        }
        let name = self.unique(&ty.show(self.program, self.interner));
        let name = Ident::new(&name);
        self.type_names.insert(ty.clone(), name.clone());
        // The place is kept, so that a type which contains itself through a list is found.
        let decl = match &ty {
            Ty::Struct(def, args) => {
                let mut fields = Vec::new();
                for (field, ty) in self.fields(*def, args) {
                    fields.push((Ident::new(&field), self.host_type(&ty)?));
                }
                TypeDecl::Struct { name: name.clone(), fields }
            }
            _ => {
                let mut variants = Vec::new();
                for (variant, types) in self.variants_of(&ty) {
                    let fields = self.host_types(&types)?;
                    variants.push(HostVariant { name: Ident::new(&variant), fields });
                }
                TypeDecl::Enum { name: name.clone(), variants }
            }
        };
        self.out.types.push(decl);
        Ok(name)
    }

    /// The variants of an enum with what they carry.
    pub(super) fn variants_of(&self, ty: &Ty) -> Vec<(String, Vec<Ty>)> {
        match ty {
            Ty::Option(inner) => {
                vec![("None".into(), Vec::new()), ("Some".into(), vec![(**inner).clone()])]
            }
            Ty::Result(ok, err) => {
                vec![("Ok".into(), vec![(**ok).clone()]), ("Err".into(), vec![(**err).clone()])]
            }
            Ty::Enum(def, args) => {
                let DefKind::Enum(item) = &self.program.def(*def).kind else { return Vec::new() };
                let variant = |(at, variant): (usize, &hir::Variant)| {
                    let name = self.spelling(variant.name.name).to_owned();
                    (name, self.payload(*def, at as u32, args))
                };
                item.variants.iter().enumerate().map(variant).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The body whose expressions an activation evaluates.
    pub(super) fn body(&self) -> &'p hir::Body {
        self.body_of(self.frame.body)
    }

    pub(super) fn body_of(&self, body: BodyId) -> &'p hir::Body {
        &self.program.bodies[body]
    }
}
