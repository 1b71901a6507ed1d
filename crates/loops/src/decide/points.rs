//! `join_points`: what is computed from a few numbers at each point of an axis never leaves the registers.
//!
//! The price of an option, the projection of a point, a softmax over ten classes: tensor by tensor, every
//! intermediate result of every point passes through memory. If tensors have the same long axes, and read
//! each other at their own points of those, one loop goes around all of them: its rounds are lanes, and what
//! nobody else reads has memory for the lanes of one round only, short axes outside, so that the lanes of an
//! element lie side by side.
//!
//! [`join_points`] decides which tensors belong together and makes them one group; [`run_points`] puts the
//! loops around such a group. Invariant: values stay what they are; what is proposed was proved like a
//! schedule from a file.

use einlang_index::{Constraint, Facts, Quasi, Var};
use einlang_tir::module::{Binding, Group, Module, SymbolSource};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{InstKind, Read, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::at_reads::{needed_by_outputs, whole_uses};
use super::cost::VECTOR;
use super::fuse::statements;
use super::legal::group_is_legal;
use super::rows::{is_nested, where_computed};
use super::windows::{Observers, is_total};
use super::work::{Works, n_terms};
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule};

/// The longest axis of which all elements are computed for some lanes.
pub(super) const SHORT: i64 = 16;

/// The most elements of one tensor at a point of the long axes, and of all tensors together.
const MOST_ELEMENTS: i64 = 36;
const MOST_TOGETHER: i64 = 320;

/// The most tensors of a group.
const MOST_TENSORS: usize = 64;

/// Makes one group of tensors that are computed point by point.
pub fn join_points(mut module: Module) -> Module {
    let alone = where_computed(&module);
    let members = Joining::of(&module, &alone).components();
    if members.is_empty() {
        return module;
    }
    let mut of: HashMap<usize, usize> = HashMap::default();
    for (number, groups) in members.iter().enumerate() {
        of.extend(groups.iter().map(|at| (*at, number)));
    }
    let extents: Extents = module.bindings().map(|b| (b.name.clone(), extents_of(b))).collect();
    let mut waiting: Vec<Vec<Binding>> = vec![Vec::new(); members.len()];
    let mut groups = Vec::with_capacity(module.groups.len());
    for (at, group) in std::mem::take(&mut module.groups).into_iter().enumerate() {
        let Some(number) = of.get(&at) else {
            groups.push(group);
            continue;
        };
        let proved = group.bindings.into_iter().map(|b| with_own_reads_proved(b, &extents));
        waiting[*number].extend(proved);
        if members[*number].last() == Some(&at) {
            let bindings = std::mem::take(&mut waiting[*number]);
            groups.push(Group { bindings, until: None });
        }
    }
    module.groups = groups;
    module
}

/// The extents of the axes of each tensor.
type Extents = HashMap<Ident, Vec<Quasi>>;

fn extents_of(binding: &Binding) -> Vec<Quasi> {
    binding.axes.iter().map(|axis| axis.dim.extent.clone()).collect()
}

/// A binding whose reads at its own point, of tensors of the same extents, are known to lie inside.
fn with_own_reads_proved(mut binding: Binding, extents: &Extents) -> Binding {
    let (vars, own) = (binding.dims(), extents_of(&binding));
    for clause in &mut binding.clauses {
        clause.body.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                if let InstKind::Read(read) = &mut inst.kind {
                    read.proved |= is_own(read, &vars, &own, extents);
                }
            }
        });
    }
    binding
}

/// Whether a read is at the indices of a point, and of a tensor of the same extents.
fn is_own(read: &Read, vars: &[Var], own: &[Quasi], extents: &Extents) -> bool {
    let at = &read.place.at;
    read.default.is_none()
        && at.len() == vars.len()
        && at.iter().zip(vars).all(|(at, var)| is_index(at, *var))
        && extents.get(&read.place.tensor).is_some_and(|extents| extents == own)
}

fn is_index(at: &Subscript, var: Var) -> bool {
    matches!(at, Subscript::Index(expr) if expr.as_var() == Some(var))
}

/// Groups with the same long axes that may still grow.
#[derive(Default)]
struct Cluster {
    extents: Vec<Quasi>,
    groups: Vec<usize>,
    /// The tensors, and their extents.
    names: Extents,
    n_elements: i64,
    /// Something outside has read it, and so comes later.
    closed: bool,
}

struct Joining<'m> {
    module: &'m Module,
    alone: &'m Schedule,
    works: Works<'m>,
    needed: HashSet<Ident>,
    facts: Facts,
    observers: Observers,
    /// Tensors whose shape or value a symbol has.
    measured: HashSet<&'m Ident>,
    clusters: Vec<Cluster>,
}

impl<'m> Joining<'m> {
    fn of(module: &'m Module, alone: &'m Schedule) -> Joining<'m> {
        let measured = module.symbols.iter().filter_map(|symbol| match &symbol.source {
            SymbolSource::Value(name) | SymbolSource::Shape(name, _) => Some(name),
            _ => None,
        });
        let mut joining = Joining {
            module,
            alone,
            works: Works::new(module, &Schedule::default()),
            needed: needed_by_outputs(module),
            facts: module.facts(),
            observers: Observers::of(module),
            measured: measured.collect(),
            clusters: Vec::new(),
        };
        (0..module.groups.len()).for_each(|at| joining.add(at));
        joining
    }

    /// Adds a group to a cluster, and closes those that it reads and does not belong to.
    fn add(&mut self, at: usize) {
        let group = &self.module.groups[at];
        let fit = self.fits(group);
        let own = fit.as_ref().and_then(|(extents, n_elements)| {
            let found = self.clusters.iter().rposition(|cluster| {
                !cluster.closed
                    && cluster.extents == *extents
                    && cluster.names.len() + group.bindings.len() <= MOST_TENSORS
                    && cluster.n_elements + n_elements <= MOST_TOGETHER
            });
            found.filter(|number| reads_own_points(group, &self.clusters[*number]))
        });
        for (number, cluster) in self.clusters.iter_mut().enumerate() {
            let read =
                || crate::regroup::reads(group).iter().any(|n| cluster.names.contains_key(n));
            cluster.closed |= Some(number) != own && !cluster.closed && read();
        }
        let Some((extents, n_elements)) = fit else { return };
        let number = own.unwrap_or_else(|| {
            self.clusters.push(Cluster { extents, ..Cluster::default() });
            self.clusters.len() - 1
        });
        let cluster = &mut self.clusters[number];
        cluster.groups.push(at);
        cluster.names.extend(group.bindings.iter().map(|b| (b.name.clone(), extents_of(b))));
        cluster.n_elements += n_elements;
    }

    /// The long axes of a group whose tensors can be computed point by point, and how many elements there are
    /// at a point.
    fn fits(&self, group: &Group) -> Option<(Vec<Quasi>, i64)> {
        let names = || group.bindings.iter().map(|binding| &binding.name);
        let plain = group.until.is_none()
            && names().all(|name| self.needed.contains(name) && !self.measured.contains(name));
        let reads = crate::regroup::reads(group);
        let apart = !names().any(|name| reads.contains(name));
        if !plain || !apart || group.regions().iter().any(|region| !whole_uses(region).is_empty()) {
            return None;
        }
        let mut n_elements = 0;
        for binding in &group.bindings {
            n_elements += n_short(binding)?;
            if !is_total(binding, &self.facts, &self.observers) {
                return None;
            }
            let long = &binding.axes[..n_long(binding)];
            let clauses = binding.clauses.iter();
            let same = clauses.clone().all(|clause| {
                let work = self.works.of(binding, clause);
                let bound = long.iter().any(|axis| work.bounds.contains(&axis.var));
                !work.scalar && !bound && is_everywhere(binding, clause.domain.sets(), long.len())
            });
            if !same
                || !clauses.clone().all(|clause| is_small(&clause.body) && clause.guard.is_none())
            {
                return None;
            }
        }
        let extents = |binding: &Binding| -> Vec<Quasi> {
            let long = &binding.axes[..n_long(binding)];
            long.iter().map(|axis| axis.dim.extent.clone()).collect()
        };
        let first = extents(group.bindings.first()?);
        let alike = group.bindings.iter().all(|binding| extents(binding) == first);
        (alike && !first.is_empty()).then_some((first, n_elements))
    }

    /// The groups of each cluster that depend on each other, where that saves memory.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for cluster in &self.clusters {
            let mut parts: Vec<(Vec<usize>, HashSet<Ident>)> = Vec::new();
            for at in &cluster.groups {
                let group = &self.module.groups[*at];
                let reads = crate::regroup::reads(group);
                let names = group.bindings.iter().map(|binding| binding.name.clone());
                let mut part = (vec![*at], names.collect::<HashSet<Ident>>());
                parts.retain(|(groups, names)| {
                    let linked = reads.iter().any(|name| names.contains(name));
                    if linked {
                        part.0.extend(groups);
                        part.1.extend(names.iter().cloned());
                    }
                    !linked
                });
                part.0.sort_unstable();
                parts.push(part);
            }
            found.extend(parts.into_iter().filter(|part| self.saves(part)).map(|part| part.0));
        }
        found
    }

    /// Whether something that would be stored is read by these groups only.
    fn saves(&self, (groups, names): &(Vec<usize>, HashSet<Ident>)) -> bool {
        let mut outside: HashSet<Ident> = self.module.outputs.iter().cloned().collect();
        for (at, group) in self.module.groups.iter().enumerate() {
            if !groups.contains(&at) {
                outside.extend(crate::regroup::reads(group));
            }
        }
        let stored = |name: &&Ident| {
            self.alone.tensor(name).is_some_and(|tensor| tensor.compute == Compute::Here)
        };
        names.iter().filter(stored).any(|name| !outside.contains(name))
    }
}

/// How many axes come before the short ones.
fn n_long(binding: &Binding) -> usize {
    let short = |extent: &Quasi| extent.as_constant().is_some_and(|extent| extent <= SHORT);
    let n_short = binding.axes.iter().rev().take_while(|axis| short(&axis.dim.extent)).count();
    binding.axes.len() - n_short
}

/// How many elements there are at a point of the long axes, if they are few.
fn n_short(binding: &Binding) -> Option<i64> {
    let short = binding.axes[n_long(binding)..].iter();
    let extents = short.filter_map(|axis| axis.dim.extent.as_constant());
    let n = extents.fold(1, i64::saturating_mul);
    (1..=MOST_ELEMENTS).contains(&n).then_some(n)
}

/// Whether a clause defines all points of the long axes.
fn is_everywhere(binding: &Binding, sets: &[einlang_index::Set], n_long: usize) -> bool {
    let Ok(whole) = binding.whole() else { return false };
    let ([own], [all]) = (sets, whole.sets()) else { return false };
    let all: Vec<Constraint> = all.constraints().collect();
    let long: Vec<Var> = binding.axes[..n_long].iter().map(|axis| axis.var).collect();
    own.constraints().all(|constraint| {
        let of_long = constraint.expr().vars().any(|var| long.contains(&var));
        !of_long || all.contains(&constraint)
    })
}

/// Whether all sums of a region are short and it has no tensors of its own.
fn is_small(region: &einlang_tir::region::Region) -> bool {
    let mut small = true;
    region.for_each_inst(&mut |inst| {
        small &= !is_nested(&inst.kind);
        if let InstKind::Reduce(reduction) = &inst.kind {
            small &= n_terms(reduction).is_some_and(|n| n <= SHORT);
        }
    });
    small
}

/// Whether a group reads the tensors of a cluster at its own points of the long axes.
fn reads_own_points(group: &Group, cluster: &Cluster) -> bool {
    let n = cluster.extents.len();
    let mut own = true;
    for binding in &group.bindings {
        let (vars, extents) = (binding.dims(), extents_of(binding));
        for clause in &binding.clauses {
            clause.body.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                if !cluster.names.contains_key(&read.place.tensor) {
                    return;
                }
                let at = &read.place.at;
                let known = at.iter().all(|at| matches!(at, Subscript::Index(_)));
                let proved = read.proved && read.default.is_none();
                own &= proved && known || is_own(read, &vars, &extents, &cluster.names);
                own &=
                    at.len() >= n && at.iter().zip(&vars).take(n).all(|(at, v)| is_index(at, *v));
            });
        }
    }
    own
}

/// The schedule of a group that is computed point by point, if it is one.
pub(super) fn run_points(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let n = n_long(group.bindings.first()?);
    let flat = |nest: &Nest| matches!(nest, Nest::Points { role: Role::Par, .. });
    let is_flat = match &decided.nest {
        Nest::Phases(phases) => phases.iter().all(|phase| match phase {
            Nest::Phases(inner) => inner.iter().all(flat),
            other => flat(other),
        }),
        _ => false,
    };
    let few = group.bindings.iter().all(|b| n_long(b) == n && n_short(b).is_some());
    if n == 0 || !is_flat || !few || group.bindings.len() < 2 || group.until.is_some() {
        return None;
    }
    let of = statements(&decided.nest);
    let mut bytes = 1;
    for binding in &group.bindings {
        for clause in &binding.clauses {
            let work = works.of(binding, clause);
            if work.scalar || clause.guard.is_some() || !is_small(&clause.body) {
                return None;
            }
            bytes = bytes.max(work.bytes);
        }
    }
    let lanes = VECTOR / bytes;
    let along = |axis: usize| -> Vec<(Statement, Form)> {
        let form = |statement: &Statement| {
            let rank = group.bindings[statement.binding].axes.len();
            let coefficients = (0..rank).map(|at| i64::from(at == axis)).collect();
            (*statement, Form { coefficients, offset: 0 })
        };
        of.iter().map(form).collect()
    };
    let points = |statement: &Statement| Nest::Points {
        statement: *statement,
        axes: (0..group.bindings[statement.binding].axes.len()).collect(),
        role: Role::Par,
    };
    let inner = Box::new(Nest::Phases(of.iter().map(points).collect()));
    let inner = Nest::Loop { forms: along(n - 1), tile: None, role: Role::Lane(lanes), inner };
    let tile = Some(i64::from(lanes));
    let mut nest =
        Nest::Loop { forms: along(n - 1), tile, role: Role::Par, inner: Box::new(inner) };
    for axis in (0..n - 1).rev() {
        nest =
            Nest::Loop { forms: along(axis), tile: None, role: Role::Par, inner: Box::new(nest) };
    }
    let mut changed = GroupSchedule { nest, ..decided.clone() };
    for (tensor, binding) in changed.tensors.iter_mut().zip(&group.bindings) {
        if observers.read_later(&binding.name) {
            continue;
        }
        // The lanes of an element lie side by side.
        let rank = binding.axes.len();
        let order: Vec<usize> = (0..n - 1).chain(n..rank).chain([n - 1]).collect();
        let row = |axis: &usize| (0..rank).map(|at| i64::from(at == *axis)).collect();
        if rank > n {
            tensor.map = order.iter().map(row).collect();
        }
        tensor.storage = order
            .iter()
            .map(|axis| match *axis {
                axis if axis + 1 == n => Layout::Mod(i64::from(lanes)),
                axis if axis < n => Layout::Mod(1),
                _ => Layout::Full,
            })
            .collect();
        tensor.stack = true;
    }
    group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
}
