//! `name_planes`: a recurrence that reads itself or another one at a numbered plane, and does so from points
//! at one distance only, reads it at that distance.
//!
//! In `D[0, j] = D[0, j - 1] + 1` and `y[0] = x[0]`, and where the adjoint of that asks whether `i = 0`, the plane that is
//! read is that of the reader; said by the reader's own index it lies in the reader's segment of time,
//! whether or not the condition holds. Invariant: every read is of the same point as before.

use einlang_index::{Affine, Domain, Facts, Quasi};
use einlang_tir::module::{Binding, Module};
use einlang_tir::order::Known;
use einlang_tir::region::{InstKind, Read, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::super::distance::{least, most};
use super::place::FARTHEST;

/// Names the planes that recurrences read of themselves.
pub(super) fn name_planes(module: &mut Module) {
    let facts = module.facts();
    let recurrent = |binding: &&Binding| module.is_recurrent(&binding.name);
    let recurrences = module.bindings().filter(recurrent).map(|binding| binding.name.clone());
    let names: HashSet<Ident> = recurrences.collect();
    for group in &mut module.groups {
        let own = |binding: &Binding| names.contains(&binding.name);
        if !group.bindings.iter().any(own) {
            continue;
        }
        for clause in group.bindings.iter_mut().flat_map(|binding| &mut binding.clauses) {
            let naming = Naming { names: &names, facts: &facts };
            naming.region(&mut clause.body, &clause.domain, &mut Known::default());
        }
    }
}

struct Naming<'a> {
    names: &'a HashSet<Ident>,
    facts: &'a Facts,
}

impl Naming<'_> {
    fn region(&self, region: &mut Region, over: &Domain, known: &mut Known) {
        for inst in &mut region.insts {
            known.learn(inst);
            match &mut inst.kind {
                InstKind::Read(read) if self.names.contains(&read.place.tensor) => {
                    self.read(read, over);
                }
                InstKind::If { condition, then, otherwise } => {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        let where_taken = known.domain(condition, holds, over.dims());
                        let inside = where_taken.and_then(|taken| over.intersect(&taken).ok());
                        self.region(arm, inside.as_ref().unwrap_or(over), known);
                    }
                }
                _ => {}
            }
        }
    }

    fn read(&self, read: &mut Read, over: &Domain) {
        for (axis, subscript) in read.place.at.iter_mut().enumerate() {
            let Subscript::Index(at) = subscript else { continue };
            if at.as_constant().is_none() {
                continue;
            }
            // The index of the same axis says most.
            let (first, rest) = over.dims().split_at(axis.min(over.dims().len()));
            let mut dims = rest.iter().chain(first);
            let named = dims.find_map(|dim| {
                let index = Quasi::from(Affine::var(*dim));
                let distance = at.sub(&index).ok()?;
                let low = least(self.facts, over, &distance)?;
                let same = most(self.facts, over, &distance)? == low && low.abs() <= FARTHEST;
                same.then(|| index.add_constant(low).ok()).flatten()
            });
            if let Some(named) = named {
                *at = named;
            }
        }
    }
}
