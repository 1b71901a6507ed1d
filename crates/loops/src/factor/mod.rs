//! `factor_contractions`: sums of products are computed in the cheapest pairwise order.
//!
//! `sum[j, k](a[i, j] * b[j, k] * c[k, l])` as it is written takes as many products as there are points
//! `(i, j, k, l)`. Here some factors are multiplied and summed first, into a tensor of their own, wherever
//! that makes the whole at most half the work. A sum of sums is one sum for that purpose, also where the
//! inner one is a binding that nothing else reads, so that `sum[i](d[i, b])` with
//! `d[i, b] = sum[a](y[i, a] * w[a, b])` becomes `sum[a](sum[i](y[i, a]) * w[a, b])`: the adjoints of what
//! is the same for all points of a batch have this form.
//!
//! | file | idea |
//! |---|---|
//! | `expand` | a reduction as a sum of products |
//! | `size` | how much work an order is |
//! | `choose` | what is summed first |
//! | `build` | the tensors and instructions for that |
//!
//! Invariant: every point has the value that it had but for the association of sums that may be
//! reassociated. Nothing is read that was not proved to exist, nothing may trap, and what is summed first
//! reads no point of the group itself.

mod build;
mod choose;
mod expand;
mod size;

use std::collections::BTreeSet;

use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::op::Op;
use einlang_tir::passes::Ctx;
use einlang_tir::region::{Arg, Combiner, Inst, InstKind, Reduction, Region, Start};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::{Elem, Ident};
use rustc_hash::FxHashMap as HashMap;

use self::build::Build;
use self::choose::{Order, choose};
use self::expand::Expand;
use self::size::Sizes;
use crate::decide::kept;

/// What is done costs at most this part of what was there.
const LEAST_GAIN: f64 = 0.5;

/// So many sums are factored; a module that has more is too large to look at all of them again and again.
const MOST_GAINS: usize = 256;

/// Factors the sums of a module.
pub(crate) fn factor_contractions(mut module: Module, ctx: &Ctx) -> Module {
    let may_gain = |module: &Module| module.bindings().any(|b| b.clauses.iter().any(has_candidate));
    if ctx.checked || !module.properties.disjoint || !may_gain(&module) {
        return module;
    }
    let mut names = module.tensor_names();
    let (mut at, mut n_gains) = (0, 0);
    while at < module.groups.len() && n_gains < MOST_GAINS {
        let place = first_gain(&mut module, at, &mut names);
        let Some(Gain { binding, clause, body, made, spared }) = place else {
            at += 1;
            continue;
        };
        module.groups[at].bindings[binding].clauses[clause].body = body;
        module.groups.splice(at..at, made);
        remove_unread(&mut module, &spared);
        (at, n_gains) = (at.min(module.groups.len()), n_gains + 1);
    }
    module
}

/// A clause with cheaper sums.
struct Gain {
    binding: usize,
    clause: usize,
    /// The new body.
    body: Region,
    /// What is computed before.
    made: Vec<Group>,
    /// What the old body read, and the new one computes itself.
    spared: Vec<Ident>,
}

fn first_gain(module: &mut Module, at: usize, names: &mut BTreeSet<Ident>) -> Option<Gain> {
    if module.groups[at].until.is_some() {
        return None;
    }
    for binding in 0..module.groups[at].bindings.len() {
        let of = module.groups[at].bindings[binding].clone();
        for (clause, code) in of.clauses.iter().enumerate().filter(|(_, c)| has_candidate(c)) {
            for number in 0..code.body.insts.len() {
                let place = At { group: at, binding: &of, clause: code, number };
                let found = gain(module, names, &place);
                if let Some((body, made, spared)) = found {
                    return Some(Gain { binding, clause, body, made, spared });
                }
            }
        }
    }
    None
}

/// The body of a clause in which one sum is cheaper, what is made before it, and what it reads no more.
type Cheaper = (Region, Vec<Group>, Vec<Ident>);

/// Where a sum stands.
struct At<'c> {
    group: usize,
    binding: &'c Binding,
    clause: &'c Clause,
    /// The number of its instruction.
    number: usize,
}

fn gain(module: &mut Module, names: &mut BTreeSet<Ident>, at: &At<'_>) -> Option<Cheaper> {
    let inst = &at.clause.body.insts[at.number];
    let sum = as_sum(inst)?;
    let mut sizes = Sizes::default();
    at.binding.axes.iter().for_each(|axis| sizes.axis(axis.var, &axis.dim.extent));
    let expand = Expand::new(module, names, at.group, &mut sizes, &at.clause.body);
    if !expand.is_promising(sum) {
        return None;
    }
    let before = (module.vars.clone(), module.supply, names.clone());
    let found = cheaper(module, names, at, sum, sizes);
    if found.is_none() {
        // What was tried left names behind.
        (module.vars, module.supply, *names) = before;
    }
    found
}

fn cheaper(
    module: &mut Module,
    names: &mut BTreeSet<Ident>,
    at: &At<'_>,
    sum: &Reduction,
    mut sizes: Sizes,
) -> Option<Cheaper> {
    let outer = at.binding.dims();
    let mut expand = Expand::new(module, names, at.group, &mut sizes, &at.clause.body);
    let products = expand.sum(sum, &outer)?;
    let (spared, before) = (std::mem::take(&mut expand.spared), expand.cost);
    let orders: Vec<Order> = products.iter().map(|of| choose(of, &outer, &sizes)).collect();
    let after: f64 = orders.iter().map(|order| order.cost).sum();
    let changes = orders.iter().any(|order| !order.steps.is_empty());
    if !changes || after > LEAST_GAIN * before {
        return None;
    }
    let facts = module.facts();
    let inst = &at.clause.body.insts[at.number];
    let mut build = Build::new(module, names, &facts, at, sum);
    let mut terms = Vec::with_capacity(products.len());
    for (product, order) in products.into_iter().zip(&orders) {
        terms.push(build.product(product, &order.steps)?);
    }
    let (insts, value) = build.total(terms)?;
    let made = build.made;
    let mut body = at.clause.body.clone();
    body.insts.splice(at.number..=at.number, insts);
    let values = HashMap::from_iter([(inst.results.first()?.as_scalar()?.number, value)]);
    Substitution { values, ..Substitution::default() }.region(&mut body).ok()?;
    Some((body, made, spared))
}

/// Whether a clause has a sum that may be cheaper in another order.
fn has_candidate(clause: &Clause) -> bool {
    let plain = clause.guard.is_none() && clause.domain.sets().len() == 1;
    plain && clause.body.insts.iter().any(|inst| as_sum(inst).is_some()) && is_open(&clause.body)
}

/// Whether what a body computes can be computed elsewhere: it has no tensors and no sizes of its own.
fn is_open(body: &Region) -> bool {
    let mut open = true;
    body.for_each_inst(&mut |inst| {
        open &= !matches!(inst.kind, InstKind::Group(_) | InstKind::Param { .. });
    });
    open
}

/// The sum that an instruction computes, if its terms may be added in any order.
fn as_sum(inst: &Inst) -> Option<&Reduction> {
    let InstKind::Reduce(reduction) = &inst.kind else { return None };
    let elem = inst.results.first()?.as_scalar()?.elem;
    let exact = matches!(elem, Elem::I32 | Elem::I64);
    let any_order = exact || matches!(elem, Elem::F32 | Elem::F64) && reduction.flags.reassociable;
    let identity = match &reduction.start {
        Start::Identity(values) => values.first().and_then(Arg::as_const),
        _ => None,
    };
    (any_order
        && reduction.guard.is_none()
        && reduction.domain.sets().len() == 1
        && matches!(reduction.combine, Combiner::Op(Op::Add))
        && identity == Op::Add.identity(elem))
    .then_some(reduction)
}

/// Removes bindings that nothing reads any more.
fn remove_unread(module: &mut Module, spared: &[Ident]) {
    for name in spared.iter().rev() {
        if !kept(module).contains(name) && !reads(module).contains_key(name) {
            module.groups.retain(|group| group.bindings.iter().all(|b| b.name != *name));
        }
    }
}

/// How often each tensor is read.
fn reads(module: &Module) -> HashMap<Ident, usize> {
    let mut found: HashMap<Ident, usize> = HashMap::default();
    module.for_each_inst(&mut |inst| {
        for name in inst.tensors() {
            *found.entry(name.clone()).or_default() += 1;
        }
    });
    found
}
