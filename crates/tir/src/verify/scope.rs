//! What is visible where: one walk that the invariants about regions share.

use einlang_index::{Quasi, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::module::{Binding, Clause, Group, Module, SymbolSource};
use crate::region::{Combiner, Def, Inst, InstKind, Reduction, Region};
use crate::types::{Elem, Ident, TensorType};

/// Something that is visited, with what is visible there.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    /// A group, before its tensors are visible.
    Group(&'a Group),
    /// A clause, with the axes visible.
    Clause(&'a Binding, &'a Clause),
    /// A region on entry, before its parameters are visible.
    Enter(&'a Region),
    /// An instruction, before its results are visible.
    Inst(&'a Inst),
    /// The end of a region, where its results are used.
    Yield(&'a Region),
}

/// What is visible.
pub(super) struct Scope<'a> {
    pub(super) module: &'a Module,
    pub(super) values: HashMap<u32, Elem>,
    pub(super) tensors: HashMap<Ident, TensorType>,
    vars: HashSet<Var>,
    /// Where the walk is, for messages.
    pub(super) place: String,
}

/// The callback of the walk.
pub(super) type Visit<'v, 'a> = &'v mut dyn FnMut(&Scope<'a>, Item<'a>);

/// Calls `visit` for everything in the module.
pub(super) fn walk<'a>(module: &'a Module, visit: Visit<'_, 'a>) {
    let mut scope = Scope {
        module,
        values: HashMap::default(),
        tensors: HashMap::default(),
        vars: HashSet::default(),
        place: String::new(),
    };
    for input in &module.inputs {
        scope.tensors.insert(input.name.clone(), input.ty.clone());
    }
    for function in &module.functions {
        scope.place = format!("function `{}`", function.name.as_str());
        scope.region(&function.body, visit);
    }
    module.groups.iter().for_each(|group| scope.group(group, visit));
}

impl<'a> Scope<'a> {
    fn define(&mut self, def: &Def) {
        match def {
            Def::Scalar(value) => drop(self.values.insert(value.number, value.elem)),
            Def::Tensor(tensor) => {
                self.tensors.insert(tensor.name.clone(), tensor.ty.clone());
            }
        }
    }

    fn forget(&mut self, def: &Def) {
        match def {
            Def::Scalar(value) => drop(self.values.remove(&value.number)),
            Def::Tensor(tensor) => drop(self.tensors.remove(&tensor.name)),
        }
    }

    /// The group's tensors stay visible afterwards.
    fn group(&mut self, group: &'a Group, visit: Visit<'_, 'a>) {
        let outer = self.place.clone();
        let first = group.bindings.first().map_or("nothing", |binding| binding.name.as_str());
        self.place = format!("the group of `{first}`");
        visit(self, Item::Group(group));
        for binding in &group.bindings {
            self.tensors.insert(binding.name.clone(), binding.ty());
        }
        self.vars.extend(group.until.iter().map(|until| until.extent));
        for binding in &group.bindings {
            self.vars.extend(binding.dims());
            for (at, clause) in binding.clauses.iter().enumerate() {
                self.place = format!("clause {at} of `{}`", binding.name.as_str());
                visit(self, Item::Clause(binding, clause));
                clause.guard.iter().for_each(|guard| self.region(guard, visit));
                self.region(&clause.body, visit);
            }
            self.vars.retain(|var| !binding.axes.iter().any(|axis| axis.var == *var));
        }
        if let Some(until) = &group.until {
            self.place = "an `until`".to_owned();
            self.vars.insert(until.index);
            self.region(&until.condition, visit);
            self.vars.remove(&until.index);
        }
        self.place = outer;
    }

    fn region(&mut self, region: &'a Region, visit: Visit<'_, 'a>) {
        visit(self, Item::Enter(region));
        region.params.iter().for_each(|def| self.define(def));
        for inst in &region.insts {
            visit(self, Item::Inst(inst));
            self.inside(inst, visit);
            inst.results.iter().for_each(|def| self.define(def));
            if let InstKind::Param { var, .. } = &inst.kind {
                self.vars.insert(*var);
            }
        }
        visit(self, Item::Yield(region));
        region.params.iter().for_each(|def| self.forget(def));
        region.insts.iter().for_each(|inst| self.forget_inst(inst));
    }

    fn inside(&mut self, inst: &'a Inst, visit: Visit<'_, 'a>) {
        match &inst.kind {
            InstKind::Group(group) => self.group(group, visit),
            InstKind::Reduce(reduction) => self.reduction(reduction, visit),
            _ => inst.regions().into_iter().for_each(|region| self.region(region, visit)),
        }
    }

    fn reduction(&mut self, reduction: &'a Reduction, visit: Visit<'_, 'a>) {
        if let Combiner::Region(combine) = &reduction.combine {
            self.region(combine, visit);
        }
        self.vars.extend(reduction.domain.dims());
        reduction.guard.iter().for_each(|guard| self.region(guard, visit));
        self.region(&reduction.body, visit);
        self.vars.retain(|var| !reduction.domain.dims().contains(var));
    }

    fn forget_inst(&mut self, inst: &Inst) {
        inst.results.iter().for_each(|def| self.forget(def));
        match &inst.kind {
            InstKind::Param { var, .. } => drop(self.vars.remove(var)),
            InstKind::Group(group) => {
                for binding in &group.bindings {
                    self.tensors.remove(&binding.name);
                }
            }
            _ => {}
        }
    }

    /// Whether a variable may be mentioned here.
    pub(super) fn sees(&self, var: Var) -> bool {
        match self.module.source(var) {
            None | Some(SymbolSource::Until | SymbolSource::Local) => self.vars.contains(&var),
            Some(SymbolSource::Argument) => true,
            Some(SymbolSource::Shape(tensor, _) | SymbolSource::Value(tensor)) => {
                self.tensors.contains_key(tensor)
            }
            Some(SymbolSource::Max(of) | SymbolSource::Min(of)) => {
                // Only earlier symbols count, so this ends whatever the declarations say.
                of.iter().all(|expr| vars_of(expr).into_iter().all(|v| v < var && self.sees(v)))
            }
        }
    }

    /// The first variable of an expression that is not visible, for a message.
    pub(super) fn unseen(&self, vars: impl IntoIterator<Item = Var>) -> Option<String> {
        let unseen = vars.into_iter().find(|var| !self.sees(*var));
        unseen.map(|var| self.module.vars.show(var))
    }
}

/// The variables of an expression.
pub(super) fn vars_of(expr: &Quasi) -> Vec<Var> {
    let mut vars = Vec::new();
    expr.for_each_var(&mut |var| vars.push(var));
    vars
}
