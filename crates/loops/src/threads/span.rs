//! The span of a subscript: what it is at least and at most, in terms of a few variables.
//!
//! Tiles make subscripts like `12 * i + 3` with `8 * p <= i < 8 * p + 8`: spans of different rounds `p`
//! lie one after the other. That is seen without a proof, for each of many copies of a statement.

use einlang_index::{Affine, Constraint, Var};

/// What a subscript is at least and at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    low: Affine,
    high: Affine,
}

/// The span of a form in terms of the index of rounds and of what is outside of them; nothing if other variables have
/// no plain bounds.
pub(super) fn span(
    form: &Affine,
    given: &[Constraint],
    round: Var,
    is_outside: &dyn Fn(Var) -> bool,
) -> Option<Span> {
    let bound = |low| bound(form, given, round, is_outside, low);
    Some(Span { low: bound(true)?, high: bound(false)? })
}

impl Span {
    /// Whether this one for any `p` and the other one for any other `q` have no number in common.
    pub(super) fn is_apart(&self, p: Var, other: &Span, q: Var) -> bool {
        let step = self.low.coeff(p);
        let steps = [self.high.coeff(p), other.low.coeff(q), other.high.coeff(q)];
        if step == 0 || steps.iter().any(|other| *other != step) {
            return false;
        }
        // Upwards the first of the next round must lie behind the last of this one, downwards before it.
        let clear = |low: &Affine, high: &Affine, p: Var, q: Var| {
            let gap = low.without(p).sub(&high.without(q)).ok().and_then(|gap| gap.as_constant());
            gap.and_then(|gap| gap.checked_add(step.checked_abs()?)).is_some_and(|gap| gap >= 1)
        };
        clear(&self.low, &other.high, p, q) && clear(&other.low, &self.high, q, p)
    }
}

/// The least or largest value of a form.
fn bound(
    form: &Affine,
    given: &[Constraint],
    round: Var,
    is_outside: &dyn Fn(Var) -> bool,
    low: bool,
) -> Option<Affine> {
    let mut form = form.clone();
    let stays = |var: Var| var == round || is_outside(var);
    // Variables that a walk makes later come before others. Bounds speak of what was bound before, so
    // every step takes a variable away for good.
    while let Some(var) = form.vars().filter(|var| !stays(*var)).min() {
        let c = form.coeff(var);
        let wanted = if (c > 0) == low { 1 } else { -1 };
        let mut values = given.iter().filter_map(|constraint| match constraint {
            Constraint::Ge(bound) if bound.coeff(var) == wanted => {
                let rest = bound.without(var);
                let is_outer = rest.vars().all(|other| stays(other) || other > var);
                is_outer.then_some(rest)
            }
            _ => None,
        });
        let first = values.next()?;
        // Of several bounds one that speaks of rounds is of use here.
        let speaks = |rest: &Affine| rest.vars().any(|var| !is_outside(var));
        let rest = if speaks(&first) { first } else { values.find(speaks).unwrap_or(first) };
        // `var + rest >= 0` or `rest - var >= 0`.
        let value = rest.scale(-wanted).ok()?;
        form = form.substitute(var, &value).ok()?;
    }
    Some(form)
}

#[cfg(test)]
mod tests {
    use einlang_index::VarKind;

    use super::*;

    #[test]
    fn rows_of_tiles_lie_one_after_the_other() {
        let [p, q, i] = [1, 2, 3].map(|number| Var::reserved(VarKind::Index, number));
        let affine = |constant, terms: &[(Var, i64)]| {
            Affine::new(constant, terms.iter().copied()).expect("it fits")
        };
        let inside = |round| {
            let low = affine(0, &[(i, 1), (round, -8)]);
            let high = affine(7, &[(i, -1), (round, 8)]);
            // The last tile is not whole, which says nothing of the others.
            let end = affine(24, &[(i, -1)]);
            [low, end, high].map(Constraint::Ge).to_vec()
        };
        let row = |at: i64, round: Var| {
            let form = affine(at, &[(i, 12)]);
            span(&form, &inside(round), round, &|_| false).expect("it has bounds")
        };
        assert_eq!(row(3, p).low, affine(3, &[(p, 96)]));
        assert_eq!(row(3, p).high, affine(87, &[(p, 96)]));
        assert!(row(0, p).is_apart(p, &row(11, q), q));
        assert!(!row(0, p).is_apart(p, &row(12, q), q));
        assert!(span(&affine(0, &[(i, 1)]), &[], p, &|_| false).is_none());
    }
}
