//! `lift_locals`: what a clause computes again at every point becomes a binding of its own.
//!
//! A function that is called in the body of a clause brings its local tensors along, and a body
//! that is a tensor has all of them at every point. This pass moves local groups, reductions and
//! calls of the host out of the clause, to a binding whose axes are the indices they depend on, in
//! front of the group of the clause, or inside it if they read it. It does so where something is
//! saved: where they depend on fewer indices than there are around them. Two that are the same
//! computation, as the fields of a record have them, become one.
//!
//! Invariants:
//! - Nothing is evaluated that would not have been. The domain of what is moved is the projection
//!   of the points where it stood: of the clause, less what later clauses cover, of the reductions
//!   around it and of the affine conditions. Other conditions become its guard; where they depend
//!   on more indices, it stays. What is tested before it in the same clause is tested in it again.
//! - A range that is computed in the body becomes a symbol of the module if it is the same at every
//!   point; otherwise what has such an extent stays.
//! - An open axis has the length that its group finds, so a local group with `until` moves only if
//!   it depends on no index.
//! - A group with data-dependent self-reads gets new members only if an order is found with them,
//!   because such reads are held to it.
//!
//! | file | owns |
//! |---|---|
//! | `walk` | going through clauses and regions |
//! | `scope` | what is around an instruction, and what it needs of that |
//! | `plan` | what can be moved, and over which indices |
//! | `build` | the binding that is made of it |
//! | `share` | finding the same computation again |
//! | `rename` | reads of what was moved |

mod build;
mod plan;
mod rename;
mod scope;
mod share;
mod walk;

use std::collections::BTreeSet;
use std::rc::Rc;

use einlang_index::{Facts, Var};
use einlang_source::Diagnostics;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Ctx;
use crate::module::{Group, Module, SymbolSource};
use crate::order::any_order;
use crate::region::{InstKind, Region, Subscript};
use crate::types::Ident;
pub use build::PART;
use share::{Key, Lifted, Settled};

/// Moves what is computed again at every point out of the clauses.
pub fn lift_locals(module: &mut Module, _: &Ctx) -> Result<(), Diagnostics> {
    let groups = std::mem::take(&mut module.groups);
    let mut functions = std::mem::take(&mut module.functions);
    let mut names: BTreeSet<Ident> = module.tensor_names();
    let mut derived = HashSet::default();
    let regions = functions.iter().map(|function| &function.body);
    for region in regions.chain(groups.iter().flat_map(Group::regions)) {
        region.for_each_region(&mut |region| names.extend(region.tensor_params().cloned()));
        region.for_each_inst(&mut |inst| note(&inst.kind, &mut names, &mut derived));
    }
    names.extend(groups.iter().flat_map(|g| &g.bindings).map(|b| b.name.clone()));
    let facts = module.facts();
    let (settled, same) = (HashMap::default(), HashMap::default());
    let mut lift = Lift { module, names, facts, derived, settled, same };
    for function in &mut functions {
        lift.inside(&mut function.body);
    }
    let groups = lift.rounds(groups);
    (module.groups, module.functions) = (groups, functions);
    remove_ranges(module);
    Ok(())
}

/// Takes note of the tensors an instruction defines, and of those it asks a derivative of.
fn note(kind: &InstKind, names: &mut BTreeSet<Ident>, derived: &mut HashSet<Ident>) {
    match kind {
        InstKind::Group(group) => names.extend(group.bindings.iter().map(|b| b.name.clone())),
        InstKind::Deriv { of, by } => derived.extend([of.tensor.clone(), by.tensor.clone()]),
        _ => {}
    }
}

/// A range that became a symbol of the module is not computed in a region any more.
fn remove_ranges(module: &mut Module) {
    let local: Vec<bool> =
        module.symbols.iter().map(|symbol| matches!(symbol.source, SymbolSource::Local)).collect();
    let is_local = |var: Var| local.get(var.number()).copied().unwrap_or(true);
    let mut clean = |region: &mut Region| {
        region.insts.retain(|inst| match &inst.kind {
            InstKind::Param { var, .. } => is_local(*var),
            _ => true,
        });
    };
    module.regions_mut().for_each(|region| region.for_each_region_mut(&mut clean));
}

/// The state of the pass.
struct Lift<'m> {
    module: &'m mut Module,
    names: BTreeSet<Ident>,
    facts: Facts,
    /// Tensors that derivatives are asked of: each is perturbed by itself.
    derived: HashSet<Ident>,
    /// Groups of the module that were moved there, have their final domains and stand before the
    /// one that is looked through.
    settled: HashMap<Rc<Key>, Rc<Settled>>,
    /// Symbols that have the value of another one.
    same: HashMap<Var, Var>,
}

/// The group out of whose clauses things are moved.
struct Host {
    /// Whether it is a group of the module, and not of a region.
    global: bool,
    /// Its members, with those that were added.
    own: HashSet<Ident>,
    /// It reads itself at places that data decide.
    by_data: bool,
    /// The length of its open axis.
    open: Option<Var>,
    /// What goes in front of it.
    before: Vec<Lifted>,
    /// What goes into it.
    added: Vec<Lifted>,
    /// How many of those have been looked through.
    n_looked: usize,
}

impl Host {
    fn new(group: &Group, global: bool, before: Vec<Lifted>) -> Host {
        let own: HashSet<Ident> = group.bindings.iter().map(|b| b.name.clone()).collect();
        Host {
            global,
            by_data: reads_by_data(group, &own),
            own,
            open: group.until.as_ref().map(|until| until.extent),
            before,
            added: Vec::new(),
            n_looked: 0,
        }
    }
}

/// Whether a group reads itself at a place that is not an index expression.
fn reads_by_data(group: &Group, own: &HashSet<Ident>) -> bool {
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                let by_data = read.place.at.iter().any(|at| matches!(at, Subscript::Value(_)));
                found |= by_data && own.contains(&read.place.tensor);
            }
        });
    }
    found
}

/// A group of the module.
struct Entry {
    group: Group,
    /// What others need to know of it if it was moved.
    known: Option<(Rc<Key>, Rc<Settled>)>,
    /// Whether things were moved out of it already.
    looked: bool,
}

impl Lift<'_> {
    /// Looks through the groups of the module, then through those that were moved there, and so
    /// on. What is moved in one round can still be widened, so that all may share it.
    fn rounds(&mut self, groups: Vec<Group>) -> Vec<Group> {
        let entry = |group| Entry { group, known: None, looked: false };
        let mut entries: Vec<Entry> = groups.into_iter().map(entry).collect();
        while entries.iter().any(|entry| !entry.looked) {
            let mut moved = Vec::new();
            let mut places = Vec::with_capacity(entries.len());
            self.settled.clear();
            for entry in &mut entries {
                if !std::mem::replace(&mut entry.looked, true) {
                    moved = self.relieve(&mut entry.group, true, moved);
                }
                self.settled.extend(entry.known.clone());
                places.push(moved.len());
            }
            let mut moved = moved.into_iter();
            let mut next = Vec::with_capacity(entries.len());
            let mut n_placed = 0;
            for (entry, place) in entries.into_iter().zip(places) {
                for lifted in moved.by_ref().take(place - n_placed) {
                    let known = lifted.settled();
                    next.push(Entry { group: lifted.group, known, looked: false });
                }
                n_placed = place;
                next.push(entry);
            }
            entries = next;
        }
        entries.into_iter().map(|entry| entry.group).collect()
    }

    /// Moves out of the clauses of a group what is to go in front of it, and adds that to what
    /// others have moved there.
    fn relieve(&mut self, group: &mut Group, global: bool, before: Vec<Lifted>) -> Vec<Lifted> {
        let host = Host::new(group, global, before);
        if !host.by_data {
            return self.look(group, host);
        }
        // A data-dependent self-read is held to the order of the group, so there must be one.
        let original = group.clone();
        let (n_before, by_data) = (host.before.len(), true);
        let sources: Vec<SymbolSource> =
            self.module.symbols.iter().map(|symbol| symbol.source.clone()).collect();
        let same = self.same.clone();
        let mut before = self.look(group, Host { by_data: false, ..host });
        let grew = group.bindings.len() > original.bindings.len();
        let ordered = |group: &Group| any_order(self.module, group).is_some();
        if !grew || (ordered(group) && ordered(&original)) {
            return before;
        }
        before.truncate(n_before);
        *group = original;
        self.same = same;
        for (symbol, source) in self.module.symbols.iter_mut().zip(sources) {
            symbol.source = source;
        }
        let host = Host { by_data, ..Host::new(group, global, before) };
        self.look(group, host)
    }

    fn look(&mut self, group: &mut Group, mut host: Host) -> Vec<Lifted> {
        for at in 0..group.bindings.len() {
            self.binding(&mut group.bindings[at], &mut host);
        }
        if let Some(until) = &mut group.until {
            self.inside(&mut until.condition);
        }
        while host.n_looked < host.added.len() {
            let at = host.n_looked;
            host.n_looked += 1;
            let mut bindings = std::mem::take(&mut host.added[at].group.bindings);
            for binding in &mut bindings {
                self.binding(binding, &mut host);
            }
            group.bindings.extend(bindings);
        }
        host.before
    }
}
