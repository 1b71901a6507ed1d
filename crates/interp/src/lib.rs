//! The meaning of Einlang: what tensor modules and host programs evaluate to.
//!
//! | module | owns |
//! |---|---|
//! | [`oracle`] | pointwise, memoised, demand-driven evaluation of tensor modules |
//! | `bytecode` | the executor of the loop IR |
//! | [`native`] | the seam for machine code |
//! | [`host`] | a plain executor of host programs |
//! | [`tuned`] | the seam for schedules that were found by measuring |
//! | [`profile`] | where the time of a run goes |
//! | [`report`] | how the tensor code of a run was evaluated |
//! | [`tensor`], [`list`], [`value`] | tensors, their elements, and host values |
//! | [`show`] | printing, format specifications, JSON |
//! | [`io`] | the world of a running program, as a trait |
//! | [`options`], `kept` | limits and modes; code that is kept between runs |
//! | `planned` | plans that are kept between processes |
//! | [`stop`] | why an evaluation stopped, as data |
//!
//! Invariants: the oracle knows no schedule, and nothing opens a file; no module, program or input makes
//! this crate panic or overflow the stack, however long a recurrence or deep a recursion; every
//! operation of the op table and every intrinsic is matched exhaustively.

mod bytecode;
pub mod host;
pub mod io;
mod kept;
pub mod list;
pub mod native;
pub mod options;
pub mod oracle;
mod planned;
pub mod profile;
pub mod report;
mod scalar;
pub mod show;
pub mod stop;
pub mod tensor;
pub mod tuned;
pub mod value;
