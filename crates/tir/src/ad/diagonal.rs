//! Axes along which derivatives are diagonal or banded.
//!
//! An axis of a tensor is left out of what is stored for a seed when, for every read on the way,
//! only the point equal to a coordinate of the seed can matter; where only points within a few
//! steps of it can, the axis is stored by offset. Recurrences are handled by starting from the most
//! favourable answer and taking back what a read contradicts.

use einlang_index::{Domain, Quasi, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Ad;
use super::fault::R;
use super::seed::{Band, Seed, Stored};
use super::tangent::Tangents;
use crate::region::{InstKind, Region, Subscript};
use crate::types::Ident;

/// For each axis of a tensor the points around a coordinate of the seed that can matter.
pub(super) type Bands = Vec<Option<Band>>;

/// Wider bands are stored in full.
const MAX_WIDTH: i64 = 16;

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
    /// The axes of tangents that are left out or banded.
    pub(super) fn tangent_axes(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        known: &HashMap<Ident, Stored>,
    ) -> R<HashMap<Ident, Bands>> {
        let mut found = known_axes(known);
        let inner = self.inner_bounds(nodes)?;
        self.settle(nodes, seed, &mut found, |ad, name, found| {
            let axes: Vec<Var> = ad.binding(name).map(|b| b.dims()).unwrap_or_default();
            let mut reads = Vec::new();
            if seed.leaf && *name == seed.tensor {
                return reads;
            }
            for site in &ad.flow(name).sites {
                let Some(source) = found.get(&site.place.tensor) else { continue };
                let matches = |var: &Var| {
                    let mut at = site.place.at.iter().zip(source);
                    at.find_map(|(at, band)| {
                        let ((low, high), band) = (rest(at, *var, &inner)?, (*band)?);
                        Some(Band { low: band.low - high, high: band.high - low, ..band })
                    })
                };
                reads.push(axes.iter().map(matches).collect());
            }
            reads
        });
        Ok(found)
    }

    /// The axes of adjoints that are left out or banded. `consumers` are those on the way to the
    /// seed.
    pub(super) fn adjoint_axes(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        consumers: &HashMap<Ident, Vec<Ident>>,
        known: &HashMap<Ident, Stored>,
    ) -> R<HashMap<Ident, Bands>> {
        let mut found = known_axes(known);
        let readers: Vec<Ident> = consumers.values().flatten().cloned().collect();
        let inner = self.inner_bounds(&readers)?;
        self.settle(nodes, seed, &mut found, |ad, name, found| {
            let mut reads = Vec::new();
            for consumer in consumers.get(name).into_iter().flatten() {
                let Some(bands) = found.get(consumer) else { continue };
                let dims = ad.binding(consumer).map(|b| b.dims()).unwrap_or_default();
                for site in &ad.flow(consumer).sites {
                    if site.place.tensor != *name {
                        continue;
                    }
                    let coord = |at: &Subscript| {
                        let mut axes = dims.iter().zip(bands);
                        axes.find_map(|(dim, band)| {
                            let ((low, high), band) = (rest(at, *dim, &inner)?, (*band)?);
                            Some(Band { low: band.low + low, high: band.high + high, ..band })
                        })
                    };
                    reads.push(site.place.at.iter().map(coord).collect());
                }
            }
            reads
        });
        Ok(found)
    }

    /// The least and greatest values of the indices of reductions, where they are numbers.
    fn inner_bounds(&mut self, nodes: &[Ident]) -> R<HashMap<Var, (i64, i64)>> {
        let mut bounds = HashMap::default();
        for name in nodes {
            let sums = self.summed(name);
            if sums.is_empty() {
                continue;
            }
            for view in self.views(name)? {
                for var in view.inner().iter().filter(|var| sums.contains(var)) {
                    let range = view.domain.axis_bounds(*var)?;
                    let number = |side: Option<einlang_index::MinMax>| {
                        side.and_then(|side| side.as_quasi().and_then(Quasi::as_constant))
                    };
                    if let (Some(low), Some(high)) = (number(range.lower), number(range.upper)) {
                        bounds.insert(*var, (low, high));
                    }
                }
            }
        }
        Ok(bounds)
    }

    /// The variables of subscripts such as `p + r`.
    fn summed(&mut self, name: &Ident) -> HashSet<Var> {
        let mut found = HashSet::default();
        for site in &self.flow(name).sites {
            for at in &site.place.at {
                if let Subscript::Index(expr) = at
                    && let Some(affine) = expr.as_affine().filter(|affine| affine.terms().len() > 1)
                {
                    found.extend(affine.vars());
                }
            }
        }
        found
    }

    /// Takes answers back until none is contradicted.
    fn settle(
        &mut self,
        nodes: &[Ident],
        seed: &Seed,
        found: &mut HashMap<Ident, Bands>,
        reads: impl Fn(&mut Self, &Ident, &HashMap<Ident, Bands>) -> Vec<Bands>,
    ) {
        let own: Bands = match seed.vector {
            None => (0..seed.at.len()).map(|coord| Some(Band::equal(coord))).collect(),
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
                        Some(answer) => joined(&answer, &read),
                    });
                }
                // What was taken back stays so, and the search ends.
                if let (Some(answer), Some(before)) = (&mut answer, found.get(name)) {
                    *answer = joined(answer, before);
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
            for (at, band) in read.place.at.iter().zip(&stored.bands) {
                let Some(band) = band else { continue };
                let Some(seed) = tangents.at.get(band.coord) else { continue };
                // A band is tested where it is read.
                same &= band.is_equal();
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

fn known_axes(known: &HashMap<Ident, Stored>) -> HashMap<Ident, Bands> {
    known.iter().map(|(name, stored)| (name.clone(), stored.bands.clone())).collect()
}

/// What contains both; nothing if it is too wide.
fn joined(a: &[Option<Band>], b: &[Option<Band>]) -> Bands {
    let both = a.iter().zip(b).map(|(a, b)| {
        let (a, b) = ((*a)?, (*b)?);
        let band = Band { low: a.low.min(b.low), high: a.high.max(b.high), ..a };
        (a.coord == b.coord && band.width() <= MAX_WIDTH).then_some(band)
    });
    both.collect()
}

/// The least and greatest values of a subscript minus an index; none if they are no numbers.
fn rest(at: &Subscript, var: Var, inner: &HashMap<Var, (i64, i64)>) -> Option<(i64, i64)> {
    let Subscript::Index(expr) = at else { return None };
    if expr.as_var() == Some(var) {
        return Some((0, 0));
    }
    let affine = expr.as_affine()?;
    if affine.coeff(var) != 1 {
        return None;
    }
    let other = affine.without(var);
    let constant = other.constant_part();
    let (mut low, mut high) = (constant, constant);
    for (var, factor) in other.terms() {
        let (least, most) = inner.get(var)?;
        let (a, b) = (factor.saturating_mul(*least), factor.saturating_mul(*most));
        low = low.saturating_add(a.min(b));
        high = high.saturating_add(a.max(b));
    }
    (high.saturating_sub(low) < MAX_WIDTH).then_some((low, high))
}
