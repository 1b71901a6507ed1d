//! `compute_at_reads`: bindings that need no memory.
//!
//! What nobody needs is computed nowhere. A binding with one clause for its whole box that is not
//! recurrent is computed where it is read if that repeats no work: there is one such read and every
//! point is read at most once, or a point costs next to nothing. Nothing is stored that is consumed
//! where it is made. What spreads smaller tensors over more points, such as all sums of two elements,
//! is computed again where it is read: that takes less time than to store and to load it.

use std::collections::BTreeSet;

use einlang_index::{Quasi, Var};
use einlang_tir::free::Free;
use einlang_tir::module::{Binding, Group, Module, SymbolSource};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, InstKind, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::work::is_slow;
use crate::schedule::{Compute, Schedule};

/// A body of at most so many instructions may be computed more than once.
const CHEAP: usize = 2;

/// A body of so many instructions that reads smaller tensors only may be computed at so many places.
const SPREADING: usize = 14;
const MOST_PLACES: usize = 3;

/// Bodies grow when others are computed in them, up to this many instructions.
const LARGE: usize = 2000;

/// What is seen as a whole: outputs, sizes, and what is passed on.
pub(crate) fn kept(module: &Module) -> HashSet<Ident> {
    let mut kept: HashSet<Ident> = module.outputs.iter().cloned().collect();
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) = &symbol.source {
            kept.insert(name.clone());
        }
    }
    for region in module.groups.iter().flat_map(Group::regions) {
        kept.extend(whole_uses(region));
    }
    kept
}

/// The bindings that anything depends on.
pub(super) fn needed_by_outputs(module: &Module) -> HashSet<Ident> {
    needed(module, &kept(module))
}

/// Marks the bindings that need no memory.
pub(super) fn compute_at_reads(module: &Module, schedule: &mut Schedule) {
    let kept = kept(module);
    let needed = needed(module, &kept);
    let mut sizes: HashMap<Ident, usize> = HashMap::default();
    let mut marked: HashSet<Ident> = HashSet::default();
    let reads = Reads::of(module, &needed);
    for group in &module.groups {
        let gone = !group.bindings.iter().any(|binding| needed.contains(&binding.name));
        let inline = match &group.bindings[..] {
            [one] => !kept.contains(&one.name) && is_plain(module, group, one),
            _ => false,
        };
        if gone {
            marked.extend(group.bindings.iter().map(|binding| binding.name.clone()));
            continue;
        }
        let [binding] = &group.bindings[..] else { continue };
        let size = size_of(&binding.clauses.first().map(|c| &c.body), &sizes);
        let found = reads.by_name.get(&binding.name);
        let once = found.is_some_and(|found| found.len() == 1 && found[0].once);
        let proved = found.is_some_and(|found| found.iter().all(|read| read.proved));
        let few = found.is_some_and(|found| found.len() <= MOST_PLACES);
        let limit = if few && spreads(binding) { SPREADING } else { CHEAP };
        let cheap = size.is_some_and(|size| size <= limit) && !is_long(binding);
        let fits = size.is_none_or(|size| size <= LARGE);
        if inline && proved && fits && (once || cheap) {
            sizes.insert(binding.name.clone(), size.unwrap_or(LARGE));
            marked.insert(binding.name.clone());
        }
    }
    for tensor in schedule.groups.iter_mut().flat_map(|group| &mut group.tensors) {
        if marked.contains(&tensor.name) {
            tensor.compute = Compute::AtReads;
        }
    }
}

/// Whether a tensor can be computed where it is read, or is needed nowhere.
pub(super) fn may_be_at_reads(module: &Module, name: &Ident) -> bool {
    let kept = kept(module);
    let needed = needed(module, &kept);
    if !needed.contains(name) {
        return true;
    }
    let group = module.groups.iter().find(|group| group.bindings.iter().any(|b| b.name == *name));
    let Some((group, [binding])) = group.map(|group| (group, &group.bindings[..])) else {
        return false;
    };
    let reads = Reads::of(module, &needed);
    let proved = |sites: &Vec<Site>| sites.iter().all(|site| site.proved);
    !kept.contains(name)
        && is_plain(module, group, binding)
        && reads.by_name.get(name).is_none_or(proved)
}

/// The bindings that what is kept depends on. Where the length of an open axis is asked for, or why it
/// ended, its group is needed though nobody reads its elements.
fn needed(module: &Module, kept: &HashSet<Ident>) -> HashSet<Ident> {
    let mut needed = kept.clone();
    let mut lengths = Lengths::new(module);
    for group in module.groups.iter().rev() {
        let read = group.bindings.iter().any(|binding| needed.contains(&binding.name));
        if read || lengths.ask_for(group) {
            lengths.add(group);
            needed.extend(group.bindings.iter().map(|binding| binding.name.clone()));
            for region in group.regions() {
                region.for_each_inst(&mut |inst| {
                    if let InstKind::Read(read) = &inst.kind {
                        needed.insert(read.place.tensor.clone());
                    }
                });
                needed.extend(whole_uses(region));
            }
        }
    }
    needed
}

/// The symbols that needed groups mention, in a module that has open axes.
struct Lengths<'m> {
    module: &'m Module,
    vars: BTreeSet<Var>,
    any: bool,
}

impl Lengths<'_> {
    fn new(module: &Module) -> Lengths<'_> {
        let any = module.groups.iter().any(|group| group.until.is_some());
        Lengths { module, vars: BTreeSet::new(), any }
    }

    /// Whether the length of the open axis of a group is mentioned.
    fn ask_for(&self, group: &Group) -> bool {
        group.until.as_ref().is_some_and(|until| self.vars.contains(&until.extent))
    }

    /// Adds what a needed group mentions, and the symbols of which those are the extremes.
    fn add(&mut self, group: &Group) {
        if !self.any {
            return;
        }
        self.vars.extend(Free::of_group(group).vars);
        for symbol in self.module.symbols.iter().rev() {
            if let SymbolSource::Max(of) | SymbolSource::Min(of) = &symbol.source
                && self.vars.contains(&symbol.var)
            {
                of.iter().for_each(|expr| expr.for_each_var(&mut |var| self.vars.extend([var])));
            }
        }
    }
}

/// The tensors that a region passes on as a whole.
pub(crate) fn whole_uses(region: &Region) -> Vec<Ident> {
    let mut found = Vec::new();
    let mut add = |arg: &Arg| {
        if let Arg::Tensor(name) = arg {
            found.push(name.clone());
        }
    };
    region.for_each_inst(&mut |inst| inst.args().into_iter().for_each(&mut add));
    region.for_each_region(&mut |region| region.results.iter().for_each(&mut add));
    found
}

/// Whether every point is the value of one clause that reads no point of the binding itself.
fn is_plain(module: &Module, group: &Group, binding: &Binding) -> bool {
    let [clause] = &binding.clauses[..] else { return false };
    let mut recurrent = false;
    clause.body.for_each_inst(&mut |inst| {
        if let InstKind::Read(read) = &inst.kind {
            recurrent |= read.place.tensor == binding.name;
        }
    });
    let whole = binding.whole().and_then(|whole| whole.subtract(&clause.domain));
    let facts = module.facts();
    let total = whole.is_ok_and(|rest| rest.always_empty_given(facts.set()).is_true());
    clause.guard.is_none() && group.until.is_none() && !recurrent && total
}

/// Whether a binding has more axes than what it reads, and does nothing that takes long.
fn spreads(binding: &Binding) -> bool {
    let (mut less, mut n_reads) = (true, 0);
    for clause in &binding.clauses {
        clause.body.for_each_inst(&mut |inst| match &inst.kind {
            InstKind::Read(read) => {
                n_reads += 1;
                less &= read.place.at.len() < binding.axes.len();
            }
            InstKind::Op(op, _) => less &= !is_slow(*op) && *op != Op::Div,
            _ => {}
        });
    }
    less && n_reads > 1
}

/// Whether a point takes as long as many operations.
fn is_long(binding: &Binding) -> bool {
    let mut long = false;
    for clause in &binding.clauses {
        clause.body.for_each_inst(&mut |inst| {
            long |= matches!(&inst.kind, InstKind::Op(op, _) if is_slow(*op));
        });
    }
    long
}

/// How many instructions a body has, those computed in it included; `None` if it has anything that
/// repeats.
fn size_of(body: &Option<&Region>, sizes: &HashMap<Ident, usize>) -> Option<usize> {
    let mut size = Some(0_usize);
    (*body)?.for_each_inst(&mut |inst| {
        let own = match &inst.kind {
            InstKind::Op(..) | InstKind::Index(_) | InstKind::If { .. } => Some(1),
            InstKind::Read(read) => Some(1 + sizes.get(&read.place.tensor).copied().unwrap_or(0)),
            _ => None,
        };
        size = size.zip(own).map(|(size, own)| size.saturating_add(own));
    });
    size
}

/// One read of a binding.
struct Site {
    /// Every point is read at most once.
    once: bool,
    proved: bool,
}

/// All reads, by what they read.
#[derive(Default)]
struct Reads {
    by_name: HashMap<Ident, Vec<Site>>,
}

impl Reads {
    fn of(module: &Module, needed: &HashSet<Ident>) -> Reads {
        let mut reads = Reads::default();
        for group in &module.groups {
            for binding in group.bindings.iter().filter(|b| needed.contains(&b.name)) {
                for clause in &binding.clauses {
                    for region in clause.guard.iter().chain([&clause.body]) {
                        reads.region(region, &binding.dims());
                    }
                }
            }
            if let Some(until) = &group.until {
                reads.region(&until.condition, &[until.index]);
            }
        }
        reads
    }

    fn region(&mut self, region: &Region, around: &[Var]) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) => {
                    let index = |subscript: &Subscript| match subscript {
                        Subscript::Index(expr) => Some(expr.clone()),
                        Subscript::Value(_) => None,
                    };
                    let at: Option<Vec<Quasi>> = read.place.at.iter().map(index).collect();
                    let once = at.is_some_and(|at| around.iter().all(|var| fixes(&at, *var)));
                    let proved = read.proved && read.default.is_none();
                    let list = self.by_name.entry(read.place.tensor.clone()).or_default();
                    list.push(Site { once, proved });
                    read.default.iter().for_each(|region| self.region(region, around));
                }
                InstKind::Reduce(reduction) => {
                    let mut inside = around.to_vec();
                    inside.extend(reduction.domain.dims());
                    inst.regions().into_iter().for_each(|r| self.region(r, &inside));
                }
                InstKind::Group(group) => {
                    for binding in &group.bindings {
                        let mut inside = around.to_vec();
                        inside.extend(binding.dims());
                        for clause in &binding.clauses {
                            let regions = clause.guard.iter().chain([&clause.body]);
                            regions.for_each(|region| self.region(region, &inside));
                        }
                    }
                    if let Some(until) = &group.until {
                        let mut inside = around.to_vec();
                        inside.push(until.index);
                        self.region(&until.condition, &inside);
                    }
                }
                _ => inst.regions().into_iter().for_each(|region| self.region(region, around)),
            }
        }
    }
}

/// Whether a subscript tells the value of a variable: it is that variable and nothing that varies.
fn fixes(at: &[Quasi], var: Var) -> bool {
    at.iter().any(|expr| {
        let affine = expr.as_affine();
        affine.is_some_and(|affine| {
            let only =
                affine.vars().all(|v| v == var || v.kind() == einlang_index::VarKind::Symbol);
            affine.coeff(var).abs() == 1 && only
        })
    })
}
