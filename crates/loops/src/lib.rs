//! From the tensor IR towards machines: what must be kept of each tensor, and in which order it is made.
//!
//! | module | owns |
//! |---|---|
//! | [`window`] | how much of a recurrence anybody can observe |
//! | [`checkpoint`] | what is kept of trajectories, as a user says it |
//! | [`schedule`] | orders, roles and storage as plain data |
//! | [`decide`] | a schedule for a module |
//! | `sizes` | one symbol for sizes that are the same |
//! | `factor` | sums of products in the cheapest order |
//! | `regroup` | groups that a schedule runs in one nest |
//! | [`lower`] | the loop IR that a schedule directs, mechanically |
//! | `improve` | what is done to loop IR once it is there, and [`jam_rounds`] where code is made |
//! | [`threads`] | which loops of a kernel are divided among threads |
//! | [`ir`] | the loop IR |
//! | [`plan`] | all of that for one module, as one list |
//! | [`tune`] | schedules near a schedule, for those who measure |
//!
//! Invariants: everything here reads modules of `tir` and makes plain data; nothing does I/O or runs
//! a program. What cannot be lowered is a [`lower::NotLowered`] that says why, and stays with the
//! oracle.

pub mod checkpoint;
pub mod decide;
mod delay;
mod factor;
mod improve;
pub mod ir;
pub mod lower;
pub mod plan;
mod regroup;
pub mod schedule;
mod sizes;
mod text;
pub mod threads;
pub mod tune;
pub mod window;

pub use improve::{Rounds, hoist_values, jam_rounds};
pub use text::TextError;
