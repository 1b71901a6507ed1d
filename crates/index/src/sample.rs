//! Points that may break a goal, which are tried before anything is proved.
//!
//! Most goals that fail do so at a corner of their domain, for sizes that are large: how far a loop is behind
//! another that runs along something else has no bound at all. To test such a point takes a small part of the time
//! of a proof that there is one.
//!
//! Invariant: a point counts only if it satisfies the facts and lies in the domain, so what is found is what a
//! proof would find.

use smallvec::SmallVec;

use crate::affine::Affine;
use crate::domain::Domain;
use crate::error::Result;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::{Var, VarKind};

/// All sizes of a point but those that are multiples of others: more than any distance that is asked for.
const SIZE: i64 = 1 << 16;

/// How far from both ends of their range the indices of a point lie: at the ends, and next to them.
const FROM_ENDS: [i64; 2] = [0, 1];

/// Whether one of a few points of the domain breaks `goal >= 0`.
pub(crate) fn breaks(facts: &Set, over: &Domain, goal: &Quasi) -> bool {
    let Some(affine) = goal.as_affine() else { return false };
    let Ok(multiples) = multiples(facts) else { return false };
    FROM_ENDS.into_iter().any(|from_end| {
        let value = |var: Var| match multiples.iter().find(|known| known.0 == var) {
            Some((_, size)) => *size,
            None => at(affine, var, from_end),
        };
        breaks_at(facts, over, affine, &value).unwrap_or(false)
    })
}

/// The sizes that follow from others, as that of all gates of a cell from that of one.
fn multiples(facts: &Set) -> Result<SmallVec<[(Var, i64); 4]>> {
    let mut found: SmallVec<[(Var, i64); 4]> = SmallVec::new();
    for equal in facts.eqs() {
        let size = |var: Var| found.iter().find(|known| known.0 == var).map_or(SIZE, |k| k.1);
        let wrong = equal.eval(&size)?;
        let free = |var: &Var| equal.coeff(*var).abs() == 1 && found.iter().all(|k| k.0 != *var);
        if wrong != 0
            && let Some(var) = equal.vars().find(free)
            && let Ok(right) =
                i64::try_from(i128::from(SIZE) - wrong * i128::from(equal.coeff(var)))
        {
            found.push((var, right));
        }
    }
    Ok(found)
}

/// The value of a variable: indices are where the goal is least.
fn at(goal: &Affine, var: Var, from_end: i64) -> i64 {
    match var.kind() {
        VarKind::Symbol => SIZE,
        _ if goal.coeff(var) < 0 => SIZE - 1 - from_end,
        _ => from_end,
    }
}

fn breaks_at(
    facts: &Set,
    over: &Domain,
    goal: &Affine,
    value: &dyn Fn(Var) -> i64,
) -> Result<bool> {
    if goal.eval(value)? >= 0 || !facts.contains(value)? {
        return Ok(false);
    }
    for set in over.sets() {
        if set.contains(value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Constraint;
    use crate::var::Vars;

    /// Rows and columns of a matrix of unknown size.
    fn matrix() -> (Vec<Var>, Domain) {
        let mut vars = Vars::new();
        let (i, j) = (vars.index("i"), vars.index("j"));
        let (n, m) = (vars.symbol("n"), vars.symbol("m"));
        let inside = |index: Var, size: Var| {
            [
                Constraint::Ge(Affine::var(index)),
                Constraint::lt(&Affine::var(index), &Affine::var(size)).unwrap(),
            ]
        };
        let all = inside(i, n).into_iter().chain(inside(j, m));
        (vec![i, j, n, m], Domain::new([i, j], Set::new(all).unwrap()))
    }

    #[test]
    fn a_difference_without_a_bound_is_found() {
        let (vars, matrix) = matrix();
        let behind = Affine::new(8, [(vars[0], 1), (vars[1], -1)]).unwrap();
        assert!(breaks(&Set::everything(), &matrix, &behind.into()));
    }

    #[test]
    fn sizes_may_be_multiples_of_others() {
        let (vars, matrix) = matrix();
        let behind: Quasi = Affine::new(8, [(vars[0], 1), (vars[1], -1)]).unwrap().into();
        for (n, m) in [(4, -1), (1, -4)] {
            let equal = Affine::new(0, [(vars[2], n), (vars[3], m)]).unwrap();
            assert!(breaks(&Set::new([Constraint::Eq(equal)]).unwrap(), &matrix, &behind));
        }
    }

    #[test]
    fn what_holds_is_never_broken() {
        let (vars, matrix) = matrix();
        let left = Affine::new(-1, [(vars[2], 1), (vars[0], -1)]).unwrap();
        assert!(!breaks(&Set::everything(), &matrix, &left.into()));
    }

    #[test]
    fn points_that_facts_rule_out_do_not_count() {
        let (vars, matrix) = matrix();
        let behind: Quasi = Affine::new(8, [(vars[0], 1), (vars[1], -1)]).unwrap().into();
        let few = Affine::new(8, [(vars[3], -1)]).unwrap();
        let few = Set::new([Constraint::Ge(few)]).unwrap();
        assert!(!breaks(&few, &matrix, &behind));
    }
}
