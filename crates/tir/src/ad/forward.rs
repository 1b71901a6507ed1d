//! Tangent bindings: how every point on the way follows what is perturbed.

use std::collections::HashMap;

use einlang_index::Quasi;

use super::context::{Ad, one, zero};
use super::diagonal::Dropped;
use super::fault::R;
use super::seed::{Equal, Seed, SeedAxes, Stored, seeded_domain};
use super::sum::Sum;
use super::tangent::{Beside, Tangents};
use super::view::View;
use crate::module::{Axis, Binding, Clause};
use crate::region::{Arg, Region, Subscript};
use crate::substitute::Substitution;
use crate::types::{Elem, Ident};

impl Ad<'_> {
    /// Makes the tangents of all nodes, which are flat and on the way from the seed's tensor.
    pub(super) fn make_tangents(
        &mut self,
        seed: &Seed,
        nodes: &[Ident],
        known: &mut HashMap<Ident, Stored>,
    ) -> R<()> {
        let new: Vec<Ident> = nodes.iter().filter(|n| !known.contains_key(*n)).cloned().collect();
        let dropped = self.tangent_axes(seed, &new, known);
        for name in &new {
            let dropped = dropped.get(name).cloned().unwrap_or_default();
            let stored = self.stored_tangent(seed, name, dropped)?;
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
    fn stored_tangent(&mut self, seed: &Seed, name: &Ident, dropped: Dropped) -> R<Stored> {
        let is_leaf = *name == seed.tensor && !self.depends_on_itself(name);
        let name = match (is_leaf, &seed.vector) {
            (true, None) => None,
            (true, Some(vector)) => Some(vector.clone()),
            (false, _) => Some(self.derived_name(name, "tan", &seed.tensor)),
        };
        Ok(Stored { name, dropped })
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
        let ty = self.tensor_type(name)?;
        let loc = self.loc_of(name);
        let seed_axes = self.seed_axes(seed)?;
        let axes = self.axes_for(name)?;
        let dims: Vec<_> = axes.iter().map(|axis| axis.var).collect();
        let mut clauses = Vec::new();
        let is_seed = *name == seed.tensor;
        let mut rest = crate::module::box_of(&axes)?;
        for mut view in self.views(name)? {
            rest = rest.subtract(&view.outer)?;
            let mut later = Substitution::default();
            for (axis, coord) in stored.dropped.iter().enumerate() {
                if let Some(coord) = coord {
                    later.vars.insert(view.domain.dims()[axis], seed_axes.at[*coord].clone());
                }
            }
            later.region(&mut view.code)?;
            view.guards.iter_mut().try_for_each(|guard| later.region(guard))?;
            if let Some(guard) = &mut view.guard {
                later.region(guard)?;
            }
            let all = stored.dropped_with(&view);
            let full = seeded_domain(&view.domain, view.domain.dims(), &all, &seed_axes)?;
            let around = seeded_domain(&view.outer, &dims, &stored.dropped, &seed_axes)?;
            let body =
                self.tangent_body(seed, &seed_axes, &view, &full, &around, known, ty.elem)?;
            let (body, guard) = match is_seed {
                true => {
                    self.seeded_body(stored, &seed_axes, &dims, body, view.guard, ty.elem, seed)?
                }
                false => (body, view.guard),
            };
            clauses.push(Clause { domain: around.into(), guard, body, loc: view.loc });
        }
        let kept = axes.iter().zip(&stored.dropped).filter(|(_, dropped)| dropped.is_none());
        let kept: Vec<Axis> = kept.map(|(axis, _)| axis.clone()).collect();
        if is_seed && !rest.always_empty_given(self.facts.set()).is_true() {
            let domain = seeded_domain(&rest, &dims, &stored.dropped, &seed_axes)?;
            let body = Region::yielding([zero(ty.elem)]);
            let (body, _) =
                self.seeded_body(stored, &seed_axes, &dims, body, None, ty.elem, seed)?;
            clauses.push(Clause { domain: domain.into(), guard: None, body, loc });
        }
        // Every clause names the axes as the binding does.
        let all: Vec<Axis> = seed_axes.axes.iter().chain(&kept).cloned().collect();
        self.add_binding(Binding {
            name: own,
            elem: ty.elem,
            axes: all,
            clauses,
            zero_fill: false,
            loc,
        })
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

    fn tangent_body(
        &mut self,
        seed: &Seed,
        seed_axes: &SeedAxes,
        view: &View,
        full: &einlang_index::Domain,
        around: &einlang_index::Domain,
        known: &HashMap<Ident, Stored>,
        elem: Elem,
    ) -> R<Region> {
        let at = seed_axes.at.iter().cloned().map(Subscript::Index).collect();
        let tangents = Tangents { stored: known, seed, at };
        let inner = view.inner().to_vec();
        let mut domain = einlang_index::Domain::of_sets(&*inner, full.sets().iter().cloned());
        if let Some(conditions) = self.common_conditions(&view.code, &tangents)? {
            domain = domain.intersect(&conditions.on(&inner)?)?;
        }
        let mut beside = Beside::new(self, &tangents);
        let mut insts = Vec::new();
        beside.insts(&view.code.insts, &mut insts)?;
        let result = view.code.results.first().and_then(|arg| beside.tangent(arg));
        let Some(result) = result else { return Ok(Region::yielding([zero(elem)])) };
        let mut code = Region { params: Vec::new(), insts, results: vec![result] };
        if inner.is_empty() && view.guards.is_empty() {
            return Ok(code);
        }
        let mut out = Vec::new();
        super::tidy::drop_dead(&mut code);
        let sum = Sum { domain, guards: view.guards.clone(), body: code, elem, loc: view.loc };
        let result = self.sum(&mut out, sum, around)?;
        let results = vec![result.unwrap_or_else(|| zero(elem))];
        Ok(Region { params: Vec::new(), insts: out, results })
    }

    /// The body plus the seed at the point that is perturbed.
    fn seeded_body(
        &mut self,
        stored: &Stored,
        seed_axes: &SeedAxes,
        dims: &[einlang_index::Var],
        body: Region,
        guard: Option<Region>,
        elem: Elem,
        seed: &Seed,
    ) -> R<(Region, Option<Region>)> {
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
        let own = self.seed_value(&mut out, stored, seed_axes, dims, elem, seed)?;
        let result = self.add(&mut out, propagated, own);
        Ok((Region { params: Vec::new(), insts: out, results: vec![result] }, None))
    }

    /// What the seed says about a point of its tensor.
    fn seed_value(
        &mut self,
        out: &mut Vec<crate::region::Inst>,
        stored: &Stored,
        seed_axes: &SeedAxes,
        dims: &[einlang_index::Var],
        elem: Elem,
        seed: &Seed,
    ) -> R<Arg> {
        if let Some(vector) = &seed.vector {
            let at = dims.iter().map(|dim| Subscript::Index((*dim).into())).collect();
            return Ok(self.read(out, vector, at, elem, true));
        }
        let mut pairs = Vec::new();
        for (axis, dim) in dims.iter().enumerate() {
            if stored.dropped.get(axis).copied().flatten().is_none()
                && let Some(coord) = seed_axes.at.get(axis)
            {
                let pair = (Quasi::from(*dim), coord.clone());
                pairs.push((Subscript::Index(pair.0), Subscript::Index(pair.1)));
            }
        }
        self.one_where(out, &pairs, elem)
    }

    /// One where all pairs are equal, else zero.
    pub(super) fn one_where(
        &mut self,
        out: &mut Vec<crate::region::Inst>,
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

impl Stored {
    /// Which dimensions of a view are left out; those of a reduction never are.
    pub(super) fn dropped_with(&self, view: &View) -> Vec<Option<usize>> {
        let mut dropped = self.dropped.clone();
        dropped.resize(view.domain.dims().len(), None);
        dropped
    }
}
