//! Which groups can run along with an open recurrence, whose length is not known before it ends.
//!
//! They run one segment behind: when the planes of a segment are complete, and the open recurrence is
//! about to compute the next one, and once more when it has ended. So all that is known by then of the
//! length is that it is at least one more than the planes that are there, and nothing may ask for more.

use einlang_index::{Constraint, Domain, Var};
use einlang_tir::free::Free;
use einlang_tir::module::{Binding, Group};
use einlang_tir::region::Region;

use super::shape::{Course, Shape, sum_of};

/// Whether a group on a course can run along with the open axis of a length.
pub(super) fn follows(group: &Group, shape: &Shape, course: &Course, length: Var) -> bool {
    if group.until.is_some() || course.leads.iter().any(|lead| *lead != 0) {
        return false;
    }
    match (shape, &group.bindings[..]) {
        (Shape::Sum(time, first), [binding]) if course.axes.is_empty() => {
            is_sum_of_planes(binding, (*time, *first), length)
        }
        (_, bindings) => {
            let mut ways = bindings.iter().zip(&course.axes);
            course.axes.len() == bindings.len()
                && ways.all(|(binding, axis)| is_of_planes(binding, *axis, length))
        }
    }
}

/// Whether each plane of a tensor can be computed when it is known that the next one is there.
fn is_of_planes(binding: &Binding, axis: usize, length: Var) -> bool {
    let mut axes = binding.axes.iter().enumerate();
    let sized = axes.all(|(at, own)| match at == axis {
        true => own.dim.extent.as_var() == Some(length),
        false => !own.dim.extent.mentions(length),
    });
    let time = binding.axes[axis].var;
    sized
        && binding.clauses.iter().all(|clause| {
            is_cut_by_planes(&clause.domain, (time, 0), length)
                && clause.guard.iter().chain([&clause.body]).all(|r| !asks(r, length))
        })
}

/// The same for the terms of a sum that starts at a plane.
fn is_sum_of_planes(binding: &Binding, time: (Var, i64), length: Var) -> bool {
    let (Some(reduction), [clause]) = (sum_of(binding), &binding.clauses[..]) else {
        return false;
    };
    let Some((_, before)) = clause.body.insts.split_last() else { return false };
    let before = Region {
        params: Vec::new(),
        insts: before.to_vec(),
        results: reduction.start.args().to_vec(),
    };
    let regions = reduction.guard.iter().chain([&reduction.body, &before]);
    binding.axes.iter().all(|axis| !axis.dim.extent.mentions(length))
        && clause.domain.sets().iter().all(|set| !set.mentions(length))
        && is_cut_by_planes(&reduction.domain, time, length)
        && regions.into_iter().all(|region| !asks(region, length))
}

fn asks(region: &Region, length: Var) -> bool {
    Free::of_region(region).vars.contains(&length)
}

/// Whether the length only says where time ends: then the points of complete planes are the same for
/// any length that is larger.
fn is_cut_by_planes(domain: &Domain, (time, first): (Var, i64), length: Var) -> bool {
    let fits = |constraint: &Constraint| match constraint {
        Constraint::Ge(expr) => {
            let rest = expr.without(length).without(time);
            let ends = expr.coeff(length) == 1 && matches!(expr.coeff(time), 0 | -1);
            ends && rest.as_constant().is_some_and(|rest| rest >= first - 2)
        }
        _ => false,
    };
    let mut constraints = domain.sets().iter().flat_map(|set| set.constraints());
    constraints.all(|constraint| !constraint.expr().mentions(length) || fits(&constraint))
}
