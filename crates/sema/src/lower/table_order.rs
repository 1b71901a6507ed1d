//! The order in which the host visits the points of a definition.
//!
//! An order is a list of axes, outermost first, each up or down. A read with constant offsets must
//! lead back in it: its first offset that is not zero points to what was visited before. A read
//! whose offset is not known is tested when it happens; of several orders one is taken in which as
//! many reads as possible are known to lead back, the one nearest to the source first.

use super::Lower;
use super::tables::Table;
use crate::hir::{BinaryOp, Clause, ExprId, ExprKind, Literal, LocalId, Res, Subscript};
use crate::types::walk;

/// At most so many orders are tried for one definition.
const MAX_ORDERS: usize = 4096;

/// A read of a definition of the group: who reads what, and what stands on each axis.
struct Read<'a> {
    reader: &'a [LocalId],
    read: LocalId,
    /// How far each axis of what is read is from each axis of the reader, if that is a constant.
    offsets: Vec<Vec<Option<i64>>>,
}

impl Read<'_> {
    fn offset(&self, reader: usize, read: usize) -> Option<i64> {
        self.offsets.get(reader).and_then(|axes| axes.get(read)).copied().flatten()
    }
}

/// What one axis of a slot list or subscript list is.
#[derive(Clone, Copy)]
enum Axis<'a> {
    One(&'a Subscript),
    /// One axis of a rest.
    Rest(LocalId, usize),
}

impl<'p> Lower<'p> {
    /// Says in which order the axes are visited, and puts the definitions in the order in which
    /// they are visited at one step. Gives whether every read is known to lead back in it; nothing
    /// if some would lead forward in every order.
    pub(super) fn direct(
        &self,
        tables: &mut Vec<Table<'p>>,
        clauses: &[&'p Clause],
    ) -> Option<bool> {
        let reads = self.group_reads(tables, clauses);
        let is_open = clauses.iter().any(|clause| clause.until.is_some());
        let found = match &tables[..] {
            [table] if !is_open => {
                let own: Vec<&Read<'_>> = reads.iter().collect();
                best_order(&own, &(0..table.extents.len()).collect::<Vec<_>>(), None)
                    .map(|(known, order)| (known, vec![order]))
            }
            _ => in_lockstep(tables, &reads, is_open),
        };
        let (known, found) = found?;
        for (table, order) in tables.iter_mut().zip(found) {
            table.order = order.axes;
            for (axis, descending) in table.order.iter().zip(order.descending) {
                table.descending[*axis] = descending;
            }
        }
        in_step_order(tables, &reads);
        Some(known == reads.len())
    }

    /// Whether any of the definitions reads one of them.
    pub(super) fn reads_itself(&self, tables: &[Table<'_>], clauses: &[&'p Clause]) -> bool {
        !self.group_reads(tables, clauses).is_empty()
    }

    fn group_reads(&self, tables: &[Table<'_>], clauses: &[&'p Clause]) -> Vec<Read<'p>> {
        let mut reads = Vec::new();
        let body = self.body();
        for clause in clauses {
            let slots = self.axes(&clause.slots);
            walk::visit(body, vec![clause.value], &mut |_, kind| {
                if let ExprKind::Access { base, subscripts, .. } = kind
                    && let ExprKind::Name(Res::Local(read)) = body.kind(*base)
                    && tables.iter().any(|table| table.local == *read)
                {
                    let at = self.axes(subscripts);
                    let row =
                        |slot: &Axis<'_>| at.iter().map(|at| self.offset(*slot, *at)).collect();
                    let offsets = slots.iter().map(row).collect();
                    reads.push(Read { reader: &clause.targets, read: *read, offsets });
                }
            });
        }
        reads
    }

    /// The slots or subscripts, one per axis.
    fn axes<'s>(&self, list: &'s [Subscript]) -> Vec<Axis<'s>> {
        let mut axes = Vec::with_capacity(list.len());
        for one in list {
            match one {
                Subscript::Rest { local: Res::Local(local), .. } => {
                    axes.extend((0..self.n_axes(one)).map(|at| Axis::Rest(*local, at)));
                }
                _ => axes.push(Axis::One(one)),
            }
        }
        axes
    }

    /// How far a subscript is from the point that is defined, if that is a constant.
    fn offset(&self, slot: Axis<'_>, at: Axis<'_>) -> Option<i64> {
        let (slot, at) = match (slot, at) {
            (Axis::One(slot), Axis::One(at)) => (slot, at),
            (Axis::Rest(slot, i), Axis::Rest(at, j)) if slot == at && i == j => return Some(0),
            _ => return None,
        };
        let body = self.body();
        let literal = |expr: &ExprId| match body.kind(*expr) {
            ExprKind::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok(),
            _ => None,
        };
        match (slot, at) {
            (Subscript::Index(binder), Subscript::Expr(expr)) => {
                let is_index = |expr: &ExprId| matches!(body.kind(*expr), ExprKind::Name(Res::Local(l)) if *l == binder.local);
                match body.kind(*expr) {
                    _ if is_index(expr) => Some(0),
                    ExprKind::Binary(BinaryOp::Add, a, b) if is_index(a) => literal(b),
                    ExprKind::Binary(BinaryOp::Sub, a, b) if is_index(a) => literal(b).map(|n| -n),
                    _ => None,
                }
            }
            (Subscript::Expr(point), Subscript::Expr(expr)) => {
                Some(literal(expr)? - literal(point)?)
            }
            _ => None,
        }
    }
}

/// The axes of a definition, outermost first, and which of them are visited from the end.
#[derive(Clone)]
struct Order {
    axes: Vec<usize>,
    descending: Vec<bool>,
}

/// The best order of some axes for reads of a definition itself, and how many of them are known to
/// lead back in it. A fixed first axis may be given,
/// with its direction.
fn best_order(
    reads: &[&Read<'_>],
    axes: &[usize],
    first: Option<(usize, bool)>,
) -> Option<(usize, Order)> {
    let free: Vec<usize> =
        axes.iter().copied().filter(|axis| first.is_none_or(|first| first.0 != *axis)).collect();
    let mut best: Option<(usize, Order)> = None;
    let mut n_tried = 0;
    for arrangement in arrangements(&free) {
        for bits in 0..1_usize << arrangement.len().min(8) {
            n_tried += 1;
            if n_tried > MAX_ORDERS {
                break;
            }
            let fixed = first.iter();
            let axes = fixed.clone().map(|f| f.0).chain(arrangement.iter().copied()).collect();
            let turned = (0..arrangement.len()).map(|at| bits >> at & 1 == 1);
            let descending = fixed.map(|first| first.1).chain(turned).collect();
            let order = Order { axes, descending };
            if let Some(known) = n_known(reads, &order)
                && best.as_ref().is_none_or(|best| known > best.0)
            {
                best = Some((known, order));
            }
        }
    }
    best
}

/// How many reads are known to lead back in an order; none if one leads forward.
fn n_known(reads: &[&Read<'_>], order: &Order) -> Option<usize> {
    let mut known = 0;
    for read in reads {
        let mut axes = order.axes.iter().zip(&order.descending);
        let decisive = axes.find_map(|(axis, descending)| match read.offset(*axis, *axis) {
            Some(0) => None,
            offset => Some((offset, *descending)),
        });
        match decisive {
            Some((Some(offset), descending)) if (offset > 0) == descending => known += 1,
            Some((Some(_), _)) => return None,
            // Tested when it is read.
            Some((None, _)) | None => {}
        }
    }
    Some(known)
}

/// All arrangements, that of the source first.
fn arrangements(axes: &[usize]) -> Vec<Vec<usize>> {
    if axes.len() > 5 {
        return vec![axes.to_vec()];
    }
    let mut found = vec![Vec::new()];
    for _ in axes {
        found = found
            .into_iter()
            .flat_map(|start: Vec<usize>| {
                let rest: Vec<usize> =
                    axes.iter().copied().filter(|axis| !start.contains(axis)).collect();
                rest.into_iter().map(move |axis| [&start[..], &[axis]].concat())
            })
            .collect();
    }
    found
}

/// The orders of definitions that advance together along one axis of each.
fn in_lockstep(
    tables: &[Table<'_>],
    reads: &[Read<'_>],
    is_open: bool,
) -> Option<(usize, Vec<Order>)> {
    let n_common = tables.iter().map(|table| table.extents.len()).min().unwrap_or(0);
    let steps: Vec<Vec<usize>> = match is_open {
        true => vec![tables.iter().map(|table| table.open.unwrap_or(0)).collect()],
        false => (0..n_common).map(|axis| vec![axis; tables.len()]).collect(),
    };
    let directions = if is_open { &[false][..] } else { &[false, true] };
    let mut best: Option<(usize, Vec<Order>)> = None;
    for axes in &steps {
        let axis_of = |local: LocalId| {
            let at = tables.iter().position(|table| table.local == local);
            at.map_or(0, |at| axes[at])
        };
        for from_end in directions {
            let along = |read: &Read<'_>| {
                let reader = read.reader.first().map_or(0, |local| axis_of(*local));
                read.offset(reader, axis_of(read.read))
            };
            let leads_back = |read: &Read<'_>| match along(read) {
                Some(offset) if offset != 0 => (offset > 0) == *from_end,
                _ => true,
            };
            if !reads.iter().all(leads_back) {
                continue;
            }
            let orders: Option<Vec<Order>> = tables
                .iter()
                .zip(axes)
                .map(|(table, axis)| {
                    let own = |read: &&Read<'_>| {
                        read.read == table.local && read.reader.contains(&table.local)
                    };
                    let own: Vec<&Read<'_>> = reads.iter().filter(own).collect();
                    let all: Vec<usize> = (0..table.extents.len()).collect();
                    best_order(&own, &all, Some((*axis, *from_end))).map(|best| best.1)
                })
                .collect();
            let known = reads.iter().filter(|read| along(read).is_some_and(|n| n != 0)).count();
            if let Some(orders) = orders
                && best.as_ref().is_none_or(|best| known > best.0)
            {
                best = Some((known, orders));
            }
        }
    }
    best
}

/// At one step a definition comes after those it reads there, as far as that is possible.
fn in_step_order<'p>(tables: &mut Vec<Table<'p>>, reads: &[Read<'_>]) {
    let axes: Vec<(LocalId, usize)> = tables.iter().map(|t| (t.local, t.lockstep())).collect();
    let axis_of =
        |local: LocalId| axes.iter().find(|known| known.0 == local).map_or(0, |known| known.1);
    let mut waiting = std::mem::take(tables);
    while !waiting.is_empty() {
        let is_free = |table: &Table<'_>| {
            reads.iter().all(|read| {
                !read.reader.contains(&table.local)
                    || read.read == table.local
                    || read.offset(axis_of(table.local), axis_of(read.read)) != Some(0)
                    || !waiting.iter().any(|other| other.local == read.read)
            })
        };
        let next = waiting.iter().position(is_free).unwrap_or(0);
        tables.push(waiting.remove(next));
    }
}
