//! Requests inside a recurrence by a point of that same recurrence.
//!
//! `w[t] = w[t - 1] - r * (@f(w[t - 1]) / @w[t - 1])` depends on its own derivative, and following
//! `w` any further back would need derivatives of every order. Nothing has to be followed when all
//! that the target reads of the recurrence lies in the slice of the point that is perturbed or
//! further back, and no point of a slice depends on another of the same slice: then the slice is a
//! leaf. The same holds for what the condition of an open recurrence asks by the step it tests.

use einlang_index::Quasi;
use rustc_hash::FxHashSet as HashSet;

use super::context::Ad;
use super::fault::R;
use super::request::Entry;
use crate::region::Subscript;
use crate::types::Ident;

/// What a request does not see, and whether its parameter is a leaf.
#[derive(Clone, Default, Debug)]
pub(super) struct Hidden {
    /// The bindings that depend on the request.
    pub(super) names: HashSet<Ident>,
    /// The parameter is taken as it is, whatever it depends on.
    pub(super) leaf: bool,
}

impl Ad<'_> {
    /// What a request inside `home` does not see: the clauses around it, if it is about their
    /// local tensors, and the recurrence around it, if its parameter is a slice of that.
    pub(super) fn hidden_from(&mut self, home: &Ident, entry: &Entry) -> R<Hidden> {
        let by = &entry.by.tensor;
        let chain = self.homes(home);
        if self.lifted_from.get(by).is_some_and(|outer| chain.contains(outer)) {
            let names = chain.into_iter().filter(|name| name != by).collect();
            return Ok(Hidden { names, leaf: false });
        }
        let mut around = self.recurrence(home);
        if !around.contains(by) {
            around = self.tested_by(&chain, by);
        }
        if !around.contains(by) || !self.is_slice(entry, &chain, &around)? {
            return Ok(Hidden::default());
        }
        let inside = |name: &Ident| self.is_inside(name, &chain);
        let names = around.iter().filter(|name| *name != by && !inside(name)).cloned().collect();
        Ok(Hidden { names, leaf: true })
    }

    /// A binding and those whose clauses it was local to.
    fn homes(&self, home: &Ident) -> Vec<Ident> {
        let mut chain = vec![home.clone()];
        while let Some(outer) = chain.last().and_then(|name| self.lifted_from.get(name)) {
            chain.push(outer.clone());
        }
        chain
    }

    /// The bindings of the open group of a tensor, if the condition that ends it is among the homes: nothing
    /// of the group reads that, so its own step may be asked about too.
    fn tested_by(&self, chain: &[Ident], by: &Ident) -> HashSet<Ident> {
        let group = |name: &Ident| self.places.get(name).map(|place| place.0);
        let of = group(by);
        let found = of.and_then(|at| self.module.groups.get(at));
        match found.filter(|found| found.until.is_some()) {
            Some(found) if chain.iter().any(|home| group(home) == of) => {
                let names = found.bindings.iter().map(|binding| binding.name.clone());
                names.filter(|name| !chain.contains(name)).collect()
            }
            _ => HashSet::default(),
        }
    }

    fn is_inside(&self, name: &Ident, chain: &[Ident]) -> bool {
        let mut name = name;
        while let Some(outer) = self.lifted_from.get(name) {
            if chain.contains(outer) {
                return true;
            }
            name = outer;
        }
        false
    }

    /// The bindings that a binding and that depend on each other.
    fn recurrence(&mut self, home: &Ident) -> HashSet<Ident> {
        let names = self.between(home, home, &Hidden::default());
        names.into_iter().filter(|name| self.binding(name).is_some()).collect()
    }

    /// Whether everything that is read of the recurrence lies fixed steps back on the first axis, and
    /// the target reads the slice of the parameter and what is further back only.
    fn is_slice(&mut self, entry: &Entry, chain: &[Ident], around: &HashSet<Ident>) -> R<bool> {
        let Some(Subscript::Index(slice)) = entry.by.at.first() else { return Ok(false) };
        let Some(time) = self.time_of(&chain[0]) else { return Ok(false) };
        let Some(step) = slice.sub(&time)?.as_constant() else { return Ok(false) };
        if step == 0 && around.contains(&chain[chain.len() - 1]) {
            return Ok(false);
        }
        let is_back = |steps: i64| if step > 0 { steps > 0 } else { steps < 0 };
        let mut open = vec![entry.of.tensor.clone()];
        let mut on_way = HashSet::default();
        while let Some(name) = open.pop() {
            if self.is_inside(&name, chain) && on_way.insert(name.clone()) {
                open.extend(self.flow(&name).sources.iter().cloned());
            }
        }
        if !on_way.contains(&entry.of.tensor) {
            return Ok(false);
        }
        for name in around.iter().chain(&on_way) {
            let flow = self.flow(name);
            for site in &flow.sites {
                let tensor = &site.place.tensor;
                if !around.contains(tensor) || self.added.contains(tensor) {
                    continue;
                }
                let (Some(own), Some(Subscript::Index(at))) =
                    (self.own_time(name), site.place.at.first())
                else {
                    return Ok(false);
                };
                let found = at.sub(&own)?.as_constant();
                let fits = match on_way.contains(name) {
                    true => found.is_some_and(|found| found == step || is_back(found - step)),
                    false => found.is_some_and(is_back),
                };
                if !fits {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The first axis of a binding, in the variables of the binding that it was local to first.
    fn time_of(&self, name: &Ident) -> Option<Quasi> {
        self.binding(name)?.axes.first().map(|axis| axis.var.into())
    }

    /// The same for a binding that may have been local: its first axis stands for that of the
    /// clause around it.
    fn own_time(&self, name: &Ident) -> Option<Quasi> {
        let mut name = name.clone();
        let own = self.time_of(&name);
        while let Some(outer) = self.lifted_from.get(&name) {
            let (around, dims) = (self.prefixes.get(&name)?, self.dims_at.get(&name)?);
            // The first index around must have been needed, or the first axis is another one.
            if around.first() != dims.first() || around.is_empty() {
                return None;
            }
            name = outer.clone();
        }
        own
    }
}
