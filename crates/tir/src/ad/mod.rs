//! Derivatives: `lower_requests` turns entries of Jacobians into ordinary code.
//!
//! | file | owns |
//! |---|---|
//! | `request`, `demand` | which entries there are, their order, how each is computed |
//! | `contract` | contractions of a Jacobian with a vector |
//! | `paths`, `leaf`, `flow` | which bindings lie between parameter and target, by the flow of values |
//! | `settle`, `lift`, `joined`, `guarded`, `root`, `scan` | flat bindings: reductions and local tensors as bindings of their own |
//! | `united` | one axis for a short one and the one that it continues |
//! | `sizes`, `taken` | local tensors whose extents differ from point to point, and a local `until` |
//! | `stops` | conditions of `until` that ask for derivatives |
//! | `bounded` | reductions over ranges that are computed at each point |
//! | `view`, `range` | a clause of a flat binding as straight-line code over all its indices |
//! | `seed`, `diagonal` | what is perturbed or observed, and which axes need not be stored |
//! | `forward`, `tangent` | tangent bindings, tangents of code |
//! | `reverse`, `key`, `pullback`, `sink` | adjoint bindings, subscripts that are data, adjoints of code |
//! | `sum`, `prove` | sums over domains in which indices are determined; reads that are settled there |
//! | `partial`, `rules`, `linear`, `isolate`, `batched` | derivatives of operations and of functions with a rule |
//! | `captured` | what functions with a rule capture |
//! | `idle` | requests without a derivative that nothing needs |
//! | `host` | paths through host code |
//! | `watch`, `probe` | comparing rules with differences, if asked to |
//! | `note` | what was chosen, and why |
//! | `regroup`, `uses`, `tidy`, `fault`, `context` | order of groups, what code mentions, helpers |
//!
//! A tangent binding `y_tan` holds how each point of `y` follows one point of a parameter; an
//! adjoint binding `x_adj` holds how one point of a target follows each point of `x`, and is a
//! sum over all reads of `x`, whose index maps are transposed: the points that read `x[k]` are
//! described by a domain, so the adjoint of a stencil is a stencil and that of a contraction a
//! contraction. Perturbing a point after its definition and following everything downstream is
//! what both compute, also through later points of the same recurrence.
//!
//! Invariants: the pass leaves no entry; what it adds is demanded by nobody but the entries that
//! were there; integers are never differentiated.

mod batched;
mod bounded;
mod captured;
mod context;
mod contract;
mod demand;
mod diagonal;
mod fault;
mod flow;
mod forward;
mod guarded;
mod host;
mod idle;
mod isolate;
mod joined;
mod key;
mod leaf;
mod lift;
mod linear;
mod narrow;
mod note;
mod partial;
mod paths;
mod presence;
mod probe;
mod prove;
mod pullback;
mod range;
mod regroup;
mod request;
mod reverse;
mod root;
mod rules;
mod scan;
mod seed;
mod settle;
mod shared_range;
mod sink;
mod sizes;
mod stops;
mod sum;
mod taken;
mod tangent;
mod tidy;
mod united;
mod uses;
mod view;
mod watch;

use einlang_source::{Diagnostics, FileId, Span};
use rustc_hash::FxHashSet as HashSet;

use crate::module::Module;
use crate::passes::{Ctx, inline_calls, inline_requests};
use crate::region::InstKind;
use crate::types::{Ident, Loc};
pub use host::lower_host_requests;
pub use watch::{Watch, watch_rules};

use fault::Fault;

/// Expands every request for a derivative.
pub fn lower_requests(module: &mut Module, ctx: &Ctx) -> Result<(), Diagnostics> {
    let mut place = Span::new(FileId::FIRST, 0, 0);
    let mut idle = idle::Idle::default();
    loop {
        if let Some(loc) = first_request(module) {
            place = loc.0.unwrap_or(place);
            idle = lower_round(module, ctx, place)?;
        }
        // Requests in functions with a rule, which nothing but their values have met so far.
        if !inline_requests(module) {
            break;
        }
    }
    module.properties.differentiated = true;
    if !module.functions.is_empty() {
        inline_calls(module, ctx)?;
    }
    idle::drop_idle(module, &idle).map_err(|fault| fault.into_diagnostic(place).into())
}

/// The place of the first request there is, if there is one.
fn first_request(module: &Module) -> Option<Loc> {
    let mut found: Option<Loc> = None;
    module.for_each_inst(&mut |inst| {
        if matches!(inst.kind, InstKind::Deriv { .. }) {
            found = found.filter(|known| known.0.is_some()).or(Some(inst.loc));
        }
    });
    found
}

/// Expands the requests outside of functions; gives those that could not be.
fn lower_round(module: &mut Module, ctx: &Ctx, place: Span) -> Result<idle::Idle, Diagnostics> {
    let written: HashSet<Ident> = module.bindings().map(|binding| binding.name.clone()).collect();
    settle::settle(module).map_err(|gave_up| Fault::from(gave_up).into_diagnostic(place))?;
    united::unite_axes(module);
    let idle = idle::expand(module, ctx.mode).map_err(|fault| fault.into_diagnostic(place))?;
    regroup::regroup(module);
    if let Some(loc) = regroup::shut_in(module).or_else(|| regroup::looks_ahead(module, &written)) {
        let fault = Fault::unsupported("an open recurrence that reads it", loc);
        return Err(fault.into_diagnostic(place).into());
    }
    Ok(idle)
}
