//! `run_columns`: what a step of a recurrence computes for some columns, one thread computes from first to last.
//!
//! A step of a layer with state adds up products, which threads divide by the columns of the result, and then computes
//! elements of the state from several such sums. Phase by phase that is one wait of all threads for each other after
//! every phase that is divided otherwise, and all sums pass through memory. Where phases of a step read each other only
//! at their own column, a loop over tiles of columns goes around all of them: threads wait once in a step, for the
//! state that others have, and what only phases of the same tile read has memory for a tile.
//!
//! Columns are the axis that runs in lanes where products share their rows, so a tile has as many as those have lanes.
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_index::Var;
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Dependence, Form, Statement};
use einlang_tir::region::{InstKind, Subscript};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cost::{TILE_VECTORS, VECTOR};
use super::legal::group_is_legal;
use super::private::private_dimensions;
use super::roles::axis_of_lanes;
use super::tiles::rows_axis;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Layout, Nest, Role};

/// The schedule of a recurrence whose steps go through columns together, if they do.
pub(super) fn run_columns(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
    dependences: &[Dependence],
) -> Option<GroupSchedule> {
    let step = Step::of(group, &decided.nest, works)?;
    let (axes, width) = step.columns()?;
    let mut changed = decided.clone();
    let Nest::Loop { inner, .. } = &mut changed.nest else { return None };
    // Phases in several loops would wait for each other again.
    if !step.phases.iter().all(|statement| step.takes_part(*statement, &axes)) {
        return None;
    }
    **inner = step.nest(&axes, width);
    let facts = module.facts();
    let private = private_dimensions(group, &changed, dependences, observers, &facts);
    for (tensor, dimensions) in changed.tensors.iter_mut().zip(private) {
        for (dimension, width) in dimensions {
            if tensor.storage.get(dimension) == Some(&Layout::Full) {
                tensor.storage[dimension] = Layout::Mod(width);
                tensor.stack = true;
            }
        }
    }
    group_is_legal(module, group, &changed, observers, &facts).then_some(changed)
}

/// For each tensor that takes part the axis of its columns.
type Axes = HashMap<usize, usize>;

/// What a phase reads of the same step: the tensors, and the indices that the subscripts are.
type Reads = Vec<(usize, Vec<Option<Var>>)>;

/// The phases of a step.
struct Step<'m> {
    group: &'m Group,
    works: &'m Works<'m>,
    phases: Vec<Statement>,
    /// The axis of time of each phase.
    time: HashMap<Statement, usize>,
    reads: HashMap<Statement, Reads>,
}

impl<'m> Step<'m> {
    /// The phases inside of a loop over time, if they are nothing but points.
    fn of(group: &'m Group, nest: &Nest, works: &'m Works<'m>) -> Option<Step<'m>> {
        let Nest::Loop { forms, tile: None, role: Role::Seq, inner } = nest else { return None };
        let mut phases = Vec::new();
        flat(inner, &mut phases)?;
        let mut time = HashMap::default();
        for (statement, form) in forms {
            let mut moved = (0..form.coefficients.len()).filter(|at| form.coefficients[*at] != 0);
            let (axis, None) = (moved.next()?, moved.next()) else { return None };
            time.insert(*statement, axis);
        }
        if group.until.is_some() || phases.len() < 2 {
            return None;
        }
        let mut step = Step { group, works, phases, time, reads: HashMap::default() };
        for statement in step.phases.clone() {
            step.reads.insert(statement, step.reads_of(statement)?);
        }
        Some(step)
    }

    fn binding(&self, statement: Statement) -> &'m Binding {
        &self.group.bindings[statement.binding]
    }

    fn reads_of(&self, statement: Statement) -> Option<Reads> {
        let binding = self.binding(statement);
        let clause = &binding.clauses[statement.clause];
        let now = binding.axes.get(*self.time.get(&statement)?)?.var;
        let mut found = Vec::new();
        for region in clause.guard.iter().chain([&clause.body]) {
            region.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                let of = self.group.bindings.iter().position(|b| b.name == read.place.tensor);
                let var = |at: &Subscript| match at {
                    Subscript::Index(expr) => expr.as_var(),
                    _ => None,
                };
                let at: Vec<Option<Var>> = read.place.at.iter().map(var).collect();
                // What was computed in another step is there, in all columns.
                let time = |of: usize| self.phases.iter().find(|s| s.binding == of);
                let time = of.and_then(time).and_then(|s| self.time.get(s));
                let is_now = time.is_some_and(|axis| at.get(*axis) == Some(&Some(now)));
                found.extend(of.filter(|_| is_now).map(|of| (of, at)));
            });
        }
        Some(found)
    }

    /// The columns of products whose rows share what they read, and how many lanes they have.
    fn columns(&self) -> Option<(Axes, i64)> {
        self.phases.iter().find_map(|statement| {
            let axis = self.lanes_of_product(*statement)?;
            let binding = self.binding(*statement);
            let work = self.works.of(binding, &binding.clauses[statement.clause]);
            let width = i64::from(VECTOR / work.bytes.max(1) * TILE_VECTORS);
            let axes = self.common(statement.binding, axis);
            let fits = |s: &&Statement| self.takes_part(**s, &axes);
            let n_products = self.phases.iter().filter(fits).filter(|s| self.is_product(**s));
            let any = |s: &Statement| {
                self.takes_part(*s, &axes)
                    && self.reads[s].iter().any(|(of, _)| axes.contains_key(of))
            };
            (n_products.count() > 0 && self.phases.iter().any(any)).then_some((axes, width))
        })
    }

    /// The axis that runs in lanes in a clause that adds up products with rows in common.
    fn lanes_of_product(&self, statement: Statement) -> Option<usize> {
        let binding = self.binding(statement);
        let work = self.works.of(binding, &binding.clauses[statement.clause]);
        let time = *self.time.get(&statement)?;
        let lanes = axis_of_lanes(binding, &work).filter(|axis| *axis != time)?;
        let free: Vec<usize> = (0..binding.axes.len()).filter(|axis| *axis != time).collect();
        (work.n_folds > 0 && rows_axis(binding, &work, lanes, &free).is_some()).then_some(lanes)
    }

    fn is_product(&self, statement: Statement) -> bool {
        self.lanes_of_product(statement).is_some()
    }

    /// The tensors that are read, from one on, at the same value of an axis as that of the reader.
    fn common(&self, binding: usize, axis: usize) -> Axes {
        let mut axes = Axes::from_iter([(binding, axis)]);
        let mut apart: HashSet<usize> = HashSet::default();
        while let Some((binding, axis)) = self.one_more(&axes, &apart) {
            match axis {
                Some(axis) => drop(axes.insert(binding, axis)),
                None => {
                    axes.remove(&binding);
                    apart.insert(binding);
                }
            }
        }
        axes
    }

    /// A tensor whose axis follows from those that are known, or one that has none in common with them.
    fn one_more(&self, axes: &Axes, apart: &HashSet<usize>) -> Option<(usize, Option<usize>)> {
        self.phases.iter().find_map(|reader| {
            let vars = self.binding(*reader).dims();
            self.reads[reader].iter().find_map(|(of, at)| {
                let (own, other) = (axes.get(&reader.binding), axes.get(of));
                let there = own.and_then(|own| at.iter().position(|v| *v == Some(vars[*own])));
                let here = other.and_then(|other| {
                    let var = at.get(*other).copied().flatten()?;
                    vars.iter().position(|v| *v == var)
                });
                match (own, other) {
                    (Some(_), None) if !apart.contains(of) => Some((*of, there)),
                    (None, Some(_)) if !apart.contains(&reader.binding) => {
                        Some((reader.binding, here))
                    }
                    (Some(_), Some(other)) if there != Some(*other) => Some((reader.binding, None)),
                    _ => None,
                }
            })
        })
    }

    /// Whether a phase goes through the columns: products only if those are their lanes.
    fn takes_part(&self, statement: Statement, axes: &Axes) -> bool {
        let Some(axis) = axes.get(&statement.binding) else { return false };
        self.time.get(&statement) != Some(axis)
            && self.lanes_of_product(statement).is_none_or(|lanes| lanes == *axis)
    }

    /// The phases inside of a loop over tiles of columns.
    fn nest(&self, axes: &Axes, width: i64) -> Nest {
        let points = |statement: &Statement| Nest::Points {
            statement: *statement,
            axes: (0..self.binding(*statement).axes.len()).collect(),
            role: Role::Par,
        };
        let form = |statement: &Statement| {
            let axis = axes[&statement.binding];
            let rank = self.binding(*statement).axes.len();
            let coefficients = (0..rank).map(|at| i64::from(at == axis)).collect();
            (*statement, Form { coefficients, offset: 0 })
        };
        let forms = self.phases.iter().map(form).collect();
        let inner = Box::new(Nest::Phases(self.phases.iter().map(points).collect()));
        Nest::Loop { forms, tile: Some(width), role: Role::Par, inner }
    }
}

/// The phases of a nest one after the other, if they are nothing but points.
fn flat(nest: &Nest, out: &mut Vec<Statement>) -> Option<()> {
    match nest {
        Nest::Phases(phases) => phases.iter().try_for_each(|phase| flat(phase, out)),
        Nest::Points { statement, role: Role::Par, .. } => {
            out.push(*statement);
            Some(())
        }
        _ => None,
    }
}
