//! `prove_reads`: what a summand reads is known to exist where the conditions of the sum say so.
//!
//! `y = x[n]` tests its subscript once. The derivative by `x` has the same read under the condition that the
//! index of the point is `n`, and there the test is settled: what is proved can run in lanes.

use einlang_index::{Domain, Quasi, Var};

use super::context::Ad;
use super::fault::R;
use crate::region::{InstKind, Read, Region, Subscript};

impl Ad<'_> {
    /// Takes the tests from reads of a body that runs for the points of a sum at the points around it.
    pub(super) fn prove_reads(&self, body: &mut Region, over: &Domain, around: &Domain) {
        let Ok(points) = inside(over, around) else { return };
        self.prove_region(body, &points);
    }

    fn prove_region(&self, region: &mut Region, points: &Domain) {
        for inst in &mut region.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && !read.proved
            {
                read.proved = self.is_read_inside(read, points).unwrap_or(false);
            }
            inst.regions_mut().into_iter().for_each(|region| self.prove_region(region, points));
        }
    }

    /// Whether a read lies in the box of its tensor at all points.
    fn is_read_inside(&self, read: &Read, points: &Domain) -> R<bool> {
        let shape = self.tensor_type(&read.place.tensor)?.dims;
        let holds = |expr: &Quasi| self.facts.prove(points, expr).is_true();
        for (at, dim) in read.place.at.iter().zip(&shape) {
            let Subscript::Index(at) = at else { return Ok(false) };
            if !holds(at) || !holds(&dim.extent.sub(at)?.add_constant(-1)?) {
                return Ok(false);
            }
        }
        Ok(read.place.at.len() == shape.len())
    }
}

/// The points of a sum together with those around it.
fn inside(over: &Domain, around: &Domain) -> R<Domain> {
    let dims: Vec<Var> = around.dims().iter().chain(over.dims()).copied().collect();
    let mut sets = Vec::new();
    for outer in around.sets() {
        for set in over.sets() {
            sets.push(outer.intersect(set)?);
        }
    }
    Ok(Domain::of_sets(dims, sets))
}
