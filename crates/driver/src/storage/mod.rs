//! What is kept of each recurrent binding, for people and for tools.
//!
//! The decisions are those of `einlang_loops::window`; here they get their words and their places
//! in the source.

mod hints;
mod json;
mod segments;
mod table;
mod words;

use einlang_loops::window::{BindingStorage, Given, StorageReport, analyse_program, analyse_run};
use einlang_source::Sources;

use crate::run::Executable;

pub use json::json;
pub use segments::{Segments, segments_table};
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

/// The bindings under names that differ: in several modules, or in calls of one function, there may
/// be tensors of one name.
fn named(report: &StorageReport) -> Vec<(String, &BindingStorage)> {
    let mut seen = std::collections::HashMap::<&str, usize>::new();
    let mut all = Vec::with_capacity(report.bindings.len());
    for binding in &report.bindings {
        let n = seen.entry(binding.name.as_str()).or_default();
        *n += 1;
        let name = match *n {
            1 => binding.name.as_str().to_owned(),
            n => format!("{}#{n}", binding.name.as_str()),
        };
        all.push((name, binding));
    }
    all
}
