//! The tail of an axis: how far from its last point later reads reach.
//!
//! A read counts from the end when its distance from the last point is bounded by a number,
//! whatever the extents, whenever it is in bounds. If that needs one particular expression to be
//! the largest of those that make the extent, the comparison is a condition that is tested when
//! the program starts.

use einlang_index::{Domain, Quasi, Set, Var, VarKind};
use einlang_tir::module::{Axis, Condition, Module, Relation, SymbolSource};
use einlang_tir::types::Loc;

use super::context::{Context, Extent};
use super::report::{Reason, Why};

/// Reads of one point, seen along the axes of what is read.
pub(super) struct Reads<'a> {
    /// The axes of the tensor.
    pub(super) axes: &'a [Axis],
    /// The subscripts; none for data.
    pub(super) at: &'a [Option<Quasi>],
    /// The points at which the read happens.
    pub(super) sets: &'a [Set],
    /// Where it is written.
    pub(super) loc: Loc,
}

/// How far reads reach along one axis.
pub(super) struct Tail {
    /// How many points from the end; none if that is no number.
    pub(super) reach: Option<u64>,
    /// What must hold for that.
    pub(super) conditions: Vec<Condition>,
    /// The read, and what is the matter with it.
    pub(super) reason: Reason,
}

impl Reads<'_> {
    /// How far the read reaches along an axis that runs up or down. No answer means that the read
    /// never happens.
    pub(super) fn tail(
        &self,
        module: &Module,
        context: &Context,
        axis: usize,
        descending: bool,
    ) -> Option<Tail> {
        let full = |why: Why| {
            let reason = Reason { why, loc: self.loc };
            Some(Tail { reach: None, conditions: Vec::new(), reason })
        };
        let Some(subscript) = self.at.get(axis).and_then(Option::as_ref) else {
            return full(Why::DynamicRead);
        };
        let extent = &self.axes[axis].dim.extent;
        let gap = match descending {
            true => Ok(subscript.clone()),
            false => extent.sub(subscript).and_then(|gap| gap.add_constant(-1)),
        };
        let Ok(gap) = gap else { return full(Why::Undecided) };
        if gap.as_constant().is_some_and(|gap| gap < 0) {
            return None;
        }
        let sets = self.in_bounds();
        let mut conditions = Vec::new();
        let mut range = context.range(&sets, &gap);
        if matches!(range, Extent::Values(_, None)) {
            for (narrow, needed) in chosen(module, context, extent) {
                let under = narrow.range(&sets, &gap);
                if matches!(under, Extent::Values(_, Some(_))) {
                    (range, conditions) = (under, needed);
                    break;
                }
            }
        }
        match range {
            Extent::Nothing => None,
            Extent::Unknown => full(Why::Undecided),
            Extent::Values(_, Some(largest)) => {
                let reach = largest.max(0).unsigned_abs() + 1;
                let all = extent.as_constant().is_some_and(|n| n > 1 && n.unsigned_abs() <= reach);
                if all {
                    return full(self.complaint(subscript));
                }
                let reason = Reason { why: Why::Tail(reach), loc: self.loc };
                Some(Tail { reach: Some(reach), conditions, reason })
            }
            Extent::Values(_, None) => full(self.complaint(subscript)),
        }
    }

    /// The reading points whose target lies in the box.
    fn in_bounds(&self) -> Vec<Set> {
        let mut bounds = Vec::new();
        for (subscript, axis) in self.at.iter().zip(self.axes) {
            let Some(subscript) = subscript else { continue };
            bounds.push(subscript.clone());
            let room = axis.dim.extent.sub(subscript).and_then(|room| room.add_constant(-1));
            bounds.extend(room.ok());
        }
        let inside = Domain::where_nonnegative(Vec::new(), &bounds);
        let Ok(inside) = inside else { return self.sets.to_vec() };
        let mut sets = Vec::new();
        for set in self.sets {
            for part in inside.sets() {
                sets.push(set.intersect(part).unwrap_or_else(|_| set.clone()));
            }
        }
        sets
    }

    /// What keeps a read from counting from the end.
    fn complaint(&self, subscript: &Quasi) -> Why {
        let mut kinds = Vec::new();
        subscript.for_each_var(&mut |var| kinds.push(var.kind()));
        match (subscript.as_var(), &kinds[..]) {
            (_, []) => Why::FixedPoint,
            (Some(var), _) if var.kind() == VarKind::Index => Why::WholeRead,
            _ if kinds.iter().all(|kind| *kind == VarKind::Symbol) => Why::DynamicRead,
            _ => Why::VaryingRead,
        }
    }
}

/// The context for each way in which a symbol of the extent can come out, and the comparisons that
/// make it so.
fn chosen(module: &Module, context: &Context, extent: &Quasi) -> Vec<(Context, Vec<Condition>)> {
    let mut ways = Vec::new();
    let mut symbols: Vec<Var> = Vec::new();
    extent.for_each_var(&mut |var| symbols.push(var));
    for var in symbols {
        let (of, relation) = match module.source(var) {
            Some(SymbolSource::Max(of)) => (of, Relation::Ge),
            Some(SymbolSource::Min(of)) => (of, Relation::Le),
            _ => continue,
        };
        for (at, way) in of.iter().enumerate() {
            let others = of.iter().enumerate().filter(|(other, _)| *other != at);
            let needed: Vec<Condition> = others
                .map(|(_, other)| Condition::new(way.clone(), relation, other.clone()))
                .collect();
            // An axis that is no longer than its base is not worth a window.
            if way.as_constant().is_none() {
                ways.push((context.with(var, way), needed));
            }
        }
    }
    ways
}
