//! Which bindings lie between what is perturbed and what is observed.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Ad;
use super::leaf::Hidden;
use crate::region::InstKind;
use crate::types::Ident;

impl Ad<'_> {
    /// Who reads each tensor, by the flow of values.
    pub(super) fn consumers(&mut self) -> HashMap<Ident, Vec<Ident>> {
        let mut consumers: HashMap<Ident, Vec<Ident>> = HashMap::default();
        for name in self.binding_names() {
            for source in &self.flow(&name).sources {
                consumers.entry(source.clone()).or_default().push(name.clone());
            }
        }
        consumers
    }

    /// The tensors that lie on a path, both ends included if there is one; in order.
    pub(super) fn between(&mut self, from: &Ident, to: &Ident, hidden: &Hidden) -> Vec<Ident> {
        let consumers = self.consumers();
        let forward = reached(from, |name| {
            let next = consumers.get(name).cloned().unwrap_or_default();
            next.into_iter().filter(|name| !hidden.names.contains(name)).collect()
        });
        let backward = reached(to, |name| {
            let next = match hidden.leaf && name == from {
                true => Vec::new(),
                false => self.flow(name).sources.iter().cloned().collect::<Vec<_>>(),
            };
            next.into_iter().filter(|name| !hidden.names.contains(name)).collect()
        });
        let inputs = self.module.inputs.iter().map(|input| input.name.clone());
        let all: Vec<Ident> =
            inputs.chain(self.module.bindings().map(|b| b.name.clone())).collect();
        all.into_iter().filter(|n| forward.contains(n) && backward.contains(n)).collect()
    }

    /// Whether a point of a tensor may depend on another of the same tensor.
    pub(super) fn depends_on_itself(&mut self, name: &Ident) -> bool {
        let mut seen = HashSet::default();
        let mut open: Vec<Ident> = self.flow(name).sources.iter().cloned().collect();
        while let Some(next) = open.pop() {
            if next == *name {
                return true;
            }
            if seen.insert(next.clone()) {
                open.extend(self.flow(&next).sources.iter().cloned());
            }
        }
        false
    }

    /// Whether an entry is left inside a binding.
    pub(super) fn has_entry(&self, name: &Ident) -> bool {
        let Some(binding) = self.binding(name) else { return false };
        let mut found = false;
        for clause in &binding.clauses {
            for region in clause.guard.iter().chain([&clause.body]) {
                region.for_each_inst(&mut |inst| {
                    found |= matches!(inst.kind, InstKind::Deriv { .. });
                });
            }
        }
        found
    }
}

fn reached(from: &Ident, mut next: impl FnMut(&Ident) -> Vec<Ident>) -> HashSet<Ident> {
    let mut seen: HashSet<Ident> = [from.clone()].into_iter().collect();
    let mut open = vec![from.clone()];
    while let Some(name) = open.pop() {
        for name in next(&name) {
            if seen.insert(name.clone()) {
                open.push(name);
            }
        }
    }
    seen
}
