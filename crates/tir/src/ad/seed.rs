//! Seeds: what is perturbed, or what is observed; and where derivatives for a seed are stored.
//!
//! A tangent for the seed `P[j]` says how a point follows `P[j]`; an adjoint for the seed `T[i]`
//! says how `T[i]` follows a point. Both are tensors over the coordinates of the seed that are not
//! fixed, and then over the axes of the tensor in question. An axis along which only the point
//! equal to a coordinate of the seed can be other than zero is left out: that is how a diagonal
//! costs one sweep.

use einlang_index::{Domain, Quasi, Var};

use super::context::{Ad, zero};
use super::fault::R;
use crate::constant::Const;
use crate::module::Axis;
use crate::op::Op;
use crate::region::{Arg, Inst, InstKind, Region, Subscript};
use crate::types::{Elem, Ident, Loc};

/// One coordinate of a seed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Coord {
    /// One point, known outside all bindings.
    Fixed(Quasi),
    /// Every point: an axis of what is stored.
    Axis,
}

/// What is perturbed or observed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Seed {
    /// The tensor.
    pub(super) tensor: Ident,
    /// One coordinate per axis. If the whole tensor is weighted by a vector, the axes of that
    /// before those of the tensor.
    pub(super) at: Vec<Coord>,
    /// The weights of all points at once.
    pub(super) vector: Option<Ident>,
    /// What is perturbed is taken as it is, whatever it depends on.
    pub(super) leaf: bool,
}

/// Where the derivatives of one tensor for one seed are.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// The tensor; none if the derivative is the same number at every point that it holds.
    pub(super) name: Option<Ident>,
    /// That number.
    pub(super) number: f64,
    /// For each axis the points around a coordinate of the seed that can matter. An axis that must
    /// equal a coordinate is left out; others in a band are stored by their offset.
    pub(super) bands: Vec<Option<Band>>,
}

/// Points near a coordinate of a seed: those that are at least `low` and at most `high` after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Band {
    /// The coordinate.
    pub(super) coord: usize,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Band {
    /// The point itself.
    pub(super) fn equal(coord: usize) -> Band {
        Band { coord, low: 0, high: 0 }
    }

    pub(super) fn is_equal(self) -> bool {
        self.low == 0 && self.high == 0
    }

    /// How many points there are.
    pub(super) fn width(self) -> i64 {
        self.high.saturating_sub(self.low).saturating_add(1)
    }
}

/// How a tensor is laid out where it is stored for a seed.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The axes: those of the seed, and then those that are not left out.
    pub(super) axes: Vec<Axis>,
    /// The point of the tensor, in terms of the axes.
    pub(super) at: Vec<Quasi>,
}

/// The coordinates of a seed inside a binding that is stored for it.
#[derive(Clone, Debug)]
pub(super) struct SeedAxes {
    /// The axes of the binding that come from the seed.
    pub(super) axes: Vec<Axis>,
    /// One subscript per coordinate of the seed.
    pub(super) at: Vec<Quasi>,
}

/// One point of a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeedPoint<'a> {
    /// The seed.
    pub(super) seed: &'a Seed,
    /// One subscript per coordinate.
    pub(super) at: &'a [Subscript],
    /// Whether what is read is known to lie in its bands.
    pub(super) inside: bool,
}

impl Seed {
    /// Whether a coordinate is an axis.
    fn is_axis(&self, at: usize) -> bool {
        matches!(self.at.get(at), Some(Coord::Axis))
    }
}

impl Ad<'_> {
    /// New axes for a seed.
    pub(super) fn seed_axes(&mut self, seed: &Seed) -> R<SeedAxes> {
        let ty = self.tensor_type(seed.vector.as_ref().unwrap_or(&seed.tensor))?;
        let (mut axes, mut at) = (Vec::new(), Vec::new());
        for (coord, dim) in seed.at.iter().zip(&ty.dims) {
            match coord {
                Coord::Fixed(point) => at.push(point.clone()),
                Coord::Axis => {
                    let var = self.module.vars.index("s");
                    axes.push(Axis { var, dim: dim.clone() });
                    at.push(var.into());
                }
            }
        }
        Ok(SeedAxes { axes, at })
    }

    /// Where the points of a tensor with these axes are stored.
    pub(super) fn layout(
        &mut self,
        axes: &[Axis],
        bands: &[Option<Band>],
        seed: &SeedAxes,
    ) -> R<Layout> {
        let mut layout = Layout { axes: seed.axes.clone(), at: Vec::new() };
        for (at, axis) in axes.iter().enumerate() {
            let band = bands.get(at).copied().flatten();
            let Some((band, coord)) = band.and_then(|b| Some((b, seed.at.get(b.coord)?))) else {
                layout.at.push(axis.var.into());
                layout.axes.push(axis.clone());
                continue;
            };
            if band.is_equal() {
                layout.at.push(coord.clone());
                continue;
            }
            let var = self.module.vars.fresh_like(axis.var);
            layout.at.push(coord.add(&var.into())?.add_constant(band.low)?);
            layout.axes.push(Axis { var, dim: Quasi::from(band.width()).into() });
        }
        Ok(layout)
    }

    /// Bands without those that are as wide as their axis.
    pub(super) fn narrow(
        &self,
        name: &Ident,
        mut bands: Vec<Option<Band>>,
    ) -> R<Vec<Option<Band>>> {
        for (band, dim) in bands.iter_mut().zip(&self.tensor_type(name)?.dims) {
            let extent = dim.extent.as_constant().unwrap_or(i64::MAX);
            *band = band.filter(|band| band.is_equal() || band.width() < extent);
        }
        Ok(bands)
    }

    /// The stored derivative at a point; zero where the point is too far from the seed.
    pub(super) fn stored(
        &mut self,
        out: &mut Vec<Inst>,
        stored: &Stored,
        point: &SeedPoint<'_>,
        at: &[Subscript],
        elem: Elem,
        proved: bool,
    ) -> R<Arg> {
        let SeedPoint { seed, at: seed_at, inside } = point;
        let (mut pairs, mut offsets) = (Vec::new(), Vec::new());
        for (axis, own) in at.iter().enumerate() {
            match stored.bands.get(axis).copied().flatten() {
                Some(band) if band.is_equal() => {
                    pairs.extend(seed_at.get(band.coord).map(|seed| (own.clone(), seed.clone())));
                }
                Some(band) => offsets.push(self.offset(out, own, seed_at.get(band.coord), band)?),
                None => offsets.push(Offset { at: own.clone(), width: None }),
            }
        }
        let Some(equal) = self.all_equal(out, &pairs)? else { return Ok(zero(elem)) };
        let Some(condition) = self.within_bands(out, equal, &offsets, *inside)? else {
            return Ok(zero(elem));
        };
        let mut inner = Vec::new();
        let value = match &stored.name {
            None => Const::float(elem, stored.number).into(),
            Some(name) => {
                self.referenced.insert(name.clone());
                let of_seed = seed_at.iter().enumerate().filter(|(at, _)| seed.is_axis(*at));
                let of_seed = of_seed.map(|(_, subscript)| subscript.clone());
                let at = of_seed.chain(offsets.into_iter().map(|offset| offset.at)).collect();
                self.read(&mut inner, name, at, elem, proved)
            }
        };
        Ok(match condition {
            Equal::Always => {
                out.extend(inner);
                value
            }
            Equal::If(condition) => {
                let then = Region { params: Vec::new(), insts: inner, results: vec![value] };
                let otherwise = Region::yielding([zero(elem)]);
                self.branch(out, condition, then, otherwise, elem)
            }
        })
    }

    /// Where a point lies in a band.
    fn offset(
        &mut self,
        out: &mut Vec<Inst>,
        own: &Subscript,
        seed: Option<&Subscript>,
        band: Band,
    ) -> R<Offset> {
        let width = Some(band.width());
        let Some(seed) = seed else { return Ok(Offset { at: own.clone(), width: None }) };
        if let (Subscript::Index(own), Subscript::Index(seed)) = (own, seed) {
            let at = own.sub(seed)?.add_constant(band.low.saturating_neg())?;
            return Ok(Offset { at: Subscript::Index(at), width });
        }
        let (own, seed) = (self.as_integer(out, own), self.as_integer(out, seed));
        let from = self.op(out, Op::Sub, vec![own, seed], Elem::I64);
        let low = Const::int(Elem::I64, band.low.into()).into();
        let at = Subscript::Value(self.op(out, Op::Sub, vec![from, low], Elem::I64));
        Ok(Offset { at, width })
    }

    /// The condition that offsets are inside their bands, besides another; `None` if one never is.
    fn within_bands(
        &mut self,
        out: &mut Vec<Inst>,
        equal: Equal,
        offsets: &[Offset],
        inside: bool,
    ) -> R<Option<Equal>> {
        let mut all = match equal {
            Equal::Always => None,
            Equal::If(condition) => Some(condition),
        };
        for Offset { at, width } in offsets {
            let Some(width) = width.filter(|_| !inside) else { continue };
            if let Subscript::Index(expr) = at
                && let Some(number) = expr.as_constant()
            {
                match (0..width).contains(&number) {
                    true => continue,
                    false => return Ok(None),
                }
            }
            let value = self.as_integer(out, at);
            let zero = Const::zero(Elem::I64).into();
            let width = Const::int(Elem::I64, width.into()).into();
            for (op, bound) in [(Op::Ge, zero), (Op::Lt, width)] {
                let holds = self.op(out, op, vec![value.clone(), bound], Elem::Bool);
                all = Some(match all {
                    None => holds,
                    Some(all) => self.op(out, Op::And, vec![all, holds], Elem::Bool),
                });
            }
        }
        Ok(Some(all.map_or(Equal::Always, Equal::If)))
    }

    /// Whether all pairs are equal; `None` if one never is.
    pub(super) fn all_equal(
        &mut self,
        out: &mut Vec<Inst>,
        pairs: &[(Subscript, Subscript)],
    ) -> R<Option<Equal>> {
        let mut all: Option<Arg> = None;
        let mut done: Vec<&(Subscript, Subscript)> = Vec::new();
        for pair in pairs {
            if done.contains(&pair) {
                continue;
            }
            done.push(pair);
            let equal = match pair {
                (Subscript::Index(a), Subscript::Index(b)) => {
                    let difference = a.sub(b)?;
                    match difference.as_constant() {
                        Some(0) => continue,
                        Some(_) => return Ok(None),
                        None => self.is_zero(out, difference),
                    }
                }
                (a, b) if a == b => continue,
                (a, b) => {
                    let (a, b) = (self.as_integer(out, a), self.as_integer(out, b));
                    self.op(out, Op::Eq, vec![a, b], Elem::Bool)
                }
            };
            all = Some(match all {
                None => equal,
                Some(all) => self.op(out, Op::And, vec![all, equal], Elem::Bool),
            });
        }
        Ok(Some(all.map_or(Equal::Always, Equal::If)))
    }

    /// Whether an index expression is zero.
    pub(super) fn is_zero(&mut self, out: &mut Vec<Inst>, expr: Quasi) -> Arg {
        let value = self.push(out, Elem::I64, InstKind::Index(expr), Loc::default());
        self.op(out, Op::Eq, vec![value, Const::zero(Elem::I64).into()], Elem::Bool)
    }

    /// A subscript as a value.
    pub(super) fn as_integer(&mut self, out: &mut Vec<Inst>, subscript: &Subscript) -> Arg {
        match subscript {
            Subscript::Index(expr) => {
                self.push(out, Elem::I64, InstKind::Index(expr.clone()), Loc::default())
            }
            Subscript::Value(arg) => match arg.as_const().and_then(Const::as_int) {
                Some(number) => Const::int(Elem::I64, number).into(),
                None => self.cast(out, arg.clone(), Elem::I64),
            },
        }
    }

    /// Whether a point lies in a tensor and a clause covers it. `None` means that it always does.
    pub(super) fn covered(
        &mut self,
        out: &mut Vec<Inst>,
        tensor: &Ident,
        at: &[Subscript],
    ) -> R<Option<Arg>> {
        if !self.is_full(tensor)? {
            let name = self.coverage(tensor)?;
            let place = crate::region::Place { tensor: name, at: at.to_vec() };
            let default = Some(Region::yielding([Const::bool(false).into()]));
            let read = crate::region::Read { place, default, proved: false };
            return Ok(Some(self.push(out, Elem::Bool, InstKind::Read(read), Loc::default())));
        }
        let ty = self.tensor_type(tensor)?;
        let mut all: Option<Arg> = None;
        for (subscript, dim) in at.iter().zip(&ty.dims) {
            let low = self.as_integer(out, subscript);
            let zero = Const::zero(Elem::I64).into();
            let above = self.op(out, Op::Ge, vec![low.clone(), zero], Elem::Bool);
            let extent = match dim.extent.as_constant() {
                Some(extent) => Const::int(Elem::I64, extent.into()).into(),
                None => {
                    let kind = InstKind::Index(dim.extent.clone());
                    self.push(out, Elem::I64, kind, Loc::default())
                }
            };
            let below = self.op(out, Op::Lt, vec![low, extent], Elem::Bool);
            let both = self.op(out, Op::And, vec![above, below], Elem::Bool);
            all = Some(match all {
                None => both,
                Some(all) => self.op(out, Op::And, vec![all, both], Elem::Bool),
            });
        }
        Ok(all)
    }

    /// Whether every point of the box is covered.
    pub(super) fn is_full(&self, tensor: &Ident) -> R<bool> {
        let Some(binding) = self.binding(tensor) else { return Ok(true) };
        if binding.clauses.iter().any(|clause| clause.guard.is_some()) {
            return Ok(false);
        }
        let mut rest = binding.whole()?;
        for clause in &binding.clauses {
            rest = rest.subtract(&clause.domain)?;
        }
        Ok(rest.always_empty_given(self.facts.set()).is_true())
    }

    /// A tensor that is true where a clause of another covers the point.
    fn coverage(&mut self, tensor: &Ident) -> R<Ident> {
        if let Some(name) = self.coverages.get(tensor) {
            return Ok(name.clone());
        }
        let name = self.fresh_name(&format!("{}_cov", tensor.as_str()));
        let Some(mut binding) = self.binding(tensor).cloned() else { return Ok(name) };
        (binding.name, binding.elem) = (name.clone(), Elem::Bool);
        for clause in &mut binding.clauses {
            if let Some(guard) = &mut clause.guard {
                guard.results.truncate(1);
            }
            clause.body = Region::yielding([Const::bool(true).into()]);
        }
        self.add_binding(binding)?;
        self.coverages.insert(tensor.clone(), name.clone());
        Ok(name)
    }
}

/// A subscript of a stored tensor, and the width of its band if it lies in one.
struct Offset {
    at: Subscript,
    width: Option<i64>,
}

/// Whether subscripts agree.
pub(super) enum Equal {
    /// At every point.
    Always,
    /// Where this holds.
    If(Arg),
}

/// The domain of a stored tensor's clause: that of the clause it comes from, whose first
/// dimensions are the axes of the tensor, in terms of the axes where it is stored.
pub(super) fn seeded_domain(domain: &Domain, layout: &Layout) -> R<Domain> {
    let n_axes = layout.at.len();
    let mut kept: Vec<Var> = layout.axes.iter().map(|axis| axis.var).collect();
    kept.extend(domain.dims().iter().skip(n_axes));
    let mut replaced = Vec::new();
    for (dim, at) in domain.dims().iter().zip(&layout.at) {
        if let Some(value) = at.as_affine().filter(|_| at.as_var() != Some(*dim)) {
            replaced.push((*dim, value.clone()));
        }
    }
    // The axes of the tensor itself are bounded by the domain.
    let is_new = |axis: &&Axis| !domain.dims().contains(&axis.var);
    let new: Vec<Axis> = layout.axes.iter().filter(is_new).cloned().collect();
    let boxed = crate::module::box_of(&new)?;
    let mut replace = |var| replaced.iter().find(|(dim, _)| *dim == var).map(|(_, v)| v.clone());
    let mut sets = Vec::new();
    for set in domain.sets() {
        for outer in boxed.sets() {
            sets.push(set.replace(&mut replace)?.intersect(outer)?);
        }
    }
    Ok(Domain::of_sets(kept, sets))
}
