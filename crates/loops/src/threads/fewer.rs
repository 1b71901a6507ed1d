//! Fewer and smaller questions: of what holds at an access only what its subscripts depend on, and copies
//! of a statement that touch neighbouring places as one access to all of them.
//!
//! Both only ever make an access touch more than it does, which keeps a proof that two are apart right.

use einlang_index::{Affine, Constraint, Var};
use einlang_source::map::HashMap;

use super::places::{Access, Walk};

/// What holds of the variables of subscripts, and of those that bound them: the range of an index speaks of
/// what was bound before it.
pub(super) fn relevant(at: &[Option<Affine>], given: &[Constraint]) -> Vec<Constraint> {
    let mut vars: Vec<Var> = at.iter().flatten().flat_map(Affine::vars).collect();
    let mut is_kept = vec![false; given.len()];
    loop {
        let before = vars.len();
        for (constraint, kept) in given.iter().zip(&mut is_kept) {
            let of = constraint.expr();
            // Variables that a walk makes later come before others.
            let speaks = match of.vars().find(|var| Walk::is_fresh(*var)) {
                Some(last) => vars.contains(&last),
                None => of.vars().any(|var| vars.contains(&var)),
            };
            if speaks && !*kept {
                *kept = true;
                vars.extend(of.vars().filter(|var| !vars.contains(var)).collect::<Vec<_>>());
            }
        }
        if vars.len() == before {
            break;
        }
    }
    let kept = given.iter().zip(is_kept).filter(|(_, kept)| *kept);
    kept.map(|(constraint, _)| constraint.clone()).collect()
}

/// Accesses that differ only by the number in one subscript, where those numbers follow each other, as one
/// whose subscript has an index for them.
pub(super) fn join_neighbours(walk: &mut Walk<'_>, accesses: Vec<Access>) -> Vec<Access> {
    let n_dims = accesses.iter().map(|access| access.at.len()).max().unwrap_or(0);
    (0..n_dims).fold(accesses, |accesses, axis| join_along(walk, accesses, axis))
}

fn join_along(walk: &mut Walk<'_>, accesses: Vec<Access>, axis: usize) -> Vec<Access> {
    let n_accesses = accesses.len();
    // Accesses without the number of their subscript, and those numbers.
    let mut families: Vec<(Access, Vec<i64>)> = Vec::with_capacity(n_accesses);
    let mut places: HashMap<Access, usize> = HashMap::default();
    for mut access in accesses {
        let number = access.at.get(axis).and_then(Option::as_ref).map(Affine::constant_part);
        let away = number.and_then(i64::checked_neg).filter(|by| move_by(&mut access, axis, *by));
        let Some(number) = number.filter(|_| away.is_some()) else {
            families.push((access, Vec::new()));
            continue;
        };
        match places.get(&access) {
            Some(place) => families[*place].1.push(number),
            None => {
                places.insert(access.clone(), families.len());
                families.push((access, vec![number]));
            }
        }
    }
    let mut joined = Vec::with_capacity(n_accesses);
    for (mut first, mut numbers) in families {
        numbers.sort_unstable();
        match (ranged(walk, &first, axis, &numbers), &numbers[..]) {
            (Some(access), _) => joined.push(access),
            (None, []) => joined.push(first),
            (None, [number]) => joined.extend(move_by(&mut first, axis, *number).then_some(first)),
            (None, numbers) => joined.extend(numbers.iter().filter_map(|number| {
                let mut access = first.clone();
                move_by(&mut access, axis, *number).then_some(access)
            })),
        }
    }
    joined
}

/// Adds a number to one subscript of an access, if it fits.
fn move_by(access: &mut Access, axis: usize, by: i64) -> bool {
    let form = access.at.get_mut(axis).and_then(Option::as_mut);
    let moved = form.and_then(|form| Some((form.add_constant(by).ok()?, form)));
    let Some((moved, form)) = moved else { return false };
    *form = moved;
    true
}

/// One access for all numbers that are added, if there are several without a gap.
fn ranged(walk: &mut Walk<'_>, first: &Access, axis: usize, numbers: &[i64]) -> Option<Access> {
    let (lo, hi) = (*numbers.first()?, *numbers.last()?);
    let n = i64::try_from(numbers.len()).ok()?;
    if n < 2 || hi.checked_sub(lo)? != n - 1 {
        return None;
    }
    let index = Affine::var(walk.fresh());
    let mut access = first.clone();
    access.at[axis] = Some(access.at[axis].as_ref()?.add(&index).ok()?);
    let mut given = access.given.to_vec();
    given.push(Constraint::Ge(index.add_constant(lo.checked_neg()?).ok()?));
    given.push(Constraint::Ge(index.neg().ok()?.add_constant(hi).ok()?));
    access.given = given.into();
    Some(access)
}

#[cfg(test)]
mod tests {
    use einlang_index::VarKind;

    use super::*;

    #[test]
    fn only_what_bounds_a_subscript_is_relevant() {
        // Made in this order: a tile, an index in it, the index of a sum.
        let [tile, row, term] = [1, 2, 3].map(|number| Var::reserved(VarKind::Index, number));
        let n = Var::reserved(VarKind::Symbol, 1);
        let affine = |terms: &[(Var, i64)]| Affine::new(0, terms.iter().copied()).expect("it fits");
        let given = [
            Constraint::Ge(affine(&[(n, 1)])),
            Constraint::Ge(affine(&[(tile, 1)])),
            Constraint::Ge(affine(&[(row, 1), (tile, -8)])),
            Constraint::Ge(affine(&[(n, 1), (row, -1)])),
            Constraint::Ge(affine(&[(term, 1), (row, -1)])),
        ];
        assert_eq!(relevant(&[Some(affine(&[(row, 1)]))], &given), given[..4]);
        assert_eq!(relevant(&[Some(affine(&[(tile, 1)])), None], &given), given[1..2]);
    }
}
