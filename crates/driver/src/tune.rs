//! Looking for faster schedules by measuring, and remembering what was found.
//!
//! The search climbs: it tries the schedules near the best one so far, one change at a time, takes the first
//! that is faster, and goes on from there until nothing near is faster or the time is over. Contract: only
//! schedules that are legal are tried, and only those that gave the same results are taken; what a trial is
//! belongs to the caller. Found schedules are kept in a folder of the user, each under the text of its
//! module, and are asked whether they are legal whenever they are used.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use einlang_interp::options::Options as Limits;
use einlang_interp::tuned::{Schedules, Tuned, text_of};
use einlang_loops::lower::NotLowered;
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Schedule, line_of, parse_schedules};
use einlang_loops::tune::neighbours;
use einlang_runtime::cache::Cache;
use einlang_tir::module::Module;
use einlang_tir::types::Ident;

use crate::run::{Executable, Failure};

/// A schedule must be so much faster to be taken.
const WORTH_IT: f64 = 0.98;

/// The most bytes of schedules that are kept for a user.
const LIMIT: u64 = 16 << 20;

/// What a trial of a schedule gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trial {
    /// The same results in this time.
    Same(Duration),
    /// Other results.
    Other,
    /// It did not run to its end.
    Failed,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The best schedules, one per module.
    pub schedules: Vec<Schedule>,
    /// The time with them.
    pub time: Duration,
    /// The changes that made them, in order, with the time after each.
    pub steps: Vec<(String, Duration)>,
    /// How many schedules were timed.
    pub tried: usize,
    /// How many were not legal.
    pub illegal: usize,
    /// How many gave other results or failed.
    pub other: usize,
    /// Whether the time was over before everything near was tried.
    pub cut_short: bool,
}

/// Looks for schedules that are faster than these, which take so long. A trial gets all schedules and the time
/// to beat.
pub fn search<E>(
    schedules: Vec<Schedule>,
    time: Duration,
    until: Instant,
    is_legal: impl Fn(&Schedule) -> bool,
    mut trial: impl FnMut(&[Schedule], Duration) -> Result<Trial, E>,
    mut told: impl FnMut(&str, Duration),
) -> Result<Found, E> {
    let mut seen: HashSet<String> = schedules.iter().map(ToString::to_string).collect();
    let mut best = Found {
        schedules,
        time,
        steps: Vec::new(),
        tried: 0,
        illegal: 0,
        other: 0,
        cut_short: false,
    };
    // The modules that have not been climbed since something changed.
    let mut open: Vec<usize> = (0..best.schedules.len()).rev().collect();
    while let Some(at) = open.pop() {
        for near in neighbours(&best.schedules[at]) {
            if Instant::now() >= until {
                best.cut_short = true;
                return Ok(best);
            }
            if !seen.insert(near.schedule.to_string()) {
                continue;
            }
            if !is_legal(&near.schedule) {
                best.illegal += 1;
                continue;
            }
            let mut all = best.schedules.clone();
            all[at] = near.schedule;
            best.tried += 1;
            match trial(&all, best.time)? {
                Trial::Same(time) if time < best.time.mul_f64(WORTH_IT) => {
                    told(&near.change, time);
                    best.steps.push((near.change, time));
                    (best.schedules, best.time) = (all, time);
                    open.push(at);
                    break;
                }
                Trial::Same(_) => {}
                Trial::Other | Trial::Failed => best.other += 1,
            }
        }
    }
    Ok(best)
}

/// The schedules that are kept for a user.
#[derive(Debug)]
pub struct Store(Cache);

impl Schedules for Store {
    fn find(&self, text: &str) -> Option<Schedule> {
        let bytes = self.0.get(&key(text))?;
        let mut found = parse_schedules(std::str::from_utf8(&bytes).ok()?).ok()?;
        found.pop()
    }
}

impl Store {
    /// The store of this user, where there is a place for one.
    pub fn of_user() -> Option<Store> {
        Some(Store::in_folder(Cache::of_user()?.folder().join("tuned")))
    }

    /// The store in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Store {
        Store(Cache::new(folder, LIMIT))
    }

    /// The store as a run asks it.
    pub fn into_tuned(self) -> Tuned {
        Tuned(Some(Arc::new(self)))
    }

    /// What the runs of this user look at; nothing if nothing was ever kept.
    pub fn for_runs() -> Tuned {
        let store = Store::of_user().filter(|store| store.0.folder().is_dir());
        store.map_or_else(Tuned::default, Store::into_tuned)
    }

    /// The folder and what it holds.
    pub fn cache(&self) -> &Cache {
        &self.0
    }

    /// Keeps a schedule of a module.
    pub fn keep(&self, module: &Module, schedule: &Schedule) {
        self.0.put(&key(&text_of(module)), schedule.to_string().as_bytes());
    }

    /// Forgets the schedule of a module; says whether there was one.
    pub fn forget(&self, module: &Module) -> bool {
        self.0.remove(&key(&text_of(module)))
    }
}

fn key(text: &str) -> String {
    format!("tuned 1\n{text}")
}

/// Why a schedule that was given cannot be used.
#[derive(Clone, Debug)]
pub struct Unusable {
    module: String,
    tensor: Option<Ident>,
    why: String,
}

impl Unusable {
    /// The line of a file of schedules that says where the tensor lies that this is about, or else where the
    /// schedule begins; nothing if it is in another file.
    pub fn line(&self, text: &str) -> Option<usize> {
        line_of(text, &self.module, self.tensor.as_ref())
    }

    /// The same as a mistake of the user, at this place.
    pub fn failure(self, place: Option<&str>) -> Failure {
        let Unusable { module, why, .. } = self;
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let message = format!("{place}tensor code `{module}`: {why}");
        let help = "`einlang ir --after decide` prints the schedules of a program".to_owned();
        Failure::Usage { message, help }
    }
}

impl Executable {
    /// Whether a schedule can be used for the module that it names.
    pub fn accepts(&self, schedule: &Schedule) -> bool {
        self.check_schedule(schedule, &Choices::default()).is_ok()
    }

    /// Whether the schedules that a run is given can be used. What they name would otherwise be evaluated point by
    /// point, which nobody asked for.
    pub fn check_schedules(&self, limits: &Limits) -> Result<(), Unusable> {
        let choices = Choices {
            storage: limits.storage,
            checked: limits.checked,
            checkpoint: limits.checkpoint,
            ..Choices::default()
        };
        for schedule in &limits.schedules {
            self.check_schedule(schedule, &choices).map_err(|not| Unusable {
                module: schedule.module.clone(),
                tensor: not.tensor,
                why: not.why,
            })?;
        }
        Ok(())
    }

    fn check_schedule(&self, schedule: &Schedule, choices: &Choices) -> Result<(), NotLowered> {
        let why = "a schedule is given for it, but the program has none of this name";
        let none = || NotLowered { why: why.to_owned(), tensor: None };
        let module = self.module(&schedule.module).ok_or_else(none)?;
        let choices = Choices { schedules: vec![schedule.clone()], ..choices.clone() };
        plan(module, &choices).map(|_| ())
    }

    /// The tensor code of this name.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.program().modules.iter().find(|module| module.name == name)
    }
}
