//! What functions with a rule capture.
//!
//! A rule says nothing about it, so it is differentiated through the body of the function: the body
//! is there once more, for a copy of what was captured, and a request asks how that result follows
//! the copy. Its entries are the coefficients by which the result of the call follows what was
//! captured, beside those that the rule gives for the parameters (`isolate`, `batched`).
//!
//! Such requests are expanded only if something needs them, so a body that has no derivative may
//! capture whatever nobody perturbs.

use super::context::{Ad, zero};
use super::fault::{Fault, R};
use super::idle::{drop_unneeded, needed};
use super::isolate::Isolated;
use crate::fresh::Fresh;
use crate::module::Axis;
use crate::region::{Arg, Inst, InstKind, Place, Subscript};
use crate::types::{Ident, TensorType};

impl Ad<'_> {
    /// Whether a function with a rule captures something.
    pub(super) fn captures(&self, function: &Ident) -> bool {
        let found = self.module.functions.iter().find(|f| f.name == *function);
        found.and_then(|found| found.rule.as_ref()).is_some_and(|rule| rule.silent > 0)
    }

    /// How one result follows something captured, for each point of both.
    pub(super) fn through_body(
        &mut self,
        call: &Isolated<'_>,
        (at, ty): (usize, &TensorType),
        (which, by): (usize, &TensorType),
    ) -> R<Ident> {
        let (function, given) = call.key;
        let copy = self.fresh_name(&format!("{}.captured", function.as_str()));
        let source = given[which].clone();
        self.binding_of(&copy, by, Vec::new(), &[], |ad, out, axes| match &source {
            Arg::Tensor(name) => ad.read(out, name, points(axes), by.elem, true),
            arg => arg.clone(),
        })?;
        let mut given = given.clone();
        given[which] = Arg::Tensor(copy.clone());
        let mut types = Vec::with_capacity(given.len());
        for arg in &given {
            types.push(match arg {
                Arg::Tensor(name) => self.tensor_type(name)?,
                _ => TensorType { elem: arg.elem().unwrap_or(ty.elem), dims: Vec::new() },
            });
        }
        let mut insts = Vec::new();
        let operands = self.operands(&mut insts, &given)?;
        let result = self.body_result(&mut insts, function, (&operands, &types), at, call.inst)?;
        let value = self.fresh_name(&format!("{}.body", function.as_str()));
        self.binding_of(&value, ty, insts, &[], |ad, out, axes| match &result {
            Arg::Tensor(name) => ad.read(out, name, points(axes), ty.elem, true),
            arg => arg.clone(),
        })?;
        let name = self.fresh_name(&format!("{}.through", function.as_str()));
        let axis = |dim: &crate::types::Dim, ad: &mut Self| Axis {
            var: ad.module.vars.index("j"),
            dim: dim.clone(),
        };
        let inner: Vec<Axis> = by.dims.iter().map(|dim| axis(dim, self)).collect();
        let loc = call.inst.loc;
        self.binding_of(&name, ty, Vec::new(), &inner, |ad, out, own| {
            let of = Place { tensor: value, at: points(own) };
            let by = Place { tensor: copy, at: points(&inner) };
            ad.push(out, ty.elem, InstKind::Deriv { of, by }, loc)
        })?;
        self.calls.through.insert(name.clone());
        Ok(name)
    }

    /// One result of a function, by its code.
    pub(super) fn body_result(
        &mut self,
        out: &mut Vec<Inst>,
        function: &Ident,
        (operands, types): (&[Arg], &[TensorType]),
        at: usize,
        inst: &Inst,
    ) -> R<Arg> {
        let found = self.module.functions.iter().find(|f| f.name == *function).cloned();
        let missing = || Fault::no_rule(&format!("`{}`", function.as_str()), inst.loc);
        let code = found.ok_or_else(missing)?;
        let mut region = Fresh::new(self.module, &mut self.names).inline(&code.body, operands)?;
        self.extents(&code.body.params, types)?.region(&mut region)?;
        out.append(&mut region.insts);
        Ok(region.results.get(at).cloned().unwrap_or_else(|| zero(crate::types::Elem::F64)))
    }

    /// A request about a body that the outputs need and that is not expanded yet.
    pub(super) fn needed_through_bodies(&self) -> Option<Ident> {
        let open: Vec<&Ident> = self.calls.through.iter().filter(|n| self.waits(n)).collect();
        if open.is_empty() {
            return None;
        }
        let needed = needed(self.module);
        open.into_iter().filter(|name| needed.contains(*name)).min().cloned()
    }

    /// Drops the requests about bodies that nobody needed, and what reads them.
    pub(super) fn drop_through_bodies(&mut self) {
        if !self.calls.through.is_empty() {
            drop_unneeded(self.module, self.calls.through.clone());
        }
    }
}

/// The point that indices make.
fn points(axes: &[Axis]) -> Vec<Subscript> {
    axes.iter().map(|axis| Subscript::Index(axis.var.into())).collect()
}
