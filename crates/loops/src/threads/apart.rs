//! Whether two accesses never touch the same place.
//!
//! Two accesses meet if all their subscripts are equal, up to the moduli of their dimensions, for some
//! values of what is bound around each of them. That there are none is asked of the solver; most pairs
//! are decided by looking at one dimension.

use std::collections::{HashMap, HashSet};

use einlang_index::{Affine, Constraint, Facts, Quasi, Truth, Var};

use super::places::{Access, Walk};
use crate::ir::Layout;

/// The most questions for the solver about one part of a kernel; further ones are answered with no.
const MOST_QUESTIONS: u32 = 256;

/// Compares accesses.
pub(super) struct Apart<'k> {
    pub(super) walk: Walk<'k>,
    n_questions: u32,
}

/// What two accesses have to do with each other.
#[derive(Clone, Copy)]
pub(super) struct Between<'a> {
    /// The variables that have the same values for both.
    pub(super) common: &'a [Var],
    /// Two indices, of the first and of the second, that have different values.
    pub(super) distinct: Option<(Var, Var)>,
}

impl<'k> Apart<'k> {
    pub(super) fn new(walk: Walk<'k>) -> Apart<'k> {
        Apart { walk, n_questions: 0 }
    }

    /// Begins with another part of a kernel, which has questions of its own.
    pub(super) fn begin(&mut self) {
        self.n_questions = 0;
    }

    /// Whether no place is touched by both, unless both only read.
    pub(super) fn are_apart(&mut self, a: &Access, b: &Access, between: Between<'_>) -> bool {
        if a.buffer != b.buffer || !(a.writes || b.writes) {
            return true;
        }
        if self.one_dimension_differs(a, b, between) {
            return true;
        }
        self.n_questions += 1;
        self.n_questions <= MOST_QUESTIONS && self.never_meet(a, b, between).unwrap_or(false)
    }

    /// Whether one dimension tells them apart, without a proof.
    fn one_dimension_differs(&self, a: &Access, b: &Access, between: Between<'_>) -> bool {
        let both = a.at.iter().zip(&b.at).enumerate();
        let mut known = both.filter_map(|(axis, (a, b))| Some((axis, a.as_ref()?, b.as_ref()?)));
        known.any(|(axis, x, y)| {
            let is_common = |form: &Affine| form.vars().all(|var| is_outside(var, between.common));
            if is_common(x) && is_common(y) {
                let gap = x.sub(y).ok().and_then(|gap| gap.as_constant());
                return gap.is_some_and(|gap| match self.walk.layout(a.buffer, axis) {
                    Layout::Mod(width) => gap.rem_euclid(width.max(1)) != 0,
                    _ => gap != 0,
                });
            }
            let Some((p, q)) = between.distinct else { return false };
            let full = self.walk.layout(a.buffer, axis) == Layout::Full;
            let (c, d) = (x.coeff(p), y.coeff(q));
            full && c != 0 && c == d && x.without(p) == y.without(q) && is_common(&x.without(p))
        })
    }

    /// Asks the solver; nothing if numbers become too large.
    fn never_meet(&mut self, a: &Access, b: &Access, between: Between<'_>) -> Option<bool> {
        let mut renamed: HashMap<Var, Affine> = HashMap::new();
        let mut used: HashSet<Var> = HashSet::new();
        let forms = b.at.iter().flatten().chain(b.given.iter().map(Constraint::expr));
        forms.for_each(|form| used.extend(form.vars()));
        used.extend(between.distinct.map(|(_, of_b)| of_b));
        let mut used: Vec<Var> = used.into_iter().collect();
        used.sort_unstable();
        for var in used.into_iter().filter(|var| !is_outside(*var, between.common)) {
            renamed.insert(var, Affine::var(self.walk.fresh()));
        }
        let other = |form: &Affine| form.replace(&mut |var| renamed.get(&var).cloned()).ok();
        let mut facts = Facts::new();
        a.given.iter().for_each(|constraint| facts.assume(constraint.clone()));
        for constraint in &b.given {
            let moved = match constraint {
                Constraint::Ge(form) => Constraint::Ge(other(form)?),
                Constraint::Eq(form) => Constraint::Eq(other(form)?),
                // Leaving one out only makes the proof harder.
                Constraint::Mod(_) => continue,
            };
            facts.assume(moved);
        }
        for (axis, (x, y)) in a.at.iter().zip(&b.at).enumerate() {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let gap = x.sub(&other(y)?).ok()?;
            facts.assume(match self.walk.layout(a.buffer, axis) {
                Layout::Mod(..=1) => continue,
                Layout::Mod(width) => Constraint::divides(width, &gap).ok()?,
                _ => Constraint::Eq(gap),
            });
        }
        let Some((p, q)) = between.distinct else { return Some(has_no_point(&facts)) };
        let gap = Affine::var(p).sub(&other(&Affine::var(q))?).ok()?;
        let sides = [gap.add_constant(-1).ok()?, gap.neg().ok()?.add_constant(-1).ok()?];
        Some(sides.into_iter().all(|side| {
            let mut facts = facts.clone();
            facts.assume(Constraint::Ge(side));
            has_no_point(&facts)
        }))
    }
}

/// Whether a variable was bound outside of what is compared, or for both at once.
fn is_outside(var: Var, common: &[Var]) -> bool {
    !Walk::is_fresh(var) || common.contains(&var)
}

fn has_no_point(facts: &Facts) -> bool {
    facts.implies(&Quasi::from(-1)) == Truth::True
}
