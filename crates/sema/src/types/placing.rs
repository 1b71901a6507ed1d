//! The axes of coordinate calls: how many of them lie before and after the coordinate of the call,
//! and how many of the result are read at indices in scope.
//!
//! Both depend on the names of axes, which a later pass knows, and that pass needs types. So types
//! count as if nothing had a name, ask where the coordinates are, and count again until the answer
//! stays. Programs without coordinate calls are typed once.

use einlang_source::{Diagnostics, Interner};

use super::Checker;
use super::annotations::Env;
use super::ty::Ty;
use super::typed::Typed;
use crate::coords::{self, Placements, Site};
use crate::hir::*;
use crate::units::Roots;

/// Each round settles at least the calls whose arguments are settled; chains longer than this keep
/// the answer of the last round.
const MAX_ROUNDS: u32 = 12;

/// Types the program, again if the coordinates of its calls lie elsewhere than assumed.
pub(super) fn check(program: &Program, interner: &Interner, roots: &Roots) -> (Typed, Diagnostics) {
    let run = |placements: Placements| {
        let mut checker = Checker::new(program, interner, roots);
        checker.placements = placements;
        checker.run()
    };
    let mut result = run(Placements::default());
    if !has_coordinate_calls(program) {
        return result;
    }
    let mut known = Placements::default();
    for _ in 0..MAX_ROUNDS {
        let found = coords::placements(program, &result.0, interner);
        if !found.differ || found == known {
            break;
        }
        known = found;
        result = run(known.clone());
    }
    result
}

fn has_coordinate_calls(program: &Program) -> bool {
    let is_call = |expr: &Expr| matches!(expr.kind, ExprKind::CoordCall { .. });
    program.bodies.values().any(|body| body.exprs.values().any(is_call))
}

impl Checker<'_> {
    /// A coordinate call of the current instance.
    pub(super) fn site(&self, call: ExprId) -> Site {
        let rank = |rest: LocalId| self.rest_rank(rest).map(|n| n as u32);
        Site { body: self.work().body, call, around: coords::around(self.body(), rank) }
    }

    /// Gives the open rests of a parameter the axes around the coordinate of the call.
    pub(super) fn place_rests(&self, dims: &[Dim], rank: usize, env: &mut Env) {
        let Some(site) = env.call.clone() else { return };
        let placed = self.placements.rests.get(&(site, rank)).into_iter().flatten();
        for (rest, n_axes) in placed {
            let here = dims.iter().any(|dim| matches!(dim, Dim::Rest(local, _) if local == rest));
            if here {
                env.rests.entry(*rest).or_insert(*n_axes);
            }
        }
    }

    /// The element type of a call's result, and the axes that are left when those of indices in
    /// scope are read.
    pub(super) fn placed_result(&self, call: ExprId, result: &Ty) -> Option<(Ty, usize)> {
        let Ty::Tensor(element, extents) = self.shallow(result) else { return None };
        let at = (self.site(call), extents.len());
        let n_left = extents.len().checked_sub(*self.placements.n_read.get(&at)?)?;
        Some(((*element).clone(), n_left))
    }
}
