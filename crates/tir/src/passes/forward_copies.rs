//! `forward_copies`: what reads a copy under a condition reads the original, where the condition holds.
//!
//! The adjoint of a term of a sum is the adjoint of the sum at the points that have the term, and zero
//! elsewhere: `s_adj[t, k] = if t >= 1 { z_adj[t, k] } else { 0 }`. Those who read it mostly do so at points that
//! have the term. If all of them do, they read the original, and the copy is gone: it takes as much memory and
//! as long to write as the original.
//!
//! Invariants: a copy is forwarded only if every read of it is certain to lie inside and where the condition
//! holds. What leaves the module, what a symbol takes its value from and what is passed on whole stays. Runs after
//! `merge_bindings`, which leaves one of several equal copies.

use einlang_index::{Domain, Facts, Map, Quasi, Set, Var};
use einlang_source::Diagnostics;
use rustc_hash::FxHashMap as HashMap;

use super::Ctx;
use super::copies::reads_own_place;
use crate::module::{Binding, Module, SymbolSource};
use crate::order::Known;
use crate::region::{Arg, Def, Inst, InstKind, Place, Read, Region, Subscript};
use crate::types::Ident;

/// A tensor that is another one at some points.
struct Copy {
    of: Ident,
    /// The points at which it is something else.
    other: Domain,
}

type Copies = HashMap<Ident, Copy>;

/// Forwards the copies of a module.
pub fn forward_copies(module: &mut Module, _: &Ctx) -> Result<(), Diagnostics> {
    loop {
        let mut copies = copies(module);
        if copies.is_empty() {
            return Ok(());
        }
        let facts = module.facts();
        for group in &module.groups {
            if let Some(until) = &group.until {
                Reads { facts: &facts, copies: &mut copies }.anywhere(&until.condition);
            }
            for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
                for region in clause.guard.iter().chain([&clause.body]) {
                    let mut reads = Reads { facts: &facts, copies: &mut copies };
                    reads.region(region, &clause.domain, &mut Known::default());
                }
            }
        }
        if copies.is_empty() {
            return Ok(());
        }
        for group in &mut module.groups {
            group.bindings.retain(|binding| !copies.contains_key(&binding.name));
            group.regions_mut().into_iter().for_each(|region| redirect(region, &copies));
        }
        module.groups.retain(|group| !group.bindings.is_empty());
    }
}

/// The copies that may be forwarded at all. One of another copy comes after that.
fn copies(module: &Module) -> Copies {
    let mut copies = Copies::default();
    if !module.properties.disjoint || !module.properties.inlined {
        return copies;
    }
    for group in module.groups.iter().filter(|group| group.until.is_none()) {
        let found = group.bindings.iter().filter_map(|b| Some((b.name.clone(), copy(b, module)?)));
        copies.extend(found);
    }
    module.outputs.iter().for_each(|name| drop(copies.remove(name)));
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) = &symbol.source {
            copies.remove(name);
        }
    }
    let names: Vec<Ident> = copies.keys().cloned().collect();
    copies.retain(|_, copy| !names.contains(&copy.of));
    copies
}

/// What a binding is a copy of: its body is one branch, which reads another tensor at its own place.
fn copy(binding: &Binding, module: &Module) -> Option<Copy> {
    let [clause] = &binding.clauses[..] else { return None };
    let ([before @ .., last], [Arg::Value(result)]) =
        (&clause.body.insts[..], &clause.body.results[..])
    else {
        return None;
    };
    let is_plain = clause.guard.is_none() && clause.body.params.is_empty() && !binding.zero_fill;
    let is_result = matches!(&last.results[..], [Def::Scalar(value)] if value == result);
    let InstKind::If { condition, then, otherwise } = &last.kind else { return None };
    let [Arg::Const(_)] = otherwise.results[..] else { return None };
    if !is_plain || !is_result || !before.iter().all(is_of_indices) || !otherwise.insts.is_empty() {
        return None;
    }
    let read = reads_own_place(then, &binding.axes).filter(|read| read.proved)?;
    let original = &read.place.tensor;
    if *original == binding.name || module.tensor_type(original)?.elem != binding.elem {
        return None;
    }
    let mut known = Known::default();
    before.iter().for_each(|inst| known.learn(inst));
    let mut other = known.domain(condition, false, &binding.dims())?;
    other = other.union(&clause.domain.complement().ok()?).ok()?;
    Some(Copy { of: original.clone(), other })
}

/// Whether an instruction computes with indices only.
fn is_of_indices(inst: &Inst) -> bool {
    matches!(inst.kind, InstKind::Index(_) | InstKind::Op(..))
        && inst.results.iter().filter_map(Def::as_scalar).all(|value| !value.elem.is_float())
}

/// Finds reads of copies that must stay reads of copies.
struct Reads<'a> {
    facts: &'a Facts,
    copies: &'a mut Copies,
}

impl Reads<'_> {
    /// Code that runs at some points.
    fn region(&mut self, region: &Region, over: &Domain, known: &mut Known) {
        self.results(region);
        for inst in &region.insts {
            self.inst(inst, over);
            match &inst.kind {
                InstKind::If { condition, then, otherwise } => {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        let part = known.domain(condition, holds, over.dims());
                        let part = part.and_then(|part| over.intersect(&part).ok());
                        self.region(arm, part.as_ref().unwrap_or(over), &mut known.clone());
                    }
                }
                InstKind::Reduce(reduction) => {
                    let inside = extended(over, &reduction.domain);
                    for inner in inst.regions() {
                        match &inside {
                            Some(inside) => self.region(inner, inside, &mut known.clone()),
                            None => self.anywhere(inner),
                        }
                    }
                }
                InstKind::Group(_) => {
                    inst.regions().into_iter().for_each(|inner| self.anywhere(inner))
                }
                _ => {
                    for inner in inst.regions() {
                        self.region(inner, over, &mut known.clone());
                    }
                }
            }
            known.learn(inst);
        }
    }

    /// Code of whose points nothing is known.
    fn anywhere(&mut self, region: &Region) {
        region.for_each_region(&mut |region| self.results(region));
        region.for_each_inst(&mut |inst| {
            inst.tensors().into_iter().for_each(|name| drop(self.copies.remove(name)));
        });
    }

    fn results(&mut self, region: &Region) {
        let passed = region.results.iter().filter_map(Arg::as_tensor);
        passed.for_each(|name| drop(self.copies.remove(name)));
    }

    fn inst(&mut self, inst: &Inst, over: &Domain) {
        for name in inst.tensors() {
            let Some(copy) = self.copies.get(name) else { continue };
            let is_original = match &inst.kind {
                InstKind::Read(read) if read.place.tensor == *name => {
                    is_never(&copy.other, read, over, self.facts)
                }
                _ => false,
            };
            if !is_original {
                self.copies.remove(name);
            }
        }
    }
}

/// Whether a read that runs at some points never meets some points of its tensor.
fn is_never(points: &Domain, read: &Read, over: &Domain, facts: &Facts) -> bool {
    let Some(at) = place_of(&read.place).filter(|_| read.proved && read.default.is_none()) else {
        return false;
    };
    let map = Map::new(over.dims(), at);
    let met = points.preimage(&map).and_then(|met| met.intersect(over));
    met.is_ok_and(|met| met.always_empty_given(facts.set()).is_true())
}

fn place_of(place: &Place) -> Option<Vec<Quasi>> {
    let index = |at: &Subscript| match at {
        Subscript::Index(at) => Some(at.clone()),
        Subscript::Value(_) => None,
    };
    place.at.iter().map(index).collect()
}

/// The points of a reduction at the points around it.
fn extended(over: &Domain, inner: &Domain) -> Option<Domain> {
    let dims: Vec<Var> = over.dims().iter().chain(inner.dims()).copied().collect();
    let pairs = over.sets().iter().flat_map(|a| inner.sets().iter().map(move |b| a.intersect(b)));
    let sets: Vec<Set> = pairs.collect::<Result<_, _>>().ok()?;
    Some(Domain::of_sets(dims, sets))
}

fn redirect(region: &mut Region, copies: &Copies) {
    region.for_each_region_mut(&mut |region| {
        for inst in &mut region.insts {
            if let InstKind::Read(read) = &mut inst.kind
                && let Some(copy) = copies.get(&read.place.tensor)
            {
                read.place.tensor = copy.of.clone();
            }
        }
    });
}
