//! `fuse_products`: where a product that is added is rounded together with the sum.
//!
//! The steps of a recurrence wait for each other, operation by operation, and one operation instead of
//! two is what makes them short. Chains of products round once per term anyway; what a term is made of
//! does the same. Everything else keeps the rounding that is written.
//!
//! A product that is used twice has one value, and the difference of a product and itself is zero: both
//! stay as they are. So do the terms of a maximum or minimum, and whatever such a clause computes before it:
//! a derivative finds the extremal term by computing the terms again, and the same numbers must come out.
//!
//! Invariant: where products are fused follows from the clauses of the module alone, not from the order
//! in which they run nor from what runs beside them.

use einlang_tir::module::{Group, Module, Supply};
use einlang_tir::op::Op;
use einlang_tir::order::Statement;
use einlang_tir::region::{Arg, Combiner, Def, Inst, InstKind, Reduction, Region};
use einlang_tir::types::{Elem, Ident};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::schedule::{Compute, Fma, Nest, Role, Schedule};

/// Asks for fused products where there are steps or chains of floats.
pub(super) fn fuse_products(module: &Module, schedule: &mut Schedule) {
    let is_float = |group: &Group| group.bindings.iter().any(|b| is_fused(b.elem));
    let has_steps = |group: &Group| is_float(group) && is_recurrent(group);
    if schedule.chains || module.groups.iter().any(has_steps) {
        schedule.fma = Fma::Steps;
    }
}

/// Fuses the products in the steps of recurrences. This comes before anything is decided.
pub(crate) fn fuse_steps(module: &mut Module) {
    let supply = &mut module.supply;
    for group in module.groups.iter_mut().filter(|group| is_recurrent(group)) {
        let clauses = group.bindings.iter_mut().flat_map(|binding| &mut binding.clauses);
        for clause in clauses.filter(|clause| !has_extreme(&clause.body)) {
            let mut fuse = Fuse { counts: counts(&clause.body), supply };
            clause.body.for_each_region_mut(&mut |region| fuse.region(region));
        }
    }
}

/// Fuses the products in the terms of sums that run in lanes, and in what is computed in them.
pub(crate) fn fuse_terms(module: &mut Module, schedule: &Schedule) {
    let supply = &mut module.supply;
    let mut read: HashSet<Ident> = HashSet::default();
    // What is computed at reads comes before its readers.
    for group in module.groups.iter_mut().rev() {
        let Some(nest) = nest_of(group, schedule) else { continue };
        let mut lanes = HashSet::default();
        in_lanes(nest, false, &mut lanes);
        for (binding, of) in group.bindings.iter_mut().enumerate() {
            let inside = read.contains(&of.name)
                && schedule.tensor(&of.name).is_some_and(|t| t.compute == Compute::AtReads);
            for (clause, of) in of.clauses.iter_mut().enumerate() {
                let mut fuse = Fuse { counts: counts(&of.body), supply };
                if inside {
                    of.body.for_each_region_mut(&mut |region| fuse.region(region));
                    read_in(&of.body, &mut read);
                } else if lanes.contains(&Statement { binding, clause }) {
                    fuse.terms(&mut of.body, &mut read);
                }
            }
        }
    }
}

/// Whether a reduction is a maximum or a minimum.
fn is_extreme(reduction: &Reduction) -> bool {
    matches!(reduction.combine, Combiner::Op(Op::Max | Op::Min))
}

/// Whether a clause computes a maximum or a minimum.
fn has_extreme(body: &Region) -> bool {
    let mut found = false;
    body.for_each_inst(&mut |inst| {
        found |= matches!(&inst.kind, InstKind::Reduce(reduction) if is_extreme(reduction));
    });
    found
}

/// The tensors that a region reads.
fn read_in(region: &Region, read: &mut HashSet<Ident>) {
    region.for_each_inst(&mut |inst| {
        if let InstKind::Read(of) = &inst.kind {
            read.insert(of.place.tensor.clone());
        }
    });
}

/// Whether a group computes points from points of its own.
fn is_recurrent(group: &Group) -> bool {
    let own: HashSet<&Ident> = group.bindings.iter().map(|binding| &binding.name).collect();
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| found |= inst.tensors().iter().any(|n| own.contains(n)));
    }
    found
}

fn nest_of<'s>(group: &Group, schedule: &'s Schedule) -> Option<&'s Nest> {
    let first = group.bindings.first()?;
    schedule.group(&first.name).map(|decided| &decided.nest)
}

/// Whether products of a type are fused.
fn is_fused(elem: Elem) -> bool {
    matches!(elem, Elem::F32 | Elem::F64)
}

/// The clauses that run in lanes.
fn in_lanes(nest: &Nest, around: bool, found: &mut HashSet<Statement>) {
    let is_lane = |role: &Role| around || matches!(role, Role::Lane(_));
    match nest {
        Nest::Points { statement, role, .. } => {
            if is_lane(role) {
                found.insert(*statement);
            }
        }
        Nest::Phases(phases) => phases.iter().for_each(|phase| in_lanes(phase, around, found)),
        Nest::Loop { role, inner, .. } => in_lanes(inner, is_lane(role), found),
    }
}

/// How often each value of a body is used.
fn counts(body: &Region) -> HashMap<u32, usize> {
    let mut counts: HashMap<u32, usize> = HashMap::default();
    let mut count = |arg: &Arg| {
        if let Arg::Value(value) = arg {
            *counts.entry(value.number).or_default() += 1;
        }
    };
    body.for_each_inst(&mut |inst| inst.args().into_iter().for_each(&mut count));
    body.for_each_region(&mut |region| region.results.iter().for_each(&mut count));
    counts
}

struct Fuse<'m> {
    counts: HashMap<u32, usize>,
    supply: &'m mut Supply,
}

impl Fuse<'_> {
    /// Fuses the products in the terms of reductions; takes note of what these read.
    fn terms(&mut self, region: &mut Region, read: &mut HashSet<Ident>) {
        for inst in &mut region.insts {
            if let InstKind::Reduce(reduction) = &mut inst.kind
                && !is_extreme(reduction)
            {
                read_in(&reduction.body, read);
                reduction.body.for_each_region_mut(&mut |region| self.region(region));
            }
        }
    }

    /// Fuses the products of a region, without those of the regions inside.
    fn region(&mut self, region: &mut Region) {
        let mut products: HashMap<u32, [Arg; 2]> = HashMap::default();
        let mut gone: HashSet<u32> = HashSet::default();
        let mut insts = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let result = inst.results.first().and_then(Def::as_scalar);
            if let (InstKind::Op(op, args), Some(result)) = (&inst.kind, result)
                && is_fused(result.elem)
            {
                match (op, &args[..]) {
                    (Op::Mul, [a, b]) if self.counts.get(&result.number) == Some(&1) => {
                        products.insert(result.number, [a.clone(), b.clone()]);
                    }
                    (Op::Add | Op::Sub, [a, b]) => {
                        let found = chosen(a, b, &products);
                        if let Some((number, [x, y], other, turned)) = found {
                            gone.insert(number);
                            let mut args = [x, y, other];
                            if *op == Op::Sub {
                                let value = self.supply.value(result.elem);
                                let kind = InstKind::Op(Op::Neg, vec![args[turned].clone()]);
                                let results = vec![Def::Scalar(value)];
                                insts.push(Inst { results, kind, loc: inst.loc });
                                args[turned] = Arg::Value(value);
                            }
                            inst.kind = InstKind::Op(Op::Fma, args.to_vec());
                        }
                    }
                    _ => {}
                }
            }
            insts.push(inst);
        }
        let number = |inst: &Inst| inst.results.first().and_then(Def::as_scalar).map(|v| v.number);
        insts.retain(|inst| number(inst).is_none_or(|number| !gone.contains(&number)));
        region.insts = insts;
    }
}

/// The product of a sum that is fused: its number, its factors, what it is added to, and which of these
/// three a difference turns.
fn chosen(
    a: &Arg,
    b: &Arg,
    products: &HashMap<u32, [Arg; 2]>,
) -> Option<(u32, [Arg; 2], Arg, usize)> {
    let product = |arg: &Arg| match arg {
        Arg::Value(value) => products.get(&value.number).map(|factors| (value.number, factors)),
        _ => None,
    };
    match (product(a), product(b)) {
        (Some((_, [x, y])), Some((_, [z, w]))) if (x, y) == (z, w) || (x, y) == (w, z) => None,
        (_, Some((number, factors))) => Some((number, factors.clone(), a.clone(), 0)),
        (Some((number, factors)), None) => Some((number, factors.clone(), b.clone(), 2)),
        (None, None) => None,
    }
}
