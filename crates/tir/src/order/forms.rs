//! The forms that a loop may run over, and the shifts between bindings.

use std::collections::{BTreeMap, BTreeSet};

/// The forms that are tried for a binding of some rank: its axes as written, each in both
/// directions, then skews.
pub(super) fn candidates(rank: usize) -> Vec<Vec<i64>> {
    let unit = |at: usize, c: i64| (0..rank).map(|axis| if axis == at { c } else { 0 }).collect();
    let both = |axis: usize| [unit(axis, 1), unit(axis, -1)];
    let mut forms: Vec<Vec<i64>> = (0..rank).flat_map(both).collect();
    for first in 0..rank {
        for second in (0..rank).filter(|second| *second != first) {
            for (a, b) in [(1, 1), (1, -1), (-1, -1), (2, 1), (2, -1), (-2, 1), (-2, -1)] {
                let mut form: Vec<i64> = unit(first, a);
                form[second] = b;
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
    }
    if rank == 0 {
        forms.push(Vec::new());
    }
    forms
}

/// Shifts with `shift(reader) - shift(writer) + slack >= 0` for all: longest paths, which exist
/// unless a cycle of slacks is negative (Bellman and Ford).
pub(super) fn offsets(
    bindings: impl Iterator<Item = usize>,
    slacks: &[(usize, usize, i64)],
) -> Option<BTreeMap<usize, i64>> {
    let mut offsets: BTreeMap<usize, i64> = bindings.map(|binding| (binding, 0)).collect();
    for _ in 0..=offsets.len() {
        let mut changed = false;
        for (reader, writer, slack) in slacks {
            let needed = offsets[writer] - slack;
            if offsets[reader] < needed {
                offsets.insert(*reader, needed);
                changed = true;
            }
        }
        if !changed {
            return Some(offsets);
        }
    }
    None
}

/// The same for the first bindings and one more, given shifts of the first ones that are in order.
/// Any negative cycle then goes through the new one, and shows as soon as that would have to move a
/// second time: the others on it are the answer if there is one.
pub(super) fn offsets_with_next(
    offsets: &[i64],
    slacks: &[(usize, usize, i64)],
) -> Result<Vec<i64>, BTreeSet<usize>> {
    let (next, mut offsets) = (offsets.len(), offsets.to_vec());
    let own = slacks.iter().filter(|slack| slack.0 == next);
    let first = own.map(|(_, writer, slack)| offsets[*writer] - slack).max();
    offsets.push(first.unwrap_or(0));
    // What each binding that moved had to stay behind of.
    let mut moved_by = vec![next; offsets.len()];
    loop {
        let mut changed = false;
        for (reader, writer, slack) in slacks {
            let needed = offsets[*writer] - slack;
            if offsets[*reader] >= needed {
                continue;
            }
            if *reader == next {
                let back = |at: &usize| Some(moved_by[*at]);
                let cycle = std::iter::successors(Some(*writer), back);
                return Err(cycle.take_while(|at| *at != next).collect());
            }
            offsets[*reader] = needed;
            moved_by[*reader] = *writer;
            changed = true;
        }
        if !changed {
            return Ok(offsets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_as_written_come_first() {
        let forms = candidates(2);
        assert_eq!(forms[..4], [vec![1, 0], vec![-1, 0], vec![0, 1], vec![0, -1]]);
        assert_eq!((candidates(0).len(), candidates(1).len()), (1, 2));
    }

    #[test]
    fn shifts_exist_unless_slacks_around_a_cycle_are_negative() {
        let shifts = offsets([0, 1].into_iter(), &[(0, 1, -1), (1, 0, 2)]);
        assert_eq!(shifts, Some(BTreeMap::from([(0, 1), (1, 0)])));
        assert_eq!(offsets([0, 1].into_iter(), &[(0, 1, -3), (1, 0, 2)]), None);
    }

    #[test]
    fn one_more_binding_is_in_order_unless_it_closes_a_negative_cycle() {
        let mut slacks = vec![(1, 0, -1), (2, 1, -1), (0, 2, 4)];
        assert_eq!(offsets_with_next(&[0, 1, 2], &slacks), Ok(vec![0, 1, 2, 0]));
        slacks.extend([(3, 1, -1), (0, 3, 2)]);
        assert_eq!(offsets_with_next(&[0, 1, 2], &slacks), Ok(vec![0, 1, 2, 2]));
        slacks.push((1, 3, 0));
        assert_eq!(offsets_with_next(&[0, 1, 2], &slacks), Err(BTreeSet::from([1])));
    }
}
