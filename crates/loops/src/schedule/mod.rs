//! Schedules: in which order the points of each group are computed, and how they are kept.
//!
//! A schedule is plain data with a text form that can be edited and given back. It has one entry per
//! group, those inside regions included, found by the name of the group's first tensor. The nest of a
//! group is a tree like the orders of `einlang_tir::order`: phases one after the other, loops over
//! one linear form per clause (a permutation, a direction, a skew), and clauses whose remaining axes
//! may run in any order.
//!
//! Invariant: a schedule never changes what a module means if it is legal; whether it is, is asked
//! of the dependences ([`crate::decide::is_legal`]), and never assumed of one from a file.

mod replay;
mod text;

use einlang_tir::module::Group;
use einlang_tir::order::{Form, Statement};
use einlang_tir::types::Ident;

pub use crate::ir::{Layout, Role};
pub use replay::{Checkpoints, Keep, Replay, Segment, SweepPart};
pub use text::{line_of, parse_schedules};
pub(crate) use text::{parse_layout, show_layout};

/// The schedule of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// The module.
    pub module: String,
    /// Which products that are added are rounded together with the sum.
    pub fma: Fma,
    /// Whether sums of floats in lanes are chains over blocks of terms, their products rounded
    /// together with the sum.
    pub chains: bool,
    /// Whether one thread runs all of it, because others are not worth it for the sizes it is made for.
    pub alone: bool,
    /// Sizes for which there is code of its own, by their names.
    pub variant: Vec<(String, i64)>,
    /// Inputs that are copied first, into panels.
    pub packs: Vec<Pack>,
    /// Its groups, each with the tensors of one group of the module or of several in a row.
    pub groups: Vec<GroupSchedule>,
    /// What is computed again instead of being kept.
    pub replays: Vec<Replay>,
}

/// Where a product that is added to something is rounded together with the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fma {
    /// Nowhere but in chains.
    #[default]
    Nowhere,
    /// In loops whose rounds wait for each other, and in the terms of chains.
    Steps,
    /// Everywhere, and sums of products are chains everywhere.
    Everywhere,
}

/// A tensor in panels: so many planes of an axis lie next to each other, panel after panel. What reads it
/// in lanes along that axis finds them there, or what reads it in tiles of as many rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pack {
    /// The tensor.
    pub tensor: Ident,
    /// The axis that is divided.
    pub axis: usize,
    /// How many axes lie around the panels, the first ones: those of batches, which no sum goes through.
    pub under: usize,
    /// Its first plane: a sum of sizes, by their names, so many times each.
    pub from: Vec<(i64, String)>,
    /// How many planes a panel has.
    pub width: i64,
    /// In how many parts the next panel is fetched while one is in use, one part per round of the loop
    /// around; none if zero.
    pub ahead: u32,
    /// Whether the planes of a panel are rows of a tile, and not lanes.
    pub rows: bool,
    /// Whether it is copied inside of the loop over blocks of terms around what reads it: lanes of one block
    /// at its beginning, rows of one block and one tile at the beginning of that.
    pub in_blocks: bool,
}

/// The schedule of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupSchedule {
    /// What it reads of earlier groups and inputs that is copied first, into panels.
    pub packs: Vec<Pack>,
    /// Its tensors, in the order of the module.
    pub tensors: Vec<TensorSchedule>,
    /// The order of its points.
    pub nest: Nest,
}

/// Where a tensor is computed and kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorSchedule {
    /// The tensor.
    pub name: Ident,
    /// Where its points are computed.
    pub compute: Compute,
    /// How each dimension of its memory is kept; the axis of an `until` is open unless it has a
    /// modulus.
    pub storage: Vec<Layout>,
    /// The dimensions of its memory as linear forms of its axes; the axes themselves if there is
    /// none.
    pub map: Vec<Vec<i64>>,
    /// Whether it lies on the stack where its size is a constant, and, if it keeps a window only, in
    /// memory of the thread where it is not.
    pub stack: bool,
    /// The clauses that pass on what the plane before has, and store it in the first planes of the window only.
    pub once: Vec<usize>,
}

impl TensorSchedule {
    /// A dimension of the memory as a linear form of the axes.
    pub fn dimension(&self, number: usize) -> Vec<i64> {
        match self.map.get(number) {
            Some(form) => form.clone(),
            None => (0..self.storage.len()).map(|axis| i64::from(axis == number)).collect(),
        }
    }
}

/// The axis that a linear form of axes consists of.
pub(crate) fn axis_of(form: &[i64]) -> Option<usize> {
    let is_axis = form.iter().filter(|c| **c != 0).eq([&1]);
    form.iter().position(|c| *c == 1).filter(|_| is_axis)
}

/// Where the points of a tensor are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compute {
    /// In the nest of its own group, before anything reads them.
    Here,
    /// Where they are read, and nowhere stored.
    AtReads,
}

/// An order of the points of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Nest {
    /// The points of one clause: its axes outermost first, those that loops around have fixed
    /// included.
    Points {
        /// The clause.
        statement: Statement,
        /// The axes by number.
        axes: Vec<usize>,
        /// Who runs them.
        role: Role,
    },
    /// One after the other.
    Phases(Vec<Nest>),
    /// A loop over the values of one form per clause, ascending.
    Loop {
        /// The form of each clause inside.
        forms: Vec<(Statement, Form)>,
        /// How many values one round takes: a loop over tiles leaves the order inside them to the
        /// loops inside.
        tile: Option<i64>,
        /// Who runs the rounds.
        role: Role,
        /// What happens for one value.
        inner: Box<Nest>,
    },
}

impl Schedule {
    /// The schedule of the group that defines a tensor first.
    pub fn group(&self, first: &Ident) -> Option<&GroupSchedule> {
        self.groups.iter().find(|g| g.tensors.first().is_some_and(|t| t.name == *first))
    }

    /// What was decided for a group of bindings.
    pub(crate) fn decided(&self, group: &Group) -> Option<&GroupSchedule> {
        self.group(&group.bindings.first()?.name)
    }

    /// What was decided for a group of bindings, to change it.
    pub(crate) fn decided_mut(&mut self, group: &Group) -> Option<&mut GroupSchedule> {
        let first = &group.bindings.first()?.name;
        self.groups.iter_mut().find(|g| g.tensors.first().is_some_and(|t| t.name == *first))
    }

    /// The schedule of a tensor.
    pub fn tensor(&self, name: &Ident) -> Option<&TensorSchedule> {
        self.groups.iter().flat_map(|group| &group.tensors).find(|tensor| tensor.name == *name)
    }
}
