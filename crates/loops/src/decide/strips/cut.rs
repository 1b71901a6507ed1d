//! `cut_strips`: a grid that runs by its diagonals is cut into strips of rows.
//!
//! A diagonal of a large grid does not stay in a cache until the next one reads it, and has too few points for
//! threads to wait for each other at its end. A strip of [`rows`](super::rows_of_strip) rows keeps its diagonals
//! close by, and needs of the strip above it one row only, its edge. So `d[i, j]` becomes `d[s, l, j]` with
//! `i = s * rows + l`, the last row of each strip is kept beside it, `d.edge[s, j] = d[s, rows - 1, j]`, and the
//! first row of the next strip reads that. Strips follow each other as a wave ([`super::wave`]).
//!
//! Invariant: every value stays what it was; only subscripts change. If the strips would not be legal as a wave,
//! the module stays as it is.

use std::collections::BTreeSet;

use einlang_index::{Domain, GaveUp, Map, Quasi, Var};
use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Axis, Binding, Clause, Group, Module};
use einlang_tir::order::dependences;
use einlang_tir::region::{Def, Inst, InstKind, Place, Read, Region, Subscript};
use einlang_tir::substitute::Substitution;
use einlang_tir::types::Ident;

use super::super::windows::{Observers, is_total};
use super::super::work::Works;
use super::super::{Deciding, reads_itself_by_data};
use super::wave::{edge_of, run_strips};
use super::{rows_of_strip, run_diagonals};
use crate::schedule::Schedule;

type Result<T> = std::result::Result<T, GaveUp>;

/// Cuts the grids of a module into strips.
pub fn cut_strips(mut module: Module) -> Module {
    for at in 0..module.groups.len() {
        if let Some(cut) = cut(&module, at) {
            module = cut;
        }
    }
    module
}

/// The module with one group in strips, if that is a grid for which they are worth it.
fn cut(module: &Module, at: usize) -> Option<Module> {
    let group = &module.groups[at];
    let flat = group.bindings.iter().all(|binding| binding.axes.len() == 2);
    let plain = group.bindings.iter().flat_map(|b| &b.clauses).all(|c| c.guard.is_none());
    if !flat || !plain || group.until.is_some() || reads_itself_by_data(group) {
        return None;
    }
    let edges = tensors_with_edges(group)?;
    let decided = Deciding { module, facts: module.facts(), observers: None }.alone(group).ok()?;
    let works = Works::new(module, &Schedule::default());
    let (observers, facts) = (Observers::of(module), module.facts());
    let depend = dependences(module, group);
    run_diagonals(module, group, &decided, &works, &observers, &depend)?;
    let rows = rows_of_strip(group);
    let short = |binding: &Binding| {
        binding.axes[0].dim.extent.as_constant().is_some_and(|extent| extent <= rows)
    };
    if group.bindings.iter().any(short) {
        return None;
    }
    let mut made = module.clone();
    let names = made.tensor_names();
    // A field of a record may have that name.
    if edges.iter().any(|name| names.contains(&edge_of(name))) {
        return None;
    }
    let mut cutting = Cutting { module: &mut made, names, group, rows };
    let mut bindings = Vec::new();
    for binding in &group.bindings {
        bindings.push(cutting.strips(binding).ok()?);
    }
    for binding in group.bindings.iter().filter(|binding| edges.contains(&binding.name)) {
        let total = is_total(binding, &facts, &observers);
        bindings.push(cutting.edge(binding, total).ok()?);
    }
    made.groups[at].bindings = bindings;
    let others = made.groups.iter_mut().enumerate().filter(|(number, _)| *number != at);
    for (_, other) in others {
        read_in_strips(other, group, rows)?;
    }
    is_wave(&made, at).then_some(made)
}

/// Whether the strips can run as a wave.
fn is_wave(made: &Module, at: usize) -> bool {
    let group = &made.groups[at];
    let deciding = Deciding { module: made, facts: made.facts(), observers: None };
    let works = Works::new(made, &Schedule::default());
    let Ok(decided) = deciding.alone(group) else { return false };
    run_strips(made, group, &decided, &works, &Observers::of(made)).is_some()
}

/// The tensors of a grid of which points read the row above; nothing if something else is read.
fn tensors_with_edges(group: &Group) -> Option<BTreeSet<Ident>> {
    let mut edges = BTreeSet::new();
    let mut fits = true;
    for binding in &group.bindings {
        for clause in &binding.clauses {
            clause.body.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                if !group.bindings.iter().any(|other| other.name == read.place.tensor) {
                    return;
                }
                match row_of(read, binding.axes[0].var) {
                    Some(Row::Moves(0) | Row::Is(_)) => {}
                    Some(Row::Moves(-1)) => {
                        edges.insert(read.place.tensor.clone());
                    }
                    _ => fits = false,
                }
            });
        }
    }
    (fits && !edges.is_empty()).then_some(edges)
}

/// The row that something reads.
enum Row {
    /// So many rows further on.
    Moves(i64),
    /// This one.
    Is(i64),
}

fn row_of(read: &Read, row: Var) -> Option<Row> {
    let Subscript::Index(at) = read.place.at.first()? else { return None };
    match at.as_constant() {
        Some(number) => (number >= 0).then_some(Row::Is(number)),
        None => at.sub(&row.into()).ok()?.as_constant().map(Row::Moves),
    }
}

/// Changes the reads of a grid from outside of it.
fn read_in_strips(other: &mut Group, grid: &Group, rows: i64) -> Option<()> {
    let mut fits = Some(());
    for region in other.regions_mut() {
        region.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                if let InstKind::Read(read) = &mut inst.kind
                    && grid.bindings.iter().any(|binding| binding.name == read.place.tensor)
                    && split_row(read, rows).is_none()
                {
                    fits = None;
                }
            }
        });
    }
    fits
}

/// The number of the strip and of the row in it in the place of a row.
fn split_row(read: &mut Read, rows: i64) -> Option<()> {
    let Subscript::Index(row) = read.place.at.first()?.clone() else { return None };
    let strip = row.floor_div(rows).ok()?;
    let in_strip = row.combine(1, &strip, -rows).ok()?;
    read.place.at.splice(..1, [strip, in_strip].map(Subscript::Index));
    Some(())
}

struct Cutting<'a> {
    module: &'a mut Module,
    names: BTreeSet<Ident>,
    group: &'a Group,
    rows: i64,
}

/// The indices of a tensor in strips.
#[derive(Clone, Copy)]
struct Indices {
    strip: Var,
    row: Var,
    column: Var,
}

impl Cutting<'_> {
    /// A tensor in strips.
    fn strips(&mut self, binding: &Binding) -> Result<Binding> {
        let (rows, [row, column]) = (self.rows, [&binding.axes[0], &binding.axes[1]]);
        let vars = &mut self.module.vars;
        let is = Indices {
            strip: vars.index("strip"),
            row: vars.fresh_like(row.var),
            column: vars.fresh_like(column.var),
        };
        let dims = [is.strip, is.row, is.column];
        let n_strips = row.dim.extent.add_constant(rows - 1)?.floor_div(rows)?;
        let axes = vec![
            Axis { var: is.strip, dim: n_strips.into() },
            Axis { var: is.row, dim: Quasi::from(rows).into() },
            Axis { var: is.column, dim: column.dim.clone() },
        ];
        let at = Quasi::from(is.strip).scale(rows)?.add(&is.row.into())?;
        let map = Map::new(dims, [at, Quasi::from(is.column)]);
        let last = Quasi::from(is.row).neg()?.add_constant(rows - 1)?;
        let inside = Domain::where_nonnegative(dims, &[is.row.into(), last])?;
        let first = Domain::where_zero(dims, &is.row.into())?;
        let after = Domain::where_nonnegative(dims, &[Quasi::from(is.row).add_constant(-1)?])?;
        let mut clauses = Vec::new();
        for clause in &binding.clauses {
            let domain = clause.domain.preimage(&map)?.intersect(&inside)?;
            let parts = match self.reads_above(clause, row.var) {
                true => vec![(domain.intersect(&first)?, true), (domain.intersect(&after)?, false)],
                false => vec![(domain, false)],
            };
            for (domain, is_first) in parts {
                if domain.is_empty().is_true() {
                    continue;
                }
                let body = self.body(binding, clause, is, is_first)?;
                let domain = domain.simplified().into();
                clauses.push(Clause { domain, guard: None, body, loc: clause.loc });
            }
        }
        Ok(Binding { axes, clauses, ..binding.clone() })
    }

    /// Whether a clause reads the row above.
    fn reads_above(&self, clause: &Clause, row: Var) -> bool {
        let mut above = false;
        clause.body.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                above |= self.is_own(read) && matches!(row_of(read, row), Some(Row::Moves(-1)));
            }
        });
        above
    }

    fn is_own(&self, read: &Read) -> bool {
        self.group.bindings.iter().any(|binding| binding.name == read.place.tensor)
    }

    /// The body of a clause in terms of the indices of a strip, for its first row or for others.
    fn body(
        &mut self,
        binding: &Binding,
        clause: &Clause,
        is: Indices,
        is_first: bool,
    ) -> Result<Region> {
        let (row, column) = (binding.axes[0].var, binding.axes[1].var);
        let mut body = clause.body.clone();
        let mut changed: Result<()> = Ok(());
        body.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                if let InstKind::Read(read) = &mut inst.kind
                    && self.is_own(read)
                    && let Err(gave_up) = self.move_read(read, row, is, is_first)
                {
                    changed = Err(gave_up);
                }
            }
        });
        changed?;
        let mut body = Fresh::new(self.module, &mut self.names).copy(&body)?;
        let mut replaced = Substitution::default();
        let at = Quasi::from(is.strip).scale(self.rows)?.add(&is.row.into())?;
        replaced.vars.insert(row, at);
        replaced.vars.insert(column, is.column.into());
        replaced.region(&mut body)?;
        Ok(body)
    }

    /// A read of the grid itself in strips.
    fn move_read(&self, read: &mut Read, row: Var, is: Indices, is_first: bool) -> Result<()> {
        let (strip, row) = match row_of(read, row) {
            Some(Row::Is(number)) => (
                Quasi::from(number.div_euclid(self.rows)),
                Quasi::from(number.rem_euclid(self.rows)),
            ),
            Some(Row::Moves(-1)) if is_first => {
                let above = Quasi::from(is.strip).add_constant(-1)?;
                read.place.tensor = edge_of(&read.place.tensor);
                read.place.at[0] = Subscript::Index(above);
                return Ok(());
            }
            Some(Row::Moves(by)) => (Quasi::from(is.strip), Quasi::from(is.row).add_constant(by)?),
            None => return Ok(()),
        };
        read.place.at.splice(..1, [strip, row].map(Subscript::Index));
        Ok(())
    }

    /// The last rows of all strips that are complete.
    fn edge(&mut self, binding: &Binding, total: bool) -> Result<Binding> {
        let (rows, [row, column]) = (self.rows, [&binding.axes[0], &binding.axes[1]]);
        let vars = &mut self.module.vars;
        let (strip, var) = (vars.index("strip"), vars.fresh_like(column.var));
        let axes = vec![
            Axis { var: strip, dim: row.dim.extent.floor_div(rows)?.into() },
            Axis { var, dim: column.dim.clone() },
        ];
        let last = Quasi::from(strip).scale(rows)?.add_constant(rows - 1)?;
        let map = Map::new([strip, var], [last, Quasi::from(var)]);
        let domains = match total {
            true => vec![binding.whole()?],
            false => binding.clauses.iter().map(|clause| clause.domain.0.clone()).collect(),
        };
        let mut clauses = Vec::new();
        for domain in domains {
            let domain = domain.preimage(&map)?;
            if domain.is_empty().is_true() {
                continue;
            }
            let at = [Quasi::from(strip), Quasi::from(rows - 1), Quasi::from(var)];
            let at = at.into_iter().map(Subscript::Index).collect();
            let place = Place { tensor: binding.name.clone(), at };
            let value = self.module.supply.value(binding.elem);
            let kind = InstKind::Read(Read { place, default: None, proved: true });
            let inst = Inst { results: vec![Def::Scalar(value)], kind, loc: binding.loc };
            let body =
                Region { params: Vec::new(), insts: vec![inst], results: vec![value.into()] };
            let domain = domain.simplified().into();
            clauses.push(Clause { domain, guard: None, body, loc: binding.loc });
        }
        let name = edge_of(&binding.name);
        self.names.insert(name.clone());
        Ok(Binding { name, axes, clauses, zero_fill: false, ..binding.clone() })
    }
}
