//! What is not written out where code is made quickly.
//!
//! Rounds of loops that go together are no copies (`jam_rounds`), lanes are emitted once, with a mask, and sums in
//! tiles are called. A large kernel has only the shortest of its loops written out and calls what stores lanes that lie apart. All of that is less to
//! translate, and code that keeps in memory what lives longer than a block gains little by it. How much more thorough
//! code would be is counted, since its size decides which of the two comes first.
//!
//! Invariant: what is computed is the same to the bit.

use crate::tiers::{Quality, Sums};

/// About how many instructions a statement becomes.
const PER_STATEMENT: usize = 5;

/// The most statements that a loop becomes that is written out.
const MOST_STATEMENTS: usize = 256;

/// The same in a large kernel that is made quickly.
const FEW_STATEMENTS: usize = 32;

/// What is not written out, and what was spared by that.
pub(super) struct Spared {
    /// Whether sums of products are called.
    pub(super) calls_chains: bool,
    /// The most statements that a loop becomes that is written out.
    pub(super) most_statements: usize,
    /// Whether stores of lanes that lie apart are called.
    pub(super) calls_scatters: bool,
    /// Whether lanes have masks even where they fill whole vectors, so that they are emitted once.
    pub(super) masks_all: bool,
    /// Whether quotients by constants are products: otherwise LLVM makes them so.
    pub(super) multiplies: bool,
    /// Whether places are found before loops: otherwise LLVM finds them there.
    pub(super) finds_places: bool,
    /// Whether some sum was called.
    pub(super) has_chains: bool,
    /// Whether rounds would go together, so that other code has tiles.
    has_tiles: bool,
    /// About how many instructions there are less.
    pub(super) n_instructions: usize,
}

impl Spared {
    /// Nothing so far but statements of rounds that do not go together.
    pub(super) fn new(quality: Quality, is_large: bool, n_statements: usize) -> Spared {
        let is_quick = quality == Quality::Quick;
        Spared {
            calls_chains: is_quick,
            most_statements: if is_quick && is_large { FEW_STATEMENTS } else { MOST_STATEMENTS },
            calls_scatters: is_quick && is_large,
            masks_all: is_quick,
            multiplies: is_quick,
            finds_places: is_quick,
            has_chains: false,
            has_tiles: n_statements > 0,
            n_instructions: PER_STATEMENT * n_statements,
        }
    }

    /// Takes note of a sum that is called, with so many statements in a round, and the number of rounds if they are few.
    pub(super) fn note_chain(&mut self, n_statements: usize, n_rounds: Option<usize>) {
        let written_out = n_rounds.and_then(|n| n.checked_mul(n_statements));
        let written_out = written_out.filter(|n| *n <= MOST_STATEMENTS);
        self.has_chains = true;
        self.n_instructions += PER_STATEMENT * written_out.unwrap_or(n_statements);
    }

    /// What becomes of sums: where some are called, they are most of the work.
    pub(super) fn sums(&self) -> Sums {
        match (self.has_chains, self.has_tiles) {
            (true, _) => Sums::Called,
            (false, true) => Sums::OfTiles,
            (false, false) => Sums::Usual,
        }
    }

    /// Takes note of lanes that are emitted once, with so many statements.
    pub(super) fn note_lanes(&mut self, n_statements: usize) {
        self.n_instructions += PER_STATEMENT * n_statements.max(1);
    }

    /// Takes note of a store that is called.
    pub(super) fn note_scatter(&mut self) {
        self.n_instructions += PER_STATEMENT;
    }

    /// Takes note of a loop that stays one, with so many rounds of so many statements in all.
    pub(super) fn note_loop(&mut self, n_rounds: usize, n_statements: usize) {
        if (self.most_statements + 1..=MOST_STATEMENTS).contains(&n_statements) {
            let once = n_statements / n_rounds.max(1);
            self.n_instructions += PER_STATEMENT * (n_statements - once).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_stay_are_counted_if_thorough_code_has_none() {
        let mut spared = Spared::new(Quality::Quick, true, 0);
        spared.note_loop(4, FEW_STATEMENTS);
        spared.note_loop(4, MOST_STATEMENTS + 1);
        assert_eq!(spared.n_instructions, 0, "it is the same in both");
        spared.note_loop(4, 100);
        assert_eq!(spared.n_instructions, PER_STATEMENT * 75);
        assert!(!spared.has_chains);
    }

    #[test]
    fn short_sums_that_are_called_would_be_written_out() {
        for (n_rounds, n_statements) in [(None, 10), (Some(8), 80), (Some(100), 10)] {
            let mut spared = Spared::new(Quality::Quick, true, 0);
            spared.note_chain(10, n_rounds);
            assert!(spared.has_chains);
            assert_eq!(spared.n_instructions, PER_STATEMENT * n_statements, "{n_rounds:?}");
        }
    }

    #[test]
    fn small_kernels_and_thorough_ones_have_their_loops_written_out() {
        for (quality, is_large) in
            [(Quality::Quick, false), (Quality::Thorough, false), (Quality::Thorough, true)]
        {
            let spared = Spared::new(quality, is_large, 0);
            assert_eq!((spared.most_statements, spared.calls_scatters), (MOST_STATEMENTS, false));
        }
        let mut spared = Spared::new(Quality::Quick, true, 0);
        assert_eq!((spared.most_statements, spared.calls_scatters), (FEW_STATEMENTS, true));
        spared.note_scatter();
        assert!(spared.n_instructions > 0, "thorough code has to be emitted again");
    }
}
