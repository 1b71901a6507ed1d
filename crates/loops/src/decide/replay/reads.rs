//! What a group reads, seen through bindings that are computed where they are read.

use std::collections::BTreeSet;

use einlang_index::{Affine, Constraint, Domain, Quasi, Set, Var};
use einlang_tir::free::Free;
use einlang_tir::module::{Axis, Binding, Group};
use einlang_tir::region::{InstKind, Read, Region};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::super::at_reads::whole_uses;
use super::super::observers::extended;
use crate::lower::index_of;

/// Bindings in bindings are followed so far; behind that everything counts as read.
const DEEPEST: usize = 64;

/// So many bindings that are computed at reads are followed into for one group; a chain in which each is
/// read twice would take forever.
const MOST_FOLLOWED: usize = 256;

/// One read.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The tensor.
    pub(super) tensor: Ident,
    /// The point, in the indices of the reading clause; nothing where it is data.
    pub(super) at: Vec<Option<Quasi>>,
    /// The reading points.
    pub(super) over: Domain,
    /// The binding that reads, by position in its group.
    pub(super) binding: usize,
}

/// The reads of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// One by one.
    pub(super) list: Vec<Seen>,
    /// Tensors that are used as a whole.
    pub(super) whole: HashSet<Ident>,
    /// Symbols that are mentioned.
    pub(super) symbols: BTreeSet<Var>,
    /// Symbols that something depends on that is computed at a read, other than as the end of an axis.
    pub(super) behind: BTreeSet<Var>,
}

/// What the axes of a binding that is computed at a read stand for there.
type Stands = Vec<(Var, Option<Quasi>)>;

impl Reads {
    /// The reads of a group, given the bindings that are computed where they are read.
    pub(super) fn of(group: &Group, at_reads: &HashMap<Ident, &Binding>) -> Reads {
        let mut walk =
            Walk { at_reads, binding: 0, depth: 0, left: MOST_FOLLOWED, reads: Reads::default() };
        walk.reads.symbols = Free::of_group(group).vars;
        for (number, binding) in group.bindings.iter().enumerate() {
            walk.binding = number;
            for clause in &binding.clauses {
                for region in clause.guard.iter().chain([&clause.body]) {
                    walk.region(region, &clause.domain, &Vec::new());
                }
            }
        }
        if let (Some(until), Some(binding)) = (&group.until, group.bindings.first()) {
            walk.binding = 0;
            let open = |axis: &&Axis| axis.dim.extent.as_var() == Some(until.extent);
            let time = binding.axes.iter().find(open).map(|axis| axis.var);
            // The condition is asked in the round of the planes that it sees.
            let stands = vec![(until.index, time.map(Quasi::from))];
            walk.region(&until.condition, &Domain::everything(binding.dims()), &stands);
        }
        walk.reads
    }
}

struct Walk<'a> {
    at_reads: &'a HashMap<Ident, &'a Binding>,
    binding: usize,
    depth: usize,
    /// How many bindings are still followed into.
    left: usize,
    reads: Reads,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region, over: &Domain, stands: &Stands) {
        self.reads.whole.extend(whole_uses(region));
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) => {
                    self.read(read, over, stands);
                    read.default.iter().for_each(|region| self.region(region, over, stands));
                }
                InstKind::Reduce(reduction) => {
                    let inside = extended(over, &replaced(&reduction.domain, stands));
                    for region in inst.regions() {
                        self.region(region, &inside, stands);
                    }
                }
                InstKind::Group(group) => {
                    for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
                        let inside = extended(over, &replaced(&clause.domain, stands));
                        for region in clause.guard.iter().chain([&clause.body]) {
                            self.region(region, &inside, stands);
                        }
                    }
                    if let Some(until) = &group.until {
                        self.region(&until.condition, over, stands);
                    }
                }
                _ => {
                    for region in inst.regions() {
                        self.region(region, over, stands);
                    }
                }
            }
        }
    }

    fn read(&mut self, read: &Read, over: &Domain, stands: &Stands) {
        let tensor = &read.place.tensor;
        let at = read.place.at.iter().map(|at| index_of(at).and_then(|at| stand_in(&at, stands)));
        let at: Vec<Option<Quasi>> = at.collect();
        let Some(binding) = self.at_reads.get(tensor) else {
            let (tensor, over) = (tensor.clone(), over.clone());
            self.reads.list.push(Seen { tensor, at, over, binding: self.binding });
            return;
        };
        if self.depth >= DEEPEST || self.left == 0 {
            self.all_behind(tensor);
            return;
        }
        self.left -= 1;
        self.depth += 1;
        let axes = binding.axes.iter().map(|axis| axis.var);
        let inner: Stands = axes.zip(at).collect();
        if !read.proved {
            let extents = binding.axes.iter().map(|axis| &axis.dim.extent);
            extents.for_each(|extent| {
                extent.for_each_var(&mut |var| {
                    self.reads.behind.insert(var);
                })
            });
        }
        for clause in &binding.clauses {
            self.reads.behind.extend(beyond_ends(binding, &clause.domain));
            for region in clause.guard.iter().chain([&clause.body]) {
                let vars = Free::of_region(region).vars;
                self.reads.behind.extend(&vars);
                self.reads.symbols.extend(vars);
                self.region(region, over, &inner);
            }
        }
        self.depth -= 1;
    }
}

/// An expression in the indices of the reading clause.
impl Walk<'_> {
    /// Whatever is read to compute a tensor counts as read whole.
    fn all_behind(&mut self, tensor: &Ident) {
        let mut open = vec![tensor.clone()];
        while let Some(name) = open.pop() {
            if !self.reads.whole.insert(name.clone()) {
                continue;
            }
            let clauses = self.at_reads.get(&name).into_iter().flat_map(|binding| &binding.clauses);
            for region in clauses.flat_map(|clause| clause.guard.iter().chain([&clause.body])) {
                open.extend(whole_uses(region));
                region.for_each_inst(&mut |inst| {
                    if let InstKind::Read(read) = &inst.kind {
                        open.push(read.place.tensor.clone());
                    }
                });
            }
        }
    }
}

/// What a domain mentions, but for the ends of the axes of its binding.
fn beyond_ends(binding: &Binding, domain: &Domain) -> Vec<Var> {
    let is_end = |constraint: &Constraint| {
        binding.axes.iter().any(|axis| {
            let end = axis.dim.extent.as_affine();
            let end = end.and_then(|end| Constraint::lt(&Affine::var(axis.var), end).ok());
            end.as_ref() == Some(constraint)
        })
    };
    let constraints = domain.sets().iter().flat_map(|set| set.constraints());
    let others = constraints.filter(|constraint| !is_end(constraint));
    others.flat_map(|constraint| constraint.expr().vars().collect::<Vec<_>>()).collect()
}

fn stand_in(expr: &Quasi, stands: &Stands) -> Option<Quasi> {
    let mut expr = expr.clone();
    for (var, value) in stands {
        if expr.mentions(*var) {
            expr = expr.substitute(*var, value.as_ref()?).ok()?;
        }
    }
    Some(expr)
}

/// A domain in the indices of the reading clause; where that gives up, all points.
fn replaced(domain: &Domain, stands: &Stands) -> Domain {
    if stands.is_empty() {
        return domain.clone();
    }
    let mut sets: Vec<Set> = Vec::new();
    for set in domain.sets() {
        let mut known = true;
        let set = set.replace(&mut |var| {
            let (_, value) = stands.iter().find(|(own, _)| *own == var)?;
            let affine = value.as_ref().and_then(|value| value.as_affine().cloned());
            known &= affine.is_some();
            affine
        });
        match set {
            Ok(set) if known => sets.push(set),
            _ => return Domain::everything(domain.dims()),
        }
    }
    Domain::of_sets(domain.dims(), sets)
}
