//! What is asked of a module that is closed: it becomes a tensor of rank 0 there.

use einlang_index::Quasi;
use einlang_tir::region::{InstKind, Region};
use einlang_tir::types::{Elem, Ident, Loc};

use super::Lower;
use super::tensors::{Home, TensorInfo, rank0};
use super::value::{Form, Scalar, TensorId};

impl Lower<'_> {
    /// An index expression of a module that is closed, as a tensor of rank 0.
    pub(super) fn export_index(&mut self, scalar: &Scalar) -> TensorId {
        let Form::Index(home, expr) = &scalar.form else { return TensorId(0) };
        let (home, expr) = (*home, expr.clone());
        let kind = InstKind::Index(expr.clone());
        self.export_inst(home, scalar.elem, kind, Some(expr))
    }

    /// An instruction that needs nothing, as a tensor of rank 0 of a module that is closed.
    pub(super) fn export_inst(
        &mut self,
        home: usize,
        elem: Elem,
        kind: InstKind,
        index: Option<Quasi>,
    ) -> TensorId {
        let name = Ident::new(&self.fresh("n"));
        let module = &mut self.modules[home];
        let value = module.tir.supply.value(elem);
        let inst = einlang_tir::region::Inst {
            results: vec![einlang_tir::region::Def::Scalar(value)],
            kind,
            loc: Loc::default(),
        };
        let body = Region { params: Vec::new(), insts: vec![inst], results: vec![value.into()] };
        module.tir.groups.push(rank0(&name, elem, body, Loc::default()));
        self.add_tensor(TensorInfo {
            elem,
            rank: 0,
            name,
            home: Home::Module(home),
            extents: Vec::new(),
            index,
            host: None,
            bound: false,
            nameless: false,
            gaps: false,
            covered: None,
        })
    }
}
