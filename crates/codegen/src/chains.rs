//! Sums in the tiles of contractions that need no compiling.
//!
//! The sums in the tiles of a contraction are always the same code: each term loads some lanes, and adds to
//! the state of each row their products with one element of that row; instead of products it may be distances, and
//! instead of sums the least or the greatest. Code that is made quickly would keep the states in memory; so it
//! calls this instead, which was compiled with the compiler. Code that is made thoroughly has its own.
//!
//! Invariant: every lane of every state goes through its terms in order, each rounded as the loop IR says, which are
//! the bits that any other code of the same chain computes. Only for processors with masks (`optimise::has_masks`).

#![allow(unsafe_code)]

use std::ffi::c_void;

/// What a term does to a state, of an element of a row and one of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Term {
    /// Adds their product, in one rounding.
    Product,
    /// Adds their distance.
    Distance,
    /// Adds the square of that.
    Square,
    /// The same, in one rounding.
    FusedSquare,
    /// The lesser of the state and their sum.
    Least,
    /// The greater one.
    Greatest,
}

/// A loop over terms: how many rounds it has, and how many bytes lie between two of them, of a row and of lanes.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Level {
    n: i64,
    row_step: i64,
    lane_step: i64,
}

/// The most loops over terms.
pub(crate) const MOST_LEVELS: usize = 3;

/// What is added up, as code writes it: one word for each field, followed by the places of all rows and those
/// of all states.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Chains {
    /// 32 or 64.
    bits: u64,
    /// A [`Term`].
    term: u64,
    /// How many vectors a state has.
    n_vectors: u64,
    n_rows: u64,
    /// The lanes of the first term.
    lanes: *const u8,
    /// The lanes that are loaded; others are zero.
    mask: u64,
    /// Whether a product counts from some lane on, which is the next one for the next term.
    is_below: u64,
    /// That lane of the first term, which may be none.
    first: i64,
    /// The loops over the terms, the innermost one first.
    levels: [Level; MOST_LEVELS],
}

/// The words of [`Chains`].
pub(crate) const WORDS: u64 = (size_of::<Chains>() / size_of::<u64>()) as u64;

/// The bits of a vector.
pub(crate) const VECTOR_BITS: u32 = 512;

/// The most vectors of a state.
pub(crate) const MOST_VECTORS: u32 = 2;

/// Adds up chains, as a service of code.
pub(crate) extern "C" fn chains(_: *mut c_void, of: *const Chains) -> i64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: code passes words of which each has its meaning, followed by as many places as there are rows, of
    // rows that have all terms and states that have all vectors; it does so only where masks exist.
    unsafe {
        x86::chains(&*of, of.add(1).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = of;
    1
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Chains, Level, Term};

    /// A number of rows at once that leaves registers for everything else, and smaller ones.
    const TILES: [usize; 4] = [12, 8, 4, 1];

    pub(super) unsafe fn chains(of: &Chains, places: *const *mut u8) {
        let n_rows = of.n_rows as usize;
        let mut row = 0;
        while row < n_rows {
            let tile = TILES.into_iter().find(|tile| row + tile <= n_rows).unwrap_or(1);
            // SAFETY: there are places for all rows and then for all states.
            unsafe {
                let (rows, states) = (places.add(row).cast(), places.add(n_rows + row));
                match of.bits {
                    32 => single(of, rows, states, tile),
                    _ => double(of, rows, states, tile),
                }
            }
            row += tile;
        }
    }

    const PRODUCT: u64 = Term::Product as u64;
    const DISTANCE: u64 = Term::Distance as u64;
    const SQUARE: u64 = Term::Square as u64;
    const FUSED_SQUARE: u64 = Term::FusedSquare as u64;
    const LEAST: u64 = Term::Least as u64;
    const GREATEST: u64 = Term::Greatest as u64;

    macro_rules! tiles {
        ($all:ident, $of_term:ident, $tile:ident, $elem:ty, $mask:ty, $zero:ident, $splat:ident, $load:ident,
         $load_some:ident, $store:ident, $fma:ident, $fma_some:ident, $add:ident, $sub:ident, $mul:ident, $abs:ident, $min:ident,
         $max:ident) => {
            unsafe fn $all(
                of: &Chains,
                rows: *const *const u8,
                states: *const *mut u8,
                n_rows: usize,
            ) {
                // SAFETY: as the caller says.
                unsafe {
                    match (of.term, of.is_below != 0) {
                        (DISTANCE, _) => $of_term::<DISTANCE, false>(of, rows, states, n_rows),
                        (SQUARE, _) => $of_term::<SQUARE, false>(of, rows, states, n_rows),
                        (FUSED_SQUARE, _) => {
                            $of_term::<FUSED_SQUARE, false>(of, rows, states, n_rows)
                        }
                        (LEAST, _) => $of_term::<LEAST, false>(of, rows, states, n_rows),
                        (GREATEST, _) => $of_term::<GREATEST, false>(of, rows, states, n_rows),
                        (_, false) => $of_term::<PRODUCT, false>(of, rows, states, n_rows),
                        (_, true) => $of_term::<PRODUCT, true>(of, rows, states, n_rows),
                    }
                }
            }

            unsafe fn $of_term<const TERM: u64, const IS_BELOW: bool>(
                of: &Chains,
                rows: *const *const u8,
                states: *const *mut u8,
                n_rows: usize,
            ) {
                // SAFETY: as the caller says; the rows are as many as the tile has.
                unsafe {
                    match (n_rows, of.n_vectors) {
                        (12, 1) => $tile::<12, 1, TERM, IS_BELOW>(of, rows, states),
                        (12, _) => $tile::<12, 2, TERM, IS_BELOW>(of, rows, states),
                        (8, 1) => $tile::<8, 1, TERM, IS_BELOW>(of, rows, states),
                        (8, _) => $tile::<8, 2, TERM, IS_BELOW>(of, rows, states),
                        (4, 1) => $tile::<4, 1, TERM, IS_BELOW>(of, rows, states),
                        (4, _) => $tile::<4, 2, TERM, IS_BELOW>(of, rows, states),
                        (_, 1) => $tile::<1, 1, TERM, IS_BELOW>(of, rows, states),
                        (_, _) => $tile::<1, 2, TERM, IS_BELOW>(of, rows, states),
                    }
                }
            }

            /// Chains of so many rows and vectors, of which products may count from some lane on only.
            #[target_feature(enable = "avx512f")]
            unsafe fn $tile<
                const ROWS: usize,
                const VECTORS: usize,
                const TERM: u64,
                const IS_BELOW: bool,
            >(
                of: &Chains,
                rows: *const *const u8,
                states: *const *mut u8,
            ) {
                const WIDTH: usize = 64 / size_of::<$elem>();
                // SAFETY: all places are what the caller says, and no term is looked at but those there are.
                unsafe {
                    let rows: [*const u8; ROWS] = *rows.cast();
                    let mut sums = [[$zero(); VECTORS]; ROWS];
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let state: *mut $elem = (*states.add(row)).cast();
                        for (at, sum) in sums.iter_mut().enumerate() {
                            *sum = $load(state.add(at * WIDTH));
                        }
                    }
                    let (mut lanes, mut offset, mut first) = (of.lanes, 0_isize, of.first);
                    let [inner, middle, outer] = of.levels;
                    let [rest_of_middle, rest_of_outer] =
                        [rest(middle, inner), rest(outer, middle)];
                    let some = of.levels.iter().all(|level| level.n > 0);
                    for _ in 0..if some { outer.n } else { 0 } {
                        for _ in 0..middle.n {
                            for _ in 0..inner.n {
                                let mut terms = [$zero(); VECTORS];
                                let mut counts = [0; VECTORS];
                                let below =
                                    u64::MAX.checked_shl(first.clamp(0, 64) as u32).unwrap_or(0);
                                for (at, term) in terms.iter_mut().enumerate() {
                                    let mask = (of.mask >> (at * WIDTH)) as $mask;
                                    *term = $load_some(
                                        mask,
                                        lanes.cast::<$elem>().wrapping_add(at * WIDTH),
                                    );
                                    counts[at] = (below >> (at * WIDTH)) as $mask;
                                }
                                for (row, sums) in sums.iter_mut().enumerate() {
                                    let by =
                                        $splat(*rows[row].wrapping_offset(offset).cast::<$elem>());
                                    for (at, sum) in sums.iter_mut().enumerate() {
                                        let lane = terms[at];
                                        let away = || $sub(by, lane);
                                        *sum = match TERM {
                                            DISTANCE => $add($abs(away()), *sum),
                                            SQUARE => $add($mul(away(), away()), *sum),
                                            FUSED_SQUARE => $fma(away(), away(), *sum),
                                            // The state stays where neither is less.
                                            LEAST => $min($add(by, lane), *sum),
                                            GREATEST => $max($add(by, lane), *sum),
                                            _ if IS_BELOW => $fma_some(by, lane, *sum, counts[at]),
                                            _ => $fma(by, lane, *sum),
                                        };
                                    }
                                }
                                lanes = lanes.wrapping_offset(inner.lane_step as isize);
                                offset = offset.wrapping_add(inner.row_step as isize);
                                first += 1;
                            }
                            lanes = lanes.wrapping_offset(rest_of_middle.1);
                            offset = offset.wrapping_add(rest_of_middle.0);
                        }
                        lanes = lanes.wrapping_offset(rest_of_outer.1);
                        offset = offset.wrapping_add(rest_of_outer.0);
                    }
                    for (row, sums) in sums.iter().enumerate() {
                        let state: *mut $elem = (*states.add(row)).cast();
                        for (at, sum) in sums.iter().enumerate() {
                            $store(state.add(at * WIDTH), *sum);
                        }
                    }
                }
            }
        };
    }

    /// How far it is from the end of a loop to its next beginning in the loop around it, for a row and for lanes.
    fn rest(around: Level, of: Level) -> (isize, isize) {
        let rest = |step: i64, by: i64| step.wrapping_sub(by.wrapping_mul(of.n)) as isize;
        (rest(around.row_step, of.row_step), rest(around.lane_step, of.lane_step))
    }

    tiles!(
        single,
        single_of_term,
        single_tile,
        f32,
        __mmask16,
        _mm512_setzero_ps,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_maskz_loadu_ps,
        _mm512_storeu_ps,
        _mm512_fmadd_ps,
        _mm512_mask3_fmadd_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_abs_ps,
        _mm512_min_ps,
        _mm512_max_ps
    );
    tiles!(
        double,
        double_of_term,
        double_tile,
        f64,
        __mmask8,
        _mm512_setzero_pd,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_maskz_loadu_pd,
        _mm512_storeu_pd,
        _mm512_fmadd_pd,
        _mm512_mask3_fmadd_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_mul_pd,
        _mm512_abs_pd,
        _mm512_min_pd,
        _mm512_max_pd
    );
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::is_x86_feature_detected;

    use super::*;

    /// The state after a term, lane by lane.
    macro_rules! after {
        ($term:expr, $state:expr, $by:expr, $lane:expr) => {{
            let (state, by, lane) = ($state, $by, $lane);
            match $term {
                Term::Product => by.mul_add(lane, state),
                Term::Distance => state + (by - lane).abs(),
                Term::Square => (by - lane) * (by - lane) + state,
                Term::FusedSquare => (by - lane).mul_add(by - lane, state),
                Term::Least if by + lane < state => by + lane,
                Term::Greatest if by + lane > state => by + lane,
                Term::Least | Term::Greatest => state,
            }
        }};
    }

    /// Adds up chains of floats with a number of rows and vectors, and tells the bits of all states before and after.
    /// The numbers of rounds are those of the outermost loop first.
    macro_rules! states {
        ($elem:ty, $term:expr, $n_rows:expr, $n_vectors:expr, $rounds:expr, $mask:expr, $first:expr) => {{
            let [n_outer, n_middle, n_inner]: [i64; 3] = $rounds;
            let (n_rows, n_terms) = ($n_rows, (n_outer * n_middle * n_inner) as usize);
            let width = $n_vectors * 64 / size_of::<$elem>();
            let number = |at: usize| match at % 97 {
                96 => <$elem>::NAN,
                95 => <$elem>::NEG_INFINITY,
                94 => -0.0,
                _ => ((at * 7919) % 1013) as $elem / 17.0 - 29.0,
            };
            // Rows go down, and there is room between the lanes of two terms.
            let rows: Vec<$elem> = (0..n_rows * n_terms).map(number).collect();
            let lanes: Vec<$elem> = (0..n_terms * (width + 3)).map(|at| number(at + 5)).collect();
            let mut states: Vec<$elem> = (0..n_rows * width).map(|at| number(at + 11)).collect();
            let mut right = states.clone();
            for (at, state) in right.iter_mut().enumerate() {
                let (row, lane) = (at / width, at % width);
                for term in 0..n_terms {
                    let counts = $first.is_none_or(|first: i64| lane as i64 >= first + term as i64);
                    let is_loaded = $mask >> lane & 1 == 1;
                    let of_lane = if is_loaded { lanes[term * (width + 3) + lane] } else { 0.0 };
                    if counts {
                        let by = rows[row * n_terms + n_terms - 1 - term];
                        *state = after!($term, *state, by, of_lane);
                    }
                }
            }
            let bytes = size_of::<$elem>() as i64;
            let level = |n: i64, inside: i64| Level {
                n,
                row_step: -bytes * inside,
                lane_step: (width as i64 + 3) * bytes * inside,
            };
            let of = Chains {
                bits: 8 * bytes as u64,
                term: $term as u64,
                n_vectors: $n_vectors as u64,
                n_rows: n_rows as u64,
                lanes: lanes.as_ptr().cast(),
                mask: $mask,
                is_below: u64::from($first.is_some()),
                first: $first.unwrap_or(0),
                levels: [
                    level(n_inner, 1),
                    level(n_middle, n_inner),
                    level(n_outer, n_middle * n_inner),
                ],
            };
            // SAFETY: `Chains` is words, and they are copied as such.
            let mut words = unsafe {
                std::slice::from_raw_parts(std::ptr::from_ref(&of).cast::<u64>(), WORDS as usize)
            }
            .to_vec();
            for row in 0..n_rows {
                let last = (row * n_terms + n_terms).max(1) - 1;
                words.push(rows.as_ptr().wrapping_add(last) as u64);
            }
            for row in 0..n_rows {
                words.push(states.as_mut_ptr().wrapping_add(row * width) as u64);
            }
            assert_eq!(chains(std::ptr::null_mut(), words.as_ptr().cast()), 1);
            // Which NaN it is may differ.
            let bits = |all: &[$elem]| {
                all.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect::<Vec<_>>()
            };
            assert_eq!(
                bits(&states),
                bits(&right),
                "{:?} {n_rows} rows, {width} lanes, {n_terms} terms",
                $term
            );
        }};
    }

    #[test]
    fn chains_are_rounded_term_by_term() {
        if !is_x86_feature_detected!("avx512f") {
            return;
        }
        let terms = [
            Term::Product,
            Term::Distance,
            Term::Square,
            Term::FusedSquare,
            Term::Least,
            Term::Greatest,
        ];
        for n_rows in [1, 3, 4, 7, 12, 23] {
            for n_terms in [0_i64, 1, 2, 37] {
                for mask in [u64::MAX, 0x1ff, 1] {
                    for first in
                        [None, Some(-40), Some(-3_i64), Some(0), Some(9), Some(i64::MAX / 2)]
                    {
                        let rounds = [1, 1, n_terms];
                        states!(f32, Term::Product, n_rows, 1, rounds, mask, first);
                        states!(f32, Term::Product, n_rows, 2, rounds, mask, first);
                        states!(f64, Term::Product, n_rows, 1, rounds, mask, first);
                        states!(f64, Term::Product, n_rows, 2, rounds, mask, first);
                    }
                    for term in terms {
                        for rounds in
                            [[1, 0, n_terms], [1, 3, n_terms], [0, 2, n_terms], [4, 2, n_terms]]
                        {
                            states!(f32, term, n_rows, 1, rounds, mask, None::<i64>);
                            states!(f32, term, n_rows, 2, rounds, mask, None::<i64>);
                            states!(f64, term, n_rows, 1, rounds, mask, None::<i64>);
                            states!(f64, term, n_rows, 2, rounds, mask, None::<i64>);
                        }
                    }
                }
            }
        }
    }
}
