//! The forms that a loop may run over, and the shifts between bindings.

use std::collections::BTreeMap;

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
}
