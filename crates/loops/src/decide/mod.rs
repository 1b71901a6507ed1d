//! `decide`: a schedule for a module.
//!
//! The order of a group is the one that `einlang_tir::order` found. Bindings that are read at one
//! place only, at most once per point, are computed there; everything else is stored.

mod at_reads;
mod legal;

use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Order, find_order};
use einlang_tir::region::{InstKind, Region};

use crate::lower::NotLowered;
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule, TensorSchedule};

pub use legal::is_legal;

/// Chooses a schedule for a module whose clauses are disjoint.
pub fn decide(module: &Module) -> Result<Schedule, NotLowered> {
    let mut schedule = Schedule { module: module.name.clone(), groups: Vec::new() };
    for group in &module.groups {
        decide_group(module, group, &mut schedule)?;
    }
    at_reads::compute_at_reads(module, &mut schedule);
    Ok(schedule)
}

fn decide_group(module: &Module, group: &Group, to: &mut Schedule) -> Result<(), NotLowered> {
    let order = find_order(module, group).map_err(|_| {
        let name = group.bindings.first().map_or("", |binding| binding.name.as_str());
        NotLowered::new(format!("no order for `{name}`"))
    })?;
    let ordered = reads_itself_by_data(group);
    let tensors = group.bindings.iter().map(|binding| TensorSchedule {
        name: binding.name.clone(),
        compute: Compute::Here,
        storage: vec![Layout::Full; binding.axes.len()],
    });
    to.groups
        .push(GroupSchedule { tensors: tensors.collect(), nest: nest_of(group, &order, ordered) });
    for region in group.regions() {
        decide_region(module, region, to)?;
    }
    Ok(())
}

fn decide_region(module: &Module, region: &Region, to: &mut Schedule) -> Result<(), NotLowered> {
    let mut result = Ok(());
    let mut groups = Vec::new();
    local_groups(region, &mut groups);
    for group in groups {
        result = result.and_then(|()| decide_group(module, group, to));
    }
    result
}

/// The groups of a region, without those inside them.
fn local_groups<'r>(region: &'r Region, found: &mut Vec<&'r Group>) {
    for inst in &region.insts {
        match &inst.kind {
            InstKind::Group(group) => found.push(group),
            _ => inst.regions().into_iter().for_each(|region| local_groups(region, found)),
        }
    }
}

/// The order as a nest. Points whose order can be observed by a data-dependent read keep it.
pub(crate) fn nest_of(group: &Group, order: &Order, ordered: bool) -> Nest {
    match order {
        Order::Points(statement) => Nest::Points {
            statement: *statement,
            axes: (0..group.bindings[statement.binding].axes.len()).collect(),
            role: if ordered { Role::Seq } else { Role::Par },
        },
        Order::Phases(phases) => {
            Nest::Phases(phases.iter().map(|phase| nest_of(group, phase, ordered)).collect())
        }
        Order::Loop { forms, inner } => {
            Nest::Loop { forms: forms.clone(), inner: Box::new(nest_of(group, inner, ordered)) }
        }
    }
}

/// Whether a clause reads its own group at a point that is data.
pub(crate) fn reads_itself_by_data(group: &Group) -> bool {
    let mut found = false;
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                found |= group.bindings.iter().any(|b| b.name == read.place.tensor)
                    && crate::lower::is_by_data(&read.place.at);
            }
        });
    }
    found
}
