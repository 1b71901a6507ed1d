//! What is kept of each recurrent binding, for people and for tools.
//!
//! The decisions are those of `einlang_loops::window`; here they get their words and their places
//! in the source.

mod hints;
mod json;
mod names;
mod segments;
mod table;
mod words;

use einlang_loops::window::{Given, StorageReport, analyse_program, analyse_run};
use einlang_source::Sources;

use crate::run::Executable;

pub use json::json;
pub use segments::Segments;
pub use table::table;

impl Executable {
    /// What is kept of each recurrent binding.
    pub fn storage(&self) -> StorageReport {
        let outputs: Vec<String> = self.outputs().map(str::to_owned).collect();
        analyse_program(&self.lowered().program, &outputs)
    }

    /// The same as the object `storage` of `run --json`, for a run that was given these inputs.
    pub fn storage_json(&self, given: &[Option<Given>], sources: &Sources) -> String {
        let outputs: Vec<String> = self.outputs().map(str::to_owned).collect();
        json(&analyse_run(&self.lowered().program, &outputs, given), &[], sources)
    }
}
