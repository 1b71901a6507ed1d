//! Adjoint bindings: how what is observed follows every point on the way.
//!
//! The adjoint of `x[k]` is a sum over the reads of `x` by bindings on the way to the seed. A read
//! `x[m(p)]` at the points `p` of a consumer contributes where `m(p) = k`: a domain, in which `k`
//! is a parameter, if `m` is known, and a comparison of every `m(p)` with `k` if it is data.

use einlang_index::{Domain, Quasi, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::{Ad, zero};
use super::fault::R;
use super::pullback::Pullback;
use super::seed::{Layout, Seed, SeedAxes, SeedPoint, Stored, seeded_domain};
use super::sink::sink_into_arms;
use super::sum::Sum;
use super::view::View;
use crate::constant::Const;
use crate::module::{Binding, Clause, box_of};
use crate::region::{Arg, Inst, InstKind, Place, Region, Subscript};
use crate::types::{Elem, Ident};

/// One binding whose adjoint is made.
struct Adjoint<'a> {
    seed: &'a Seed,
    seed_axes: &'a SeedAxes,
    known: &'a HashMap<Ident, Stored>,
    /// The tensor and the coordinates of the point that is asked about.
    name: &'a Ident,
    at: Vec<Quasi>,
    elem: Elem,
    /// All points of the adjoint.
    around: Domain,
}

impl Ad<'_> {
    /// Makes the adjoints of all nodes, which are flat and on the way to the seed's tensor. A leaf
    /// is not followed.
    pub(super) fn make_adjoints(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        leaf: Option<&Ident>,
        known: &mut HashMap<Ident, Stored>,
    ) -> R<()> {
        let new: Vec<Ident> = nodes.iter().filter(|n| !known.contains_key(*n)).cloned().collect();
        let on_path: HashSet<&Ident> = nodes.iter().filter(|name| Some(*name) != leaf).collect();
        let mut consumers = self.consumers();
        for list in consumers.values_mut() {
            list.retain(|name| on_path.contains(name));
        }
        let bands = self.adjoint_axes(seed, &new, &consumers, known)?;
        for name in &new {
            let bands = self.narrow(name, bands.get(name).cloned().unwrap_or_default())?;
            let is_leaf = *name == seed.tensor && consumers.get(name).is_none_or(Vec::is_empty);
            let own = match (is_leaf, &seed.vector) {
                (true, None) => None,
                (true, Some(vector)) => Some(vector.clone()),
                (false, _) => Some(self.derived_name(name, "adj", &seed.tensor)),
            };
            known.insert(name.clone(), Stored { name: own, number: 1.0, bands });
        }
        // Consumers come first: an adjoint that is a number is not stored.
        let mut made: HashSet<Ident> = HashSet::default();
        for name in &new {
            let mut path = vec![(name.clone(), false)];
            while let Some((name, is_ready)) = path.pop() {
                let readers = consumers.get(&name).cloned().unwrap_or_default();
                if is_ready {
                    self.make_stored(seed, &name, &readers, known)?;
                } else if new.contains(&name) && made.insert(name.clone()) {
                    path.push((name, true));
                    path.extend(readers.into_iter().map(|reader| (reader, false)));
                }
            }
        }
        Ok(())
    }

    /// Makes an adjoint, if it is to be stored.
    fn make_stored(
        &mut self,
        seed: &Seed,
        name: &Ident,
        readers: &[Ident],
        known: &mut HashMap<Ident, Stored>,
    ) -> R<()> {
        let is_leaf = *name == seed.tensor && readers.is_empty();
        let Some(own) = known[name].name.clone().filter(|_| !is_leaf) else { return Ok(()) };
        if let Some(number) = self.make_adjoint(seed, name, &own, readers, known)?
            && let Some(stored) = known.get_mut(name)
        {
            (stored.name, stored.number) = (None, number);
        }
        Ok(())
    }

    fn make_adjoint(
        &mut self,
        seed: &Seed,
        name: &Ident,
        own: &Ident,
        readers: &[Ident],
        known: &HashMap<Ident, Stored>,
    ) -> R<Option<f64>> {
        let stored = known[name].clone();
        let (ty, loc) = (self.tensor_type(name)?, self.loc_of(name));
        let seed_axes = self.seed_axes(seed)?;
        let mut own_axes = self.axes_for(name)?;
        for axis in &mut own_axes {
            axis.var = self.module.vars.fresh_like(axis.var);
        }
        let layout = self.layout(&own_axes, &stored.bands, &seed_axes)?;
        // Where a band leaves the tensor there is nothing.
        let around = seeded_domain(&box_of(&own_axes)?, &layout)?;
        let Layout { axes, at } = layout;
        let (known, elem, seed_axes) = (known, ty.elem, &seed_axes);
        let wanted = Adjoint { seed, seed_axes, known, name, at, elem, around };
        let mut out = Vec::new();
        let mut sum: Option<Arg> = None;
        if *name == seed.tensor {
            let own = self.own_seed(&mut out, &wanted)?;
            self.add_to(&mut out, &mut sum, own);
        }
        for reader in readers {
            for view in self.views(reader)? {
                self.contributions(&mut out, &mut sum, &wanted, reader, &view)?;
            }
        }
        let result = sum.unwrap_or_else(|| zero(elem));
        let is_read = self.referenced.contains(own);
        if let (Some(number), false) = (result.as_const().and_then(Const::as_float), is_read) {
            return Ok(Some(number));
        }
        let body = Region { params: Vec::new(), insts: out, results: vec![result] };
        let domain = wanted.around.into();
        let clauses = vec![Clause { domain, guard: None, body, loc }];
        let own = own.clone();
        self.add_binding(Binding { name: own, elem, axes, clauses, zero_fill: false, loc })?;
        Ok(None)
    }

    /// The seed itself: one at the point that is observed.
    fn own_seed(&mut self, out: &mut Vec<Inst>, wanted: &Adjoint<'_>) -> R<Arg> {
        if let Some(vector) = &wanted.seed.vector {
            let at = wanted.seed_axes.at.iter().chain(&wanted.at);
            let at = at.cloned().map(Subscript::Index).collect();
            return Ok(self.read(out, vector, at, wanted.elem, true));
        }
        let index = |at: &Quasi| Subscript::Index(at.clone());
        let pairs = wanted.at.iter().map(index).zip(wanted.seed_axes.at.iter().map(index));
        let pairs: Vec<(Subscript, Subscript)> = pairs.collect();
        self.one_where(out, &pairs, wanted.elem)
    }

    /// What the reads of one clause contribute.
    fn contributions(
        &mut self,
        out: &mut Vec<Inst>,
        sum: &mut Option<Arg>,
        wanted: &Adjoint<'_>,
        reader: &Ident,
        view: &View,
    ) -> R<()> {
        let mut places: Vec<Place> = Vec::new();
        view.code.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind
                && read.place.tensor == *wanted.name
                && !places.contains(&read.place)
            {
                places.push(read.place.clone());
            }
        });
        for place in &places {
            let mut insts = Vec::new();
            let found = self.contribution(&mut insts, wanted, reader, view, place);
            let Some(term) = found.map_err(|fault| fault.or_at(view.loc))? else { continue };
            // The code of a clause is used once per place; each use has binders of its own.
            let region = Region { params: Vec::new(), insts, results: vec![term] };
            let mut region = self.copy(&region)?;
            out.append(&mut region.insts);
            let term = region.results.remove(0);
            self.add_to(out, sum, term);
        }
        Ok(())
    }

    fn contribution(
        &mut self,
        out: &mut Vec<Inst>,
        wanted: &Adjoint<'_>,
        reader: &Ident,
        view: &View,
        place: &Place,
    ) -> R<Option<Arg>> {
        let reader_elem = self.tensor_type(reader)?.elem;
        let stored = wanted.known[reader].clone();
        let dims = view.domain.dims().to_vec();
        let mut domain = view.domain.clone();
        let mut point: Vec<Subscript> = Vec::with_capacity(view.n_axes);
        for (axis, dim) in dims[..view.n_axes].iter().enumerate() {
            point.push(Subscript::Index((*dim).into()));
            let band = stored.bands.get(axis).copied().flatten();
            let Some(band) = band else { continue };
            let Some(coord) = wanted.seed_axes.at.get(band.coord) else { continue };
            let difference = Quasi::from(*dim).sub(coord)?;
            if band.is_equal() {
                domain = domain.intersect(&Domain::where_zero(&*dims, &difference)?)?;
                point[axis] = Subscript::Index(coord.clone());
                continue;
            }
            let bounds = [
                difference.add_constant(band.low.saturating_neg())?,
                difference.neg()?.add_constant(band.high)?,
            ];
            domain = domain.intersect(&Domain::where_nonnegative(&*dims, &bounds)?)?;
        }
        let mut guards: Vec<Region> = view.guard.iter().chain(&view.guards).cloned().collect();
        for (subscript, at) in place.at.iter().zip(&wanted.at) {
            match subscript {
                Subscript::Index(expr) if self.is_affine_in(expr, &dims) => {
                    let difference = expr.sub(at)?;
                    domain = domain.intersect(&Domain::where_zero(&*dims, &difference)?)?;
                }
                _ => guards.push(self.same_key(&view.code, subscript, at)?),
            }
        }
        let mut before = Vec::new();
        let seed_at: Vec<Subscript> =
            wanted.seed_axes.at.iter().cloned().map(Subscript::Index).collect();
        if stored.name.is_none() && stored.number == 0.0 {
            return Ok(None);
        }
        let seed_point = SeedPoint { seed: wanted.seed, at: &seed_at, inside: true };
        let elem = reader_elem;
        let adjoint = self.stored(&mut before, &stored, &seed_point, &point, elem, true)?;
        let own = self.own_value(&mut before, reader, view, &point, elem);
        let swept = Pullback::of(self, &view.code, place, wanted.elem, adjoint, own)?;
        let Some(body) = swept else { return Ok(None) };
        let (domain, mut body) = self.narrowed(domain, body);
        // Within a recurrence a condition may be what tells the points of an adjoint apart.
        match self.module.is_of_one_group(reader, wanted.name) {
            true => sink_into_arms(&mut body, before),
            false => drop(body.insts.splice(0..0, before)),
        }
        super::tidy::drop_dead(&mut body);
        let sum = Sum { domain, guards, body, elem: wanted.elem, loc: view.loc };
        self.sum(out, sum, &wanted.around)
    }

    /// The result of a clause as it is stored, where nothing is reduced: `1 - y[i] * y[i]` and not
    /// `1 - tanh(…) * tanh(…)`.
    pub(super) fn own_value(
        &mut self,
        out: &mut Vec<Inst>,
        reader: &Ident,
        view: &View,
        point: &[Subscript],
        elem: Elem,
    ) -> Option<(u32, Arg)> {
        let Some(Arg::Value(result)) = view.code.results.first() else { return None };
        let whole = view.inner().is_empty() && view.guards.is_empty();
        whole.then(|| (result.number, self.read(out, reader, point.to_vec(), elem, true)))
    }

    /// Whether only dimensions and what is known everywhere decide an expression.
    fn is_affine_in(&self, expr: &Quasi, dims: &[Var]) -> bool {
        let mut known = true;
        expr.for_each_var(&mut |var| {
            known &= dims.contains(&var) || self.is_global(&var.into());
        });
        known
    }
}
