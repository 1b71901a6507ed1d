//! Printing modules, groups and bindings.

use std::fmt::{self, Write as _};

use einlang_index::{Domain, Quasi, Var};

use super::quoted;
use crate::answer::Answer;
use crate::module::{Binding, Clause, Condition, Function, Group, Module, Symbol, SymbolSource};
use crate::op::Trap;
use crate::region::{Def, Region, Tensor};
use crate::types::{Dim, Elem};
use crate::vars::VarTable;

/// The text form of a module.
pub fn print_module(module: &Module) -> String {
    let mut printer = Printer::new(&module.vars);
    printer.module(module);
    printer.out
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self))
    }
}

/// The text so far.
pub(super) struct Printer<'a> {
    pub(super) out: String,
    pub(super) vars: &'a VarTable,
    depth: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(vars: &'a VarTable) -> Printer<'a> {
        Printer { out: String::new(), vars, depth: 0 }
    }

    /// Starts a line and writes text on it.
    pub(super) fn start(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
        self.out.push_str(text);
    }

    /// Writes a whole line.
    pub(super) fn line(&mut self, text: &str) {
        self.start(text);
        self.out.push('\n');
    }

    /// Writes ` {`, the inside one level deeper, and `}`.
    pub(super) fn braces(&mut self, inside: impl FnOnce(&mut Self)) {
        self.out.push_str("{\n");
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.start("}");
    }

    fn module(&mut self, module: &Module) {
        let mut name = String::new();
        // Writing to a string cannot fail.
        let _ = super::write_name(&mut name, &module.name);
        let properties = module.properties.named().into_iter().filter(|p| p.1).map(|p| p.0);
        let properties = properties.collect::<Vec<_>>().join(", ");
        let with = if properties.is_empty() { "" } else { " with " };
        self.start(&format!("module {name}{with}{properties} "));
        self.braces(|p| p.items(module));
        self.out.push('\n');
    }

    fn items(&mut self, module: &Module) {
        module.symbols.iter().for_each(|symbol| self.symbol(symbol));
        self.indices(module);
        for condition in &module.assumptions {
            self.line(&format!("assume {};", self.condition(condition)));
        }
        for check in &module.checks {
            let condition = self.condition(&check.condition);
            let trap = match check.trap {
                Trap::ExtentsDiffer => String::new(),
                trap => format!("{} ", trap.as_str()),
            };
            self.line(&format!("check {trap}{condition} {};", quoted(&check.message)));
        }
        for input in &module.inputs {
            self.line(&format!("input {};", self.tensor(input)));
        }
        for Answer { of, by, how, why, target, read, .. } in &module.answers {
            let read = read.as_ref().map_or(String::new(), |read| format!(" by {read}"));
            let what = quoted(&format!("{of} / {by}"));
            self.line(&format!("request {what} {how} of {target}{read} {};", quoted(why)));
        }
        module.functions.iter().for_each(|function| self.function(function));
        module.groups.iter().for_each(|group| self.group(group));
        if !module.outputs.is_empty() {
            self.line(&format!("output {};", join(&module.outputs)));
        }
    }

    fn symbol(&mut self, symbol: &Symbol) {
        let list = |p: &Self, list: &[Quasi]| -> String {
            list.iter().map(|q| p.quasi(q)).collect::<Vec<_>>().join(", ")
        };
        let source = match &symbol.source {
            SymbolSource::Argument => String::new(),
            SymbolSource::Shape(tensor, axis) => format!(" = shape {tensor} {axis}"),
            SymbolSource::Value(tensor) => format!(" = value {tensor}"),
            SymbolSource::Max(of) => format!(" = max({})", list(self, of)),
            SymbolSource::Min(of) => format!(" = min({})", list(self, of)),
            SymbolSource::Until => " = until".to_owned(),
            SymbolSource::Local => " = local".to_owned(),
        };
        self.line(&format!("symbol {}{source};", self.vars.show(symbol.var)));
    }

    /// Lists the index variables unless reading the binders would number them alike.
    fn indices(&mut self, module: &Module) {
        let mut seen: Vec<Var> = Vec::new();
        for var in super::print_region::binders(module) {
            if !seen.contains(&var) {
                seen.push(var);
            }
        }
        if seen != module.vars.indices() {
            let names: Vec<String> =
                module.vars.indices().iter().map(|var| self.vars.show(*var)).collect();
            self.line(&format!("index {};", names.join(", ")));
        }
    }

    fn function(&mut self, function: &Function) {
        self.start(&format!("fn {} ", function.name));
        if let Some(rule) = &function.rule {
            let word = if rule.reverse { "reverse_rule" } else { "rule" };
            let _ = write!(self.out, "{word} {} ", rule.function);
            if rule.silent > 0 {
                let _ = write!(self.out, "silent {} ", rule.silent);
            }
        }
        self.region(&function.body);
        self.out.push('\n');
    }

    pub(super) fn group(&mut self, group: &Group) {
        if let ([binding], None) = (&group.bindings[..], &group.until) {
            return self.binding(binding);
        }
        self.start("group ");
        self.braces(|p| {
            group.bindings.iter().for_each(|binding| p.binding(binding));
            let Some(until) = &group.until else { return };
            let (extent, index) = (p.vars.show(until.extent), p.vars.show(until.index));
            let (first, max) = (p.quasi(&until.first), p.quasi(&until.max));
            p.start(&format!("until {extent} index {index} from {first} max {max} "));
            p.region(&until.condition);
            p.out.push('\n');
        });
        self.out.push('\n');
    }

    fn binding(&mut self, binding: &Binding) {
        let axis = |axis: &crate::module::Axis| {
            format!("{} < {}", self.vars.show(axis.var), self.dim(&axis.dim))
        };
        let axes = binding.axes.iter().map(axis).collect::<Vec<_>>().join(", ");
        let zero_fill = if binding.zero_fill { " zero_fill" } else { "" };
        self.start(&format!("binding {}: {}[{axes}]{zero_fill} ", binding.name, binding.elem));
        self.braces(|p| binding.clauses.iter().for_each(|clause| p.clause(clause)));
        self.out.push('\n');
    }

    fn clause(&mut self, clause: &Clause) {
        self.start(&format!("clause {} ", self.domain(&clause.domain)));
        self.guard(clause.guard.as_ref());
        self.region(&clause.body);
        self.out.push('\n');
    }

    pub(super) fn guard(&mut self, guard: Option<&Region>) {
        if let Some(guard) = guard {
            self.out.push_str("where ");
            self.region(guard);
            self.out.push(' ');
        }
    }

    pub(super) fn quasi(&self, expr: &Quasi) -> String {
        expr.display(self.vars.names()).to_string()
    }

    pub(super) fn domain(&self, domain: &Domain) -> String {
        domain.display(self.vars.names()).to_string()
    }

    fn condition(&self, condition: &Condition) -> String {
        let (left, right) = (self.quasi(&condition.left), self.quasi(&condition.right));
        format!("{left} {} {right}", condition.relation.as_str())
    }

    fn dim(&self, dim: &Dim) -> String {
        let coord = dim.coord.as_ref().map(|coord| format!(": {coord}")).unwrap_or_default();
        self.quasi(&dim.extent) + &coord
    }

    fn tensor(&self, tensor: &Tensor) -> String {
        let dims = tensor.ty.dims.iter().map(|dim| self.dim(dim)).collect::<Vec<_>>().join(", ");
        let elem: Elem = tensor.ty.elem;
        format!("{}: {elem}[{dims}]", tensor.name)
    }

    pub(super) fn def(&self, def: &Def) -> String {
        match def {
            Def::Scalar(value) => format!("%{}: {}", value.number, value.elem),
            Def::Tensor(tensor) => self.tensor(tensor),
        }
    }
}

/// The items with commas between them.
pub(super) fn join<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
