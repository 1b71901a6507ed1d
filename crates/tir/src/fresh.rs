//! Copies of regions with fresh binders.
//!
//! Values, indices, local symbols and tensors are identities, so a region that is used a second
//! time (a guard that two clauses need, a function that is inlined) gets new ones of everything it
//! defines. What it only mentions stays as it is, except where the caller says otherwise. A
//! *canonical* copy has the same binders whatever the original had, so that two groups are the same
//! computation if their canonical copies are equal.

use std::collections::BTreeSet;

use einlang_index::{Result, Var, VarKind};
use rustc_hash::FxHashMap as HashMap;

use crate::module::{Group, Module, Symbol, SymbolSource};
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Over, Place, Reduction, Region, Subscript, Value,
};
use crate::types::{Elem, Ident, Loc};
use crate::vars::{rename_domain, rename_quasi};

/// Where new binders come from.
#[derive(Debug)]
enum Source<'m> {
    /// They are new in a module, whose tensors have these names.
    Module(&'m mut Module, &'m mut BTreeSet<Ident>),
    /// They are counted and belong to no module.
    Counted(u32),
}

/// Makes copies.
#[derive(Debug)]
pub struct Fresh<'m> {
    source: Source<'m>,
    values: HashMap<u32, Arg>,
    vars: HashMap<Var, Var>,
    tensors: HashMap<Ident, Ident>,
}

impl<'m> Fresh<'m> {
    /// For copies within `module`, whose tensors have the given names.
    pub fn new(module: &'m mut Module, names: &'m mut BTreeSet<Ident>) -> Fresh<'m> {
        Fresh::from(Source::Module(module, names))
    }

    /// For one canonical copy, which is no part of any module.
    pub fn canonical() -> Fresh<'static> {
        Fresh::from(Source::Counted(0))
    }

    fn from(source: Source<'_>) -> Fresh<'_> {
        let (values, vars, tensors) = (HashMap::default(), HashMap::default(), HashMap::default());
        Fresh { source, values, vars, tensors }
    }

    /// A copy of a group.
    pub fn copy_group(&mut self, group: &Group) -> Result<Group> {
        let mut copy = group.clone();
        self.group(&mut copy)?;
        Ok(copy)
    }

    /// From now on one variable stands for another.
    pub fn replace_var(&mut self, var: Var, by: Var) {
        self.vars.insert(var, by);
    }

    /// From now on one tensor stands for another.
    pub fn replace_tensor(&mut self, name: &Ident, by: &Ident) {
        self.tensors.insert(name.clone(), by.clone());
    }

    /// From now on an operand stands for a scalar.
    pub fn replace_value(&mut self, value: Value, by: Arg) {
        self.values.insert(value.number, by);
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
        // Axes and domains mention the length of an open axis.
        if let Some(until) = &mut group.until {
            until.extent = self.fresh_symbol(until.extent);
        }
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
                let fresh = self.new_value(value.elem);
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
        let fresh = self.new_var(var);
        self.vars.insert(var, fresh);
    }

    fn fresh_symbol(&mut self, var: Var) -> Var {
        let fresh = self.new_var(var);
        if let Source::Module(module, _) = &mut self.source {
            let source = module.source(var).cloned().unwrap_or(SymbolSource::Local);
            module.symbols.push(Symbol { var: fresh, source, loc: Loc::default() });
        }
        self.vars.insert(var, fresh);
        fresh
    }

    fn fresh_name(&mut self, name: &Ident) -> Ident {
        let fresh = self.new_name(name);
        self.tensors.insert(name.clone(), fresh.clone());
        fresh
    }

    fn new_value(&mut self, elem: Elem) -> Value {
        match &mut self.source {
            Source::Module(module, _) => module.supply.value(elem),
            Source::Counted(n) => Value { number: u32::MAX - next(n), elem },
        }
    }

    fn new_var(&mut self, var: Var) -> Var {
        match &mut self.source {
            Source::Module(module, _) => module.vars.fresh_like(var),
            Source::Counted(n) => match var.kind() {
                VarKind::Index => Var::reserved(VarKind::Index, next(n)),
                _ => Var::reserved(VarKind::Symbol, next(n)),
            },
        }
    }

    fn new_name(&mut self, name: &Ident) -> Ident {
        match &mut self.source {
            Source::Module(_, names) => {
                let mut text = name.as_str().to_owned();
                while names.contains(text.as_str()) {
                    text.push('\'');
                }
                let fresh = Ident::new(&text);
                names.insert(fresh.clone());
                fresh
            }
            // No name of the source begins with a blank.
            Source::Counted(n) => Ident::new(&format!(" {}", next(n))),
        }
    }
}

fn next(n: &mut u32) -> u32 {
    *n = n.saturating_add(1);
    *n
}
