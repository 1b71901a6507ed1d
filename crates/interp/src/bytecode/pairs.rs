//! Sums in pairs: terms are combined by their position among the points of the domain, as a binary
//! counter carries, so that the association is a function of the extent alone. A point without a
//! term is a gap, and what is joined with a gap stays as it is.

use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::code::Fast;
use crate::scalar::apply;

/// The partial sums of one sum in pairs.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    elem: Elem,
    checked: bool,
    fast: Option<Fast>,
    n_terms: u64,
    n: usize,
    sums: [u64; 64],
    /// Bit `k`: the partial sum at `k` is a sum and no gap.
    some: u64,
}

impl Pairs {
    pub(super) fn new(elem: Elem, checked: bool) -> Pairs {
        let fast = if checked { None } else { Fast::of(Op::Add, elem) };
        Pairs { elem, checked, fast, n_terms: 0, n: 0, sums: [0; 64], some: 0 }
    }

    pub(super) fn begin(&mut self) {
        (self.n_terms, self.n, self.some) = (0, 0, 0);
    }

    /// Adds the term of the next point, or a gap; false if it traps.
    #[inline]
    pub(super) fn push(&mut self, mut term: Option<u64>) -> bool {
        self.n_terms += 1;
        for _ in 0..self.n_terms.trailing_zeros() {
            self.n -= 1;
            let left = (self.some >> self.n & 1 == 1).then_some(self.sums[self.n & 63]);
            let Ok(joined) = self.join(left, term) else { return false };
            term = joined;
        }
        let at = self.n & 63;
        self.some &= !(1 << at);
        if let Some(bits) = term {
            self.sums[at] = bits;
            self.some |= 1 << at;
        }
        self.n += 1;
        true
    }

    #[inline]
    fn join(&self, left: Option<u64>, right: Option<u64>) -> Result<Option<u64>, ()> {
        match (left, right) {
            (Some(a), Some(b)) => match self.fast {
                Some(fast) => Ok(Some(fast.apply(a, b))),
                None => {
                    let elems = [self.elem; 2];
                    apply(Op::Add, elems, self.elem, [a, b, 0], self.checked)
                        .map(Some)
                        .map_err(|_| ())
                }
            },
            (one, None) | (None, one) => Ok(one),
        }
    }

    /// The sum of everything, `None` without a term; `Err` if it traps.
    pub(super) fn end(&mut self) -> Result<Option<u64>, ()> {
        let mut sum = None;
        while self.n > 0 {
            self.n -= 1;
            let left = (self.some >> self.n & 1 == 1).then_some(self.sums[self.n & 63]);
            sum = self.join(left, sum)?;
        }
        Ok(sum)
    }
}
