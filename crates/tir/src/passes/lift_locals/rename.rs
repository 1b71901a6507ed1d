//! Reads of what was moved: they get the indices in front of their subscripts.

use einlang_index::{Quasi, Var};
use rustc_hash::FxHashMap as HashMap;

use crate::region::{Arg, Inst, InstKind, Place, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::Ident;

/// What tensors and symbols of one region became.
#[derive(Default)]
pub(super) struct Renames {
    /// The name, and the indices in front of the others.
    pub(super) tensors: HashMap<Ident, (Ident, Vec<Var>)>,
    /// Lengths of open axes.
    pub(super) vars: HashMap<Var, Var>,
}

impl Renames {
    pub(super) fn is_empty(&self) -> bool {
        self.tensors.is_empty() && self.vars.is_empty()
    }

    /// Adds what came about later.
    pub(super) fn extend(&mut self, latest: Renames) {
        self.tensors.extend(latest.tensors);
        self.vars.extend(latest.vars);
    }

    /// Renames in an instruction and everything inside it.
    pub(super) fn inst(&self, inst: &mut Inst) {
        if !self.vars.is_empty() {
            // Renaming a variable does no arithmetic that could fail.
            let _ = self.substitution().inst(inst);
        }
        self.walk(inst);
    }

    /// Renames in an operand.
    pub(super) fn arg(&self, arg: &mut Arg) {
        if let Arg::Tensor(name) = arg
            && let Some((new, _)) = self.tensors.get(name)
        {
            *name = new.clone();
        }
    }

    fn substitution(&self) -> Substitution {
        let vars = self.vars.iter().map(|(var, by)| (*var, Quasi::from(*by))).collect();
        Substitution { vars, ..Substitution::default() }
    }

    fn walk(&self, inst: &mut Inst) {
        inst.args_mut().into_iter().for_each(|arg| self.arg(arg));
        match &mut inst.kind {
            InstKind::Read(read) => self.place(&mut read.place),
            InstKind::Deriv { of, by } => {
                self.place(of);
                self.place(by);
            }
            InstKind::Converged(var) => {
                if let Some(by) = self.vars.get(var) {
                    *var = *by;
                }
            }
            _ => {}
        }
        inst.regions_mut().into_iter().for_each(|region| self.region(region));
    }

    /// Renames tensors in a region and everything inside it.
    pub(super) fn region(&self, region: &mut Region) {
        region.insts.iter_mut().for_each(|inst| self.walk(inst));
        region.results.iter_mut().for_each(|arg| self.arg(arg));
    }

    fn place(&self, place: &mut Place) {
        let Some((name, indices)) = self.tensors.get(&place.tensor) else { return };
        place.tensor = name.clone();
        let prefix = indices.iter().map(|var| Subscript::Index((*var).into()));
        place.at.splice(0..0, prefix);
    }
}
