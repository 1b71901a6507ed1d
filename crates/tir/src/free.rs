//! What code mentions without defining it.
//!
//! Values, variables and tensors are identities with one binder each, so what is free is what is
//! mentioned anywhere less what is bound anywhere inside; no scope is kept.

use std::collections::BTreeSet;

use einlang_index::{Domain, Quasi, Var};

use crate::module::Group;
use crate::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript};
use crate::types::Ident;

/// The free identities of some code.
#[derive(Clone, Debug, Default)]
pub struct Free {
    /// Scalars, by number.
    pub values: BTreeSet<u32>,
    /// Indices and symbols.
    pub vars: BTreeSet<Var>,
    /// Tensors that are read at a point or passed whole.
    pub tensors: BTreeSet<Ident>,
    /// Tensors that are passed whole.
    pub whole: BTreeSet<Ident>,
}

/// What has been seen of some code.
#[derive(Default)]
struct Seen {
    free: Free,
    values: BTreeSet<u32>,
    vars: BTreeSet<Var>,
    tensors: BTreeSet<Ident>,
}

impl Free {
    /// Of an instruction with everything inside it.
    pub fn of_inst(inst: &Inst) -> Free {
        let mut seen = Seen::default();
        seen.inst(inst);
        seen.rest()
    }

    /// Of a group, its extents and domains included.
    pub fn of_group(group: &Group) -> Free {
        let mut seen = Seen::default();
        seen.group(group);
        seen.rest()
    }

    /// Of a region.
    pub fn of_region(region: &Region) -> Free {
        let mut seen = Seen::default();
        seen.region(region);
        seen.rest()
    }
}

/// The variables that the extents, domains and steps of a group mention, its own indices left out.
pub fn shape_vars(group: &Group) -> BTreeSet<Var> {
    let mut seen = Seen::default();
    seen.shape(group);
    seen.rest().vars
}

impl Seen {
    fn rest(mut self) -> Free {
        self.free.values.retain(|number| !self.values.contains(number));
        self.free.vars.retain(|var| !self.vars.contains(var));
        self.free.tensors.retain(|name| !self.tensors.contains(name));
        self.free.whole.retain(|name| !self.tensors.contains(name));
        self.free
    }

    fn region(&mut self, region: &Region) {
        region.params.iter().for_each(|def| self.def(def));
        region.insts.iter().for_each(|inst| self.inst(inst));
        region.results.iter().for_each(|arg| self.arg(arg));
    }

    fn inst(&mut self, inst: &Inst) {
        inst.args().into_iter().for_each(|arg| self.arg(arg));
        inst.results.iter().for_each(|def| self.def(def));
        match &inst.kind {
            InstKind::Index(expr) => self.expr(expr),
            InstKind::Read(read) => self.place(&read.place),
            InstKind::Deriv { of, by } => {
                self.place(of);
                self.place(by);
            }
            InstKind::Reduce(reduction) => self.domain(&reduction.domain),
            InstKind::Param { var, .. } => drop(self.vars.insert(*var)),
            InstKind::Converged(var) => drop(self.free.vars.insert(*var)),
            InstKind::Group(group) => return self.group(group),
            _ => {}
        }
        inst.regions().into_iter().for_each(|region| self.region(region));
    }

    fn group(&mut self, group: &Group) {
        self.shape(group);
        self.tensors.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        group.regions().into_iter().for_each(|region| self.region(region));
    }

    fn shape(&mut self, group: &Group) {
        for binding in &group.bindings {
            for axis in &binding.axes {
                self.expr(&axis.dim.extent);
                self.vars.insert(axis.var);
            }
            binding.clauses.iter().for_each(|clause| self.domain(&clause.domain));
        }
        if let Some(until) = &group.until {
            self.expr(&until.first);
            self.expr(&until.max);
            self.vars.extend([until.extent, until.index]);
        }
    }

    fn domain(&mut self, domain: &Domain) {
        self.vars.extend(domain.dims());
        self.free.vars.extend(domain.params());
    }

    fn expr(&mut self, expr: &Quasi) {
        expr.for_each_var(&mut |var| self.free.vars.extend([var]));
    }

    fn place(&mut self, place: &Place) {
        self.free.tensors.insert(place.tensor.clone());
        for subscript in &place.at {
            if let Subscript::Index(expr) = subscript {
                self.expr(expr);
            }
        }
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Const(_) => {}
            Arg::Value(value) => drop(self.free.values.insert(value.number)),
            Arg::Tensor(name) => {
                self.free.tensors.insert(name.clone());
                self.free.whole.insert(name.clone());
            }
        }
    }

    fn def(&mut self, def: &Def) {
        match def {
            Def::Scalar(value) => drop(self.values.insert(value.number)),
            Def::Tensor(tensor) => {
                self.tensors.insert(tensor.name.clone());
                tensor.ty.dims.iter().for_each(|dim| self.expr(&dim.extent));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_module;

    #[test]
    fn what_is_bound_inside_is_not_free() {
        let module = parse_module(
            "module m { symbol N; input x: f32[N];
            binding y: f32[i < N, j < N] { clause { [i, j] : 0 <= i < N and 0 <= j < N } {
                %0: f32 = read x[j];
                binding l: f32[k < N] { clause { [k] : 0 <= k < N } {
                    %1: f32 = read x[i]; %2: f32 = add %0, %1; yield %2; } }
                %3: f32 = read l[j]; yield %3; } } output y; }",
        );
        let module = module.expect("the text reads");
        let binding = module.bindings().next().expect("one binding");
        let (i, n) = (binding.axes[0].var, module.symbols[0].var);
        let free = Free::of_inst(&binding.clauses[0].body.insts[1]);
        assert_eq!(free.values, BTreeSet::from([0]));
        assert_eq!(free.vars, BTreeSet::from([i, n]));
        assert_eq!(free.tensors, BTreeSet::from([Ident::new("x")]));
        assert!(free.whole.is_empty());
    }
}
