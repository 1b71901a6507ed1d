//! What things cost, in one place: numbers that stand for a processor with vectors of 64 bytes.

/// The bytes of a vector.
pub(super) const VECTOR: u32 = 64;

/// The most lanes of a loop.
pub(super) const MOST_LANES: u32 = 64;

/// Fewer points than that are not worth lanes.
pub(super) const FEWEST_LANES: i64 = 3;

/// How much more often the terms of a reduction are computed than what is around it.
pub(super) const TERMS: f64 = 64.0;

/// An element that each lane finds somewhere else.
pub(super) const GATHERED: f64 = 1.5;

/// An element that a scalar loop loads, or an operation that it does.
pub(super) const SCALAR: f64 = 1.0;

/// The same in a sum whose terms lie next to each other: it is added in several partial sums.
pub(super) const IN_PARTS: f64 = 0.15;

/// In how many, so that one of fewer terms is none.
pub(super) const PARTS: i64 = 8;

/// A combination that waits for the one before it.
pub(super) const WAITING: f64 = 4.0;

/// A tile of a contraction in registers: vectors side by side, and rows that share them.
pub(super) const TILE_VECTORS: u32 = 2;
pub(super) const TILE_ROWS: i64 = 12;

/// So many rows of a tile take as long as the vectors that they share take to come from the second cache.
pub(super) const ROWS_OF_PANELS: f64 = 8.0;

/// A result with at most so many rows, of at most so many bytes each, reads its operands a few times only: packing
/// them would take longer than it saves.
pub(super) const FEW_ROWS: i64 = 8 * TILE_ROWS;
pub(super) const SHORT_ROW: i64 = 8 * VECTOR as i64;

/// The rows of an operand that stay in a cache while panels of the other pass by.
pub(super) const CACHED_ROWS: i64 = 48;

/// Where so many panels of lanes go through the rows of a tile, copying those costs less than finding each of them.
pub(super) const MANY_PANELS: i64 = 24;

/// And in a tile of rows that are in a cache anyway, where nothing else goes through them, so many.
pub(super) const FEWEST_PANELS: i64 = 4;

/// So many terms of a long sum, of elements of so many bytes, are added in one chain, and go outside of its points
/// together: what a panel of lanes has of them stays in the nearest caches.
pub(crate) const fn block_of_terms(bytes: u32) -> i64 {
    if bytes < 8 { 384 } else { 256 }
}

/// So many rows, of terms of so many bytes, then stay in a cache.
pub(super) const fn cached_rows_of_blocks(bytes: u32) -> i64 {
    if bytes < 8 { 72 } else { 48 }
}

/// In how many parts, at most, the next panel is fetched while one is in use.
pub(super) const AHEAD: i64 = 4;

/// The vectors side by side of a reduction without rows that share them.
pub(super) const LONE_VECTORS: u32 = 4;

/// The most reductions of a clause whose rows are computed together.
pub(super) const MOST_FOLDS: usize = 4;

/// The most points of a short axis that are computed together.
pub(super) const MOST_TOGETHER: i64 = 4;

/// The vectors of states of an ensemble that go through time together.
pub(super) const TILE_OF_STATES: i64 = 4;

/// So many of them take a step at once, if it has at most so many operations.
pub(super) const STATES_TOGETHER: u32 = 2;
pub(super) const SHORT_STEP: usize = 128;

/// A function such as an exponential, in operations.
pub(super) const SLOW: f64 = 20.0;

/// The rows of a softmax and the like that are computed together, as many as stay in a cache.
pub(super) const ROWS_TOGETHER: i64 = 48;

/// The bytes of the nearest cache.
pub(super) const NEAREST_CACHE: i64 = 32 << 10;

/// What a size counts as that is not a number of the program, where sizes of calls are not asked for.
pub(super) const UNKNOWN_SIZE: i64 = 16;
