//! The sizes of short inner reductions, such as the taps of a convolution.
//!
//! A tile that adds over several indices goes through loops for each of them, and where the inner ones have a few
//! rounds whose number is not known, most of the time is spent between them. With their sizes expected
//! (`small.rs`) they are written out.

use einlang_index::{Affine, Var, VarKind};
use einlang_tir::module::{Group, Module};
use einlang_tir::region::{InstKind, Reduction};
use rustc_hash::FxHashMap as HashMap;

use crate::schedule::{Nest, Role, Schedule};

/// The longest reduction that is short.
const LONGEST: i64 = 16;

/// The sizes of the short reductions inside of others, in tiles of a module's groups.
pub(super) fn sizes_of_taps(
    module: &Module,
    schedule: &Schedule,
    known: &HashMap<Var, i64>,
) -> Vec<Var> {
    let mut sizes = Vec::new();
    for group in module.groups.iter().filter(|group| group.until.is_none()) {
        let decided = schedule.decided(group);
        if decided.is_some_and(|decided| has_tile(&decided.nest)) {
            of_group(group, known, &mut sizes);
        }
    }
    sizes
}

/// Whether rows of a tile go together somewhere.
fn has_tile(nest: &Nest) -> bool {
    match nest {
        Nest::Loop { role: Role::Unroll(_), .. } => true,
        Nest::Loop { inner, .. } => has_tile(inner),
        Nest::Phases(phases) => phases.iter().any(has_tile),
        Nest::Points { .. } => false,
    }
}

fn of_group(group: &Group, known: &HashMap<Var, i64>, sizes: &mut Vec<Var>) {
    for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
        clause.body.for_each_inst(&mut |inst| {
            let InstKind::Reduce(reduction) = &inst.kind else { return };
            // From the innermost index on, but not the outermost one.
            let inner = reduction.domain.dims().iter().skip(1).rev();
            for size in inner.map_while(|var| size_of(reduction, *var)) {
                let is_short = known.get(&size).is_some_and(|n| (1..=LONGEST).contains(n));
                if !is_short {
                    break;
                }
                if !sizes.contains(&size) {
                    sizes.push(size);
                }
            }
        });
    }
}

/// The size that an index of a reduction goes through all of.
fn size_of(reduction: &Reduction, var: Var) -> Option<Var> {
    let [set] = reduction.domain.sets() else { return None };
    set.ges().iter().find_map(|form| size_above(form, var))
}

/// The size in `size - 1 - var >= 0`.
fn size_above(form: &Affine, var: Var) -> Option<Var> {
    let rest = form.without(var).add_constant(1).ok()?;
    let size = rest.as_var().filter(|size| size.kind() == VarKind::Symbol)?;
    (form.coeff(var) == -1).then_some(size)
}
