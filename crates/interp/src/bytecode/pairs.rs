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
    pub(super) fn push(&mut self, term: Option<u64>) -> bool {
        self.push_block(term, 0)
    }

    /// Adds the sum of `2^level` points; as many were added before, a whole number of times.
    #[inline]
    fn push_block(&mut self, mut term: Option<u64>, level: u32) -> bool {
        self.n_terms += 1 << level;
        for _ in level..self.n_terms.trailing_zeros() {
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
    pub(super) fn end(&self) -> Result<Option<u64>, ()> {
        let mut sum = None;
        for at in (0..self.n).rev() {
            let left = (self.some >> at & 1 == 1).then_some(self.sums[at & 63]);
            sum = self.join(left, sum)?;
        }
        Ok(sum)
    }

    /// Counts the gaps before the point at a position, in blocks as large as they fit.
    pub(super) fn skip_to(&mut self, position: u64) -> bool {
        while self.n_terms < position {
            let room = position - self.n_terms;
            let level = self.n_terms.trailing_zeros().min(room.ilog2());
            if !self.push_block(None, level) {
                return false;
            }
        }
        true
    }
}
