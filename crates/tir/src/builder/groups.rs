//! Which bindings form a group, and in which order groups stand: the strongly connected parts of
//! "reads", dependencies first. Members of an `until` belong together even
//! if they do not read each other, because their open axes advance in lockstep.

use rustc_hash::FxHashMap as HashMap;

use crate::graph::strong_parts;
use crate::module::{Binding, Group, Until};
use crate::region::Region;
use crate::types::Ident;

/// The groups of the bindings, in an order that can be evaluated.
pub(super) fn order(bindings: Vec<Binding>, untils: Vec<Until>) -> Vec<Group> {
    let edges = edges(&bindings, &untils);
    let mut slots: Vec<Option<Binding>> = bindings.into_iter().map(Some).collect();
    let mut untils: Vec<Option<Until>> = untils.into_iter().map(Some).collect();
    let mut groups = Vec::new();
    for members in strong_parts(&edges) {
        let bindings: Vec<Binding> = members.iter().filter_map(|at| slots[*at].take()).collect();
        let until = untils.iter_mut().find(|until| {
            until.as_ref().is_some_and(|until| bindings.iter().any(|b| is_open(b, until)))
        });
        let until = until.and_then(Option::take);
        groups.push(Group { bindings, until });
    }
    groups
}

fn is_open(binding: &Binding, until: &Until) -> bool {
    binding.axes.iter().any(|axis| axis.dim.extent.as_var() == Some(until.extent))
}

/// For each binding, the bindings it needs.
fn edges(bindings: &[Binding], untils: &[Until]) -> Vec<Vec<usize>> {
    let number: HashMap<&Ident, usize> =
        bindings.iter().enumerate().map(|(at, binding)| (&binding.name, at)).collect();
    let mut edges: Vec<Vec<usize>> = Vec::with_capacity(bindings.len());
    for binding in bindings {
        let mut needs = Vec::new();
        for clause in &binding.clauses {
            let regions = clause.guard.iter().chain([&clause.body]);
            regions.for_each(|region| add_reads(region, &number, &mut needs));
        }
        for until in untils.iter().filter(|until| is_open(binding, until)) {
            add_reads(&until.condition, &number, &mut needs);
            needs.extend((0..bindings.len()).filter(|at| is_open(&bindings[*at], until)));
        }
        edges.push(needs);
    }
    edges
}

fn add_reads(region: &Region, number: &HashMap<&Ident, usize>, needs: &mut Vec<usize>) {
    region.for_each_inst(&mut |inst| {
        needs.extend(inst.tensors().into_iter().filter_map(|name| number.get(name)));
    });
}
