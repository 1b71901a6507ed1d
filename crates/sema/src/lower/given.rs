//! What the entries of a session take from earlier ones, and leave for later ones.

use std::collections::HashSet;

use einlang_source::FileId;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, Intrinsic};

use super::Lower;
use super::entry::Output;
use super::order::defined;
use super::value::{R, Val};
use crate::hir::{ExprKind, LocalId, LocalKind, ModuleId, Scalar, Statement};
use crate::types::walk::sizes;
use crate::types::{InstanceId, Ty};

impl<'p> Lower<'p> {
    /// Makes a parameter of the entry for every binding that is given.
    pub(super) fn declare_given(&mut self, params: &mut Vec<HostDef>) -> R<()> {
        let root = self.typed.modules.first().copied().flatten();
        let Some(root) = root else { return Ok(()) };
        let body = self.body_of(self.typed.instance(root).body);
        for span in &self.options.given {
            let found = body.locals.iter().find(|(_, local)| local.name.span == *span);
            let Some((local, binding)) = found else { continue };
            let ty = self.typed.instance(root).local(local).clone();
            let name = self.spelling(binding.name.name);
            self.here = *span;
            let host = self.param(&ty, params)?;
            let value = self.lifted(host, &ty, name)?;
            let value = self.bound(value, name)?;
            self.given.insert(local, value);
        }
        Ok(())
    }

    /// Binds what is given where the statements of the root are about to run.
    pub(super) fn bind_given(&mut self, module: ModuleId) {
        if self.program.modules.ids().next() == Some(module) {
            for (local, value) in self.given.clone() {
                self.frame.bind(local, value);
            }
        }
    }

    /// Whether the values of a statement are given.
    pub(super) fn is_given(&self, statement: &Statement) -> bool {
        let root = self.program.modules.values().next().and_then(|root| root.body);
        if self.given.is_empty() || root != Some(self.frame.body) {
            return false;
        }
        let (mut any, mut all) = (false, true);
        defined(statement, &mut |local| {
            any = true;
            all &= self.given.contains_key(&local);
        });
        any && all
    }

    /// Whether a statement of an earlier entry is computed again without printing again.
    pub(super) fn is_muted(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Let { value, .. } => self.options.muted.contains(&self.body().span(*value)),
            _ => false,
        }
    }

    /// Says whether `print` is silent from here on.
    pub(super) fn mute(&mut self, silent: bool) {
        let silent = HostArg::Const(Const::bool(silent));
        self.host_effect(HostKind::Intrinsic(Intrinsic::Mute, vec![silent]));
    }

    /// The bindings of an entry that can leave it, and the values of the sizes it declares.
    pub(super) fn left_behind(&mut self, root: InstanceId, entry: FileId) -> R<Vec<Output<'p>>> {
        let body = self.body_of(self.typed.instance(root).body);
        let Some(ExprKind::Block(block)) = body.value.map(|value| body.kind(value)) else {
            return Ok(Vec::new());
        };
        let mut locals: Vec<LocalId> = Vec::new();
        for statement in &block.statements {
            defined(statement, &mut |local| locals.push(local));
            locals.extend(sizes(body, statement));
        }
        let mut seen = HashSet::new();
        locals.retain(|local| body[*local].name.span.file == entry && seen.insert(*local));
        let mut outputs = Vec::with_capacity(locals.len());
        for local in locals {
            let Some((value, ty)) = self.left_by(root, local) else { continue };
            let crate::hir::Ident { name, span } = body[local].name;
            let name = self.spelling(name).to_owned();
            outputs.push(Output { name, span: Some(span), value, ty });
        }
        Ok(outputs)
    }

    fn left_by(&mut self, root: InstanceId, local: LocalId) -> Option<(Val<'p>, Ty)> {
        if matches!(self.body()[local].kind, LocalKind::Extent(_)) {
            // One whose value is unknown here is another name for something with a place of its own.
            let value = self.local(self.frame.body, local).ok()?;
            return Some((value, Ty::Scalar(Scalar::I32)));
        }
        let ty = self.typed.instance(root).local(local).clone();
        let value = self.frame.lookup(self.frame.body, local).cloned()?;
        self.can_leave(&ty).then_some((value, ty))
    }
}
