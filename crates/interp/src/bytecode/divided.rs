//! Plans with their loops divided among threads, which are kept from one process to the next.
//!
//! Dividing a large kernel takes longer than reading it, so what was divided is kept beside the plan
//! (`planned.rs`), under what that depends on too: the shapes of the call, and what is worth a thread. Small
//! kernels are divided again, for there may be many shapes.

use einlang_loops::ir::{Kernel, Size};
use einlang_loops::plan::Choices;
use einlang_loops::schedule::Schedule;
use einlang_loops::threads::{Left, divide_work, has_teams, sizes_of};
use einlang_tir::module::Module;

use super::breathe::breathe;
use super::wider::{Undivided, Wider};
use crate::native::NativeCompiler;
use crate::options::Options;
use crate::planned::{self, Planned};
use crate::profile::{Marked, marked};

/// The shortest text of a kernel that is kept divided, in bytes.
const LARGE: usize = 1 << 14;

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
    if let Some(keeper) = keeper(options) {
        let each = options.tuned.choices(module, choices);
        let mut kept = each.iter().filter_map(|choices| {
            let text = keeper.recall(&key(module, choices, options))?;
            read(std::str::from_utf8(&text).ok()?, module, choices)
        });
        if let Some(found) = kept.next() {
            return Ok(found);
        }
    }
    let (planned, chosen) = plan(module, choices, options)?;
    let marked = options.profile.as_ref().map(|_| {
        let (mut with, parts) = marked(&planned.kernel, &planned.schedule);
        divide(&mut with, &planned.schedule, choices, options);
        (with, parts)
    });
    let Planned { mut schedule, kernel: undivided } = planned;
    let mut kernel = undivided.clone();
    let left = divide(&mut kernel, &schedule, choices, options);
    schedule.alone |= !left.is_empty() && !has_teams(&kernel);
    let flag = if left.is_empty() { NONE_LEFT } else { SOME_LEFT };
    let planned = Planned { schedule, kernel };
    if let Some(keeper) = keeper(options) {
        let text = planned::write(&planned, module);
        if text.len() >= LARGE {
            keeper.keep(&key(module, &chosen, options), format!("{flag}{text}").as_bytes());
        }
    }
    let wider = (!left.is_empty()).then(|| Wider::of(Undivided { kernel: undivided, left }));
    Ok(Divided { kernel: planned.kernel, schedule: planned.schedule, wider, marked })
}

/// What is divided by `divided`, and what is left then.
pub(super) fn undivided(
    module: &Module,
    choices: &Choices,
    options: &Options,
) -> Result<Undivided, String> {
    let (Planned { schedule, kernel }, _) = plan(module, choices, options)?;
    let left = divide(&mut kernel.clone(), &schedule, choices, options);
    Ok(Undivided { kernel, left })
}

/// Plans a module; long loops are cut. Which choices were taken.
fn plan(
    module: &Module,
    choices: &Choices,
    options: &Options,
) -> Result<(Planned, Choices), String> {
    let (mut planned, chosen) = options.tuned.plan(module, choices, keeper(options))?;
    breathe(&mut planned.kernel);
    Ok((planned, chosen))
}

fn divide(
    kernel: &mut Kernel,
    schedule: &Schedule,
    choices: &Choices,
    options: &Options,
) -> Vec<Left> {
    match options.threads.most > 1 && !schedule.alone {
        true => divide_work(kernel, options.threads.least_work, &choices.shapes),
        false => Vec::new(),
    }
}

/// Who keeps plans. Whoever measures wants to know where everything was written, which is not kept.
fn keeper(options: &Options) -> Option<&dyn NativeCompiler> {
    options.native.as_ref().filter(|_| options.profile.is_none()).map(|native| &*native.0)
}

/// All that a divided kernel depends on.
fn key(module: &Module, choices: &Choices, options: &Options) -> String {
    let (is_shared, least) = (options.threads.most > 1, options.threads.least_work);
    let plan = planned::key(module, choices);
    format!("divided {is_shared} {least} {:?}\n{plan}", choices.shapes)
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
