//! The compilation of an Einlang program as one list of stages, and what tools ask of it.
//!
//! A [`Session`] reads sources through the [`World`](einlang_source::World) it is given and answers
//! with plain data: diagnostics, formatted text, the program as a stage sees it. The command line,
//! the Python package, an editor and a web page are shells around it.
//!
//! ```
//! use einlang_driver::Session;
//! use einlang_source::MemoryWorld;
//!
//! let world = MemoryWorld::new().with("main.ein", "let x = 1 < 2 < 3;");
//! let mut session = Session::new(&world);
//! let file = session.load("main.ein".as_ref()).expect("the file is there");
//! let diagnostics = session.check(file);
//! assert_eq!(diagnostics.iter().next().map(|d| d.code.as_str()), Some("E0409"));
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`session`] | sources and the questions about them |
//! | [`pipeline`] | the stages, in order, in one list |
//! | [`build`] | libraries for C |
//! | [`document`] | pages of documentation from doc comments |
//! | [`disk`] | the `World` over a disk |
//! | [`explain`] | the page of each diagnostic code |
//! | [`functions`] | public functions as things that a host calls |
//! | [`library`] | the texts of the standard library |
//! | [`lowering`] | the lowered program, and the passes over it |
//! | `kernels` | kernels as text |
//! | [`run`] | programs that run: their inputs, outputs, and files |
//! | [`storage`] | what is kept of each recurrent binding, in words and as JSON |
//! | [`repl`] | sessions: entries that see what earlier ones bound |
//! | [`tune`] | the search for faster schedules, and what it found |
//! | `errors` | the words for files that cannot be read |
//!
//! Invariants: nothing is printed and no process ends here; all input and output goes through the
//! world, but for programs that run, which touch files through [`ProjectIo`]; a problem with a file is a diagnostic like any other.

pub mod build;
pub mod derivatives;
pub mod disk;
pub mod document;
mod errors;
pub mod explain;
pub mod functions;
mod kernels;
pub mod library;
pub mod lowering;
pub mod memo;
pub mod pipeline;
pub mod repl;
pub mod run;
pub mod session;
pub mod storage;
pub mod tune;
mod watching;

pub use build::Library;
pub use disk::DiskWorld;
pub use einlang_interp::native::{CodeForm, Compile, Made, Native};
pub use einlang_interp::options::{Backend, Interrupt, Kept, Options as Limits, Resident, Threads};
pub use einlang_interp::profile::{Part, Profile, Stored};
pub use einlang_interp::report::{Ran, Region, Report};
pub use einlang_interp::tuned::Tuned;
pub use einlang_loops::checkpoint::Checkpoint;
pub use einlang_loops::decide::Storage as StoragePlan;
pub use einlang_loops::schedule::{self, Schedule, parse_schedules};
pub use einlang_runtime::{Permits, cache, files};
pub use einlang_sema::shapes::Options;
pub use einlang_tir::constant::Const;
pub use functions::{Argument, Ask, Call, Parameter, Signature, argument_type};
pub use memo::{Memo, Work};
pub use pipeline::{Compilation, Stage, View};
pub use repl::{Answer, Question, Repl};
pub use run::{
    Called, Executable, Failure, Given, Outcome, Output, Printer, ProjectIo, Python, RunOptions,
    converted,
};
pub use session::{COMMAND_LINE, MAX_SOURCE_BYTES, Printed, STANDARD_INPUT, Session};
