//! Parts of a set that have nothing to do with each other.
//!
//! Questions are asked together with all that is known of the symbols of a program, of which there may be
//! hundreds, and which mostly have nothing to do with the question. Constraints that share no variable,
//! not even by way of others, are solved apart: the work is then the sum over the parts, and not more
//! than the square of the whole.

use rustc_hash::FxHashSet;

use crate::affine::Affine;
use crate::set::Set;
use crate::var::Var;

/// The sets whose intersection is `set` and that share no variable.
pub(super) fn parts(set: &Set) -> Vec<Set> {
    let vars = set.vars();
    let mut groups = Groups { vars: &vars, parents: (0..vars.len()).collect() };
    for affine in set.affines() {
        groups.join(affine);
    }
    let roots: Vec<usize> = (0..vars.len()).map(|at| groups.root(at)).collect();
    let mut distinct = roots.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 {
        return vec![set.clone()];
    }
    let place = |affine: &Affine| {
        let at = affine.vars().next().and_then(|var| vars.binary_search(&var).ok())?;
        distinct.binary_search(&roots[at]).ok()
    };
    set.divided(distinct.len(), &place)
}

/// What a set says about some variables, by way of others too. Facts that have nothing to do with a
/// question are taken to be true of something.
pub(crate) fn near(set: &Set, vars: impl IntoIterator<Item = Var>) -> Set {
    if set.is_nothing() || set.is_everything() {
        return set.clone();
    }
    let mut known: FxHashSet<Var> = vars.into_iter().collect();
    let mut taken = vec![false; set.size()];
    loop {
        let n_known = known.len();
        for (affine, taken) in set.affines().zip(&mut taken) {
            if !*taken && affine.vars().any(|var| known.contains(&var)) {
                known.extend(affine.vars());
                *taken = true;
            }
        }
        if known.len() == n_known {
            return set.only(&taken);
        }
    }
}

/// The constraints that mention some of these variables, and the others.
pub(super) fn touched(set: &Set, doomed: &[Var]) -> (Set, Set) {
    let place =
        |affine: &Affine| Some(usize::from(!affine.vars().any(|var| doomed.contains(&var))));
    let mut both = set.divided(2, &place).into_iter();
    (both.next().unwrap_or_default(), both.next().unwrap_or_default())
}

/// Which variables belong together.
struct Groups<'a> {
    vars: &'a [Var],
    parents: Vec<usize>,
}

impl Groups<'_> {
    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, affine: &Affine) {
        let mut first = None;
        for var in affine.vars() {
            let Ok(at) = self.vars.binary_search(&var) else { continue };
            let at = self.root(at);
            match first {
                None => first = Some(at),
                Some(first) => self.parents[at] = first,
            }
        }
    }
}
