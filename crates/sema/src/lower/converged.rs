//! `converged(x)`: whether a recurrence ended by its condition.

use einlang_index::Var;
use einlang_tir::module::SymbolSource;
use einlang_tir::region::InstKind;
use einlang_tir::types::{Elem, Ident};

use super::module::loc;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Src, TensorId, Val};
use super::{Lower, unsupported};
use crate::hir::{Arg, ExprKind, Res};

impl<'p> Lower<'p> {
    /// Whether a recurrence of a module that is closed ended by its condition, as a tensor of it.
    /// For a derivative, its definition may have moved on to a later module.
    fn converged_before(&mut self, id: TensorId) -> Option<TensorId> {
        let info = self.info(id);
        let here = match info.home {
            Home::Module(home) => Some((home, info.name.clone())),
            Home::Host => None,
        };
        let former = self.former.iter().filter(|known| *known.1 == id).map(|known| known.0.clone());
        let mut homes: Vec<(usize, Ident)> = here.into_iter().chain(former).collect();
        homes.sort_unstable();
        let open = homes.into_iter().find_map(|(home, name)| {
            let tir = &self.modules.get(home).filter(|_| self.pending != Some(home))?.tir;
            let mut axes =
                tir.binding(&name)?.axes.iter().filter_map(|axis| axis.dim.extent.as_var());
            let is_open = |var: &Var| tir.source(*var) == Some(&SymbolSource::Until);
            axes.find(is_open).map(|open| (home, open))
        });
        let (home, open) = open?;
        Some(self.export_inst(home, Elem::Bool, InstKind::Converged(open), None))
    }

    /// `converged(x)`
    pub(super) fn converged(&mut self, arg: Option<&Arg>, value: &Val<'p>) -> R<Val<'p>> {
        if let Some(ExprKind::Name(Res::Local(local))) = arg.map(|arg| self.body().kind(arg.value))
            && let Some(ended) = self.frame.endings.get(local).cloned()
        {
            return Ok(Val::Scalar(Scalar { elem: Elem::Bool, form: Form::Host(ended) }));
        }
        let leaf = value.leaves().into_iter().next();
        if let Some(Val::Tensor(tensor)) = &leaf
            && let Src::Named(id) = tensor.src
            && self.is_at_home(id)
        {
            let extents = self.info(id).extents.clone();
            let symbols = extents.iter().filter_map(einlang_index::Quasi::as_var);
            let open = symbols.into_iter().find(|var| {
                let source = self.cx().tir.source(*var).cloned();
                source == Some(einlang_tir::module::SymbolSource::Until)
            });
            if let Some(var) = open {
                if self.in_region() {
                    let kind = InstKind::Converged(var);
                    return Ok(Val::Scalar(self.emit(Elem::Bool, kind, loc(self.here))));
                }
                let (name, span) = (self.fresh("v"), self.here);
                let id = self.define_scalar(&name, span, |cx| {
                    Ok(cx.emit(Elem::Bool, InstKind::Converged(var), loc(span)))
                })?;
                return Ok(Val::named(Elem::Bool, 0, id));
            }
        }
        if let Some(Val::Tensor(tensor)) = &leaf
            && let Src::Named(id) = tensor.src
            && let Some(ended) = self.converged_before(id)
        {
            return Ok(Val::named(Elem::Bool, 0, ended));
        }
        unsupported(self.here, "`converged` of this value")
    }
}
