//! Where along time a tensor is read.

use einlang_index::{Affine, Domain, Facts, Quasi, Var, VarKind};

use super::super::distance::{least, most};
use super::super::windows::Observers;
use super::reads::Seen;

/// So many planes at most lie between a reader and what it reads, or are kept at an end.
pub(super) const FARTHEST: i64 = 60;

/// Which planes a read is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Those with these distances from the reader's own.
    Near(i64, i64),
    /// So many first ones.
    First(i64),
    /// So many last ones.
    Last(i64),
    /// Any.
    Anywhere,
}

/// Where a read is along an axis of an extent, for a reader whose time is the variable.
pub(super) fn place(
    seen: &Seen,
    axis: usize,
    extent: &Quasi,
    time: Option<Var>,
    facts: &Facts,
    observers: &Observers,
) -> Place {
    let found = || {
        let at = seen.at.get(axis)?.as_ref()?;
        if is_fixed(at) {
            if let Some(plane) = at.as_constant().filter(|plane| (0..FARTHEST).contains(plane)) {
                return Some(Place::First(plane + 1));
            }
            let left = extent.add_constant(-1).and_then(|last| last.sub(at)).ok()?;
            // A read outside the box finds nothing.
            let bounds = [at.clone(), left.clone()];
            let inside = Domain::where_nonnegative(seen.over.dims(), &bounds).ok()?;
            let over = seen.over.intersect(&inside).ok()?;
            let left = observers.most(facts, &over, &left)?;
            return (0..FARTHEST).contains(&left).then_some(Place::Last(left + 1));
        }
        let distance = at.sub(&Quasi::from(Affine::var(time?))).ok()?;
        let (low, high) = match distance.as_constant() {
            Some(distance) => (distance, distance),
            None => (least(facts, &seen.over, &distance)?, most(facts, &seen.over, &distance)?),
        };
        (low.abs() <= FARTHEST && high.abs() <= FARTHEST).then_some(Place::Near(low, high))
    };
    found().unwrap_or(Place::Anywhere)
}

/// Whether an expression is the same at all points.
pub(crate) fn is_fixed(at: &Quasi) -> bool {
    let mut fixed = true;
    at.for_each_var(&mut |var| fixed &= var.kind() == VarKind::Symbol);
    fixed
}
