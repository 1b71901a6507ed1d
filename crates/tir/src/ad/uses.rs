//! What instructions mention, and the part of a list of instructions that some values need.

use einlang_index::{Quasi, Var};
use rustc_hash::FxHashSet as HashSet;

use crate::module::Group;
use crate::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript};
use crate::types::Ident;

/// Values, variables and tensors that are mentioned, those that are defined inside included.
#[derive(Clone, Default, Debug)]
pub(super) struct Uses {
    pub(super) values: HashSet<u32>,
    pub(super) vars: HashSet<Var>,
    pub(super) tensors: HashSet<Ident>,
}

impl Uses {
    /// The uses of some operands.
    pub(super) fn of_args<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Uses {
        let mut uses = Uses::default();
        args.into_iter().for_each(|arg| uses.arg(arg));
        uses
    }

    pub(super) fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Const(_) => {}
            Arg::Value(value) => drop(self.values.insert(value.number)),
            Arg::Tensor(name) => drop(self.tensors.insert(name.clone())),
        }
    }

    pub(super) fn quasi(&mut self, expr: &Quasi) {
        expr.for_each_var(&mut |var| {
            self.vars.insert(var);
        });
    }

    fn place(&mut self, place: &Place) {
        self.tensors.insert(place.tensor.clone());
        for subscript in &place.at {
            if let Subscript::Index(expr) = subscript {
                self.quasi(expr);
            }
        }
    }

    pub(super) fn inst(&mut self, inst: &Inst) {
        inst.args().into_iter().for_each(|arg| self.arg(arg));
        for def in &inst.results {
            if let Def::Tensor(tensor) = def {
                tensor.ty.dims.iter().for_each(|dim| self.quasi(&dim.extent));
            }
        }
        match &inst.kind {
            InstKind::Index(expr) => self.quasi(expr),
            InstKind::Read(read) => self.place(&read.place),
            InstKind::Deriv { of, by } => {
                self.place(of);
                self.place(by);
            }
            InstKind::Reduce(reduction) => {
                self.vars.extend(reduction.domain.params());
            }
            InstKind::Group(group) => self.group(group),
            InstKind::Converged(var) => drop(self.vars.insert(*var)),
            _ => {}
        }
        inst.regions().into_iter().for_each(|region| self.region(region));
    }

    fn group(&mut self, group: &Group) {
        for binding in &group.bindings {
            binding.axes.iter().for_each(|axis| self.quasi(&axis.dim.extent));
            binding.clauses.iter().for_each(|clause| self.vars.extend(clause.domain.params()));
        }
        if let Some(until) = &group.until {
            self.quasi(&until.first);
            self.quasi(&until.max);
        }
    }

    pub(super) fn region(&mut self, region: &Region) {
        region.insts.iter().for_each(|inst| self.inst(inst));
        region.results.iter().for_each(|arg| self.arg(arg));
    }

    /// Whether the instruction defines something of this.
    pub(super) fn wants(&self, inst: &Inst) -> bool {
        let defined = inst.results.iter().any(|def| match def {
            Def::Scalar(value) => self.values.contains(&value.number),
            Def::Tensor(tensor) => self.tensors.contains(&tensor.name),
        });
        defined
            || match &inst.kind {
                InstKind::Param { var, .. } => self.vars.contains(var),
                InstKind::Group(group) => {
                    group.bindings.iter().any(|b| self.tensors.contains(&b.name))
                }
                _ => false,
            }
    }
}

/// The instructions that the uses need, in order; the uses grow by what those need.
pub(super) fn slice(insts: &[Inst], uses: &mut Uses) -> Vec<Inst> {
    let mut kept = Vec::new();
    for inst in insts.iter().rev() {
        if uses.wants(inst) {
            uses.inst(inst);
            kept.push(inst.clone());
        }
    }
    kept.reverse();
    kept
}
