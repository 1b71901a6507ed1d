//! `decide`: a schedule for a module.
//!
//! The order of a group is the one that `einlang_tir::order` found. Bindings that are read at one
//! place only, at most once per point, are computed there; everything else is stored, recurrences in
//! windows where a proof allows it.
//!
//! | file | decides |
//! |---|---|
//! | `at_reads.rs` | what is computed where it is read, and what nobody needs |
//! | `contractions.rs` | which contractions are computed before the recurrence that reads them |
//! | `cases.rs`, `widen.rs` | which conditions on indices become clauses, and which sums count everywhere |
//! | `functions.rs` | which functions are computed before a clause that has more indices |
//! | `shared.rs` | which functions the tensors of a group compute once for all of them |
//! | `prefixes.rs`, `suffixes.rs` | which reductions up to each point, and from each point on, are recurrences |
//! | `running.rs` | which extrema are computed along with the recurrence they are of |
//! | `stream/` | what is only summed over a long axis, block by block |
//! | `join.rs` | which producers belong to the group of the recurrence that reads them |
//! | `orders.rs` | nothing: it remembers orders that were found |
//! | `fuse.rs` | whether base clauses and producers run in the loop of a recurrence |
//! | `windows.rs`, `observers.rs`, `along.rs`, `distance.rs`, `extremes.rs` | how many planes are kept |
//! | `phases.rs`, `reuse.rs` | what may be overwritten in the same round, and under tiles of time |
//! | `private.rs` | what belongs to one tile |
//! | `rows.rs` | what is computed row by row, so that rows stay in caches |
//! | `components.rs` | which phases of a round go through an axis together |
//! | `columns.rs` | which columns a step of a recurrence computes from first to last |
//! | `points.rs` | what is computed point by point, so that it stays in registers |
//! | `roles.rs`, `tiles.rs` | lanes, and tiles of contractions |
//! | `products.rs` | where a product and a sum are one operation |
//! | `strips.rs`, `ensembles.rs`, `batches.rs` | grids by their diagonals, many recurrences side by side |
//! | `steps.rs` | stencils, several steps at a time |
//! | `known.rs` | nothing: it knows the sizes of a call |
//! | `narrow.rs` | which windows need one plane less, because a step replaces what it has read |
//! | `once.rs` | which clauses pass on what a window has already |
//! | `rounded.rs` | which windows of numbers are wider, so that places in them are found at once |
//! | `turned.rs` | which windows lie with their planes one after the other |
//! | `small.rs`, `taps.rs` | which sizes of a call have code of their own |
//! | `work.rs`, `cost.rs` | what a clause does at a point, and what that costs |
//! | `replay/` | what is computed again in segments instead of being kept |
//! | `legal.rs` | whether a schedule respects the dependences |

mod along;
mod at_reads;
mod batches;
mod cases;
mod columns;
mod components;
mod contractions;
mod cost;
mod distance;
mod ensembles;
mod extremes;
mod functions;
mod fuse;
mod join;
mod known;
mod legal;
mod narrow;
mod observers;
mod once;
mod orders;
mod phases;
mod points;
mod prefixes;
mod private;
mod products;
mod replay;
mod reuse;
mod roles;
mod rounded;
mod rows;
mod running;
mod shared;
mod small;
mod steps;
mod stream;
mod strips;
mod suffixes;
mod taps;
mod tiles;
mod turned;
mod widen;
mod windows;
mod work;

use einlang_index::Facts;
use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Order, dependences};
use einlang_tir::region::{InstKind, Region};

use self::fuse::fuse_phases;
use self::windows::{Observers, fold_storage};

use crate::lower::NotLowered;
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule, TensorSchedule};

pub(crate) use along::own_form;
pub(crate) use at_reads::{kept, whole_uses};
pub use cases::divide_cases;
pub(crate) use cost::block_of_terms;
pub(crate) use extremes::Extremes;
pub use functions::store_functions;
pub use join::join_producers;
pub(crate) use known::Sizes;
pub use known::length_for_plans;
pub use legal::{Illegal, is_legal};
pub(crate) use legal::{is_order_seen, prove_legal};
pub(crate) use narrow::narrow_windows;
pub(crate) use observers::extended;
pub(crate) use once::{pass_on_once, planes_stored, window};
pub use points::join_points;
pub use prefixes::run_prefixes;
pub(crate) use products::{fuse_steps, fuse_terms};
pub use replay::{Along, find_replays};
pub(crate) use replay::{
    Prepared, end_of_sum, is_about_terms, is_fixed, is_in_one_segment, prepare_sweeps, sum_of,
    sum_over,
};
pub(crate) use rounded::round_windows;
pub use rows::join_rows;
pub use running::run_extremes;
pub use shared::share_functions;
pub(crate) use small::{expect_sizes, follows_sizes};
pub use stream::stream_sums;
pub use strips::cut_strips;
pub use suffixes::run_suffixes;
pub(crate) use turned::turn_windows;
pub use widen::widen_sums;

/// How much of a recurrence is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Storage {
    /// Everything.
    Full,
    /// What is read later, where that was proved to be enough.
    #[default]
    Window,
}

/// Chooses a schedule for a module whose clauses are disjoint, and for sizes as far as they are known.
pub(crate) fn decide(
    module: &Module,
    storage: Storage,
    sizes: &Sizes,
) -> Result<Schedule, NotLowered> {
    let mut schedule = decide_order(module, storage)?;
    roles::choose_roles(module, storage, sizes, &mut schedule);
    products::fuse_products(module, &mut schedule);
    Ok(schedule)
}

/// A schedule whose recurrences run along time, so that they can be cut into segments.
pub(crate) fn decide_along_time(module: &Module, storage: Storage) -> Result<Schedule, NotLowered> {
    let mut schedule = decide_order(module, storage)?;
    roles::choose_lanes_alone(module, &mut schedule);
    products::fuse_products(module, &mut schedule);
    Ok(schedule)
}

/// A schedule in which nothing runs in lanes.
fn decide_order(module: &Module, storage: Storage) -> Result<Schedule, NotLowered> {
    let mut schedule = Schedule { module: module.name.clone(), ..Schedule::default() };
    let deciding = Deciding {
        module,
        facts: module.facts(),
        observers: (storage == Storage::Window).then(|| Observers::of(module)),
    };
    for group in &module.groups {
        deciding.group(group, &mut schedule)?;
    }
    at_reads::compute_at_reads(module, &mut schedule);
    contractions::store_contractions(module, &mut schedule);
    Ok(schedule)
}

struct Deciding<'m> {
    module: &'m Module,
    facts: Facts,
    /// Who reads what, if windows are wanted.
    observers: Option<Observers>,
}

impl Deciding<'_> {
    fn group(&self, group: &Group, to: &mut Schedule) -> Result<(), NotLowered> {
        to.groups.push(self.alone(group)?);
        for region in group.regions() {
            let mut groups = Vec::new();
            local_groups(region, &mut groups);
            groups.into_iter().try_for_each(|group| self.group(group, to))?;
        }
        Ok(())
    }

    /// The schedule of a group, without those inside it.
    fn alone(&self, group: &Group) -> Result<GroupSchedule, NotLowered> {
        let order = orders::order_of(self.module, group, &self.facts).ok_or_else(|| {
            let name = group.bindings.first().map_or("", |binding| binding.name.as_str());
            NotLowered::new(format!("no order for `{name}`"))
        })?;
        let ordered = is_order_seen(self.module, group);
        let tensors = group.bindings.iter().map(|binding| TensorSchedule {
            name: binding.name.clone(),
            compute: Compute::Here,
            storage: vec![Layout::Full; binding.axes.len()],
            map: Vec::new(),
            stack: false,
            once: Vec::new(),
        });
        let nest = nest_of(group, &order, ordered);
        let mut decided = GroupSchedule { packs: Vec::new(), tensors: tensors.collect(), nest };
        if let (Some(observers), false) = (&self.observers, ordered) {
            decided = orders::windows_of(group, &self.facts, observers.readers_of(group), || {
                self.windows(group, decided, observers)
            });
        }
        Ok(decided)
    }

    /// Windows, if some are possible; otherwise the order stays as it is.
    fn windows(
        &self,
        group: &Group,
        decided: GroupSchedule,
        observers: &Observers,
    ) -> GroupSchedule {
        let dependences = dependences(self.module, group);
        if dependences.is_empty() && group.until.is_none() {
            return decided;
        }
        let mut changed = decided.clone();
        if let Some(nest) = fuse_phases(group, &changed.nest, &dependences, &self.facts) {
            changed.nest = nest;
        }
        fold_storage(group, &mut changed, &dependences, observers, &self.facts);
        let is_window = |layout: &Layout| matches!(layout, Layout::Mod(_));
        match changed.tensors.iter().any(|tensor| tensor.storage.iter().any(is_window)) {
            true => changed,
            false => decided,
        }
    }
}

/// All groups of a module, each before those inside it.
pub(crate) fn all_groups(module: &Module) -> Vec<&Group> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Group> = module.groups.iter().rev().collect();
    while let Some(group) = waiting.pop() {
        found.push(group);
        let mut inside = Vec::new();
        group.regions().into_iter().for_each(|region| local_groups(region, &mut inside));
        waiting.extend(inside.into_iter().rev());
    }
    found
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
            let inner = Box::new(nest_of(group, inner, ordered));
            Nest::Loop { forms: forms.clone(), tile: None, role: Role::Seq, inner }
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
