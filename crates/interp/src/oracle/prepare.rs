//! Resolves the names of a module to slots; see [`super::code`].
//!
//! Expects a module that the verifier accepts; anything else is an internal error, never a panic.

use std::collections::{HashMap, HashSet};

use einlang_index::{Quasi, Var};
use einlang_tir::module::{Axis, Binding, Group, Module, SymbolSource, Until};
use einlang_tir::order::any_order;
use einlang_tir::region::{Def, InstKind, Region, Subscript};
use einlang_tir::types::Ident;

use super::code::{
    AxisCode, BindingCode, CheckCode, ClauseCode, Code, Dest, FunctionCode, GlobalCode, GroupCode,
    InputCode, OpenRef, RegionId, Sizes, SymbolCode, TensorRef, UntilCode,
};
use super::index::{DomainCode, IndexCode, VarRef};
use crate::stop::{Stop, StopCode};

/// Regions nested deeper than this come from no program.
const MAX_NESTING: usize = 300;

/// Resolves a module.
pub(super) fn prepare(module: &Module) -> Result<Code, Stop> {
    let mut prepare = Prepare::new(module);
    prepare.inputs()?;
    prepare.declare_groups();
    prepare.symbols()?;
    prepare.declare_functions();
    for (at, function) in module.functions.iter().enumerate() {
        prepare.sizes = Sizes::default();
        prepare.most = Sizes::default();
        let body = prepare.region(&function.body)?;
        prepare.code.functions[at] =
            FunctionCode { name: function.name.clone(), body, sizes: prepare.most };
    }
    for at in 0..module.groups.len() {
        prepare.sizes = Sizes::default();
        let group = prepare.group(&module.groups[at], true)?;
        prepare.code.groups[at] = group;
    }
    prepare.checks()?;
    prepare.code.outputs.clone_from(&module.outputs);
    Ok(prepare.code)
}

/// What is known while a module is resolved. Names, value numbers and variables are unique in a
/// module, so one table of each is enough.
pub(super) struct Prepare<'m> {
    pub(super) module: &'m Module,
    pub(super) code: Code,
    pub(super) values: HashMap<u32, u32>,
    pub(super) vars: HashMap<Var, u32>,
    pub(super) tensors: HashMap<Ident, TensorRef>,
    opens: HashMap<Var, OpenRef>,
    varying: HashSet<Var>,
    pub(super) functions: HashMap<Ident, usize>,
    /// The slots in use, and the most that the activation ever has.
    pub(super) sizes: Sizes,
    pub(super) most: Sizes,
    /// The names that the groups around define.
    pub(super) around: Vec<Vec<Ident>>,
    pub(super) depth: usize,
}

impl<'m> Prepare<'m> {
    fn new(module: &'m Module) -> Prepare<'m> {
        Prepare {
            module,
            code: Code::default(),
            values: HashMap::new(),
            vars: HashMap::new(),
            tensors: HashMap::new(),
            opens: HashMap::new(),
            varying: HashSet::new(),
            functions: HashMap::new(),
            sizes: Sizes::default(),
            most: Sizes::default(),
            around: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn unknown<T>(&self, what: &str) -> Result<T, Stop> {
        let message = format!("{what} of module `{}` is not defined there", self.module.name);
        Err(Stop::internal(message))
    }

    fn global(&mut self, name: &Ident, global: GlobalCode) {
        let number = self.code.globals.len() as u32;
        self.code.globals.push(global);
        self.code.names.insert(name.clone(), number);
        self.tensors.insert(name.clone(), TensorRef::Global(number));
    }

    fn inputs(&mut self) -> Result<(), Stop> {
        for (at, input) in self.module.inputs.iter().enumerate() {
            self.global(&input.name, GlobalCode::Input(at));
        }
        Ok(())
    }

    fn declare_groups(&mut self) {
        for (at, group) in self.module.groups.iter().enumerate() {
            self.code.groups.push(GroupCode {
                bindings: Vec::new(),
                until: None,
                outer: Sizes::default(),
                order: None,
                is_global: true,
            });
            for (member, binding) in group.bindings.iter().enumerate() {
                self.global(&binding.name, GlobalCode::Binding(at, member as u32));
            }
            if let Some(until) = &group.until {
                self.opens.insert(until.extent, OpenRef::Global(at));
            }
        }
    }

    fn declare_functions(&mut self) {
        for function in &self.module.functions {
            self.functions.insert(function.name.clone(), self.code.functions.len());
            let (name, body, sizes) = (function.name.clone(), 0, Sizes::default());
            self.code.functions.push(FunctionCode { name, body, sizes });
        }
    }

    /// Symbols whose value is one for the whole evaluation.
    fn symbols(&mut self) -> Result<(), Stop> {
        for symbol in &self.module.symbols {
            if self.decide(&symbol.source, symbol.var) {
                self.varying.insert(symbol.var);
            }
            let code = match &symbol.source {
                SymbolSource::Argument => {
                    self.code.n_arguments += 1;
                    SymbolCode::Argument(self.code.n_arguments - 1)
                }
                SymbolSource::Shape(tensor, axis) => match self.tensors.get(tensor) {
                    Some(TensorRef::Global(number)) => SymbolCode::Extent(*number, *axis),
                    _ => SymbolCode::Local,
                },
                SymbolSource::Value(tensor) => match self.tensors.get(tensor) {
                    Some(TensorRef::Global(number)) => SymbolCode::Value(*number),
                    _ => return self.unknown(&format!("`{}`", tensor.as_str())),
                },
                SymbolSource::Max(of) if !self.varies(symbol.var) => {
                    SymbolCode::Max(self.indices(of)?)
                }
                SymbolSource::Min(of) if !self.varies(symbol.var) => {
                    SymbolCode::Min(self.indices(of)?)
                }
                SymbolSource::Until => match self.opens.get(&symbol.var) {
                    Some(OpenRef::Global(group)) => SymbolCode::Until(*group),
                    _ => SymbolCode::Local,
                },
                SymbolSource::Max(_) | SymbolSource::Min(_) | SymbolSource::Local => {
                    SymbolCode::Local
                }
            };
            self.code.symbols.push(code);
        }
        Ok(())
    }

    /// Whether a symbol differs from activation to activation. Symbols are asked about in order.
    fn decide(&self, source: &SymbolSource, var: Var) -> bool {
        match source {
            SymbolSource::Max(of) | SymbolSource::Min(of) => of.iter().any(|expr| {
                let mut varies = false;
                expr.for_each_var(&mut |v| varies |= v >= var || self.varies(v));
                varies
            }),
            SymbolSource::Shape(tensor, _) => {
                !matches!(self.tensors.get(tensor), Some(TensorRef::Global(_)))
            }
            SymbolSource::Until => !matches!(self.opens.get(&var), Some(OpenRef::Global(_))),
            SymbolSource::Local => true,
            SymbolSource::Argument | SymbolSource::Value(_) => false,
        }
    }

    fn varies(&self, var: Var) -> bool {
        self.varying.contains(&var)
    }

    fn checks(&mut self) -> Result<(), Stop> {
        let module = self.module;
        let text = |expr: &Quasi| expr.display(module.vars.names()).to_string();
        for check in &module.checks {
            let condition = &check.condition;
            let code = CheckCode {
                left: self.index(&condition.left)?,
                relation: condition.relation,
                right: self.index(&condition.right)?,
                message: check.message.clone(),
                trap: check.trap,
                loc: check.loc,
            };
            self.code.checks.push(code);
        }
        for input in &module.inputs {
            let mut dims = Vec::new();
            for dim in &input.ty.dims {
                dims.push((self.index(&dim.extent)?, text(&dim.extent)));
            }
            let (name, elem) = (input.name.clone(), input.ty.elem);
            self.code.inputs.push(InputCode { name, elem, dims });
        }
        Ok(())
    }

    pub(super) fn indices(&self, exprs: &[Quasi]) -> Result<Vec<IndexCode>, Stop> {
        exprs.iter().map(|expr| self.index(expr)).collect()
    }

    pub(super) fn index(&self, expr: &Quasi) -> Result<IndexCode, Stop> {
        IndexCode::new(expr, &mut |var| self.var(var))
    }

    pub(super) fn var(&self, var: Var) -> Result<VarRef, Stop> {
        if let Some(slot) = self.vars.get(&var) {
            return Ok(VarRef::Slot(*slot));
        }
        let name = || format!("`{}`", self.module.vars.show(var));
        if !self.varies(var) && self.module.source(var).is_some() {
            return Ok(VarRef::Symbol(var.number() as u32));
        }
        match self.module.source(var) {
            Some(SymbolSource::Max(of)) => Ok(VarRef::Max(self.indices(of)?)),
            Some(SymbolSource::Min(of)) => Ok(VarRef::Min(self.indices(of)?)),
            Some(SymbolSource::Shape(tensor, axis)) => match self.tensors.get(tensor) {
                Some(tensor) => Ok(VarRef::Extent(*tensor, *axis)),
                None => self.unknown(&name()),
            },
            Some(SymbolSource::Until) => match self.opens.get(&var) {
                Some(open) => Ok(VarRef::Open(*open)),
                None => self.unknown(&name()),
            },
            _ => self.unknown(&name()),
        }
    }

    pub(super) fn val_slot(&mut self, number: u32) -> u32 {
        let slot = self.sizes.vals;
        self.sizes.vals += 1;
        self.values.insert(number, slot);
        self.most = self.most.max(self.sizes);
        slot
    }

    pub(super) fn var_slot(&mut self, var: Var) -> u32 {
        let slot = self.sizes.vars;
        self.sizes.vars += 1;
        self.vars.insert(var, slot);
        self.most = self.most.max(self.sizes);
        slot
    }

    /// The name of an index as it was written: of several of one name in a module, all but the
    /// first have a number at the end.
    fn written(&self, var: Var) -> String {
        let name = self.module.vars.show(var);
        match name.rsplit_once('_') {
            Some((base, number))
                if number.bytes().all(|b| b.is_ascii_digit())
                    && self.module.vars.lookup(base).is_some() =>
            {
                base.to_owned()
            }
            _ => name,
        }
    }

    pub(super) fn tensor_slot(&mut self, name: &Ident) -> u32 {
        let slot = self.sizes.tensors;
        self.sizes.tensors += 1;
        self.tensors.insert(name.clone(), TensorRef::Slot(slot));
        self.most = self.most.max(self.sizes);
        slot
    }

    pub(super) fn dest(&mut self, def: &Def) -> Dest {
        match def {
            Def::Scalar(value) => Dest::Scalar(self.val_slot(value.number)),
            Def::Tensor(tensor) => Dest::Tensor(self.tensor_slot(&tensor.name)),
        }
    }

    /// Resolves a group. Its tensors have their slots already, if it is local.
    pub(super) fn group(&mut self, group: &Group, is_global: bool) -> Result<GroupCode, Stop> {
        let outer = self.sizes;
        if !is_global {
            let slots: Vec<u32> =
                group.bindings.iter().map(|binding| self.tensor_slot(&binding.name)).collect();
            if let (Some(until), Some(slot)) = (&group.until, slots.first()) {
                self.opens.insert(until.extent, OpenRef::Slot(*slot));
            }
        }
        let inside = self.sizes;
        let most = self.most;
        self.around.push(group.bindings.iter().map(|binding| binding.name.clone()).collect());
        let mut bindings = Vec::new();
        for binding in &group.bindings {
            (self.sizes, self.most) = (inside, inside);
            bindings.push(self.binding(binding, group.until.as_ref())?);
        }
        (self.sizes, self.most) = (inside, inside);
        let until = group.until.as_ref().map(|until| self.until(until)).transpose()?;
        let names = self.around.pop().unwrap_or_default();
        (self.sizes, self.most) = (inside, most.max(inside));
        let order = match reads_itself_by_data(group, &names) {
            true => any_order(self.module, group),
            false => None,
        };
        Ok(GroupCode { bindings, until, outer, order, is_global })
    }

    fn binding(&mut self, binding: &Binding, until: Option<&Until>) -> Result<BindingCode, Stop> {
        let open = until.map(|until| until.extent);
        let mut axes = Vec::new();
        for axis in &binding.axes {
            axes.push(self.axis(axis, open)?);
        }
        let slots: Vec<u32> = axes.iter().map(|axis| axis.slot).collect();
        let inside = self.sizes;
        let mut clauses = Vec::new();
        for clause in &binding.clauses {
            self.sizes = inside;
            let domain = self.domain(&clause.domain, slots.clone(), false)?;
            let guard = clause.guard.as_ref().map(|guard| self.region(guard)).transpose()?;
            let body = self.region(&clause.body)?;
            clauses.push(ClauseCode { domain, guard, body, loc: clause.loc });
        }
        Ok(BindingCode {
            name: binding.name.clone(),
            elem: binding.elem,
            axes,
            clauses,
            zero_fill: binding.zero_fill,
            sizes: self.most,
            loc: binding.loc,
        })
    }

    fn axis(&mut self, axis: &Axis, open: Option<Var>) -> Result<AxisCode, Stop> {
        // The extent sees what is outside the binding only.
        let extent = self.index(&axis.dim.extent)?;
        Ok(AxisCode {
            name: self.written(axis.var),
            coord: axis.dim.coord.clone(),
            is_open: open.is_some() && axis.dim.extent.as_var() == open,
            slot: self.var_slot(axis.var),
            extent,
        })
    }

    pub(super) fn domain(
        &self,
        domain: &einlang_index::Domain,
        slots: Vec<u32>,
        enumerated: bool,
    ) -> Result<DomainCode, Stop> {
        DomainCode::new(domain, slots, enumerated, &mut |var| self.var(var))
    }

    fn until(&mut self, until: &Until) -> Result<UntilCode, Stop> {
        let (first, max) = (self.index(&until.first)?, self.index(&until.max)?);
        let slot = self.var_slot(until.index);
        let condition = self.region(&until.condition)?;
        Ok(UntilCode { slot, first, max, condition, sizes: self.most })
    }

    pub(super) fn region(&mut self, region: &Region) -> Result<RegionId, Stop> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(Stop::new(StopCode::Depth, "the code nests too deeply"));
        }
        let params = region.params.iter().map(|def| self.dest(def)).collect();
        let code = self.insts(region, params)?;
        self.depth -= 1;
        self.code.regions.push(code);
        Ok(self.code.regions.len() - 1)
    }
}

/// Whether a clause reads its own group at a point that is data.
fn reads_itself_by_data(group: &Group, names: &[Ident]) -> bool {
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                found |= names.contains(&read.place.tensor) && by_data(&read.place.at);
            }
        });
    }
    found
}

/// Whether a subscript is data.
pub(super) fn by_data(at: &[Subscript]) -> bool {
    at.iter().any(|subscript| match subscript {
        Subscript::Index(_) => false,
        Subscript::Value(arg) => arg.as_const().is_none(),
    })
}
