//! Axes along which derivatives are diagonal.
//!
//! An axis of a tensor is left out of what is stored for a seed when, for every read on the way,
//! only the point equal to a coordinate of the seed can matter. Recurrences are handled by starting
//! from the most favourable answer and taking back what a read contradicts.

use std::collections::HashMap;

use einlang_index::{Domain, Quasi, Var};

use super::context::Ad;
use super::fault::R;
use super::seed::{Seed, Stored};
use super::tangent::Tangents;
use crate::region::{InstKind, Region, Subscript};
use crate::types::Ident;

/// For each axis of a tensor the coordinate of the seed that it must equal.
pub(super) type Dropped = Vec<Option<usize>>;

/// Conditions under which reads have a derivative: each expression is zero.
pub(super) struct Conditions(Vec<Quasi>);

impl Conditions {
    /// The points where all hold.
    pub(super) fn on(&self, dims: &[Var]) -> R<Domain> {
        let mut domain = Domain::everything(dims);
        for expr in &self.0 {
            domain = domain.intersect(&Domain::where_zero(dims, expr)?)?;
        }
        Ok(domain)
    }
}

impl Ad<'_> {
    /// The axes of tangents that are left out.
    pub(super) fn tangent_axes(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        known: &HashMap<Ident, Stored>,
    ) -> HashMap<Ident, Dropped> {
        let mut found: HashMap<Ident, Dropped> = known_axes(known);
        self.settle(nodes, seed, &mut found, |ad, name, found| {
            let axes: Vec<Var> = ad.binding(name).map(|b| b.dims()).unwrap_or_default();
            let mut reads = Vec::new();
            if seed.leaf && *name == seed.tensor {
                return reads;
            }
            for site in &ad.flow(name).sites {
                let Some(source) = found.get(&site.place.tensor) else { continue };
                let matches = |var: &Var| {
                    let at = site.place.at.iter().zip(source);
                    let mut equal = at.filter(|(at, _)| is_var(at, *var));
                    equal.find_map(|(_, coord)| *coord)
                };
                reads.push(axes.iter().map(matches).collect());
            }
            reads
        });
        found
    }

    /// The axes of adjoints that are left out. `consumers` are those on the way to the seed.
    pub(super) fn adjoint_axes(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        consumers: &HashMap<Ident, Vec<Ident>>,
        known: &HashMap<Ident, Stored>,
    ) -> HashMap<Ident, Dropped> {
        let mut found: HashMap<Ident, Dropped> = known_axes(known);
        self.settle(nodes, seed, &mut found, |ad, name, found| {
            let mut reads = Vec::new();
            for consumer in consumers.get(name).into_iter().flatten() {
                let Some(dropped) = found.get(consumer) else { continue };
                let dims = ad.binding(consumer).map(|b| b.dims()).unwrap_or_default();
                for site in &ad.flow(consumer).sites {
                    if site.place.tensor != *name {
                        continue;
                    }
                    let coord = |at: &Subscript| {
                        let mut axes = dims.iter().zip(dropped);
                        axes.find_map(|(dim, coord)| coord.filter(|_| is_var(at, *dim)))
                    };
                    reads.push(site.place.at.iter().map(coord).collect());
                }
            }
            reads
        });
        found
    }

    /// Takes answers back until none is contradicted.
    fn settle(
        &mut self,
        nodes: &[Ident],
        seed: &Seed,
        found: &mut HashMap<Ident, Dropped>,
        reads: impl Fn(&mut Self, &Ident, &HashMap<Ident, Dropped>) -> Vec<Dropped>,
    ) {
        let own: Dropped = match seed.vector {
            None => (0..seed.at.len()).map(Some).collect(),
            Some(_) => {
                let rank = self.tensor_type(&seed.tensor).map_or(0, |ty| ty.rank());
                vec![None; rank]
            }
        };
        loop {
            let mut changed = false;
            for name in nodes {
                let mut answer = (*name == seed.tensor).then(|| own.clone());
                for read in reads(self, name, found) {
                    answer = Some(match answer {
                        None => read,
                        Some(answer) => {
                            let both = answer.iter().zip(&read);
                            both.map(|(a, b)| a.filter(|_| a == b)).collect()
                        }
                    });
                }
                // What was taken back stays so, and the search ends.
                if let (Some(answer), Some(before)) = (&mut answer, found.get(name)) {
                    for (axis, old) in answer.iter_mut().zip(before) {
                        *axis = axis.filter(|_| *axis == *old);
                    }
                }
                if let Some(answer) = answer
                    && found.get(name) != Some(&answer)
                {
                    found.insert(name.clone(), answer);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// What all reads with a tangent need of the indices, if they need the same.
    pub(super) fn common_conditions(
        &mut self,
        code: &Region,
        tangents: &Tangents<'_>,
    ) -> R<Option<Conditions>> {
        let mut all: Option<Vec<Quasi>> = None;
        let mut same = true;
        let mut failed = None;
        code.for_each_inst(&mut |inst| {
            let InstKind::Read(read) = &inst.kind else { return };
            let Some(stored) = tangents.stored.get(&read.place.tensor) else { return };
            same &= read.default.is_none();
            let mut own = Vec::new();
            for (at, coord) in read.place.at.iter().zip(&stored.dropped) {
                let Some(seed) = coord.and_then(|coord| tangents.at.get(coord)) else { continue };
                match (at, seed) {
                    (Subscript::Index(at), Subscript::Index(seed)) => match at.sub(seed) {
                        Ok(difference) => own.push(difference),
                        Err(gave_up) => failed = Some(gave_up),
                    },
                    _ => same = false,
                }
            }
            own.retain(|expr| expr.as_constant() != Some(0));
            own.dedup();
            same &= all.as_ref().is_none_or(|all| *all == own);
            all = Some(own);
        });
        match failed {
            Some(gave_up) => Err(gave_up.into()),
            None => Ok(all.filter(|_| same).map(Conditions)),
        }
    }
}

fn known_axes(known: &HashMap<Ident, Stored>) -> HashMap<Ident, Dropped> {
    known.iter().map(|(name, stored)| (name.clone(), stored.dropped.clone())).collect()
}

fn is_var(at: &Subscript, var: Var) -> bool {
    matches!(at, Subscript::Index(expr) if expr.as_var() == Some(var))
}
