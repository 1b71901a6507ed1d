//! Names, symbols, conditions and outputs.

use rustc_hash::FxHashSet as HashSet;

use super::Problems;
use super::scope::vars_of;
use crate::module::{Module, SymbolSource};
use crate::region::{Def, InstKind};
use crate::types::{Ident, TensorType};

/// No two tensors share a name, no two functions do.
pub(super) fn unique_names(module: &Module, problems: &mut Problems) {
    let mut tensors: Vec<&Ident> = module.inputs.iter().map(|input| &input.name).collect();
    tensors.extend(module.bindings().map(|binding| &binding.name));
    module.regions().for_each(|region| collect_tensors(region, &mut tensors));
    report_twice(&tensors, "tensor", problems);
    let functions: Vec<&Ident> = module.functions.iter().map(|function| &function.name).collect();
    report_twice(&functions, "function", problems);
}

fn collect_tensors<'a>(region: &'a crate::region::Region, found: &mut Vec<&'a Ident>) {
    let of = |defs: &'a [Def]| defs.iter().filter_map(|def| def.as_tensor()).map(|t| &t.name);
    found.extend(of(&region.params));
    for inst in &region.insts {
        found.extend(of(&inst.results));
        if let InstKind::Group(group) = &inst.kind {
            found.extend(group.bindings.iter().map(|binding| &binding.name));
        }
        inst.regions().into_iter().for_each(|region| collect_tensors(region, found));
    }
}

fn report_twice(names: &[&Ident], kind: &str, problems: &mut Problems) {
    let mut seen = HashSet::default();
    for name in names {
        if !seen.insert(*name) {
            let entity = format!("{kind} `{}`", name.as_str());
            problems.add("unique_names", entity, "the name is used twice");
        }
    }
}

/// Every symbol is declared once, from a source that exists.
pub(super) fn declared_symbols(module: &Module, problems: &mut Problems) {
    let declared: Vec<_> = module.symbols.iter().map(|symbol| symbol.var).collect();
    if declared != module.vars.symbols() {
        let message = "the declarations are not the symbols of the table, in order";
        problems.add("declared_symbols", "the module", message);
    }
    for symbol in &module.symbols {
        let entity = format!("symbol `{}`", module.vars.show(symbol.var));
        let message = match &symbol.source {
            SymbolSource::Shape(tensor, axis) => match shaped(module, tensor) {
                Some(ty) if *axis < ty.rank() => continue,
                Some(_) => format!("`{}` has no axis {axis}", tensor.as_str()),
                None => format!("`{}` is neither an input nor a parameter", tensor.as_str()),
            },
            SymbolSource::Value(tensor) => match module.tensor_type(tensor) {
                Some(ty) if ty.rank() == 0 && ty.elem.is_int() => continue,
                _ => format!("`{}` is not an integer of rank 0", tensor.as_str()),
            },
            SymbolSource::Max(of) | SymbolSource::Min(of) => {
                let earlier = |v| v < symbol.var && module.source(v).is_some();
                if !of.is_empty() && of.iter().all(|e| vars_of(e).into_iter().all(earlier)) {
                    continue;
                }
                "it may depend on earlier symbols only".to_owned()
            }
            SymbolSource::Argument | SymbolSource::Until | SymbolSource::Local => continue,
        };
        problems.add("declared_symbols", entity, message);
    }
}

/// The type of an input or of a function's parameter.
fn shaped(module: &Module, name: &Ident) -> Option<TensorType> {
    let params = module.functions.iter().flat_map(|function| &function.body.params);
    let params = params.filter_map(|def| def.as_tensor());
    let mut tensors = module.inputs.iter().chain(params);
    tensors.find(|tensor| tensor.name == *name).map(|tensor| tensor.ty.clone())
}

/// Assumptions and checks mention symbols only.
pub(super) fn symbolic_conditions(module: &Module, problems: &mut Problems) {
    let checks = module.checks.iter().map(|check| &check.condition);
    for condition in module.assumptions.iter().chain(checks) {
        let vars = vars_of(&condition.left).into_iter().chain(vars_of(&condition.right));
        for var in vars.filter(|var| !module.vars.symbols().contains(var)) {
            let message = format!("`{}` is not a symbol", module.vars.show(var));
            problems.add("symbolic_conditions", "a condition", message);
        }
    }
    for input in &module.inputs {
        let vars = input.ty.dims.iter().flat_map(|dim| vars_of(&dim.extent));
        for var in vars.filter(|var| !module.vars.symbols().contains(var)) {
            let message = format!("`{}` is not a symbol", module.vars.show(var));
            let entity = format!("input `{}`", input.name.as_str());
            problems.add("symbolic_conditions", entity, message);
        }
    }
}

/// Outputs are inputs or bindings, each once.
pub(super) fn outputs(module: &Module, problems: &mut Problems) {
    let mut seen = HashSet::default();
    for output in &module.outputs {
        let entity = format!("output `{}`", output.as_str());
        if module.tensor_type(output).is_none() {
            problems.add("outputs", &entity, "there is no such tensor");
        }
        if !seen.insert(output) {
            problems.add("outputs", entity, "it is listed twice");
        }
    }
}
