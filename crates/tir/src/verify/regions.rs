//! Values, index expressions and tensors: everything is visible where it is used.

use einlang_index::Var;
use rustc_hash::FxHashSet as HashSet;

use super::Problems;
use super::scope::{Item, Scope, vars_of, walk};
use crate::module::{Group, Module, SymbolSource};
use crate::region::{Arg, Def, Inst, InstKind, Place, Region, Subscript};

/// A value is defined once, before its uses, and used at its type.
pub(super) fn defined_values(module: &Module, problems: &mut Problems) {
    let mut defined = HashSet::default();
    walk(module, &mut |scope, item| {
        let (args, defs): (Vec<&Arg>, &[Def]) = match item {
            Item::Inst(inst) => (inst.args(), &inst.results),
            Item::Yield(region) => (region.results.iter().collect(), &[]),
            Item::Enter(region) => (Vec::new(), &region.params),
            Item::Group(_) | Item::Clause(..) => return,
        };
        for value in defs.iter().filter_map(|def| def.as_scalar()) {
            if !defined.insert(value.number) {
                let message = format!("%{} is defined twice", value.number);
                problems.add("defined_values", &scope.place, message);
            }
        }
        args.into_iter().for_each(|arg| check_use(scope, arg, problems));
    });
}

fn check_use(scope: &Scope<'_>, arg: &Arg, problems: &mut Problems) {
    let message = match arg {
        Arg::Const(_) => return,
        Arg::Value(value) => match scope.values.get(&value.number) {
            Some(elem) if *elem == value.elem => return,
            Some(elem) => format!("%{} has type {elem}, not {}", value.number, value.elem),
            None => format!("%{} is not defined here", value.number),
        },
        Arg::Tensor(name) if scope.tensors.contains_key(name) => return,
        Arg::Tensor(name) => format!("`{}` is not defined here", name.as_str()),
    };
    problems.add("defined_values", &scope.place, message);
}

/// An index expression mentions only indices and symbols in scope.
pub(super) fn scoped_indices(module: &Module, problems: &mut Problems) {
    walk(module, &mut |scope, item| {
        let vars: Vec<Var> = match item {
            Item::Inst(inst) => inst_vars(inst),
            Item::Clause(_, clause) => {
                clause.domain.dims().iter().copied().chain(clause.domain.params()).collect()
            }
            Item::Group(group) => group_vars(group),
            Item::Enter(region) => {
                let mut vars = def_vars(&region.params);
                vars.retain(|var| !is_own_extent(module, region, *var));
                vars
            }
            Item::Yield(_) => return,
        };
        if let Some(name) = scope.unseen(vars) {
            problems.add("scoped_indices", &scope.place, format!("`{name}` is not in scope"));
        }
    });
}

/// Whether a symbol is the extent of one of the region's own parameters.
fn is_own_extent(module: &Module, region: &Region, var: Var) -> bool {
    match module.source(var) {
        Some(SymbolSource::Shape(tensor, _)) => region.tensor_params().any(|name| name == tensor),
        _ => false,
    }
}

/// The free variables of an instruction's own expressions.
fn inst_vars(inst: &Inst) -> Vec<Var> {
    let mut vars = def_vars(&inst.results);
    match &inst.kind {
        InstKind::Index(expr) => vars.extend(vars_of(expr)),
        InstKind::Read(read) => vars.extend(place_vars(&read.place)),
        InstKind::Deriv { of, by } => vars.extend(place_vars(of).into_iter().chain(place_vars(by))),
        InstKind::Reduce(reduction) => vars.extend(reduction.domain.params()),
        InstKind::Converged(extent) => vars.push(*extent),
        _ => {}
    }
    vars
}

fn def_vars(defs: &[Def]) -> Vec<Var> {
    let tensors = defs.iter().filter_map(|def| def.as_tensor());
    tensors.flat_map(|tensor| &tensor.ty.dims).flat_map(|dim| vars_of(&dim.extent)).collect()
}

fn place_vars(place: &Place) -> Vec<Var> {
    let exprs = place.at.iter().filter_map(|subscript| match subscript {
        Subscript::Index(expr) => Some(expr),
        Subscript::Value(_) => None,
    });
    exprs.flat_map(vars_of).collect()
}

/// The free variables of extents and of the bounds of an `until`, whose own extent is bound here.
fn group_vars(group: &Group) -> Vec<Var> {
    let axes = group.bindings.iter().flat_map(|binding| &binding.axes);
    let mut vars: Vec<Var> = axes.flat_map(|axis| vars_of(&axis.dim.extent)).collect();
    if let Some(until) = &group.until {
        vars.extend(vars_of(&until.first).into_iter().chain(vars_of(&until.max)));
        vars.retain(|var| *var != until.extent);
    }
    vars
}

/// A tensor is in scope where it is read, with one subscript per axis.
pub(super) fn readable_tensors(module: &Module, problems: &mut Problems) {
    walk(module, &mut |scope, item| {
        let Item::Inst(inst) = item else { return };
        match &inst.kind {
            InstKind::Read(read) => check_place(scope, &read.place, problems),
            InstKind::Deriv { of, by } => {
                check_place(scope, of, problems);
                check_place(scope, by, problems);
            }
            _ => {}
        }
    });
}

fn check_place(scope: &Scope<'_>, place: &Place, problems: &mut Problems) {
    let name = place.tensor.as_str();
    let message = match scope.tensors.get(&place.tensor) {
        None => format!("`{name}` is not defined here"),
        Some(ty) if ty.rank() != place.at.len() => {
            format!("`{name}` has rank {}, not {}", ty.rank(), place.at.len())
        }
        Some(_) => return,
    };
    problems.add("readable_tensors", &scope.place, message);
}
