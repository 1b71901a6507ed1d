//! Copies of regions with fresh binders.
//!
//! Values, indices, local symbols and tensors are identities, so a region that is used a second
//! time (a guard that two clauses need, a function that is inlined) gets new ones of everything it
//! defines. What it only mentions stays as it is, except where the caller says otherwise.

use std::collections::{BTreeSet, HashMap};

use einlang_index::{Result, Var};

use crate::module::{Group, Module, Symbol, SymbolSource};
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Over, Place, Reduction, Region, Subscript,
};
use crate::types::{Ident, Loc};
use crate::vars::{rename_domain, rename_quasi};

/// Makes copies within one module.
#[derive(Debug)]
pub struct Fresh<'m> {
    module: &'m mut Module,
    names: &'m mut BTreeSet<Ident>,
    values: HashMap<u32, Arg>,
    vars: HashMap<Var, Var>,
    tensors: HashMap<Ident, Ident>,
}

impl<'m> Fresh<'m> {
    /// For copies within `module`, whose tensors have the given names.
    pub fn new(module: &'m mut Module, names: &'m mut BTreeSet<Ident>) -> Fresh<'m> {
        let (values, vars, tensors) = (HashMap::new(), HashMap::new(), HashMap::new());
        Fresh { module, names, values, vars, tensors }
    }

    /// A copy whose parameters are new as well.
    pub fn copy(&mut self, region: &Region) -> Result<Region> {
        let mut copy = region.clone();
        self.region(&mut copy)?;
        Ok(copy)
    }

    /// A copy without parameters, in which `args` stand for them.
    pub fn inline(&mut self, region: &Region, args: &[Arg]) -> Result<Region> {
        let mut copy = region.clone();
        for (param, arg) in std::mem::take(&mut copy.params).iter().zip(args) {
            match (param, arg) {
                (Def::Scalar(value), arg) => drop(self.values.insert(value.number, arg.clone())),
                (Def::Tensor(tensor), Arg::Tensor(name)) => {
                    self.tensors.insert(tensor.name.clone(), name.clone());
                }
                (Def::Tensor(_), _) => {}
            }
        }
        self.region(&mut copy)?;
        Ok(copy)
    }

    /// Gives a group new binders throughout; names that are not taken stay.
    pub(crate) fn copy_group(&mut self, group: &mut Group) -> Result<()> {
        self.group(group)
    }

    fn region(&mut self, region: &mut Region) -> Result<()> {
        region.params.iter_mut().try_for_each(|def| self.def(def))?;
        region.insts.iter_mut().try_for_each(|inst| self.inst(inst))?;
        region.results.iter_mut().for_each(|arg| self.arg(arg));
        Ok(())
    }

    fn inst(&mut self, inst: &mut Inst) -> Result<()> {
        inst.args_mut().into_iter().for_each(|arg| self.arg(arg));
        match &mut inst.kind {
            InstKind::Index(expr) => *expr = rename_quasi(expr, &mut |var| self.var(var))?,
            InstKind::Read(read) => self.place(&mut read.place)?,
            InstKind::Deriv { of, by } => {
                self.place(of)?;
                self.place(by)?;
            }
            InstKind::Group(group) => return self.group(group),
            InstKind::Reduce(reduction) => self.reduction(reduction)?,
            InstKind::Param { var, .. } => *var = self.fresh_symbol(*var),
            InstKind::Converged(var) => *var = self.var(*var),
            _ => {}
        }
        if !matches!(inst.kind, InstKind::Reduce(_)) {
            inst.regions_mut().into_iter().try_for_each(|region| self.region(region))?;
        }
        inst.results.iter_mut().try_for_each(|def| self.def(def))
    }

    fn reduction(&mut self, reduction: &mut Reduction) -> Result<()> {
        if let Combiner::Region(combine) = &mut reduction.combine {
            self.region(combine)?;
        }
        reduction.domain.dims().to_vec().into_iter().for_each(|dim| self.fresh_index(dim));
        self.domain(&mut reduction.domain)?;
        reduction.guard.iter_mut().try_for_each(|guard| self.region(guard))?;
        self.region(&mut reduction.body)
    }

    fn group(&mut self, group: &mut Group) -> Result<()> {
        for binding in &mut group.bindings {
            binding.name = self.fresh_name(&binding.name);
            for axis in &mut binding.axes {
                axis.dim.extent = rename_quasi(&axis.dim.extent, &mut |var| self.var(var))?;
                self.fresh_index(axis.var);
                axis.var = self.var(axis.var);
            }
        }
        for clause in group.bindings.iter_mut().flat_map(|binding| &mut binding.clauses) {
            self.domain(&mut clause.domain)?;
            clause.guard.iter_mut().try_for_each(|guard| self.region(guard))?;
            self.region(&mut clause.body)?;
        }
        let Some(until) = &mut group.until else { return Ok(()) };
        until.first = rename_quasi(&until.first, &mut |var| self.var(var))?;
        until.max = rename_quasi(&until.max, &mut |var| self.var(var))?;
        until.extent = self.fresh_symbol(until.extent);
        self.fresh_index(until.index);
        until.index = self.var(until.index);
        self.region(&mut until.condition)
    }

    fn domain(&mut self, domain: &mut Over) -> Result<()> {
        *domain = Over(rename_domain(domain, &mut |var| self.var(var))?);
        Ok(())
    }

    fn place(&mut self, place: &mut Place) -> Result<()> {
        if let Some(name) = self.tensors.get(&place.tensor) {
            place.tensor = name.clone();
        }
        for subscript in &mut place.at {
            if let Subscript::Index(expr) = subscript {
                *expr = rename_quasi(expr, &mut |var| self.var(var))?;
            }
        }
        Ok(())
    }

    fn arg(&self, arg: &mut Arg) {
        let renamed = match arg {
            Arg::Const(_) => None,
            Arg::Value(value) => self.values.get(&value.number).cloned(),
            Arg::Tensor(name) => self.tensors.get(name).cloned().map(Arg::Tensor),
        };
        if let Some(renamed) = renamed {
            *arg = renamed;
        }
    }

    fn def(&mut self, def: &mut Def) -> Result<()> {
        match def {
            Def::Scalar(value) => {
                let fresh = self.module.supply.value(value.elem);
                self.values.insert(value.number, fresh.into());
                *value = fresh;
            }
            Def::Tensor(tensor) => {
                tensor.name = self.fresh_name(&tensor.name);
                for dim in &mut tensor.ty.dims {
                    dim.extent = rename_quasi(&dim.extent, &mut |var| self.var(var))?;
                }
            }
        }
        Ok(())
    }

    fn var(&self, var: Var) -> Var {
        self.vars.get(&var).copied().unwrap_or(var)
    }

    fn fresh_index(&mut self, var: Var) {
        let fresh = self.module.vars.fresh_like(var);
        self.vars.insert(var, fresh);
    }

    fn fresh_symbol(&mut self, var: Var) -> Var {
        let source = self.module.source(var).cloned().unwrap_or(SymbolSource::Local);
        let fresh = self.module.vars.fresh_like(var);
        self.module.symbols.push(Symbol { var: fresh, source, loc: Loc::default() });
        self.vars.insert(var, fresh);
        fresh
    }

    fn fresh_name(&mut self, name: &Ident) -> Ident {
        let mut text = name.as_str().to_owned();
        while self.names.contains(text.as_str()) {
            text.push('\'');
        }
        let fresh = Ident::new(&text);
        self.names.insert(fresh.clone());
        self.tensors.insert(name.clone(), fresh.clone());
        fresh
    }
}
