//! Schedules that were found by measuring, as the executor asks for them.
//!
//! A schedule belongs to the text of its module, the name aside: the same code in another program finds it
//! too. Invariant: such a schedule is believed in no more than one from a file; where it is not legal, the
//! module gets the schedule it would have got without.

use std::fmt::Debug;
use std::sync::Arc;

use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::decide::Storage;
use einlang_loops::plan::Choices;
use einlang_loops::schedule::Schedule;
use einlang_tir::module::Module;

use crate::planned::{Planned, planned};

/// Who remembers schedules.
pub trait Schedules: Debug + Send + Sync {
    /// The schedule that was found for the module with this text.
    fn find(&self, text: &str) -> Option<Schedule>;
}

/// Who remembers schedules, if anybody does. It is no part of what a run means, so all are equal.
#[derive(Clone, Debug, Default)]
pub struct Tuned(pub Option<Arc<dyn Schedules>>);

impl PartialEq for Tuned {
    fn eq(&self, _: &Tuned) -> bool {
        true
    }
}

impl Tuned {
    /// The schedule of a module.
    fn find(&self, module: &Module) -> Option<Schedule> {
        let found = self.0.as_ref()?.find(&text_of(module))?;
        // How many threads are worth it depends on sizes, which are others in every call.
        Some(Schedule { module: module.name.clone(), alone: false, ..found })
    }

    /// The choices by which a module is planned, the best first: by what was found for it, if anything was,
    /// and as it would be.
    pub(crate) fn choices(&self, module: &Module, choices: &Choices) -> Vec<Choices> {
        let is_given = choices.schedules.iter().any(|schedule| schedule.module == module.name);
        let is_usual = choices.storage == Storage::Window
            && matches!(choices.checkpoint, Checkpoint::Budget(_));
        let found = if is_usual && !is_given { self.find(module) } else { None };
        let tuned = found.map(|found| Choices { schedules: vec![found], ..choices.clone() });
        tuned.into_iter().chain([choices.clone()]).collect()
    }

    /// Plans a module by the first of these choices that is legal.
    pub(crate) fn plan(&self, module: &Module, choices: &Choices) -> Result<Planned, String> {
        let mut refused = String::new();
        for choices in self.choices(module, choices) {
            match planned(module, &choices, None) {
                Ok(planned) => return Ok(planned),
                Err(not) => refused = not.why,
            }
        }
        Err(refused)
    }
}

/// The text of a module without its name.
pub fn text_of(module: &Module) -> String {
    Module { name: "tuned".to_owned(), ..module.clone() }.to_string()
}
