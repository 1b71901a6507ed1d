//! The order in which the host visits the points of a definition.

use super::Lower;
use super::tables::Table;
use crate::hir::{BinaryOp, Clause, ExprId, ExprKind, Literal, LocalId, Res, Subscript};
use crate::types::walk;

/// A read of a definition of the group: who reads what, and how far away on each axis.
struct Read {
    reader: Vec<LocalId>,
    read: LocalId,
    offsets: Vec<Option<i64>>,
}

impl<'p> Lower<'p> {
    /// Says for each axis whether it is visited from the end, and puts the definitions in the
    /// order in which they are visited at one step; false if nothing is known to do.
    pub(super) fn direct(&self, tables: &mut Vec<Table>, clauses: &[&'p Clause]) -> bool {
        let reads = self.group_reads(tables, clauses);
        let open = clauses.iter().any(|clause| clause.until.is_some());
        let directions = if open { &[false][..] } else { &[false, true] };
        let found = directions.iter().find_map(|from_end| {
            let leads_back = |read: &Read| match read.offsets.first() {
                Some(Some(offset)) if *offset != 0 => (*offset > 0) == *from_end,
                _ => true,
            };
            let rests: Option<Vec<Vec<bool>>> =
                tables.iter().map(|table| inner_directions(table, &reads)).collect();
            rests.filter(|_| reads.iter().all(leads_back)).map(|rests| (*from_end, rests))
        });
        let Some((from_end, rests)) = found else { return false };
        for (table, rest) in tables.iter_mut().zip(rests) {
            table.descending = [vec![from_end], rest].concat();
        }
        in_step_order(tables, &reads);
        true
    }

    /// Whether any of the definitions reads one of them.
    pub(super) fn reads_itself(&self, tables: &[Table], clauses: &[&'p Clause]) -> bool {
        !self.group_reads(tables, clauses).is_empty()
    }

    fn group_reads(&self, tables: &[Table], clauses: &[&'p Clause]) -> Vec<Read> {
        let mut reads = Vec::new();
        let body = self.body();
        for clause in clauses {
            walk::visit(body, vec![clause.value], &mut |_, kind| {
                if let ExprKind::Access { base, subscripts, .. } = kind
                    && let ExprKind::Name(Res::Local(read)) = body.kind(*base)
                    && tables.iter().any(|table| table.local == *read)
                {
                    let slots = clause.slots.iter().zip(subscripts);
                    let offsets = slots.map(|(slot, at)| self.offset(slot, at)).collect();
                    reads.push(Read { reader: clause.targets.clone(), read: *read, offsets });
                }
            });
        }
        reads
    }

    /// How far a subscript is from the point that is defined, if that is a constant.
    fn offset(&self, slot: &Subscript, at: &Subscript) -> Option<i64> {
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

/// The directions of the axes after the first, for reads of the definition itself at one step.
fn inner_directions(table: &Table, reads: &[Read]) -> Option<Vec<bool>> {
    let n_inner = table.extents.len().saturating_sub(1);
    let own = |read: &&Read| {
        read.read == table.local
            && read.reader.contains(&table.local)
            && read.offsets.first() == Some(&Some(0))
    };
    let own: Vec<&Read> = reads.iter().filter(own).collect();
    let leads_back = |descending: &[bool]| {
        own.iter().all(|read| {
            let inner = read.offsets.iter().skip(1).zip(descending);
            match inner.into_iter().find(|(offset, _)| **offset != Some(0)) {
                Some((Some(offset), descending)) => (*offset > 0) == *descending,
                // Tested when it is read.
                Some((None, _)) | None => true,
            }
        })
    };
    let choices = (0..1_usize << n_inner.min(8))
        .map(|bits| (0..n_inner).map(|axis| bits >> axis & 1 == 1).collect::<Vec<bool>>());
    choices.into_iter().find(|descending| leads_back(descending))
}

/// At one step a definition comes after those it reads there, as far as that is possible.
fn in_step_order(tables: &mut Vec<Table>, reads: &[Read]) {
    let mut waiting = std::mem::take(tables);
    while !waiting.is_empty() {
        let is_free = |table: &Table| {
            reads.iter().all(|read| {
                !read.reader.contains(&table.local)
                    || read.read == table.local
                    || read.offsets.first() != Some(&Some(0))
                    || !waiting.iter().any(|other| other.local == read.read)
            })
        };
        let next = waiting.iter().position(is_free).unwrap_or(0);
        tables.push(waiting.remove(next));
    }
}
