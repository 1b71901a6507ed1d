//! Passes, and running them in order.
//!
//! A pass is a function named by one verb phrase, which is also its file, its log line and the
//! folder of its fixtures. It rejects a program with diagnostics; it never leaves a module broken:
//! in debug builds and tests the verifier runs after each pass.

mod copies;
mod fold_constants;
mod forward_copies;
mod inline_calls;
mod lift_locals;
mod merge_bindings;
mod name_subscripts;
mod settle_extents;
mod short_axes;
mod simplify;
mod split_clauses;

use einlang_source::Diagnostics;

pub use crate::ad::{lower_host_requests, lower_requests};
pub use fold_constants::fold_constants;
pub use forward_copies::forward_copies;
pub use inline_calls::inline_calls;
pub(crate) use inline_calls::inline_requests;
pub use lift_locals::{PART, lift_locals};
pub use merge_bindings::merge_bindings;
pub use name_subscripts::name_subscripts;
pub use settle_extents::settle_extents;
pub use simplify::simplify;
pub use split_clauses::split_clauses;

use crate::module::Module;
use crate::verify::{Problem, verify};

/// What passes may know besides the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ctx {
    /// Integer overflow and NaN trap (`--checked`).
    pub checked: bool,
    /// The verifier runs after each pass.
    pub verify: bool,
    /// How derivatives are computed.
    pub mode: Mode,
}

/// How derivatives are computed. All modes give the same numbers but for rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Whichever is cheaper for each request.
    #[default]
    Cheaper,
    /// Tangents only, for tests.
    Forward,
    /// Adjoints only, for tests.
    Reverse,
}

impl Default for Ctx {
    fn default() -> Ctx {
        Ctx { checked: false, verify: cfg!(debug_assertions), mode: Mode::default() }
    }
}

/// The type of every pass.
pub type PassFn = fn(&mut Module, &Ctx) -> Result<(), Diagnostics>;

/// A pass with its name.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The verb phrase.
    pub name: &'static str,
    /// The function.
    pub run: PassFn,
}

/// Every pass of this crate, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "inline_calls", run: inline_calls },
    Pass { name: "settle_extents", run: settle_extents },
    Pass { name: "split_clauses", run: split_clauses },
    Pass { name: "name_subscripts", run: name_subscripts },
    Pass { name: "lower_requests", run: lower_requests },
    Pass { name: "lift_locals", run: lift_locals },
    Pass { name: "fold_constants", run: fold_constants },
    Pass { name: "simplify", run: simplify },
    Pass { name: "merge_bindings", run: merge_bindings },
    Pass { name: "forward_copies", run: forward_copies },
];

/// The pass of this name.
pub fn pass(name: &str) -> Option<Pass> {
    PASSES.iter().copied().find(|pass| pass.name == name)
}

/// Why a list of passes stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Stopped {
    /// The program is rejected.
    Rejected(Diagnostics),
    /// A pass broke an invariant: a bug of the compiler. An empty name means that the module was
    /// broken to begin with.
    Broken {
        /// The pass.
        pass: &'static str,
        /// What the verifier found.
        problems: Vec<Problem>,
    },
}

/// Runs the passes in order and shows the module to `after` once each has run.
pub fn run_passes(
    module: &mut Module,
    passes: &[Pass],
    ctx: &Ctx,
    after: &mut dyn FnMut(&Pass, &Module),
) -> Result<(), Stopped> {
    check(module, "", ctx)?;
    for pass in passes {
        (pass.run)(module, ctx).map_err(Stopped::Rejected)?;
        check(module, pass.name, ctx)?;
        after(pass, module);
    }
    Ok(())
}

fn check(module: &Module, pass: &'static str, ctx: &Ctx) -> Result<(), Stopped> {
    match ctx.verify.then(|| verify(module)) {
        Some(problems) if !problems.is_empty() => Err(Stopped::Broken { pass, problems }),
        _ => Ok(()),
    }
}
