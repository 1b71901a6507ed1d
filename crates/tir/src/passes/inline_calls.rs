//! `inline_calls`: no call is left, and no function.
//!
//! A call becomes the instructions of the function with new binders. The symbols for the extents
//! of its tensor parameters become the extents of the arguments; an integer that is passed and
//! then used in a range or subscript (`param s = %n`) is replaced by the index expression that
//! computed it, so that what is affine for the caller is affine afterwards.
//!
//! A function with a derivative rule stays, with its rule, until the module is differentiated. A
//! function that calls itself stays too, and the module does not become `inlined`.
//!
//! `inline_requests` puts only functions in place that ask for derivatives, and not what those call:
//! the rules of the latter are needed until the requests are expanded.

use std::collections::BTreeSet;

use einlang_index::{Quasi, Result, Var};
use einlang_source::Diagnostics;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Ctx;
use crate::derived::derive_sizes;
use crate::fresh::Fresh;
use crate::graph::strong_parts;
use crate::module::{Function, Group, Module, Symbol, SymbolSource};
use crate::region::{Arg, Def, Inst, InstKind, Region};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident, Loc, TensorType};

/// Inlines every call that can be.
pub fn inline_calls(module: &mut Module, _: &Ctx) -> std::result::Result<(), Diagnostics> {
    if module.functions.is_empty() {
        module.properties.inlined = true;
        return Ok(());
    }
    let functions = std::mem::take(&mut module.functions);
    let names = module.tensor_names();
    let types = tensor_types(module, &functions);
    let stays = staying(module, &functions);
    let mut inliner = Inliner::new(module, names, types);
    let mut kept = Vec::new();
    for at in calls_first(&functions) {
        let mut function = functions[at].clone();
        inliner.body(&mut function.body, &mut HashMap::default());
        if stays.contains(&function.name) {
            kept.push(function);
        } else {
            inliner.ready.insert(function.name.clone(), function);
        }
    }
    let mut groups = std::mem::take(&mut inliner.module.groups);
    groups.iter_mut().for_each(|group| inliner.group(group, &mut HashMap::default()));
    inliner.module.groups = groups;
    let Inliner { ready, gave_up, .. } = inliner;
    if gave_up {
        kept.extend(ready.into_values());
        kept.sort_by(|a, b| a.name.cmp(&b.name));
    }
    retire_symbols(module, &kept);
    module.properties.inlined = kept.is_empty();
    module.functions = kept;
    Ok(())
}

/// Puts the functions with requests in their bodies in place of calls outside of functions; gives whether
/// there was such a call.
pub(crate) fn inline_requests(module: &mut Module) -> bool {
    let asking = module.functions.iter().filter(|function| asks(&function.body));
    let ready: HashMap<Ident, Function> =
        asking.map(|function| (function.name.clone(), function.clone())).collect();
    if ready.is_empty() {
        return false;
    }
    let names = module.tensor_names();
    let types = tensor_types(module, &module.functions);
    let mut inliner = Inliner { ready, one_layer: true, ..Inliner::new(module, names, types) };
    let mut groups = std::mem::take(&mut inliner.module.groups);
    groups.iter_mut().for_each(|group| inliner.group(group, &mut HashMap::default()));
    inliner.module.groups = groups;
    inliner.n_inlined > 0
}

fn asks(body: &Region) -> bool {
    let mut found = false;
    body.for_each_inst(&mut |inst| found |= matches!(inst.kind, InstKind::Deriv { .. }));
    found
}

/// The functions that are not inlined: those with rules, the rules, and recursive ones.
fn staying(module: &Module, functions: &[Function]) -> HashSet<Ident> {
    let mut stays = HashSet::default();
    if !module.properties.differentiated {
        for function in functions {
            if let Some(rule) = &function.rule {
                stays.extend([function.name.clone(), rule.function.clone()]);
            }
        }
    }
    let edges = call_edges(functions);
    for part in strong_parts(&edges) {
        if part.len() > 1 || part.iter().any(|at| edges[*at].contains(at)) {
            stays.extend(part.iter().map(|at| functions[*at].name.clone()));
        }
    }
    stays
}

fn call_edges(functions: &[Function]) -> Vec<Vec<usize>> {
    let position = |name: &Ident| functions.iter().position(|function| function.name == *name);
    let calls = |function: &Function| {
        let mut found = Vec::new();
        function.body.for_each_inst(&mut |inst| {
            if let InstKind::Call { function, .. } = &inst.kind {
                found.extend(position(function));
            }
        });
        found
    };
    functions.iter().map(calls).collect()
}

/// The functions, each after those it calls.
fn calls_first(functions: &[Function]) -> Vec<usize> {
    strong_parts(&call_edges(functions)).into_iter().flatten().collect()
}

/// The types of all tensors: names are identities.
fn tensor_types(module: &Module, functions: &[Function]) -> HashMap<Ident, TensorType> {
    let mut types: HashMap<Ident, TensorType> = HashMap::default();
    types.extend(module.inputs.iter().map(|input| (input.name.clone(), input.ty.clone())));
    types.extend(module.bindings().map(|binding| (binding.name.clone(), binding.ty())));
    let mut add = |region: &Region| {
        let results = region.insts.iter().flat_map(|inst| &inst.results);
        let tensors = region.params.iter().chain(results).filter_map(|def| def.as_tensor());
        types.extend(tensors.map(|tensor| (tensor.name.clone(), tensor.ty.clone())));
        for inst in &region.insts {
            if let InstKind::Group(group) = &inst.kind {
                types.extend(group.bindings.iter().map(|b| (b.name.clone(), b.ty())));
            }
        }
    };
    module.for_each_region(&mut add);
    functions.iter().for_each(|function| function.body.for_each_region(&mut add));
    types
}

/// Extents of parameters that no longer exist belong to nothing.
fn retire_symbols(module: &mut Module, kept: &[Function]) {
    let known: HashSet<Ident> = module
        .inputs
        .iter()
        .map(|input| input.name.clone())
        .chain(kept.iter().flat_map(|function| function.body.tensor_params().cloned()))
        .collect();
    for symbol in &mut module.symbols {
        if matches!(&symbol.source, SymbolSource::Shape(tensor, _) if !known.contains(tensor)) {
            symbol.source = SymbolSource::Local;
        }
    }
}

struct Inliner<'m> {
    module: &'m mut Module,
    names: BTreeSet<Ident>,
    types: HashMap<Ident, TensorType>,
    /// Functions that are put in place; without calls, unless there is only one layer.
    ready: HashMap<Ident, Function>,
    /// Whether calls in what was put in place stay.
    one_layer: bool,
    n_inlined: usize,
    gave_up: bool,
}

/// Index expressions by the value that holds them.
type Known = HashMap<u32, Quasi>;

impl<'m> Inliner<'m> {
    fn new(
        module: &'m mut Module,
        names: BTreeSet<Ident>,
        types: HashMap<Ident, TensorType>,
    ) -> Inliner<'m> {
        let ready = HashMap::default();
        Inliner { module, names, types, ready, one_layer: false, n_inlined: 0, gave_up: false }
    }

    fn group(&mut self, group: &mut Group, known: &mut Known) {
        for region in group.regions_mut() {
            self.body(region, &mut known.clone());
        }
    }

    fn body(&mut self, region: &mut Region, known: &mut Known) {
        let mut done: Vec<Inst> = Vec::with_capacity(region.insts.len());
        let mut later = Substitution::default();
        // Each with whether it was put in place.
        let insts = std::mem::take(&mut region.insts);
        let mut open: Vec<(Inst, bool)> = insts.into_iter().map(|inst| (inst, false)).collect();
        open.reverse();
        while let Some((mut inst, is_copy)) = open.pop() {
            self.gave_up |= later.inst(&mut inst).is_err();
            let hidden = (self.one_layer && is_copy).then(|| std::mem::take(&mut self.ready));
            match self.inlined(&inst, &mut later) {
                Some(insts) => open.extend(insts.into_iter().rev().map(|inst| (inst, true))),
                None => done.extend(self.kept(inst, &mut later, known)),
            }
            self.ready = hidden.unwrap_or_else(|| std::mem::take(&mut self.ready));
        }
        region.insts = done;
        region.results.iter_mut().for_each(|arg| later.arg(arg));
    }

    /// An instruction that is no call, unless it only names what is known.
    fn kept(
        &mut self,
        mut inst: Inst,
        later: &mut Substitution,
        known: &mut Known,
    ) -> Option<Inst> {
        match &mut inst.kind {
            InstKind::Index(expr) => {
                if let [Def::Scalar(value)] = inst.results[..] {
                    known.insert(value.number, expr.clone());
                }
            }
            InstKind::Param { var, value } => {
                if let Some(expr) = index_of(value, known).filter(|e| e.as_affine().is_some()) {
                    later.vars.insert(*var, expr);
                    return None;
                }
            }
            InstKind::Group(group) => self.group(group, known),
            _ => {
                for inner in inst.regions_mut() {
                    self.body(inner, &mut known.clone());
                }
            }
        }
        Some(inst)
    }

    /// The instructions in place of a call; what its results are goes into the substitution.
    fn inlined(&mut self, inst: &Inst, later: &mut Substitution) -> Option<Vec<Inst>> {
        let InstKind::Call { function, args } = &inst.kind else { return None };
        let function = self.ready.get(function)?.clone();
        match self.expanded(&function.body, args) {
            Ok((insts, results)) => {
                self.n_inlined += 1;
                for (def, arg) in inst.results.iter().zip(results) {
                    match (def, arg) {
                        (Def::Scalar(value), arg) => {
                            later.values.insert(value.number, arg);
                        }
                        (Def::Tensor(tensor), Arg::Tensor(name)) => {
                            later.tensors.insert(tensor.name.clone(), name);
                        }
                        (Def::Tensor(_), _) => {}
                    }
                }
                Some(insts)
            }
            Err(_) => {
                self.gave_up = true;
                None
            }
        }
    }

    fn expanded(&mut self, body: &Region, args: &[Arg]) -> Result<(Vec<Inst>, Vec<Arg>)> {
        let mut extents = Substitution::default();
        let mut before = Vec::new();
        for (param, arg) in body.params.iter().zip(args) {
            let (Def::Tensor(tensor), Arg::Tensor(name)) = (param, arg) else { continue };
            let Some(ty) = self.types.get(name).cloned() else { continue };
            for (axis, (own, given)) in tensor.ty.dims.iter().zip(&ty.dims).enumerate() {
                let Some(var) = own.extent.as_var() else { continue };
                let source = SymbolSource::Shape(tensor.name.clone(), axis);
                if self.module.source(var) == Some(&source) {
                    let expr = self.as_affine(given.extent.clone(), &mut before);
                    extents.vars.insert(var, expr);
                }
            }
        }
        let copy = Fresh::new(self.module, &mut self.names).inline(body, args)?;
        let mut region = copy;
        derive_sizes(self.module, &mut extents)?;
        extents.region(&mut region)?;
        for inst in &region.insts {
            if let InstKind::Group(group) = &inst.kind {
                let bindings = group.bindings.iter().map(|b| (b.name.clone(), b.ty()));
                self.types.extend(bindings);
            }
        }
        before.extend(region.insts);
        Ok((before, region.results))
    }

    /// The expression, or a local symbol for it where it is not affine.
    fn as_affine(&mut self, expr: Quasi, before: &mut Vec<Inst>) -> Quasi {
        if expr.as_affine().is_some() {
            return expr;
        }
        let value = self.module.supply.value(Elem::I64);
        let var: Var = self.module.vars.symbol("n");
        let source = SymbolSource::Local;
        self.module.symbols.push(Symbol { var, source, loc: Loc::default() });
        let loc = Loc::default();
        let results = vec![Def::Scalar(value)];
        before.push(Inst { results, kind: InstKind::Index(expr), loc });
        let kind = InstKind::Param { var, value: value.into() };
        before.push(Inst { results: Vec::new(), kind, loc });
        var.into()
    }
}

/// The index expression of an operand.
fn index_of(arg: &Arg, known: &Known) -> Option<Quasi> {
    match arg {
        Arg::Const(constant) => i64::try_from(constant.as_int()?).ok().map(Quasi::from),
        Arg::Value(value) => known.get(&value.number).cloned(),
        Arg::Tensor(_) => None,
    }
}
