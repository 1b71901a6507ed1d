//! `run_components`: what a round computes for each value of an axis it computes value by value.
//!
//! A block of a stream has its phases one after the other: all differences of all components, then all their
//! products, then all squares. Together they are larger than the nearest cache, and each phase fetches what the
//! one before has just left there. Phases that have an axis in common, and read each other only at their own
//! value of it, take that axis as a loop around them: a component goes through all of them while its numbers
//! are at hand, and what only they read has memory for one component.
//!
//! Phases that compare or add up along the axis, and those with so little to do that they are better off in lanes
//! along it, stay where they are, before or after the loop. Nothing is done for rounds that fit a cache anyway: a
//! size that is not a number counts as [`UNKNOWN_SIZE`], so that the plan depends on the program alone.
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_index::Var;
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{InstKind, Subscript};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cost::{NEAREST_CACHE, UNKNOWN_SIZE};
use super::legal::group_is_legal;
use super::roles::axis_of_lanes;
use super::tiles::rows_axis;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Layout, Nest, Role, TensorSchedule};

/// A phase has a loop around it if it goes through at least so many axes, those of its sums included.
const FEWEST_AXES: usize = 3;

/// The schedule of a group some of whose phases go through an axis together, if there are such.
pub(super) fn run_components(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let round = Round::of(group, &decided.nest, works)?;
    let axes = round.best_axes()?;
    let parts = round.in_parts(&axes);
    if !parts.iter().any(|part| matches!(part, Part::Together(_))) {
        return None;
    }
    let mut changed = decided.clone();
    let is_inside = |s: Statement| parts.iter().position(|part| part.goes_together(s));
    for (binding, axis) in &axes {
        let name = &group.bindings[*binding].name;
        let own = all_statements(group).filter(|s| s.binding == *binding);
        let readers = all_statements(group).filter(|s| round.reads(*s, *binding));
        let places: Option<HashSet<usize>> = own.chain(readers).map(is_inside).collect();
        let tensor = &mut changed.tensors[*binding];
        let plain = tensor.map.is_empty() && tensor.storage[*axis] == Layout::Full;
        let Some(places) = places.filter(|_| plain && !observers.read_later(name)) else {
            continue;
        };
        if places.len() == 1 {
            tensor.storage[*axis] = Layout::Mod(1);
            tensor.stack = true;
        } else if let Some((outer, _)) = round.free[binding].first().filter(|first| first.0 < *axis)
        {
            put_first(tensor, *axis, *outer);
        }
    }
    let phases = parts.into_iter().map(|part| round.nest(part, &axes)).collect();
    *innermost(&mut changed.nest) = Nest::Phases(phases);
    group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
}

/// The statements of a group.
fn all_statements(group: &Group) -> impl Iterator<Item = Statement> {
    let bindings = group.bindings.iter().enumerate();
    bindings.flat_map(|(binding, of)| {
        (0..of.clauses.len()).map(move |clause| Statement { binding, clause })
    })
}

/// What is inside of all loops of a nest.
fn innermost(nest: &mut Nest) -> &mut Nest {
    match nest {
        Nest::Loop { inner, .. } => innermost(inner),
        other => other,
    }
}

/// For each tensor that takes part the axis that is common.
type Axes = HashMap<usize, usize>;

/// Phases that stand in a row.
enum Part {
    Alone(Statement),
    Together(Vec<Statement>),
}

impl Part {
    fn goes_together(&self, statement: Statement) -> bool {
        matches!(self, Part::Together(all) if all.contains(&statement))
    }
}

/// Puts an axis before another one in memory, so that what belongs to a component lies side by side.
fn put_first(tensor: &mut TensorSchedule, axis: usize, outer: usize) {
    let rank = tensor.storage.len();
    let mut order: Vec<usize> = (0..rank).filter(|other| *other != axis).collect();
    order.insert(outer, axis);
    tensor.storage = order.iter().map(|axis| tensor.storage[*axis]).collect();
    let row = |axis: &usize| (0..rank).map(|at| i64::from(at == *axis)).collect();
    tensor.map = order.iter().map(row).collect();
}

/// A round of the loops of a nest.
struct Round<'m> {
    group: &'m Group,
    works: &'m Works<'m>,
    phases: Vec<Statement>,
    /// For each tensor the axes that the loops around leave, and how much of those a round has.
    free: HashMap<usize, Vec<(usize, i64)>>,
    /// For each phase what it reads of the group.
    reads: HashMap<Statement, Vec<OwnRead>>,
}

/// A read of a tensor of the group: its number, and the indices that the subscripts are.
type OwnRead = (usize, Vec<Option<Var>>);

impl<'m> Round<'m> {
    /// The phases inside of loops that threads divide, if there are several.
    fn of(group: &'m Group, nest: &Nest, works: &'m Works<'m>) -> Option<Round<'m>> {
        let (mut nest, mut loops, mut divided) = (nest, Vec::new(), false);
        while let Nest::Loop { forms, tile, role, inner } = nest {
            if !matches!(role, Role::Par | Role::Seq) {
                return None;
            }
            divided |= *role == Role::Par;
            loops.push((forms, *tile));
            nest = inner;
        }
        let Nest::Phases(all) = nest else { return None };
        let mut phases = Vec::new();
        for phase in all {
            let Nest::Points { statement, role: Role::Par, .. } = phase else { return None };
            phases.push(*statement);
        }
        let mut free: HashMap<usize, Vec<(usize, i64)>> = HashMap::default();
        for statement in &phases {
            let binding = &group.bindings[statement.binding];
            let mut axes = Vec::new();
            'axes: for (axis, of) in binding.axes.iter().enumerate() {
                let mut size = of.dim.extent.as_constant().unwrap_or(UNKNOWN_SIZE);
                for (forms, tile) in &loops {
                    let (_, form) = forms.iter().find(|(of, _)| of == statement)?;
                    match (form.coefficients.get(axis), tile) {
                        (Some(0), _) => {}
                        (_, Some(tile)) => size = size.min(*tile),
                        (_, None) => continue 'axes,
                    }
                }
                axes.push((axis, size));
            }
            if free.insert(statement.binding, axes.clone()).is_some_and(|known| known != axes) {
                return None;
            }
        }
        let mut round = Round { group, works, phases, free, reads: HashMap::default() };
        for statement in all_statements(group) {
            round.reads.insert(statement, round.reads_of(statement));
        }
        (divided && round.phases.len() > 1).then_some(round)
    }

    fn binding(&self, statement: Statement) -> &'m Binding {
        &self.group.bindings[statement.binding]
    }

    fn reads_of(&self, statement: Statement) -> Vec<OwnRead> {
        let clause = &self.binding(statement).clauses[statement.clause];
        let mut found = Vec::new();
        for region in clause.guard.iter().chain([&clause.body]) {
            region.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                let of = self.group.bindings.iter().position(|b| b.name == read.place.tensor);
                let var = |at: &Subscript| match at {
                    Subscript::Index(expr) => expr.as_var(),
                    _ => None,
                };
                found.extend(of.map(|of| (of, read.place.at.iter().map(var).collect())));
            });
        }
        found
    }

    fn reads(&self, statement: Statement, binding: usize) -> bool {
        self.reads.get(&statement).is_some_and(|reads| reads.iter().any(|(of, _)| *of == binding))
    }

    /// The axes that most phases have in common.
    fn best_axes(&self) -> Option<Axes> {
        let seeds =
            self.phases.iter().flat_map(|s| self.free[&s.binding].iter().map(|f| (*s, f.0)));
        let mut best: Option<(usize, Axes)> = None;
        let mut tried: HashSet<(usize, usize)> = HashSet::default();
        for (statement, axis) in seeds {
            if tried.contains(&(statement.binding, axis)) {
                continue;
            }
            let axes = self.common(statement.binding, axis);
            tried.extend(axes.iter().map(|(binding, axis)| (*binding, *axis)));
            let n = self.phases.iter().filter(|s| self.takes_part(**s, &axes)).count();
            if n > 1 && best.as_ref().is_none_or(|(most, _)| n > *most) {
                best = Some((n, axes));
            }
        }
        best.map(|(_, axes)| axes)
    }

    /// The tensors that are read, from one on, at the same value of an axis as that of the reader.
    fn common(&self, binding: usize, axis: usize) -> Axes {
        let mut axes = Axes::from_iter([(binding, axis)]);
        let mut apart: HashSet<usize> = HashSet::default();
        loop {
            let mut found: Option<(usize, Option<usize>)> = None;
            for reader in &self.phases {
                let vars = self.binding(*reader).dims();
                for (of, at) in &self.reads[reader] {
                    let (own, other) = (axes.get(&reader.binding), axes.get(of));
                    let there = own.and_then(|own| at.iter().position(|v| *v == Some(vars[*own])));
                    let here = other.and_then(|other| {
                        let var = at.get(*other).copied().flatten()?;
                        vars.iter().position(|v| *v == var)
                    });
                    found = match (own, other) {
                        (Some(_), None) if !apart.contains(of) => Some((*of, there)),
                        (None, Some(_)) if !apart.contains(&reader.binding) => {
                            Some((reader.binding, here))
                        }
                        // One that does not agree reads all values: it takes no part.
                        (Some(_), Some(other)) if there != Some(*other) => {
                            Some((reader.binding, None))
                        }
                        _ => None,
                    };
                    if found.is_some() {
                        break;
                    }
                }
                if found.is_some() {
                    break;
                }
            }
            match found {
                Some((binding, Some(axis))) => drop(axes.insert(binding, axis)),
                Some((binding, None)) => {
                    axes.remove(&binding);
                    apart.insert(binding);
                }
                None => return axes,
            }
        }
    }

    /// Whether a phase may have a loop over its axis around it without losing lanes or rows that share operands.
    fn takes_part(&self, statement: Statement, axes: &Axes) -> bool {
        let (binding, free) = (self.binding(statement), &self.free[&statement.binding]);
        let Some(axis) = axes.get(&statement.binding) else { return false };
        let clause = &binding.clauses[statement.clause];
        let work = self.works.of(binding, clause);
        let mut n_terms = 0;
        clause.body.for_each_inst(&mut |inst| {
            if let InstKind::Reduce(reduction) = &inst.kind {
                n_terms = n_terms.max(reduction.domain.dims().len());
            }
        });
        let rows = |lanes: usize| rows_axis(binding, &work, lanes, &[*axis, lanes]) == Some(*axis);
        free.iter().any(|(free, _)| free == axis)
            && free.len() + n_terms >= FEWEST_AXES
            && axis_of_lanes(binding, &work) != Some(*axis)
            && !free.iter().any(|(lanes, _)| lanes != axis && rows(*lanes))
    }

    /// The phases in an order in which those that go through the axis together stand side by side.
    fn in_parts(&self, axes: &Axes) -> Vec<Part> {
        let (mut parts, mut together, mut later) = (Vec::new(), Vec::new(), Vec::new());
        let needs = |statement: Statement, of: &[Statement]| {
            of.iter().any(|other| self.reads(statement, other.binding))
        };
        for statement in &self.phases {
            let takes_part = self.takes_part(*statement, axes);
            if takes_part && needs(*statement, &later) {
                self.close(&mut parts, &mut together, &mut later);
            }
            if takes_part {
                together.push(*statement);
            } else if needs(*statement, &together) || needs(*statement, &later) {
                later.push(*statement);
            } else {
                parts.push(Part::Alone(*statement));
            }
        }
        self.close(&mut parts, &mut together, &mut later);
        parts
    }

    /// Ends a row of phases that go together, if that is worth it, and begins another one.
    fn close(
        &self,
        parts: &mut Vec<Part>,
        together: &mut Vec<Statement>,
        later: &mut Vec<Statement>,
    ) {
        if self.is_worth_it(together) {
            parts.push(Part::Together(std::mem::take(together)));
        }
        parts.extend(together.drain(..).chain(later.drain(..)).map(Part::Alone));
    }

    /// Whether one of these phases reads what another one computes, and does not find it in the nearest cache.
    fn is_worth_it(&self, together: &[Statement]) -> bool {
        let is_large = |binding: usize| {
            let sizes = self.free[&binding].iter().map(|(_, size)| *size);
            let n = sizes.fold(1_i64, i64::saturating_mul);
            n.saturating_mul(self.group.bindings[binding].elem.bits().max(8).into()) / 8
                > NEAREST_CACHE
        };
        together.iter().enumerate().any(|(at, reader)| {
            let before = together[..at].iter().map(|s| s.binding);
            before.into_iter().any(|of| self.reads(*reader, of) && is_large(of))
        })
    }

    fn nest(&self, part: Part, axes: &Axes) -> Nest {
        let points = |statement: Statement| Nest::Points {
            statement,
            axes: (0..self.binding(statement).axes.len()).collect(),
            role: Role::Par,
        };
        let statements = match part {
            Part::Alone(statement) => return points(statement),
            Part::Together(statements) => statements,
        };
        let form = |statement: &Statement| {
            let axis = axes[&statement.binding];
            let rank = self.binding(*statement).axes.len();
            let coefficients = (0..rank).map(|at| i64::from(at == axis)).collect();
            (*statement, Form { coefficients, offset: 0 })
        };
        let forms = statements.iter().map(form).collect();
        let inner = Box::new(Nest::Phases(statements.into_iter().map(points).collect()));
        Nest::Loop { forms, tile: None, role: Role::Par, inner }
    }
}
