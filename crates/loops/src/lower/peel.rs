//! Points at the edge are computed apart from those whose reads all lie inside: reads with a default
//! need no test then, wherever it is known on which side of the edge they are.

use einlang_index::{Domain, Facts, Quasi};
use einlang_tir::module::Clause;
use einlang_tir::region::{InstKind, Read};

use super::Lower;
use super::read::index_of;
use crate::ir::BufferId;

/// Points are divided into at most so many parts.
const MOST_PARTS: usize = 9;

impl Lower<'_> {
    /// The points of a clause in disjoint parts, those whose reads lie inside first.
    pub(super) fn peeled(&self, clause: &Clause, domain: Domain) -> Domain {
        let mut bounds = Vec::new();
        for inst in &clause.body.insts {
            if let InstKind::Read(read) = &inst.kind
                && read.default.is_some()
                && !self.marked.contains(&read.place.tensor)
                && let Some(buffer) = self.tensors.get(&read.place.tensor)
                && let Some(room) = self.room(read, *buffer)
            {
                bounds.extend(room);
            }
        }
        if bounds.is_empty() || domain.sets().len() != 1 {
            return domain;
        }
        let divided = || {
            let inside = Domain::where_nonnegative(domain.dims(), &bounds).ok()?;
            let inside = domain.intersect(&inside).ok()?.simplified_given(&self.context);
            let edge = domain.subtract(&inside).ok()?.simplified_given(&self.context);
            let edge = edge.disjoint().ok()?;
            let parts = inside.sets().iter().chain(edge.sets()).cloned();
            Some(Domain::of_sets(domain.dims(), parts))
        };
        match divided() {
            Some(parts) if parts.sets().len() <= MOST_PARTS => parts,
            _ => domain,
        }
    }

    /// How far a read is from both ends of each axis: inside if nothing is negative.
    fn room(&self, read: &Read, buffer: BufferId) -> Option<Vec<Quasi>> {
        let dims = &self.kernel.buffers[buffer.0 as usize].dims;
        let mut room = Vec::with_capacity(2 * dims.len());
        let segment = self.segments.get(&read.place.tensor);
        let order = match self.turned(read, buffer) {
            Some(order) => order,
            None if self.maps.contains_key(&buffer) => return None,
            None => (0..dims.len()).collect(),
        };
        for (axis, dim) in order.into_iter().zip(dims) {
            let at = index_of(read.place.at.get(axis)?)?;
            let along = segment.filter(|of| of.axis == axis).map(|of| &of.extent);
            room.push(along.unwrap_or(&dim.extent).sub(&at).ok()?.add_constant(-1).ok()?);
            room.push(at);
        }
        Some(room)
    }

    /// Whether a read is known to be of a point in the box, or to be of none.
    pub(super) fn is_inside(&self, read: &Read, buffer: BufferId) -> Option<bool> {
        let room = self.room(read, buffer)?;
        let (facts, here) = (Facts::new(), Domain::new([], self.context.clone()));
        let holds = |expr: &Quasi| facts.prove(&here, expr).is_true();
        if room.iter().all(holds) {
            return Some(true);
        }
        let outside = |expr: &Quasi| {
            let beyond = expr.neg().and_then(|expr| expr.add_constant(-1));
            beyond.is_ok_and(|beyond| holds(&beyond))
        };
        room.iter().any(outside).then_some(false)
    }
}
