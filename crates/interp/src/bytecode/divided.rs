//! Plans with their loops divided among threads, which are kept from one process to the next.
//!
//! Dividing a large kernel takes longer than reading it, so what was divided is kept beside the plan
//! (`planned.rs`), under what that depends on too: the shapes of the call, and what is worth a thread. Small
//! kernels are divided again, for there may be many shapes.

use einlang_loops::ir::{Kernel, Size};
use einlang_loops::plan::Choices;
use einlang_loops::schedule::Schedule;
use einlang_loops::threads::{Left, Worth, divide_work, has_teams, sizes_of};
use einlang_tir::module::Module;

use super::breathe::breathe;
use super::wider::{Undivided, Wider};
use crate::options::Options;
use crate::planned::{self, Planned, Shelf, planned};
use crate::profile::{Marked, marked};

/// The shortest text of a module that is kept divided, in bytes.
const LARGE: usize = 1 << 12;

/// What says that something is left to one thread, in the text that is kept, and what says that nothing is.
const SOME_LEFT: &str = "some left\n";
const NONE_LEFT: &str = "none left\n";

/// A kernel for machine code.
#[derive(Debug)]
pub(super) struct Divided {
    pub(super) kernel: Kernel,
    pub(super) schedule: Schedule,
    pub(super) wider: Option<Wider>,
    /// The same with marks where time is measured, if it is.
    pub(super) marked: Option<(Kernel, Marked)>,
}

/// Plans a module for machine code and divides its loops, or finds that done.
pub(super) fn divided(
    module: &Module,
    choices: &Choices,
    options: &Options,
) -> Result<Divided, String> {
    let mut refused = String::new();
    for choices in options.tuned.choices(module, choices) {
        let shelf = shelf(module, &choices, options);
        let large = shelf.as_ref().filter(|shelf| shelf.key.len() >= LARGE);
        if let Some(found) = large.and_then(|shelf| find(module, &choices, options, shelf)) {
            return Ok(found);
        }
        match planned(module, &choices, shelf.as_ref()) {
            Ok(planned) => return Ok(make(planned, module, &choices, options, large)),
            Err(not) => refused = not.why,
        }
    }
    Err(refused)
}

/// Divides the loops of a plan, and keeps that.
fn make(
    mut planned: Planned,
    module: &Module,
    choices: &Choices,
    options: &Options,
    shelf: Option<&Shelf<'_>>,
) -> Divided {
    breathe(&mut planned.kernel);
    let marked = options.profile.as_ref().map(|_| {
        let (mut with, parts) = marked(&planned.kernel, &planned.schedule);
        divide(&mut with, &planned.schedule, choices, options);
        (with, parts)
    });
    let undivided = planned.kernel.clone();
    let left = divide(&mut planned.kernel, &planned.schedule, choices, options);
    planned.schedule.alone |= !left.is_empty() && !has_teams(&planned.kernel);
    if let Some(shelf) = shelf {
        let flag = if left.is_empty() { NONE_LEFT } else { SOME_LEFT };
        let text = format!("{flag}{}", planned::write(&planned, module));
        shelf.keeper.keep(&key(shelf, choices, options), text.as_bytes());
    }
    let wider = (!left.is_empty()).then(|| Wider::of(Undivided { kernel: undivided, left }));
    Divided { kernel: planned.kernel, schedule: planned.schedule, wider, marked }
}

/// What was divided for the same choices before.
fn find(
    module: &Module,
    choices: &Choices,
    options: &Options,
    shelf: &Shelf<'_>,
) -> Option<Divided> {
    let text = shelf.keeper.recall(&key(shelf, choices, options))?;
    read(std::str::from_utf8(&text).ok()?, module, choices)
}

/// What is divided by `divided` for choices that were found there, and what is left then.
pub(super) fn undivided(
    module: &Module,
    choices: &Choices,
    options: &Options,
) -> Option<Undivided> {
    let shelf = shelf(module, choices, options);
    let Planned { schedule, mut kernel } = planned(module, choices, shelf.as_ref()).ok()?;
    breathe(&mut kernel);
    let left = divide(&mut kernel.clone(), &schedule, choices, options);
    Some(Undivided { kernel, left })
}

fn divide(
    kernel: &mut Kernel,
    schedule: &Schedule,
    choices: &Choices,
    options: &Options,
) -> Vec<Left> {
    match options.threads.most > 1 && !schedule.alone {
        true => divide_work(kernel, options.worth(), &choices.shapes),
        false => Vec::new(),
    }
}

/// Where plans are kept. Whoever measures wants to know where everything was written, which is not kept.
fn shelf<'o>(module: &Module, choices: &Choices, options: &'o Options) -> Option<Shelf<'o>> {
    let native = options.native.as_ref().filter(|_| options.profile.is_none())?;
    Some(Shelf::of(&*native.0, module, choices))
}

/// All that a divided kernel depends on.
fn key(shelf: &Shelf<'_>, choices: &Choices, options: &Options) -> String {
    let (is_shared, Worth { least, wait }) = (options.threads.most > 1, options.worth());
    format!("divided {is_shared} {least} {wait} {:?}\n{}", choices.shapes, shelf.key)
}

/// What was kept.
fn read(text: &str, module: &Module, choices: &Choices) -> Option<Divided> {
    let rest = text.strip_prefix(NONE_LEFT).or_else(|| text.strip_prefix(SOME_LEFT))?;
    let Planned { schedule, kernel } = planned::read(rest, module)?;
    let wider = text.starts_with(SOME_LEFT).then(|| {
        // It was divided for these, so they are not worth more.
        let is_of_shapes = |(_, size): &(_, Size)| matches!(size, Size::Shape(..));
        let all = kernel.sizes.iter().all(is_of_shapes);
        let enough = sizes_of(&kernel, &choices.shapes).into_iter().collect::<Option<Vec<i64>>>();
        Wider::later(module.clone(), choices.clone(), enough.filter(|_| all))
    });
    Some(Divided { kernel, schedule, wider, marked: None })
}
