//! Types as written, and what they mean in an instance.

use einlang_source::map::HashMap;

use einlang_source::Span;

use super::Checker;
use super::ty::{Extent, FnTy, Ty};
use crate::builtins::{Builtin, BuiltinType};
use crate::coords::Site;
use crate::errors;
use crate::hir::*;

/// What the names in a written type stand for.
#[derive(Clone, Debug)]
pub(super) struct Env {
    /// The body that the expressions in dimensions belong to.
    pub(super) body: BodyId,
    pub(super) generics: Vec<Option<Ty>>,
    pub(super) rests: HashMap<LocalId, u32>,
    /// The coordinate call whose arguments are fitted: its coordinates tell where rests end.
    pub(super) call: Option<Site>,
}

impl Env {
    pub(super) fn empty(body: BodyId) -> Env {
        Env { body, generics: Vec::new(), rests: HashMap::default(), call: None }
    }

    /// Nothing is known yet about the type parameters of a function.
    pub(super) fn open(body: BodyId, program: &Program) -> Env {
        let generics = vec![None; program.bodies[body].generics.len()];
        Env { body, generics, rests: HashMap::default(), call: None }
    }

    /// Nothing will be known about the type parameters of a function.
    pub(super) fn unknown(body: BodyId, program: &Program) -> Env {
        let generics = vec![Some(Ty::Error); program.bodies[body].generics.len()];
        Env { body, generics, rests: HashMap::default(), call: None }
    }

    /// The fields of a struct or enum see its type arguments.
    pub(super) fn of_item(def: DefId, program: &Program, generics: Vec<Option<Ty>>) -> Option<Env> {
        let item = program.def(def);
        let body = item.inside.or(program.modules[item.module].body)?;
        Some(Env { body, generics, rests: HashMap::default(), call: None })
    }
}

impl<'p> Checker<'p> {
    /// The meaning of names in types of the current instance.
    pub(super) fn env(&self) -> Env {
        let work = self.work();
        let generics = work.generics.iter().cloned().map(Some).collect();
        Env { body: work.body, generics, rests: self.visible_rests(), call: None }
    }

    pub(super) fn lower_here(&self, ty: &TypeRef) -> Ty {
        self.lower(ty, &self.env())
    }

    /// A value with its annotation: the annotated type, or an error when it does not fit.
    pub(super) fn annotated(&mut self, value: ExprId, ty: &TypeRef) -> Ty {
        let hint = self.lower_here(ty);
        let found = self.infer_hinted(value, Some(&hint));
        let span = self.tail_span(value);
        self.fitted(ty, &found, span)
    }

    pub(super) fn fitted(&mut self, ty: &TypeRef, found: &Ty, span: Span) -> Ty {
        self.type_dims(ty);
        let mut env = self.env();
        let fitted = self.fit(ty, found, &mut env);
        self.work_mut().rests.extend(env.rests.iter().map(|(rest, n)| (*rest, *n)));
        match fitted {
            Some(ty) => ty,
            None => {
                let (wanted, got) = (self.spell(ty), self.show(found));
                self.report(errors::wrong_annotation(&wanted, &got, span, ty.span));
                self.lower(ty, &env)
            }
        }
    }

    /// What a written type means. What cannot be known is an error, which is silent.
    pub(super) fn lower(&self, ty: &TypeRef, env: &Env) -> Ty {
        match &ty.kind {
            TypeKind::Error => Ty::Error,
            TypeKind::Scalar(scalar) => Ty::Scalar(*scalar),
            TypeKind::Param(index) => {
                env.generics.get(*index as usize).cloned().flatten().unwrap_or(Ty::Error)
            }
            TypeKind::Named(res, args) => self.lower_named(*res, args, env),
            TypeKind::Tensor(element, dims) => {
                let mut extents = Vec::new();
                for dim in dims {
                    match dim {
                        Dim::AnyRank(_) => return Ty::Error,
                        Dim::Rest(rest, _) => match env.rests.get(rest) {
                            Some(n) => extents.extend(vec![None; *n as usize]),
                            None => return Ty::Error,
                        },
                        _ => extents.push(self.extent(dim, env.body)),
                    }
                }
                Ty::tensor(self.lower(element, env), extents)
            }
            TypeKind::Jagged(element, levels) => {
                Ty::Jagged(Box::new(self.lower(element, env)), *levels)
            }
            TypeKind::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|ty| self.lower(ty, env)).collect())
            }
            TypeKind::Fn(params, ret) => {
                let params = params.iter().map(|ty| self.lower(ty, env)).collect();
                Ty::Fn(FnTy::Declared(params, Box::new(self.lower(ret, env))))
            }
        }
    }

    fn lower_named(&self, res: Res, args: &[TypeRef], env: &Env) -> Ty {
        let mut lowered: Vec<Ty> = args.iter().map(|ty| self.lower(ty, env)).collect();
        match res {
            Res::Builtin(Builtin::Type(BuiltinType::Option)) => {
                Ty::Option(Box::new(lowered.pop().unwrap_or(Ty::Error)))
            }
            Res::Builtin(Builtin::Type(BuiltinType::Result)) => {
                let err = lowered.get(1).cloned().unwrap_or(Ty::STR);
                Ty::Result(Box::new(lowered.first().cloned().unwrap_or(Ty::Error)), Box::new(err))
            }
            Res::Def(def) => {
                let n_generics = self.n_generics(def);
                lowered.resize(n_generics, Ty::Error);
                match self.program.def(def).kind {
                    DefKind::Struct(_) => Ty::Struct(def, lowered),
                    DefKind::Enum(_) => Ty::Enum(def, lowered),
                    _ => Ty::Error,
                }
            }
            _ => Ty::Error,
        }
    }

    pub(super) fn n_generics(&self, def: DefId) -> usize {
        match &self.program.def(def).kind {
            DefKind::Struct(item) => item.generics.len(),
            DefKind::Enum(item) => item.generics.len(),
            _ => 0,
        }
    }

    /// The extent that a dimension states as a number or by a constant.
    pub(super) fn extent(&self, dim: &Dim, body: BodyId) -> Extent {
        let body = &self.program.bodies[body];
        let kind = match dim {
            Dim::Expr(expr) => &body.exprs.get(*expr)?.kind,
            Dim::Extent(Res::Local(local), _) => self.constant_extent(body.locals.get(*local)?)?,
            _ => return None,
        };
        match kind {
            ExprKind::Literal(Literal::Int(value, _)) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The value of the constant that a size's name stands for.
    fn constant_extent(&self, size: &Local) -> Option<&'p ExprKind> {
        let LocalKind::Extent(Some(Res::Def(def))) = size.kind else { return None };
        let DefKind::Const(constant) = &self.program.def(def).kind else { return None };
        let body = &self.program.bodies[constant.body];
        body.value.map(|value| body.kind(value))
    }
}
