//! Reads of lists, one level at a time.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, LocalId, Res, Subscript};
use crate::types::{Ty, walk};

impl<'p> Lower<'p> {
    /// Lists are read one level at a time.
    pub(super) fn host_access(
        &mut self,
        host: HostArg,
        ty: HostType,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
        expr: ExprId,
    ) -> R<Val<'p>> {
        if default.is_some() || self.in_region() {
            return unsupported(self.here, "this read of a list");
        }
        let (mut host, mut ty) = (host, ty);
        for subscript in subscripts {
            if let Subscript::Rest { local: Res::Local(local), .. } = subscript {
                (host, ty) = self.host_rest(host, ty, *local)?;
                continue;
            }
            let (Subscript::Expr(at), HostType::List(inner)) = (subscript, &ty) else {
                return unsupported(self.here, "this read of a list");
            };
            let mut last = false;
            walk::visit(self.body(), vec![*at], &mut |_, k| last |= matches!(k, ExprKind::Last));
            if last {
                let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![host.clone()]);
                let length = self.host_value_of(HostType::Scalar(Elem::I32), kind);
                let one = HostArg::Const(Const::int(Elem::I32, 1));
                let kind = HostKind::Op(Op::Sub, vec![length, one]);
                let end = self.host_value_of(HostType::Scalar(Elem::I32), kind);
                self.lasts.push(Scalar { elem: Elem::I32, form: Form::Host(end) });
            }
            let value = self.eval(*at);
            if last {
                self.lasts.pop();
            }
            let Val::Scalar(scalar) = value? else {
                return unsupported(self.here, "a slice of a list");
            };
            let at = self.host_scalar(&scalar)?;
            let inner = (**inner).clone();
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![host, at]);
            host = self.host_value_of(inner.clone(), kind);
            ty = inner;
        }
        let of: Ty = self.ty(expr);
        self.lifted(host, &of, "item")
    }

    /// Reads a list at all indices of a rest.
    fn host_rest(&mut self, host: HostArg, ty: HostType, local: LocalId) -> R<(HostArg, HostType)> {
        let (mut host, mut ty) = (host, ty);
        let Val::Record(axes) = self.local(self.frame.body, local)? else {
            return unsupported(self.here, "this rest of a list");
        };
        for axis in axes {
            let (HostType::List(inner), Val::Scalar(at)) = (&ty, &axis) else {
                return unsupported(self.here, "this rest of a list");
            };
            let (inner, at) = ((**inner).clone(), self.host_scalar(at)?);
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![host, at]);
            host = self.host_value_of(inner.clone(), kind);
            ty = inner;
        }
        Ok((host, ty))
    }
}
