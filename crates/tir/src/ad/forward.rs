//! Tangent bindings: how every point on the way follows what is perturbed.

use einlang_index::Domain;
use rustc_hash::FxHashMap as HashMap;

use super::context::{Ad, one, zero};
use super::diagonal::Bands;
use super::fault::R;
use super::seed::{Equal, Layout, Seed, SeedAxes, Stored, seeded_domain};
use super::sum::Sum;
use super::tangent::{Beside, Tangents};
use super::view::View;
use crate::module::{Axis, Binding, Clause, box_of};
use crate::region::{Arg, Inst, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident};

/// One binding whose tangent is made.
struct Tangent<'a> {
    name: &'a Ident,
    seed: &'a Seed,
    seed_axes: &'a SeedAxes,
    known: &'a HashMap<Ident, Stored>,
    /// Where the points are stored.
    layout: Layout,
    elem: Elem,
}

impl Tangent<'_> {
    /// The point of the binding.
    fn point(&self) -> Vec<Subscript> {
        self.layout.at.iter().cloned().map(Subscript::Index).collect()
    }
}

impl Ad<'_> {
    /// Makes the tangents of all nodes, which are flat and on the way from the seed's tensor.
    pub(super) fn make_tangents(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        known: &mut HashMap<Ident, Stored>,
    ) -> R<()> {
        let new: Vec<Ident> = nodes.iter().filter(|n| !known.contains_key(*n)).cloned().collect();
        let bands = self.tangent_axes(seed, &new, known)?;
        for name in &new {
            let bands = bands.get(name).cloned().unwrap_or_default();
            let stored = self.stored_tangent(seed, name, bands)?;
            known.insert(name.clone(), stored);
        }
        for name in &new {
            let stored = known[name].clone();
            if stored.name.is_some() && seed.vector != stored.name {
                self.make_tangent(seed, name, &stored, known)?;
            }
        }
        Ok(())
    }

    /// The name under which a tangent is stored. A tensor that is perturbed and does not depend
    /// on itself has the seed as its tangent.
    fn stored_tangent(&mut self, seed: &Seed, name: &Ident, bands: Bands) -> R<Stored> {
        let bands = self.narrow(name, bands)?;
        let is_leaf = *name == seed.tensor && (seed.leaf || !self.depends_on_itself(name));
        let name = match (is_leaf, &seed.vector) {
            (true, None) => None,
            (true, Some(vector)) => Some(vector.clone()),
            (false, _) => Some(self.derived_name(name, "tan", &seed.tensor)),
        };
        Ok(Stored { name, number: 1.0, bands })
    }

    /// `x_tan`, or `x_tan.p` if that is taken.
    pub(super) fn derived_name(&mut self, name: &Ident, ending: &str, seed: &Ident) -> Ident {
        let plain = format!("{}_{ending}", name.as_str());
        match self.names.contains(plain.as_str()) {
            false => self.fresh_name(&plain),
            true => self.fresh_name(&format!("{plain}.{}", seed.as_str())),
        }
    }

    fn make_tangent(
        &mut self,
        seed: &Seed,
        name: &Ident,
        stored: &Stored,
        known: &HashMap<Ident, Stored>,
    ) -> R<()> {
        let Some(own) = stored.name.clone() else { return Ok(()) };
        let mut without = HashMap::default();
        let known = match self.calls.constants.get(name) {
            Some(constant) if known.contains_key(constant) => {
                without.clone_from(known);
                without.remove(constant);
                &without
            }
            _ => known,
        };
        let (elem, loc) = (self.tensor_type(name)?.elem, self.loc_of(name));
        let seed_axes = self.seed_axes(seed)?;
        let axes = self.axes_for(name)?;
        let layout = self.layout(&axes, &stored.bands, &seed_axes)?;
        let wanted = Tangent { name, seed, seed_axes: &seed_axes, known, layout, elem };
        let mut clauses = Vec::new();
        let is_seed = *name == seed.tensor;
        let mut rest = box_of(&axes)?;
        for view in self.views(name)? {
            rest = rest.subtract(&view.outer)?;
            clauses.push(self.tangent_clause(&wanted, view, is_seed)?);
        }
        if is_seed && !rest.always_empty_given(self.facts.set()).is_true() {
            let domain = seeded_domain(&rest, &wanted.layout)?;
            let body = Region::yielding([zero(elem)]);
            let body = self.seeded_body(&wanted, body, None)?;
            clauses.push(Clause { domain: domain.into(), guard: None, body, loc });
        }
        let axes = wanted.layout.axes;
        self.add_binding(Binding { name: own, elem, axes, clauses, zero_fill: false, loc })
    }

    /// The tangent of one clause, with the axes that are left out fixed by the seed.
    fn tangent_clause(&mut self, wanted: &Tangent<'_>, mut view: View, is_seed: bool) -> R<Clause> {
        let mut later = Substitution::default();
        for (dim, at) in view.domain.dims().iter().zip(&wanted.layout.at) {
            if at.as_var() != Some(*dim) {
                later.vars.insert(*dim, at.clone());
            }
        }
        later.region(&mut view.code)?;
        let guards = view.guards.iter_mut().chain(&mut view.guard);
        guards.into_iter().try_for_each(|guard| later.region(guard))?;
        let around = seeded_domain(&view.outer, &wanted.layout)?;
        let body = self.tangent_body(wanted, &view, &around)?;
        let (body, guard) = match is_seed {
            true => (self.seeded_body(wanted, body, view.guard)?, None),
            false => (body, view.guard),
        };
        Ok(Clause { domain: around.into(), guard, body, loc: view.loc })
    }

    /// The axes of a binding or input.
    pub(super) fn axes_for(&mut self, name: &Ident) -> R<Vec<Axis>> {
        if let Some(binding) = self.binding(name) {
            return Ok(binding.axes.clone());
        }
        let ty = self.tensor_type(name)?;
        let axes = ty.dims.into_iter().map(|dim| Axis { var: self.module.vars.index("k"), dim });
        Ok(axes.collect())
    }

    fn tangent_body(&mut self, wanted: &Tangent<'_>, view: &View, around: &Domain) -> R<Region> {
        let Tangent { seed, seed_axes, known, elem, .. } = *wanted;
        let full = seeded_domain(&view.domain, &wanted.layout)?;
        let at = seed_axes.at.iter().cloned().map(Subscript::Index).collect();
        let tangents = Tangents { stored: known, seed, at };
        let inner = view.inner().to_vec();
        let mut domain = Domain::of_sets(&*inner, full.sets().iter().cloned());
        if let Some(conditions) = self.common_conditions(&view.code, &tangents)? {
            domain = domain.intersect(&conditions.on(&inner)?)?;
        }
        let mut insts = Vec::new();
        let own = self.own_value(&mut insts, wanted.name, view, &wanted.point(), elem);
        let result = Beside::new(self, &tangents, own).code(&view.code, &mut insts)?;
        let Some(result) = result else { return Ok(Region::yielding([zero(elem)])) };
        let mut code = Region { params: Vec::new(), insts, results: vec![result] };
        super::tidy::drop_dead(&mut code);
        if inner.is_empty() && view.guards.is_empty() {
            return Ok(code);
        }
        let mut out = Vec::new();
        let sum = Sum { domain, guards: view.guards.clone(), body: code, elem, loc: view.loc };
        let result = self.sum(&mut out, sum, around)?;
        let results = vec![result.unwrap_or_else(|| zero(elem))];
        Ok(Region { params: Vec::new(), insts: out, results })
    }

    /// The body plus the seed at the point that is perturbed. What a guard leaves out is perturbed
    /// like any other point, so the guard becomes a condition.
    fn seeded_body(
        &mut self,
        wanted: &Tangent<'_>,
        body: Region,
        guard: Option<Region>,
    ) -> R<Region> {
        let elem = wanted.elem;
        let mut out = Vec::new();
        let propagated = match guard {
            None => {
                out.extend(body.insts);
                body.results.into_iter().next().unwrap_or_else(|| zero(elem))
            }
            Some(guard) => {
                out.extend(guard.insts);
                let condition = guard.results.into_iter().next().unwrap_or_else(|| one(Elem::Bool));
                let otherwise = Region::yielding([zero(elem)]);
                self.branch(&mut out, condition, body, otherwise, elem)
            }
        };
        let own = self.seed_value(&mut out, wanted)?;
        let result = self.add(&mut out, propagated, own);
        Ok(Region { params: Vec::new(), insts: out, results: vec![result] })
    }

    /// What the seed says about a point of its tensor.
    fn seed_value(&mut self, out: &mut Vec<Inst>, wanted: &Tangent<'_>) -> R<Arg> {
        let point = wanted.point();
        if let Some(vector) = &wanted.seed.vector {
            let of_seed = wanted.seed_axes.at.iter().cloned().map(Subscript::Index);
            let at = of_seed.chain(point).collect();
            return Ok(self.read(out, vector, at, wanted.elem, true));
        }
        let coords = wanted.seed_axes.at.iter().cloned().map(Subscript::Index);
        let pairs: Vec<(Subscript, Subscript)> = point.into_iter().zip(coords).collect();
        self.one_where(out, &pairs, wanted.elem)
    }

    /// One where all pairs are equal, else zero.
    pub(super) fn one_where(
        &mut self,
        out: &mut Vec<Inst>,
        pairs: &[(Subscript, Subscript)],
        elem: Elem,
    ) -> R<Arg> {
        Ok(match self.all_equal(out, pairs)? {
            None => zero(elem),
            Some(Equal::Always) => one(elem),
            Some(Equal::If(condition)) => {
                let then = Region::yielding([one(elem)]);
                let otherwise = Region::yielding([zero(elem)]);
                self.branch(out, condition, then, otherwise, elem)
            }
        })
    }
}
