//! Clauses whose subscripts multiply a short index by a symbol, as in `w[i, g * H + k]` with `g in 0..4`.
//!
//! Such a product is no index expression. With a clause for each value of the short index it is: `H + k`
//! and `2 * H + k` are. Subscripts that then lie inside for all points need no test any more.

use std::collections::BTreeSet;

use einlang_index::{Affine, Constraint, Domain, Facts, Quasi, Set, Var, VarKind};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::fresh::Fresh;
use crate::module::{Binding, Clause, Module};
use crate::op::Op;
use crate::region::{Arg, InstKind, Region, Subscript};
use crate::types::{Ident, TensorType};

/// The longest axis that is divided.
const LONGEST: i64 = 8;

/// Divides the clauses of a module; the bindings that have new ones.
pub(super) fn divide_short_axes(module: &mut Module) -> HashSet<Ident> {
    let mut divided = HashSet::default();
    let asks = |b: &Binding| b.clauses.iter().any(|clause| product_axis(b, clause).is_some());
    if !module.properties.disjoint || !module.bindings().any(asks) {
        return divided;
    }
    let (facts, mut names) = (module.facts(), module.tensor_names());
    let mut groups = std::mem::take(&mut module.groups);
    for binding in groups.iter_mut().flat_map(|group| &mut group.bindings) {
        let mut clauses = Vec::with_capacity(binding.clauses.len());
        for clause in &binding.clauses {
            let parts = product_axis(binding, clause)
                .and_then(|axis| parts(clause, axis, &facts, module, &mut names));
            match parts {
                Some(parts) => {
                    divided.insert(binding.name.clone());
                    clauses.extend(parts);
                }
                None => clauses.push(clause.clone()),
            }
        }
        binding.clauses = clauses;
    }
    module.groups = groups;
    divided
}

/// The short axis that a clause multiplies by a symbol on the way to a subscript, and its length.
fn product_axis(binding: &Binding, clause: &Clause) -> Option<(Var, i64)> {
    if clause.guard.is_some() {
        return None;
    }
    let (mut indices, mut found, mut data) = (HashMap::default(), None, false);
    clause.body.for_each_inst(&mut |inst| match &inst.kind {
        InstKind::Index(expr) => {
            for value in inst.results.iter().filter_map(|def| def.as_scalar()) {
                indices.insert(value.number, expr.clone());
            }
        }
        InstKind::Read(read) => {
            data |= read.place.at.iter().any(|at| matches!(at, Subscript::Value(_)));
        }
        InstKind::Op(Op::Mul, args) => {
            let [Arg::Value(a), Arg::Value(b)] = &args[..] else { return };
            let (a, b) = (indices.get(&a.number), indices.get(&b.number));
            let (Some(a), Some(b)) = (a, b) else { return };
            for (short, symbol) in [(a, b), (b, a)] {
                let constant = symbol.as_constant().is_some() || mentions_index(symbol);
                let axis = binding.axes.iter().find(|axis| short.as_var() == Some(axis.var));
                let length = axis.and_then(|axis| axis.dim.extent.as_constant());
                if let (Some(axis), Some(length @ 2..=LONGEST), false) = (axis, length, constant) {
                    found = Some((axis.var, length));
                }
            }
        }
        _ => {}
    });
    found.filter(|_| data)
}

fn mentions_index(expr: &Quasi) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |var| found |= var.kind() != VarKind::Symbol);
    found
}

/// One clause for each value of an index.
fn parts(
    clause: &Clause,
    (var, length): (Var, i64),
    facts: &Facts,
    module: &mut Module,
    names: &mut BTreeSet<Ident>,
) -> Option<Vec<Clause>> {
    let mut parts = Vec::new();
    for value in 0..length {
        let here = Constraint::equal(&Affine::var(var), &Affine::constant(value)).ok()?;
        let domain = clause.domain.restricted(&Set::new([here]).ok()?).ok()?;
        if domain.always_empty_given(facts.set()).is_true() {
            continue;
        }
        let mut body = Fresh::new(module, names).copy(&clause.body).ok()?;
        put(&mut body, var, &Quasi::from(value))?;
        parts.push(Clause { domain: domain.into(), body, ..clause.clone() });
    }
    Some(parts)
}

/// Puts a number for an index where its value is computed with.
fn put(region: &mut Region, var: Var, value: &Quasi) -> Option<()> {
    for inst in &mut region.insts {
        if let InstKind::Index(expr) = &mut inst.kind
            && expr.mentions(var)
        {
            *expr = expr.substitute(var, value).ok()?;
        }
        inst.regions_mut().into_iter().try_for_each(|region| put(region, var, value))?;
    }
    Some(())
}

/// Marks the reads of some bindings whose subscripts are certain to lie inside.
pub(super) fn prove_reads(module: &mut Module, of: &HashSet<Ident>) {
    let facts = module.facts();
    let mut types: HashMap<Ident, TensorType> = HashMap::default();
    types.extend(module.inputs.iter().map(|input| (input.name.clone(), input.ty.clone())));
    types.extend(module.bindings().map(|binding| (binding.name.clone(), binding.ty())));
    for binding in module.groups.iter_mut().flat_map(|group| &mut group.bindings) {
        for clause in binding.clauses.iter_mut().filter(|_| of.contains(&binding.name)) {
            prove_in(&mut clause.body, &clause.domain, &types, &facts);
        }
    }
}

fn prove_in(region: &mut Region, over: &Domain, types: &HashMap<Ident, TensorType>, facts: &Facts) {
    for inst in &mut region.insts {
        let mut inside = over.clone();
        match &mut inst.kind {
            InstKind::Read(read) if !read.proved && read.default.is_none() => {
                let fits = |(at, extent): (&Subscript, &Quasi)| {
                    let Subscript::Index(at) = at else { return false };
                    let left = extent.sub(at).and_then(|left| left.add_constant(-1));
                    let holds = |expr: &Quasi| facts.prove(over, expr).is_true();
                    holds(at) && left.is_ok_and(|left| holds(&left))
                };
                let dims = types.get(&read.place.tensor).map(|ty| &ty.dims);
                read.proved = dims.is_some_and(|dims| {
                    dims.len() == read.place.at.len()
                        && read.place.at.iter().zip(dims.iter().map(|dim| &dim.extent)).all(fits)
                });
            }
            InstKind::Reduce(reduction) => inside = extended(over, &reduction.domain),
            // Their points are others.
            InstKind::Group(_) => continue,
            _ => {}
        }
        inst.regions_mut().into_iter().for_each(|region| prove_in(region, &inside, types, facts));
    }
}

/// The points of a domain inside another.
fn extended(over: &Domain, inner: &Domain) -> Domain {
    let dims: Vec<Var> = over.dims().iter().chain(inner.dims()).copied().collect();
    let mut sets = Vec::new();
    for a in over.sets() {
        for b in inner.sets() {
            sets.extend(a.intersect(b).ok());
        }
    }
    match sets.len() == over.sets().len() * inner.sets().len() {
        true => Domain::of_sets(dims, sets),
        false => Domain::everything(dims),
    }
}
