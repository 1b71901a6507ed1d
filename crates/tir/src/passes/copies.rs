//! Tensors that are copies of others.

use einlang_index::{Facts, Quasi};

use crate::module::{Axis, Binding, Group};
use crate::region::{Arg, Def, InstKind, Read, Region, Subscript};
use crate::types::Ident;

/// The tensor of which a group is nothing but a copy, point by point, if both have the same extents and every point
/// of both is certain to be defined: reads of the one are reads of the other then.
pub(super) fn original_of(group: &Group, before: &[Group], facts: &Facts) -> Option<Ident> {
    let [binding] = &group.bindings[..] else { return None };
    let name = read_as_it_is(binding).filter(|_| group.until.is_none())?;
    let closed = before.iter().filter(|group| group.until.is_none());
    let original = closed.flat_map(|group| &group.bindings).find(|other| other.name == *name)?;
    let same = original.elem == binding.elem
        && extents(original).eq(extents(binding))
        && [original, binding].into_iter().all(|binding| is_total(binding, facts));
    same.then(|| name.clone())
}

/// The tensor that every point of a binding reads at its own place, doing nothing else.
fn read_as_it_is(binding: &Binding) -> Option<&Ident> {
    let [clause] = &binding.clauses[..] else { return None };
    let is_plain = clause.guard.is_none() && clause.body.params.is_empty();
    let read = reads_own_place(&clause.body, &binding.axes).filter(|_| is_plain)?;
    Some(&read.place.tensor)
}

/// The read of which a region is all, if it is at the indices of the point.
pub(super) fn reads_own_place<'r>(region: &'r Region, axes: &[Axis]) -> Option<&'r Read> {
    let ([inst], [Arg::Value(result)]) = (&region.insts[..], &region.results[..]) else {
        return None;
    };
    let InstKind::Read(read) = &inst.kind else { return None };
    let is_own = |(axis, at): (&Axis, &Subscript)| matches!(at, Subscript::Index(at) if at.as_var() == Some(axis.var));
    let at = &read.place.at;
    let own = at.len() == axes.len() && axes.iter().zip(at).all(is_own);
    let yielded = matches!(&inst.results[..], [Def::Scalar(value)] if value == result);
    (own && yielded && read.default.is_none()).then_some(read)
}

fn extents(binding: &Binding) -> impl Iterator<Item = &Quasi> {
    binding.axes.iter().map(|axis| &axis.dim.extent)
}

/// Whether every point of a tensor has a clause.
fn is_total(binding: &Binding, facts: &Facts) -> bool {
    binding.uncovered().is_ok_and(|rest| rest.always_empty_given(facts.set()).is_true())
}
