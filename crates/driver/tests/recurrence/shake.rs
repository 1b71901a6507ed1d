//! Random changes of schedules.

use einlang_loops::schedule::{Compute, Layout, Nest, Role, Schedule};
use einlang_testkit::generate::Source;

use crate::recurrence::{chance, small};

/// Changes a schedule; whether it is still legal is another question.
pub(crate) fn shake(schedule: &mut Schedule, source: &mut Source<'_>) {
    for group in &mut schedule.groups {
        if chance(source, 2) {
            shake_nest(&mut group.nest, source);
        }
        for tensor in &mut group.tensors {
            if chance(source, 4) && tensor.compute == Compute::AtReads {
                tensor.compute = Compute::Here;
            }
            for layout in &mut tensor.storage {
                if let Layout::Mod(width) = layout {
                    *width += small(source, 0, 2);
                    if chance(source, 4) {
                        *layout = Layout::Full;
                    }
                }
            }
        }
    }
}

fn shake_nest(nest: &mut Nest, source: &mut Source<'_>) {
    match nest {
        Nest::Points { axes, role, .. } => {
            if axes.len() > 1 {
                let at = small(source, 0, axes.len() as i64 - 2) as usize;
                axes.swap(at, at + 1);
            }
            *role = source.pick(&[Role::Seq, Role::Par, Role::Lane(4), Role::Unroll(3)]);
        }
        Nest::Phases(phases) => {
            if phases.len() > 1 && chance(source, 3) {
                phases.swap(0, 1);
            }
            phases.iter_mut().for_each(|phase| shake_nest(phase, source));
        }
        Nest::Loop { forms, role, inner, .. } => {
            if chance(source, 4) {
                *role = source.pick(&[Role::Par, Role::Lane(4), Role::Unroll(2)]);
            }
            // A skew by another axis, or a loop over another axis around it, by tiles or not.
            let change = small(source, 0, 3);
            if change == 0 {
                for (_, form) in forms.iter_mut() {
                    if form.coefficients.len() > 1 {
                        let lead = form.coefficients.iter().position(|c| *c != 0).unwrap_or(0);
                        let other = (lead + 1) % form.coefficients.len();
                        form.coefficients[lead] *= 2;
                        form.coefficients[other] += 1;
                    }
                }
            } else if change == 1 {
                let axis = small(source, 0, 1) as usize;
                let around = forms.iter().map(|(statement, form)| {
                    let mut form = form.clone();
                    let rank = form.coefficients.len();
                    form.coefficients = vec![0; rank];
                    form.offset = 0;
                    if axis < rank {
                        form.coefficients[axis] = 1;
                    }
                    (*statement, form)
                });
                let around = around.collect();
                let old = std::mem::replace(nest, Nest::Phases(Vec::new()));
                let (tile, inner) = (source.pick(&[None, Some(2), Some(5)]), Box::new(old));
                let role = match tile {
                    Some(_) => Role::Seq,
                    None => source.pick(&[Role::Seq, Role::Par, Role::Lane(2), Role::Unroll(4)]),
                };
                *nest = Nest::Loop { forms: around, tile, role, inner };
                return;
            }
            shake_nest(inner, source);
        }
    }
}
