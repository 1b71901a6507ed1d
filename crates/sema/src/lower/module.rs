//! Modules and regions under construction.
//!
//! While no region is open, what is defined becomes a group of the module; inside a region it
//! becomes a local group. Closing a region leaves out what nothing in it uses, assertions apart:
//! a body that is lowered once per field of a record computes only that field.

use std::collections::{BTreeSet, HashMap, HashSet};

use einlang_index::{Quasi, Var};
use einlang_source::Span;
use einlang_tir::host::{HostArg, HostDef, HostKind};
use einlang_tir::message::Message;
use einlang_tir::module::{Binding, Group, Module, Symbol, SymbolSource};
use einlang_tir::op::{Op, Trap};
use einlang_tir::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript, Value};
use einlang_tir::types::{Elem, Ident, Loc};

use super::Lower;
use super::value::{Form, R, Scalar, TensorId};
use crate::types::InstanceId;

/// A module under construction.
#[derive(Debug)]
pub(super) struct ModuleCx {
    pub(super) tir: Module,
    levels: Vec<Level>,
    pub(super) names: BTreeSet<Ident>,
    /// How many variables have each name.
    n_variables: HashMap<String, u32>,
    /// How many tensors have each name.
    n_tensors: HashMap<String, u32>,
    /// What came in from outside, under which name and with which extents.
    pub(super) imports: HashMap<TensorId, (Ident, Vec<Quasi>)>,
    /// The operands of the `run`: inputs, then integers.
    pub(super) inputs: Vec<HostArg>,
    pub(super) integers: Vec<(Var, HostArg)>,
    pub(super) integer_vars: HashMap<u32, Var>,
    /// Symbols of integers that are computed.
    pub(super) value_vars: HashMap<Ident, Var>,
    /// What the host asked for.
    pub(super) outputs: Vec<(Ident, HostDef)>,
    /// Functions with derivative rules.
    pub(super) functions: HashMap<InstanceId, Ident>,
    /// Bindings with assertions, which are evaluated in any case.
    pub(super) kept: Vec<Ident>,
}

impl ModuleCx {
    /// A name that no other tensor has.
    pub(super) fn free_name(&mut self, base: &str) -> Ident {
        let count = self.n_tensors.entry(base.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let text = if *count == 1 { base.to_owned() } else { format!("{base}_{count}") };
            let name = Ident::new(&text);
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// A region under construction.
#[derive(Debug, Default)]
struct Level {
    insts: Vec<Inst>,
    /// Local symbols by the value they stand for.
    params: HashMap<u32, Var>,
    /// Local symbols by the local binding they stand for.
    named: HashMap<Ident, Var>,
}

impl<'p> Lower<'p> {
    /// The module that numeric code goes to.
    pub(super) fn module(&mut self) -> usize {
        if let Some(id) = self.pending {
            return id;
        }
        let name = self.unique("part");
        self.modules.push(ModuleCx {
            tir: Module::new(&name),
            levels: Vec::new(),
            names: BTreeSet::new(),
            n_variables: HashMap::new(),
            n_tensors: HashMap::new(),
            imports: HashMap::new(),
            inputs: Vec::new(),
            integers: Vec::new(),
            integer_vars: HashMap::new(),
            value_vars: HashMap::new(),
            outputs: Vec::new(),
            functions: HashMap::new(),
            kept: Vec::new(),
        });
        let id = self.modules.len() - 1;
        self.pending = Some(id);
        id
    }

    pub(super) fn cx(&mut self) -> &mut ModuleCx {
        let id = self.module();
        &mut self.modules[id]
    }

    /// Evaluates the pending module at this place of the host code.
    pub(super) fn flush(&mut self) {
        if let Some(id) = self.pending.take() {
            let name = Ident::new(&self.modules[id].tir.name);
            self.host_inst(Vec::new(), HostKind::Run(name, Vec::new()), Loc::default());
        }
    }

    /// Whether code goes into a region.
    pub(super) fn in_region(&self) -> bool {
        self.pending.is_some_and(|id| !self.modules[id].levels.is_empty())
    }

    /// Lowers into a new region. Results are added by the caller through the value.
    pub(super) fn region<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> R<(Vec<Arg>, T)>,
    ) -> R<(Region, T)> {
        self.cx().levels.push(Level::default());
        let done = f(self);
        let level = self.cx().levels.pop().unwrap_or_default();
        let (results, value) = done?;
        let insts = needed(level.insts, &results);
        Ok((Region { params: Vec::new(), insts, results }, value))
    }

    /// A region that yields one scalar.
    pub(super) fn scalar_region(
        &mut self,
        f: impl FnOnce(&mut Self) -> R<Scalar>,
    ) -> R<(Region, Elem)> {
        self.region(|cx| {
            let scalar = f(cx)?;
            let arg = cx.arg(&scalar)?;
            Ok((vec![arg], scalar.elem))
        })
    }

    pub(super) fn push_inst(&mut self, results: Vec<Def>, kind: InstKind, loc: Loc) {
        if let Some(level) = self.cx().levels.last_mut() {
            level.insts.push(Inst { results, kind, loc });
        }
    }

    pub(super) fn new_value(&mut self, elem: Elem) -> Value {
        self.cx().tir.supply.value(elem)
    }

    /// Emits an instruction that defines one scalar.
    pub(super) fn emit(&mut self, elem: Elem, kind: InstKind, loc: Loc) -> Scalar {
        let value = self.new_value(elem);
        self.push_inst(vec![Def::Scalar(value)], kind, loc);
        Scalar::value(value)
    }

    pub(super) fn trap(&mut self, trap: Trap, message: impl Into<Message>, loc: Loc) {
        self.push_inst(Vec::new(), InstKind::Trap { trap, message: message.into() }, loc);
    }

    /// Adds a group here: to the module, or to the region that is open.
    pub(super) fn push_group(&mut self, group: Group, loc: Loc) {
        if self.in_region() {
            return self.push_inst(Vec::new(), InstKind::Group(Box::new(group)), loc);
        }
        let kept = group.bindings.iter().filter(|binding| has_assertion(binding));
        let kept: Vec<Ident> = kept.map(|binding| binding.name.clone()).collect();
        let cx = self.cx();
        cx.kept.extend(kept);
        cx.tir.groups.push(group);
    }

    /// A name that no other tensor of the module has.
    pub(super) fn tensor_name(&mut self, base: &str) -> Ident {
        self.cx().free_name(base)
    }

    /// A name that no other variable of the module has: numbers keep it short where a function
    /// is lowered many times.
    fn variable_name(&mut self, base: &str) -> String {
        let cx = self.cx();
        let count = cx.n_variables.entry(base.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { base.to_owned() } else { format!("{base}_{count}") }
    }

    pub(super) fn new_index(&mut self, name: &str) -> Var {
        let name = self.variable_name(name);
        self.cx().tir.vars.index(&name)
    }

    pub(super) fn new_symbol(&mut self, name: &str, source: SymbolSource, loc: Loc) -> Var {
        let name = self.variable_name(name);
        let module = &mut self.cx().tir;
        let var = module.vars.symbol(&name);
        module.symbols.push(Symbol { var, source, loc });
        var
    }

    /// A symbol for an integer that was computed in the region.
    pub(super) fn local_symbol(&mut self, value: Value) -> Var {
        let levels = &self.cx().levels;
        if let Some(var) = levels.iter().rev().find_map(|level| level.params.get(&value.number)) {
            return *var;
        }
        let var = self.new_symbol("n", SymbolSource::Local, Loc::default());
        self.push_inst(Vec::new(), InstKind::Param { var, value: value.into() }, Loc::default());
        if let Some(level) = self.cx().levels.last_mut() {
            level.params.insert(value.number, var);
        }
        var
    }

    /// The symbol that stands for a binding of one integer, if a region that is open defines it.
    pub(super) fn symbol_of_local(&mut self, id: TensorId) -> R<Option<Var>> {
        let name = self.info(id).name.clone();
        let defines = |inst: &Inst| match &inst.kind {
            InstKind::Group(group) => group.bindings.iter().any(|binding| binding.name == name),
            _ => false,
        };
        let levels = &self.cx().levels;
        let known = levels.iter().rev().find_map(|level| level.named.get(&name).copied());
        if known.is_some() || !levels.iter().any(|level| level.insts.iter().any(defines)) {
            return Ok(known);
        }
        let value = self.read_named(id, Vec::new(), true, Loc::default())?;
        let Form::Value(value) = value.form else { return Ok(None) };
        let var = self.local_symbol(value);
        if let Some(level) = self.cx().levels.last_mut() {
            level.named.insert(name, var);
        }
        Ok(Some(var))
    }

    /// A scalar as an operand of the region that is open.
    pub(super) fn arg(&mut self, scalar: &Scalar) -> R<Arg> {
        Ok(match &scalar.form {
            Form::Const(constant) => (*constant).into(),
            Form::Value(value) => (*value).into(),
            Form::Index(home, expr) if *home == self.module() => match expr.as_constant() {
                Some(n) => einlang_tir::constant::Const::int(scalar.elem, n.into()).into(),
                None => {
                    let kind = InstKind::Index(expr.clone());
                    let value = self.emit(scalar.elem, kind, Loc::default());
                    return self.arg(&value);
                }
            },
            Form::Index(..) => {
                let id = self.export_index(scalar);
                return self.arg(&Scalar { elem: scalar.elem, form: Form::Named(id) });
            }
            Form::Named(id) => {
                let value = self.read_named(*id, Vec::new(), true, Loc::default())?;
                return self.arg(&value);
            }
            Form::Host(host) => {
                let value = self.import_scalar(host.clone(), scalar.elem)?;
                return self.arg(&value);
            }
        })
    }

    /// An operation on scalars in the region that is open.
    pub(super) fn region_op(&mut self, op: Op, args: &[Scalar], elem: Elem, loc: Loc) -> R<Scalar> {
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            operands.push(self.arg(arg)?);
        }
        Ok(self.emit(elem, InstKind::Op(op, operands), loc))
    }
}

pub(super) fn loc(span: Span) -> Loc {
    Loc(Some(span))
}

fn has_assertion(binding: &Binding) -> bool {
    let mut found = false;
    for clause in &binding.clauses {
        for region in clause.guard.iter().chain([&clause.body]) {
            region.for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Assert { .. }));
        }
    }
    found
}

/// The instructions that the results or an assertion need.
fn needed(insts: Vec<Inst>, results: &[Arg]) -> Vec<Inst> {
    let mut used = Used::default();
    results.iter().for_each(|arg| used.arg(arg));
    let mut kept = Vec::with_capacity(insts.len());
    for inst in insts.into_iter().rev() {
        if used.wants(&inst) {
            used.inst(&inst);
            kept.push(inst);
        }
    }
    kept.reverse();
    kept
}

#[derive(Default)]
struct Used {
    values: HashSet<u32>,
    tensors: HashSet<Ident>,
    vars: HashSet<Var>,
}

impl Used {
    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Const(_) => {}
            Arg::Value(value) => drop(self.values.insert(value.number)),
            Arg::Tensor(name) => drop(self.tensors.insert(name.clone())),
        }
    }

    fn wants(&self, inst: &Inst) -> bool {
        let acts = |inst: &Inst| {
            let kind = &inst.kind;
            matches!(kind, InstKind::Assert { .. } | InstKind::Trap { .. })
        };
        let mut must = acts(inst)
            || matches!(&inst.kind, InstKind::Param { var, .. } if self.vars.contains(var));
        if !matches!(inst.kind, InstKind::Group(_)) {
            let regions = inst.regions();
            regions.into_iter().for_each(|r| r.for_each_inst(&mut |inst| must |= acts(inst)));
        }
        let wanted = inst.results.iter().any(|def| match def {
            Def::Scalar(value) => self.values.contains(&value.number),
            Def::Tensor(tensor) => self.tensors.contains(&tensor.name),
        });
        let local = match &inst.kind {
            InstKind::Group(group) => {
                let open = group.until.as_ref();
                group.bindings.iter().any(|binding| self.tensors.contains(&binding.name))
                    || group.bindings.iter().any(has_assertion)
                    || open.is_some_and(|until| self.vars.contains(&until.extent))
            }
            _ => false,
        };
        must || wanted || local
    }

    fn inst(&mut self, inst: &Inst) {
        inst.args().into_iter().for_each(|arg| self.arg(arg));
        self.tensors.extend(inst.tensors().into_iter().cloned());
        self.kind(&inst.kind);
        for region in inst.regions() {
            region.results.iter().for_each(|arg| self.arg(arg));
            region.insts.iter().for_each(|inst| self.inst(inst));
        }
    }

    /// The variables of an instruction's own index expressions.
    fn kind(&mut self, kind: &InstKind) {
        match kind {
            InstKind::Index(expr) => self.quasi(expr),
            InstKind::Read(read) => self.place(&read.place),
            InstKind::Deriv { of, by } => {
                self.place(of);
                self.place(by);
            }
            InstKind::Reduce(reduction) => self.vars.extend(reduction.domain.params()),
            InstKind::Converged(var) => {
                self.vars.insert(*var);
            }
            InstKind::Group(group) => {
                for binding in &group.bindings {
                    binding.axes.iter().for_each(|axis| self.quasi(&axis.dim.extent));
                    let domains = binding.clauses.iter().map(|clause| clause.domain.params());
                    self.vars.extend(domains.flatten());
                }
                if let Some(until) = &group.until {
                    self.quasi(&until.first);
                    self.quasi(&until.max);
                }
            }
            _ => {}
        }
    }

    fn place(&mut self, place: &Place) {
        for subscript in &place.at {
            if let Subscript::Index(expr) = subscript {
                self.quasi(expr);
            }
        }
    }

    fn quasi(&mut self, expr: &Quasi) {
        expr.for_each_var(&mut |var| {
            self.vars.insert(var);
        });
    }
}
