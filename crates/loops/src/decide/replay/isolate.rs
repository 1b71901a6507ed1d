//! `isolate_sums`: a sum that is a part of something becomes a binding of its own.
//!
//! Sums over time are added up segment by segment, and only then is known what is computed with them.
//! Invariant: values and their association stay what they are. What turns out not to run in segments
//! is computed where it is read, as before.

use std::collections::BTreeSet;

use einlang_tir::fresh::Fresh;
use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::region::{Arg, Inst, InstKind, Place, Read, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::shape::{sum_of, sum_over};

/// Gives sums bindings of their own.
pub(super) fn isolate_sums(module: &mut Module) {
    let mut names = module.tensor_names();
    let mut at = 0;
    while at < module.groups.len() {
        let made = isolate(module, at, &mut names);
        let n_made = made.len();
        module.groups.splice(at..at, made);
        at += n_made + 1;
    }
}

/// Takes the sums out of a group; the groups of what was taken.
fn isolate(module: &mut Module, at: usize, names: &mut BTreeSet<Ident>) -> Vec<Group> {
    let [binding] = &module.groups[at].bindings[..] else { return Vec::new() };
    let [clause] = &binding.clauses[..] else { return Vec::new() };
    let recurrent = module.is_recurrent(&binding.name) || module.groups[at].until.is_some();
    if sum_of(binding).is_some() || recurrent || clause.guard.is_some() {
        return Vec::new();
    }
    let binding = binding.clone();
    let (mut body, mut made) = (clause.body.clone(), Vec::new());
    for number in 0..body.insts.len() {
        let inst = &body.insts[number];
        let InstKind::Reduce(reduction) = &inst.kind else { continue };
        let Some(reads) = with_what_it_needs(&body, number) else { continue };
        if sum_over(reduction).is_none() {
            continue;
        }
        let taken = Binding {
            clauses: vec![Clause { body: reads, ..binding.clauses[0].clone() }],
            elem: match inst.results.first().and_then(|def| def.as_scalar()) {
                Some(value) => value.elem,
                None => continue,
            },
            ..binding.clone()
        };
        let group = Group { bindings: vec![taken], until: None };
        let Ok(copy) = Fresh::new(module, names).copy_group(&group) else { continue };
        let Some(name) = copy.bindings.first().map(|binding| binding.name.clone()) else {
            continue;
        };
        let own = binding.dims().into_iter().map(|var| Subscript::Index(var.into()));
        let place = Place { tensor: name, at: own.collect() };
        let read = Read { place, default: None, proved: true };
        body.insts[number].kind = InstKind::Read(read);
        made.push(copy);
    }
    module.groups[at].bindings[0].clauses[0].body = body;
    made
}

/// A region that yields one instruction of another, with what it needs before it.
pub(in crate::decide) fn with_what_it_needs(body: &Region, number: usize) -> Option<Region> {
    let last = &body.insts[number];
    let result = last.results.first().and_then(|def| def.as_scalar())?;
    let mut wanted: HashSet<u32> = HashSet::default();
    uses(last, &mut wanted);
    let mut insts = vec![last.clone()];
    for inst in body.insts[..number].iter().rev() {
        let defines = inst.results.iter().filter_map(|def| def.as_scalar());
        let mut needed = false;
        defines.for_each(|value| needed |= wanted.contains(&value.number));
        if needed {
            let plain = matches!(
                inst.kind,
                InstKind::Op(..) | InstKind::Index(_) | InstKind::Read(_) | InstKind::If { .. }
            );
            if !plain {
                return None;
            }
            uses(inst, &mut wanted);
            insts.insert(0, inst.clone());
        }
    }
    let tensors = body.insts.iter().flat_map(|inst| inst.results.iter());
    let local = tensors.clone().any(|def| def.as_tensor().is_some());
    let groups = body.insts.iter().any(|inst| matches!(inst.kind, InstKind::Group(_)));
    let params = body.insts.iter().any(|inst| matches!(inst.kind, InstKind::Param { .. }));
    (!local && !groups && !params && body.params.is_empty()).then(|| Region {
        params: Vec::new(),
        insts,
        results: vec![Arg::Value(result)],
    })
}

/// The values that an instruction uses, those in its regions included.
fn uses(inst: &Inst, found: &mut HashSet<u32>) {
    let mut add = |arg: &Arg| {
        if let Arg::Value(value) = arg {
            found.insert(value.number);
        }
    };
    inst.args().into_iter().for_each(&mut add);
    for region in inst.regions() {
        region.results.iter().for_each(&mut add);
        region.for_each_inst(&mut |inst| {
            inst.args().into_iter().for_each(&mut add);
            inst.regions().into_iter().flat_map(|r| &r.results).for_each(&mut add);
        });
    }
}
