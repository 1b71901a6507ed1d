//! `stretch_time`: what goes along a trajectory in larger steps is laid out plane by plane, with gaps.
//!
//! `sum[k](x[10 * k])` becomes a sum over those `t` that 10 divides, of `x[t]`, and `seen[k] = f(x[10 * k])`
//! a tensor with points at these `t` only. Then it has the time of the trajectory and goes along with it in
//! segments. Invariant: every point has the value that it had at its old place, and is read at its new one.

use einlang_index::{Affine, Constraint, Domain, Var};
use einlang_tir::module::{Binding, Module};
use einlang_tir::region::{InstKind, Over, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::FxHashMap as HashMap;

use super::shape::sum_of;
use super::strides::by_time;

/// Lays out by time what goes in larger steps: the module with that, and its tensors that have gaps now;
/// nothing if there are none, or if one of them cannot be said by time.
pub(super) fn stretch_time(
    module: &Module,
    steps: &HashMap<Var, i64>,
) -> Option<(Module, Vec<Ident>)> {
    if steps.is_empty() {
        return None;
    }
    let mut module = module.clone();
    let stretched = read_by_time(&mut module, steps)?;
    let mut groups = std::mem::take(&mut module.groups);
    for binding in groups.iter_mut().flat_map(|group| &mut group.bindings) {
        let mut indices = binding.dims();
        indices.extend(sum_of(binding).and_then(|sum| sum.domain.dims().first()));
        for index in indices {
            if let Some(step) = steps.get(&index) {
                let time = module.vars.fresh_like(index);
                define_by_time(binding, (index, time, *step))?;
            }
        }
    }
    module.groups = groups;
    Some((module, stretched))
}

/// Reads all tensors at the places that their points will have; those whose places change.
fn read_by_time(module: &mut Module, steps: &HashMap<Var, i64>) -> Option<Vec<Ident>> {
    let mut changed: HashMap<Ident, Vec<i64>> = HashMap::default();
    for binding in module.bindings() {
        let own: Vec<i64> =
            binding.dims().iter().map(|axis| steps.get(axis).copied().unwrap_or(1)).collect();
        if own.iter().any(|step| *step != 1) {
            changed.insert(binding.name.clone(), own);
        }
    }
    let mut fits = true;
    for region in module.groups.iter_mut().flat_map(|group| group.regions_mut()) {
        region.for_each_region_mut(&mut |region| {
            for inst in &mut region.insts {
                let InstKind::Read(read) = &mut inst.kind else { continue };
                let Some(own) = changed.get(&read.place.tensor) else { continue };
                for (at, step) in read.place.at.iter_mut().zip(own) {
                    match at {
                        Subscript::Index(at) => match at.scale(*step) {
                            Ok(scaled) => *at = scaled,
                            Err(_) => fits = false,
                        },
                        Subscript::Value(_) => fits = false,
                    }
                }
            }
        });
    }
    fits.then(|| changed.into_keys().collect())
}

/// Says a binding, and all that it computes, by the time of an index.
fn define_by_time(binding: &mut Binding, of: (Var, Var, i64)) -> Option<()> {
    let (index, time, step) = of;
    for axis in binding.axes.iter_mut().filter(|axis| axis.var == index) {
        axis.var = time;
        axis.dim.extent = axis.dim.extent.scale(step).ok()?;
    }
    for clause in &mut binding.clauses {
        clause.domain = Over(domain(&clause.domain, of)?);
        for part in clause.guard.iter_mut().chain([&mut clause.body]) {
            region(part, of)?;
        }
    }
    Some(())
}

fn region(region: &mut Region, of: (Var, Var, i64)) -> Option<()> {
    let mut fits = Some(());
    region.for_each_region_mut(&mut |region| {
        for inst in &mut region.insts {
            let done = match &mut inst.kind {
                InstKind::Index(expr) => by_time(expr, of).map(|by_time| *expr = by_time),
                InstKind::Read(read) => {
                    let indices = read.place.at.iter_mut().map(|at| match at {
                        Subscript::Index(at) => by_time(at, of).map(|by_time| *at = by_time),
                        Subscript::Value(_) => Some(()),
                    });
                    indices.collect()
                }
                InstKind::Reduce(sum) => {
                    domain(&sum.domain, of).map(|by_time| sum.domain = Over(by_time))
                }
                _ => Some(()),
            };
            fits = fits.and(done);
        }
    });
    fits
}

/// A domain by time: that of a step divides it.
fn domain(domain: &Domain, (index, time, step): (Var, Var, i64)) -> Option<Domain> {
    let known = |var: Var| if var == index { time } else { var };
    let dims: Vec<Var> = domain.dims().iter().copied().map(known).collect();
    if dims == domain.dims() && !domain.sets().iter().any(|set| set.mentions(index)) {
        return Some(domain.clone());
    }
    let at = Affine::var(index).scale(step).ok()?;
    let steps = Constraint::equal(&at, &Affine::var(time)).ok()?;
    let sets = domain.sets().iter().map(|set| set.and(steps.clone()).ok());
    let sets = sets.collect::<Option<Vec<_>>>()?;
    let with_index: Vec<Var> = dims.iter().copied().chain([index]).collect();
    Domain::of_sets(with_index, sets).project(&dims).ok()
}
