//! Chains of fused products that need no compiling.
//!
//! The sums in the tiles of a contraction are always the same code: each term loads some lanes, and adds to
//! the state of each row their products with one element of that row. Code that is made quickly would keep the
//! states in memory; so it calls this instead, which was compiled with the compiler. Code that is made
//! thoroughly has its own.
//!
//! Invariant: every lane of every state goes through its terms in order, each rounded once, which are the bits
//! that any other code of the same chain computes. Only for processors with masks (`optimise::has_masks`).

#![allow(unsafe_code)]

use std::ffi::c_void;

/// What is added up, as code writes it: one word for each field, followed by the places of all rows and those
/// of all states.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Chains {
    /// 32 or 64.
    bits: u64,
    /// How many vectors a state has.
    n_vectors: u64,
    n_rows: u64,
    n_terms: i64,
    /// How many bytes lie between two terms of a row.
    row_step: i64,
    /// The lanes of the first term.
    lanes: *const u8,
    /// How many bytes lie between the lanes of two terms.
    lane_step: i64,
    /// How many rounds of so many terms there are.
    n_rounds: i64,
    /// How many bytes lie between the first terms of two rounds, of a row and of lanes.
    round_row_step: i64,
    round_lane_step: i64,
    /// The lanes that are loaded; others are zero.
    mask: u64,
    /// Whether a term counts from some lane on, which is the next one for the next term.
    is_below: u64,
    /// That lane of the first term, which may be none.
    first: i64,
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

    use super::Chains;

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

    macro_rules! tiles {
        ($all:ident, $tile:ident, $elem:ty, $mask:ty, $zero:ident, $splat:ident, $load:ident, $load_some:ident,
         $store:ident, $fma:ident, $fma_some:ident) => {
            unsafe fn $all(
                of: &Chains,
                rows: *const *const u8,
                states: *const *mut u8,
                n_rows: usize,
            ) {
                // SAFETY: as the caller says; the rows are as many as the tile has.
                unsafe {
                    match (n_rows, of.n_vectors, of.is_below != 0) {
                        (12, 1, false) => $tile::<12, 1, false>(of, rows, states),
                        (12, 1, true) => $tile::<12, 1, true>(of, rows, states),
                        (12, _, false) => $tile::<12, 2, false>(of, rows, states),
                        (12, _, true) => $tile::<12, 2, true>(of, rows, states),
                        (8, 1, false) => $tile::<8, 1, false>(of, rows, states),
                        (8, 1, true) => $tile::<8, 1, true>(of, rows, states),
                        (8, _, false) => $tile::<8, 2, false>(of, rows, states),
                        (8, _, true) => $tile::<8, 2, true>(of, rows, states),
                        (4, 1, false) => $tile::<4, 1, false>(of, rows, states),
                        (4, 1, true) => $tile::<4, 1, true>(of, rows, states),
                        (4, _, false) => $tile::<4, 2, false>(of, rows, states),
                        (4, _, true) => $tile::<4, 2, true>(of, rows, states),
                        (_, 1, false) => $tile::<1, 1, false>(of, rows, states),
                        (_, 1, true) => $tile::<1, 1, true>(of, rows, states),
                        (_, _, false) => $tile::<1, 2, false>(of, rows, states),
                        (_, _, true) => $tile::<1, 2, true>(of, rows, states),
                    }
                }
            }

            /// Chains of so many rows and vectors, of which terms may count from some lane on only.
            #[target_feature(enable = "avx512f")]
            unsafe fn $tile<const ROWS: usize, const VECTORS: usize, const IS_BELOW: bool>(
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
                    let (mut lanes, mut offset, mut first) = (of.lanes, 0, of.first);
                    let rest = |step: i64, by: i64| step.wrapping_sub(by.wrapping_mul(of.n_terms));
                    let next_row = rest(of.round_row_step, of.row_step) as isize;
                    let next_lanes = rest(of.round_lane_step, of.lane_step) as isize;
                    let n_terms = of.n_terms.max(0);
                    for _ in 0..if n_terms == 0 { 0 } else { of.n_rounds } {
                        for _ in 0..n_terms {
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
                                let by = $splat(*rows[row].wrapping_offset(offset).cast::<$elem>());
                                for (at, sum) in sums.iter_mut().enumerate() {
                                    *sum = match IS_BELOW {
                                        true => $fma_some(by, terms[at], *sum, counts[at]),
                                        false => $fma(by, terms[at], *sum),
                                    };
                                }
                            }
                            lanes = lanes.wrapping_offset(of.lane_step as isize);
                            offset += of.row_step as isize;
                            first += 1;
                        }
                        lanes = lanes.wrapping_offset(next_lanes);
                        offset += next_row;
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

    tiles!(
        single,
        single_tile,
        f32,
        __mmask16,
        _mm512_setzero_ps,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_maskz_loadu_ps,
        _mm512_storeu_ps,
        _mm512_fmadd_ps,
        _mm512_mask3_fmadd_ps
    );
    tiles!(
        double,
        double_tile,
        f64,
        __mmask8,
        _mm512_setzero_pd,
        _mm512_set1_pd,
        _mm512_loadu_pd,
        _mm512_maskz_loadu_pd,
        _mm512_storeu_pd,
        _mm512_fmadd_pd,
        _mm512_mask3_fmadd_pd
    );
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::is_x86_feature_detected;

    use super::*;

    /// Adds up chains of floats with a number of rows and vectors, and tells the bits of all states before and after.
    macro_rules! states {
        ($elem:ty, $n_rows:expr, $n_vectors:expr, $n_rounds:expr, $n_terms:expr, $mask:expr, $first:expr) => {{
            let (n_rows, n_terms) = ($n_rows, ($n_rounds * $n_terms) as usize);
            let width = $n_vectors * 64 / size_of::<$elem>();
            let number = |at: usize| ((at * 7919) % 1013) as $elem / 17.0 - 29.0;
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
                    let by = if is_loaded { lanes[term * (width + 3) + lane] } else { 0.0 };
                    if counts {
                        *state = rows[row * n_terms + n_terms - 1 - term].mul_add(by, *state);
                    }
                }
            }
            let bytes = size_of::<$elem>() as i64;
            let of = Chains {
                bits: 8 * bytes as u64,
                n_vectors: $n_vectors as u64,
                n_rows: n_rows as u64,
                n_terms: $n_terms,
                n_rounds: $n_rounds,
                round_row_step: -bytes * $n_terms,
                round_lane_step: (width as i64 + 3) * bytes * $n_terms,
                row_step: -bytes,
                lanes: lanes.as_ptr().cast(),
                lane_step: (width as i64 + 3) * bytes,
                mask: $mask,
                is_below: u64::from($first.is_some()),
                first: $first.unwrap_or(0),
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
            let bits = |all: &[$elem]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&states),
                bits(&right),
                "{n_rows} rows, {width} lanes, {n_terms} terms"
            );
        }};
    }

    #[test]
    fn chains_are_rounded_term_by_term() {
        if !is_x86_feature_detected!("avx512f") {
            return;
        }
        for n_rows in [1, 3, 4, 7, 12, 23] {
            for n_terms in [0_i64, 1, 2, 37] {
                for mask in [u64::MAX, 0x1ff, 1] {
                    for first in
                        [None, Some(-40), Some(-3_i64), Some(0), Some(9), Some(i64::MAX / 2)]
                    {
                        states!(f32, n_rows, 1, 1, n_terms, mask, first);
                        states!(f32, n_rows, 2, 1, n_terms, mask, first);
                        states!(f64, n_rows, 1, 1, n_terms, mask, first);
                        states!(f64, n_rows, 2, 1, n_terms, mask, first);
                    }
                    for n_rounds in [0, 3] {
                        states!(f32, n_rows, 2, n_rounds, n_terms, mask, None::<i64>);
                        states!(f64, n_rows, 1, n_rounds, n_terms, mask, None::<i64>);
                    }
                }
            }
        }
    }
}
