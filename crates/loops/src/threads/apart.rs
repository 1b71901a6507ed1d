//! Whether two accesses never touch the same place.
//!
//! Two accesses meet if all their subscripts are equal, up to the moduli of their dimensions, for some
//! values of what is bound around each of them. That there are none is asked of the solver; most pairs
//! are decided by looking at one dimension (`span.rs`), and a question that was answered is not asked again.

use einlang_index::{Affine, Constraint, Facts, Var, VarKind};
use einlang_source::map::{HashMap, HashSet};

use super::places::{Access, Walk};
use super::span::span;
use crate::ir::{BufferId, Layout};

/// The most questions for the solver about one part of a kernel; further ones are answered with no.
const MOST_QUESTIONS: u32 = 256;

/// The most about a whole kernel, for each may take a millisecond.
const MOST_IN_ALL: usize = 1024;

/// Compares accesses.
pub(super) struct Apart<'k> {
    pub(super) walk: Walk<'k>,
    n_questions: u32,
    /// What was answered.
    known: HashMap<Question, bool>,
}

/// Two accesses with variables by their first occurrence, so that it does not matter when they were met.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    buffer: BufferId,
    forms: Vec<Option<Affine>>,
    given: Vec<Constraint>,
    distinct: Option<(Var, Var)>,
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
        Apart { walk, n_questions: 0, known: HashMap::default() }
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
        let question = question(a, b, between);
        if let Some(known) = question.as_ref().and_then(|question| self.known.get(question)) {
            return *known;
        }
        self.n_questions += 1;
        if self.n_questions > MOST_QUESTIONS || self.known.len() >= MOST_IN_ALL {
            return false;
        }
        let answer = self.never_meet(a, b, between).unwrap_or(false);
        self.known.extend(question.map(|question| (question, answer)));
        answer
    }

    /// Whether no two rounds of a loop, whose index is a variable, touch a place in common that one of
    /// them stores to.
    pub(super) fn are_rounds_apart(
        &mut self,
        accesses: &[Access],
        var: Var,
        common: &[Var],
    ) -> bool {
        let between = Between { common, distinct: Some((var, var)) };
        let numbered = || accesses.iter().enumerate();
        numbered().filter(|(_, writes)| writes.writes).all(|(at, writes)| {
            // Of two stores either is the first.
            let mut others = numbered().filter(|(other, b)| !b.writes || *other >= at);
            others.all(|(_, other)| self.are_apart(writes, other, between))
        })
    }

    /// Whether one dimension tells them apart, without a proof.
    fn one_dimension_differs(&self, a: &Access, b: &Access, between: Between<'_>) -> bool {
        let (a_, b_) = (a, b);
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
            let full = self.walk.layout(a_.buffer, axis) == Layout::Full;
            let Some((p, q)) = between.distinct.filter(|_| full) else { return false };
            let (c, d) = (x.coeff(p), y.coeff(q));
            if c != 0 && c == d && x.without(p) == y.without(q) && is_common(&x.without(p)) {
                return true;
            }
            let of = |form: &Affine, access: &Access, var: Var| {
                span(form, &access.given, var, &|v| is_outside(v, between.common))
            };
            let Some((x, y)) = of(x, a_, p).zip(of(y, b_, q)) else { return false };
            x.is_apart(p, &y, q)
        })
    }

    /// Asks the solver; nothing if numbers become too large.
    fn never_meet(&mut self, a: &Access, b: &Access, between: Between<'_>) -> Option<bool> {
        let mut renamed: HashMap<Var, Affine> = HashMap::default();
        let mut used: HashSet<Var> = HashSet::default();
        let forms = b.at.iter().flatten().chain(b.given.iter().map(Constraint::expr));
        forms.for_each(|form| used.extend(form.vars()));
        used.extend(between.distinct.map(|(_, of_b)| of_b));
        let mut used: Vec<Var> = used.into_iter().collect();
        used.sort_unstable();
        for var in used.into_iter().filter(|var| !is_outside(*var, between.common)) {
            renamed.insert(var, Affine::var(self.walk.fresh()));
        }
        let other = |form: &Affine| form.replace(&mut |var| renamed.get(&var).cloned()).ok();
        let mut facts = a.given.to_vec();
        for constraint in b.given.iter() {
            facts.push(match constraint {
                Constraint::Ge(form) => Constraint::Ge(other(form)?),
                Constraint::Eq(form) => Constraint::Eq(other(form)?),
                // Leaving one out only makes the proof harder.
                Constraint::Mod(_) => continue,
            });
        }
        for (axis, (x, y)) in a.at.iter().zip(&b.at).enumerate() {
            let (Some(x), Some(y)) = (x, y) else { continue };
            let gap = x.sub(&other(y)?).ok()?;
            facts.push(match self.walk.layout(a.buffer, axis) {
                Layout::Mod(..=1) => continue,
                Layout::Mod(width) => Constraint::divides(width, &gap).ok()?,
                _ => Constraint::Eq(gap),
            });
        }
        let Some((p, q)) = between.distinct else { return Some(has_no_point(facts)) };
        let gap = Affine::var(p).sub(&other(&Affine::var(q))?).ok()?;
        let above = Constraint::Ge(gap.add_constant(-1).ok()?);
        let below = Constraint::Ge(gap.neg().ok()?.add_constant(-1).ok()?);
        let with = |side: Constraint| facts.iter().cloned().chain([side]).collect();
        // Two rounds of the same access are on both sides of each other.
        Some(has_no_point(with(above)) && (a == b || has_no_point(with(below))))
    }
}

/// A question in terms of the order in which variables occur; nothing if numbers become too large.
fn question(a: &Access, b: &Access, between: Between<'_>) -> Option<Question> {
    let mut names: HashMap<(Var, bool), Var> = HashMap::default();
    let mut name = |var: Var, second: bool| -> Var {
        if !Walk::is_fresh(var) {
            return var;
        }
        // What is common has one name for both, in another range than the others.
        let common = between.common.contains(&var);
        let number = names.len() as u32 * 2 + u32::from(common);
        let key = (var, second && !common);
        *names.entry(key).or_insert_with(|| Var::reserved(VarKind::Index, number))
    };
    let mut forms = Vec::with_capacity(a.at.len() + b.at.len());
    let mut given = Vec::with_capacity(a.given.len() + b.given.len());
    let distinct = between.distinct.map(|(p, q)| (name(p, false), name(q, true)));
    for (access, second) in [(a, false), (b, true)] {
        let mut renamed =
            |form: &Affine| form.replace(&mut |var| Some(Affine::var(name(var, second)))).ok();
        for form in &access.at {
            forms.push(match form {
                Some(form) => Some(renamed(form)?),
                None => None,
            });
        }
        for constraint in access.given.iter() {
            given.push(match constraint {
                Constraint::Ge(form) => Constraint::Ge(renamed(form)?),
                Constraint::Eq(form) => Constraint::Eq(renamed(form)?),
                // Without its variables a congruence says nothing, and another pair may have another.
                Constraint::Mod(_) => return None,
            });
        }
    }
    Some(Question { buffer: a.buffer, forms, given, distinct })
}

/// Whether a variable was bound outside of what is compared, or for both at once.
fn is_outside(var: Var, common: &[Var]) -> bool {
    !Walk::is_fresh(var) || common.contains(&var)
}

fn has_no_point(facts: Vec<Constraint>) -> bool {
    Facts::of(facts).are_impossible().is_true()
}
