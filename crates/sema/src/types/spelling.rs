//! Types and expressions in words, for messages.

use super::Checker;
use super::ty::Ty;
use crate::builtins::Builtin;
use crate::errors::Operand;
use crate::hir::*;

impl Checker<'_> {
    /// A written type of the current body in words.
    pub(super) fn spell(&self, ty: &TypeRef) -> String {
        self.spell_from(ty, self.body(), self.work().body)
    }

    pub(super) fn spell_from(&self, ty: &TypeRef, body: &Body, id: BodyId) -> String {
        let spell = |ty: &TypeRef| self.spell_from(ty, body, id);
        let list = |types: &[TypeRef]| types.iter().map(spell).collect::<Vec<_>>().join(", ");
        match &ty.kind {
            TypeKind::Error => "?".to_string(),
            TypeKind::Scalar(scalar) => scalar.as_str().to_string(),
            TypeKind::Param(index) => match body.generics.get(*index as usize) {
                Some(name) => self.name(name.name).to_string(),
                None => "?".to_string(),
            },
            TypeKind::Tensor(element, dims) => {
                let dims: Vec<String> =
                    dims.iter().map(|dim| self.spell_dim(dim, body, id)).collect();
                match &dims[..] {
                    [any] if any == "?" => format!("[{}]", spell(element)),
                    _ => format!("[{}; {}]", spell(element), dims.join(", ")),
                }
            }
            TypeKind::Jagged(element, 1) => format!("jagged[{}]", spell(element)),
            TypeKind::Jagged(element, levels) => format!("jagged[{}; {levels}d]", spell(element)),
            TypeKind::Tuple(parts) => format!("({})", list(parts)),
            TypeKind::Fn(params, ret) => format!("({}) -> {}", list(params), spell(ret)),
            TypeKind::Named(res, args) => {
                let name = match res {
                    Res::Def(def) => self.name(self.program.def(*def).name.name).to_string(),
                    Res::Builtin(Builtin::Type(ty)) => ty.as_str().to_string(),
                    _ => "?".to_string(),
                };
                if args.is_empty() { name } else { format!("{name}<{}>", list(args)) }
            }
        }
    }

    fn spell_dim(&self, dim: &Dim, body: &Body, id: BodyId) -> String {
        let local = |local: &LocalId| match body.locals.get(*local) {
            Some(local) => self.name(local.name.name),
            None => "?",
        };
        match dim {
            Dim::Any(_) => "?".to_string(),
            Dim::AnyRank(_) => "*".to_string(),
            Dim::Rest(rest, _) => format!("..{}", local(rest)),
            Dim::Extent(Res::Local(extent), _) => local(extent).to_string(),
            Dim::Extent(..) => "?".to_string(),
            Dim::Expr(_) => match self.extent(dim, id) {
                Some(n) => n.to_string(),
                None => "…".to_string(),
            },
        }
    }

    /// A type written in another body, in words.
    pub(super) fn spell_in(&self, ty: &TypeRef, body: BodyId) -> String {
        self.spell_from(ty, &self.program.bodies[body], body)
    }

    /// An operand as messages show it.
    pub(super) fn operand(&self, ty: &Ty, expr: ExprId) -> Operand {
        let ty = self.vars.settled(ty);
        let shown = ty.show(self.program, self.interner);
        let scalar = match &ty {
            Ty::Scalar(scalar) => Some(*scalar),
            Ty::Tensor(element, _) => match **element {
                Ty::Scalar(scalar) => Some(scalar),
                _ => None,
            },
            _ => None,
        };
        let (text, is_atom) = self.snippet(expr);
        Operand { ty: shown, scalar, rank: ty.rank(), text, is_atom, span: self.span(expr) }
    }

    /// A few words for an expression, and whether `as` may follow it directly.
    pub(super) fn snippet(&self, expr: ExprId) -> (String, bool) {
        let body = self.body();
        match body.kind(expr) {
            ExprKind::Name(res) => (self.res_name(*res).unwrap_or_else(|| "…".to_string()), true),
            ExprKind::Access { base, .. } => (format!("{}[…]", self.snippet(*base).0), true),
            ExprKind::Call { callee, .. } => (format!("{}(…)", self.snippet(*callee).0), true),
            ExprKind::Field(base, field) => {
                (format!("{}.{}", self.snippet(*base).0, self.name(field.name)), true)
            }
            ExprKind::Literal(Literal::Int(value, _)) => (value.to_string(), *value >= 0),
            _ => ("(…)".to_string(), false),
        }
    }

    pub(super) fn res_name(&self, res: Res) -> Option<String> {
        Some(match res {
            Res::Local(local) => self.name(self.body()[local].name.name).to_string(),
            Res::Outer(body, local) => {
                self.name(self.program.bodies[body][local].name.name).to_string()
            }
            Res::Def(def) => self.name(self.program.def(def).name.name).to_string(),
            Res::Builtin(crate::builtins::Builtin::Function(function)) => {
                function.as_str().to_string()
            }
            _ => return None,
        })
    }
}
