//! Who reads what: the reads of tensors from outside of their groups, with the points at which they happen.

use einlang_index::{Domain, Facts, Quasi};
use einlang_tir::module::{Group, Module, SymbolSource};
use einlang_tir::region::{InstKind, Read, Region};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::at_reads::whole_uses;
use super::extremes::Extremes;

/// The reads of every tensor from outside its own group, and what is seen as a whole.
pub(super) struct Observers {
    pub(super) reads: HashMap<Ident, Vec<(Read, Domain)>>,
    pub(super) whole: HashSet<Ident>,
    pub(super) extremes: Extremes,
}

/// What is known of the readers of one group.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Readers {
    reads: Vec<Vec<(Read, Domain)>>,
    whole: Vec<bool>,
    extremes: Extremes,
}

impl Observers {
    /// Who reads the tensors of a group.
    pub(super) fn readers_of(&self, group: &Group) -> Readers {
        let names = || group.bindings.iter().map(|binding| &binding.name);
        Readers {
            reads: names().map(|name| self.reads.get(name).cloned().unwrap_or_default()).collect(),
            whole: names().map(|name| self.whole.contains(name)).collect(),
            extremes: self.extremes.clone(),
        }
    }

    pub(super) fn of(module: &Module) -> Observers {
        let mut whole: HashSet<Ident> = module.outputs.iter().cloned().collect();
        for symbol in &module.symbols {
            if let SymbolSource::Value(name) | SymbolSource::Shape(name, _) = &symbol.source {
                whole.insert(name.clone());
            }
        }
        let extremes = Extremes::of(module);
        let mut observers = Observers { reads: HashMap::default(), whole, extremes };
        for group in &module.groups {
            observers.group(group, &Domain::everything([]), &mut Vec::new());
        }
        observers
    }

    /// Whether something outside its group reads a tensor.
    pub(super) fn read_later(&self, name: &Ident) -> bool {
        self.whole.contains(name) || self.reads.contains_key(name)
    }

    /// Whether something sees a tensor as a whole.
    pub(super) fn sees_all_of(&self, name: &Ident) -> bool {
        self.whole.contains(name)
    }

    /// The smallest number that an expression never exceeds.
    pub(super) fn most(&self, facts: &Facts, over: &Domain, expr: &Quasi) -> Option<i64> {
        self.extremes.most(facts, over, expr)
    }

    fn group(&mut self, group: &Group, over: &Domain, around: &mut Vec<Ident>) {
        let n_around = around.len();
        around.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
            let inside = extended(over, &clause.domain);
            for region in clause.guard.iter().chain([&clause.body]) {
                self.region(region, &inside, around);
                self.whole.extend(whole_uses(region));
            }
        }
        if let Some(until) = &group.until {
            self.region(&until.condition, over, around);
            self.whole.extend(whole_uses(&until.condition));
        }
        around.truncate(n_around);
    }

    fn region(&mut self, region: &Region, over: &Domain, around: &mut Vec<Ident>) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) => {
                    let name = &read.place.tensor;
                    if !around.contains(name) {
                        let list = self.reads.entry(name.clone()).or_default();
                        list.push((read.clone(), over.clone()));
                    }
                    read.default.iter().for_each(|region| self.region(region, over, around));
                }
                InstKind::Reduce(reduction) => {
                    let inside = extended(over, &reduction.domain);
                    for region in inst.regions() {
                        self.region(region, &inside, around);
                    }
                }
                InstKind::Group(group) => self.group(group, over, around),
                _ => {
                    for region in inst.regions() {
                        self.region(region, over, around);
                    }
                }
            }
        }
    }
}

/// The points of `outer` with further dimensions; where that gives up, more points.
pub(crate) fn extended(outer: &Domain, inner: &Domain) -> Domain {
    let dims: Vec<_> = outer.dims().iter().chain(inner.dims()).copied().collect();
    let mut sets = Vec::new();
    for a in outer.sets() {
        for b in inner.sets() {
            sets.push(a.intersect(b).unwrap_or_else(|_| a.clone()));
        }
    }
    Domain::of_sets(dims, sets)
}
