//! Sizes that only the host can compute, before a definition is begun.
//!
//! The extents and ranges of a definition are index expressions of one module. An expression among
//! them that ends the module on the way, because it asserts, calls a host function or makes a list,
//! is evaluated first, and its value is an integer of the host from then on.

use einlang_index::{Var, VarKind};
use einlang_tir::types::Elem;

use super::Lower;
use super::value::{Form, Frame, R, Scalar};
use crate::hir::{Clause, LocalId};
use crate::shapes::{Origin, Source};

impl<'p> Lower<'p> {
    /// Evaluates what the shapes of bindings need of the host.
    pub(super) fn settle_sizes(&mut self, clauses: &[&'p Clause], locals: &[LocalId]) -> R<()> {
        if self.in_region() {
            return Ok(());
        }
        for local in locals {
            let mut vars: Vec<Var> = Vec::new();
            let shapes = self.shapes.instance(self.frame.instance);
            if let Some(shape) = shapes.locals.get(local) {
                shape.for_each_var(&mut |var| vars.push(var));
            }
            let own = shapes.bindings.get(local).map_or(&[][..], |shapes| &shapes[..]);
            vars.extend(own.iter().flat_map(|clause| clause.domain.params()));
            vars.sort_unstable();
            vars.dedup();
            for var in vars {
                let around = self.at_first_point(*local, clauses);
                self.settle_size(var, around)?;
            }
        }
        Ok(())
    }

    fn settle_size(&mut self, var: Var, around: Frame<'p>) -> R<()> {
        let source = match self.shapes.symbols.origin(var) {
            Some(Origin::Axis(source, ..) | Origin::Value(source, _)) => *source,
            _ => return Ok(()),
        };
        let Source::Expr(instance, expr) = source else { return Ok(()) };
        let is_own = instance == self.frame.instance && var.kind() == VarKind::Symbol;
        let known = self.frame.host_vars.contains_key(&var) || self.frame.exprs.contains_key(&expr);
        if !is_own || known || !self.leaves_module(expr) {
            return Ok(());
        }
        let size = self.within(around, |cx| cx.var(var))?;
        let form = Form::Index(self.module(), size);
        let host = self.host_scalar(&Scalar { elem: Elem::I64, form })?;
        self.frame.bind_host_var(var, host);
        Ok(())
    }
}
