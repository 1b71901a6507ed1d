//! The end: every index is known, so broadcasts and consumed coordinates are told by name, and
//! functions marked `#[audit]` are held to the broadcasts that they list.

use einlang_source::map::{HashMap, HashSet};

use einlang_source::{Diagnostic, Diagnostics, Name};

use super::layout::Coordinate;
use super::result::{Broadcast, Coords, Variant, VariantId};
use super::variants::{Node, Work};
use super::{Checker, Dep};
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// Turns the working state into the result. Variants that were only tried on the way say
    /// nothing.
    pub(super) fn finish(mut self) -> (Coords, Diagnostics) {
        let reached = self.reached();
        let mut coords = Coords::default();
        let mut diagnostics = Vec::new();
        for index in 0..self.works.len() {
            let id = VariantId(index as u32);
            let mut variant = self.finished(id);
            variant.reached = reached.contains(&id);
            if variant.reached {
                let instance = self.works[index].instance;
                coords.of_instance.entry(instance).or_default().push(id);
                self.audit(id, &variant);
                diagnostics.append(&mut self.works[index].diagnostics);
            }
            coords.variants.push(variant);
        }
        (coords, distinct(diagnostics))
    }

    fn reached(&self) -> HashSet<VariantId> {
        let roots = self.works.iter().enumerate().filter(|(_, work)| work.root);
        let mut open: Vec<VariantId> = roots.map(|(index, _)| VariantId(index as u32)).collect();
        let mut reached: HashSet<VariantId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            for callee in self.works[id.index()].calls.values() {
                if reached.insert(*callee) {
                    open.push(*callee);
                }
            }
        }
        reached
    }

    fn finished(&self, id: VariantId) -> Variant {
        let work = &self.works[id.index()];
        let mut binding_of = HashMap::default();
        let mut consumed = HashMap::default();
        for (expr, (deps, binding)) in &work.consumed {
            let names = deps.iter().filter_map(|dep| self.coordinate_of(id, *dep)).collect();
            consumed.insert(*expr, names);
            binding_of.extend(binding.map(|binding| (*expr, binding)));
        }
        let mut broadcasts = HashMap::default();
        for (expr, node) in &work.nodes {
            let found = self.broadcasts(id, node);
            if !found.is_empty() {
                broadcasts.insert(*expr, found);
                binding_of.extend(node.binding.map(|binding| (*expr, binding)));
            }
        }
        let indices = work.indices.iter().map(|(l, index)| (*l, index.axis().coordinate));
        let rests = work.rests.iter().map(|(rest, carried)| {
            (*rest, carried.iter().map(|carried| carried.axis().coordinate).collect())
        });
        Variant {
            instance: Some(work.instance),
            parent: work.parent,
            params: work.params.clone(),
            ret: work.ret.clone(),
            exprs: work.exprs.clone(),
            locals: work.locals.clone(),
            indices: indices.collect(),
            rests: rests.collect(),
            consumed,
            broadcasts,
            calls: work.calls.clone(),
            read_at: work.read_at.clone(),
            binding_of,
            reached: false,
        }
    }

    /// The operands that lack a coordinate of the whole.
    fn broadcasts(&self, id: VariantId, node: &Node) -> Vec<Broadcast> {
        let sets: Vec<Vec<Coordinate>> =
            node.operands.iter().map(|(_, reach)| self.named(id, &reach.deps)).collect();
        let mut whole: Vec<Coordinate> = sets.iter().flatten().copied().collect();
        self.sort(&mut whole);
        let mut found = Vec::new();
        for ((operand, reach), own) in node.operands.iter().zip(&sets) {
            let lacks = |c: &&Coordinate| !own.iter().any(|other| other.name == c.name);
            let missing: Vec<Coordinate> = whole.iter().filter(lacks).copied().collect();
            if !missing.is_empty() && !own.is_empty() && !reach.tensors.is_empty() {
                found.push(Broadcast {
                    operand: *operand,
                    tensors: reach.tensors.clone(),
                    missing,
                });
            }
        }
        found
    }

    fn named(&self, id: VariantId, deps: &[Dep]) -> Vec<Coordinate> {
        deps.iter().filter_map(|dep| self.coordinate_of(id, *dep)).collect()
    }

    fn sort(&self, coordinates: &mut Vec<Coordinate>) {
        coordinates.sort_by_key(|coordinate| self.text(coordinate.name));
        coordinates.dedup_by_key(|coordinate| coordinate.name);
    }

    /// What a dependence is called, in this variant or in those that it is a lambda of.
    fn coordinate_of(&self, id: VariantId, dep: Dep) -> Option<Coordinate> {
        let mut at = Some(id);
        while let Some(id) = at {
            let work: &Work = &self.works[id.index()];
            let found = match dep {
                Dep::Axis(coordinate) => return Some(coordinate),
                Dep::Index(local) => work.indices.get(&local).map(|index| index.axis()),
                Dep::Rest(rest, position) => work
                    .rests
                    .get(&rest)
                    .and_then(|carried| carried.get(position as usize))
                    .map(|carried| carried.axis()),
            };
            if let Some(axis) = found {
                return axis.coordinate;
            }
            let instance = self.typed.instance(work.instance);
            at = work.parent.filter(|_| instance.lambda.is_some());
        }
        None
    }

    /// In an audited function every broadcast is listed.
    fn audit(&mut self, id: VariantId, variant: &Variant) {
        let body_id = self.typed.instance(self.works[id.index()].instance).body;
        let body = &self.program.bodies[body_id];
        let Owner::Def(def) = body.owner else { return };
        let DefKind::Fn(function) = &self.program.def(def).kind else { return };
        if !function.attrs.iter().any(|attr| self.text(attr.name.name) == "audit") {
            return;
        }
        let function = self.text(self.program.def(def).name.name);
        for (expr, broadcasts) in &variant.broadcasts {
            let work = &self.works[id.index()];
            let list = work.nodes.get(expr).map_or(0, |node| node.listed);
            let list = work.lists.get(list).cloned().unwrap_or_default();
            for broadcast in broadcasts {
                if let Some((tensor, missing)) = self.unlisted(broadcast, &list) {
                    let tensor = self.text(tensor);
                    let span = body.span(broadcast.operand);
                    let binding = variant.binding_of.get(expr).map(|l| body[*l].name);
                    let binding = binding.map(|name| (self.text(name.name), name.span));
                    let diagnostic =
                        errors::unlisted_broadcast(function, tensor, &missing, span, binding);
                    self.works[id.index()].diagnostics.push(diagnostic);
                }
            }
        }
    }

    /// The first tensor of a broadcast that is not listed with all it lacks.
    fn unlisted(&self, broadcast: &Broadcast, list: &[(Name, Name)]) -> Option<(Name, Vec<&str>)> {
        broadcast.tensors.iter().find_map(|tensor| {
            let missing = broadcast.missing.iter().map(|coordinate| coordinate.name);
            let missing = missing.filter(|name| !list.contains(&(*tensor, *name)));
            let missing: Vec<&str> = missing.map(|name| self.text(name)).collect();
            (!missing.is_empty()).then_some((*tensor, missing))
        })
    }
}

/// Several variants of one function repeat its mistakes.
fn distinct(list: Vec<Diagnostic>) -> Diagnostics {
    let mut seen = HashSet::default();
    let mut diagnostics = Diagnostics::new();
    for diagnostic in list {
        if seen.insert((diagnostic.code, diagnostic.primary.span)) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics.sort();
    diagnostics
}
