//! `store_functions`: a function of fewer indices than a clause has is computed once for those.
//!
//! `exp(q[k, a])` in a clause over `i, k, a` takes as long as many other operations and is the same for all
//! `i`. It becomes a tensor over `k, a`, which is computed before and read instead.
//!
//! Invariant: values stay what they are, to the bit. Only operations that cannot trap and reads that were
//! proved are moved, at points where the clause computed them.

use std::collections::BTreeSet;

use einlang_index::{Quasi, Var, VarKind};
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module};
use einlang_tir::passes::{Ctx, merge_bindings};
use einlang_tir::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript, Value};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::reads_itself_by_data;
use super::work::is_slow;

/// More functions than that of a module stay where they are.
const MOST: usize = 32;

/// Gives functions of few indices tensors of their own, one for all clauses that compute the same.
pub fn store_functions(mut module: Module, ctx: &Ctx) -> Module {
    let mut names = module.tensor_names();
    let (mut at, mut n_made) = (0, 0);
    while at < module.groups.len() && n_made < MOST {
        let group = module.groups[at].clone();
        let found = match group.until.is_some() || reads_itself_by_data(&group) {
            true => Vec::new(),
            false => found_in(&group),
        };
        let made: Vec<Group> = found
            .into_iter()
            .filter_map(|found| moved(&mut module, &mut names, at, &group, &found))
            .collect();
        n_made += made.len();
        let n = made.len();
        module.groups.splice(at..at, made);
        at += n + 1;
    }
    let merged = if n_made > 0 { merge_bindings(&mut module, ctx) } else { Ok(()) };
    debug_assert!(merged.is_ok(), "merging bindings rejects nothing");
    module
}

/// A function that may be computed before: the clause, the value, what it is computed by, and the axes.
struct Found {
    binding: usize,
    clause: usize,
    value: Value,
    insts: Vec<Inst>,
    axes: Vec<usize>,
}

fn found_in(group: &Group) -> Vec<Found> {
    let own: HashSet<&Ident> = group.bindings.iter().map(|binding| &binding.name).collect();
    let mut all = Vec::new();
    for (number, binding) in group.bindings.iter().enumerate() {
        for (clause, of) in binding.clauses.iter().enumerate().filter(|(_, c)| c.guard.is_none()) {
            let mut looking = Looking { own: &own, known: HashMap::default(), found: Vec::new() };
            looking.region(&of.body, n_free(binding, of));
            for (value, insts, vars) in looking.found {
                let is = |axis: &usize| vars.contains(&binding.axes[*axis].var);
                let axes: Vec<usize> = (0..binding.axes.len()).filter(is).collect();
                if axes.len() == vars.len() && !axes.is_empty() {
                    all.push(Found { binding: number, clause, value, insts, axes });
                }
            }
        }
    }
    all
}

/// How many indices of a clause have more than one value.
fn n_free(binding: &Binding, clause: &Clause) -> usize {
    let fixed = |var: Var| {
        clause.domain.sets().iter().all(|set| {
            set.eqs().iter().any(|eq| {
                let mut others = eq.vars().filter(|v| *v != var && v.kind() != VarKind::Symbol);
                eq.coeff(var) != 0 && others.next().is_none()
            })
        })
    };
    binding.axes.iter().filter(|axis| !fixed(axis.var)).count()
}

/// How a value is computed, and the indices that it depends on.
type Known = HashMap<u32, (Vec<Inst>, HashSet<Var>)>;

struct Looking<'g> {
    own: &'g HashSet<&'g Ident>,
    known: Known,
    found: Vec<(Value, Vec<Inst>, HashSet<Var>)>,
}

impl Looking<'_> {
    /// Looks through a region in which so many indices vary.
    fn region(&mut self, region: &Region, n_indices: usize) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Op(..) | InstKind::Index(_) | InstKind::Read(_) => {
                    self.inst(inst, n_indices);
                }
                InstKind::Reduce(reduction) if reduction.guard.is_none() => {
                    self.region(&reduction.body, n_indices + reduction.domain.dims().len());
                }
                // What is under a condition may be computed nowhere.
                _ => {}
            }
        }
    }

    fn inst(&mut self, inst: &Inst, n_indices: usize) -> Option<()> {
        let value = inst.results.first().and_then(|def| def.as_scalar())?;
        let (mut insts, mut vars): (Vec<Inst>, HashSet<Var>) = Default::default();
        for arg in inst.args() {
            if let Arg::Value(value) = arg {
                let (before, more) = self.known.get(&value.number)?;
                let new = before.iter().filter(|inst| !insts.contains(*inst));
                let new: Vec<Inst> = new.cloned().collect();
                insts.extend(new);
                vars.extend(more);
            }
        }
        let mut note = |expr: &Quasi| {
            expr.for_each_var(&mut |var| {
                if var.kind() != VarKind::Symbol {
                    vars.insert(var);
                }
            });
        };
        is_movable(inst).then_some(())?;
        let slow = match &inst.kind {
            InstKind::Op(op, _) => is_slow(*op),
            InstKind::Index(expr) => {
                note(expr);
                false
            }
            InstKind::Read(read) => {
                if self.own.contains(&read.place.tensor) {
                    return None;
                }
                for at in &read.place.at {
                    let Subscript::Index(expr) = at else { return None };
                    note(expr);
                }
                false
            }
            _ => return None,
        };
        insts.push(inst.clone());
        if slow && vars.len() < n_indices {
            self.found.push((value, insts, vars));
            return None;
        }
        self.known.insert(value.number, (insts, vars));
        None
    }
}

/// Whether an instruction cannot fail, wherever it is.
pub(super) fn is_movable(inst: &Inst) -> bool {
    match &inst.kind {
        InstKind::Op(op, args) => {
            let traps = |arg: &Arg| arg.elem().is_some_and(|elem| op.may_trap(elem, false));
            !args.iter().any(traps)
        }
        InstKind::Read(read) => read.proved && read.default.is_none(),
        InstKind::Index(_) => true,
        _ => false,
    }
}

/// Moves a function into a group of its own, before the one that reads it.
fn moved(
    module: &mut Module,
    names: &mut BTreeSet<Ident>,
    at: usize,
    group: &Group,
    found: &Found,
) -> Option<Group> {
    let binding = &group.bindings[found.binding];
    let clause = &binding.clauses[found.clause];
    let axes: Vec<Axis> = found.axes.iter().map(|axis| binding.axes[*axis].clone()).collect();
    let vars: Vec<Var> = axes.iter().map(|axis| axis.var).collect();
    let domain = clause.domain.project(&vars).ok()?;
    let body = Region { insts: found.insts.clone(), ..Region::yielding([Arg::Value(found.value)]) };
    let made = Binding {
        name: Ident::new(&format!("{}.of", binding.name.as_str())),
        elem: found.value.elem,
        axes,
        clauses: vec![Clause { domain: domain.into(), body, guard: None, loc: clause.loc }],
        ..binding.clone()
    };
    let made = Group { bindings: vec![made], until: None };
    let made = Fresh::new(module, names).copy_group(&made).ok()?;
    let place = Place {
        tensor: made.bindings.first()?.name.clone(),
        at: vars.into_iter().map(|var| Subscript::Index(var.into())).collect(),
    };
    let read = InstKind::Read(Read { place, default: None, proved: true });
    let own = module.groups.get_mut(at)?.bindings.get_mut(found.binding)?;
    let body = &mut own.clauses.get_mut(found.clause)?.body;
    replaced(body, found.value, &read).then_some(made)
}

/// Puts a read for the instruction that computes a value; whether it is there.
pub(super) fn replaced(region: &mut Region, value: Value, read: &InstKind) -> bool {
    for inst in &mut region.insts {
        if inst.results.first() == Some(&Def::Scalar(value)) {
            inst.kind = read.clone();
            return true;
        }
        if inst.regions_mut().into_iter().any(|region| replaced(region, value, read)) {
            return true;
        }
    }
    false
}
