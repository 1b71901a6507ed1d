//! Where choices come from: a seed, or a string of bytes.
//!
//! Invariants: alternatives are numbered from the smallest, and bytes of smaller value choose
//! smaller alternatives; when the bytes run out, every further choice is the smallest. Therefore
//! whoever shortens the bytes or lowers their values, as proptest and libFuzzer do, gets a smaller
//! program.

/// A stream of choices.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    stream: Stream<'a>,
}

#[derive(Clone, Debug)]
enum Stream<'a> {
    /// The state of a generator that never ends.
    Seed(u64),
    /// What is left of the bytes.
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// An endless stream; equal seeds give equal choices on every machine.
    pub fn from_seed(seed: u64) -> Source<'static> {
        Source { stream: Stream::Seed(seed) }
    }

    /// A stream that chooses the smallest alternative once the bytes are spent.
    pub fn from_bytes(bytes: &'a [u8]) -> Source<'a> {
        Source { stream: Stream::Bytes(bytes) }
    }

    /// A number from 0 to `n - 1`; 0 when `n` is 0 or 1, without drawing anything.
    pub fn below(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        let n_bytes = if n <= 1 << 8 {
            1
        } else if n <= 1 << 16 {
            2
        } else {
            8
        };
        let drawn = (0..n_bytes).fold(0_u128, |drawn, _| drawn << 8 | u128::from(self.byte()));
        // Scaling keeps the order of the drawn numbers, which a remainder would not.
        ((drawn * n as u128) >> (8 * n_bytes)) as usize
    }

    /// An integer from `low` to `high`, both included; `low` is the smallest choice.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high, "a range of choices is never empty");
        low + self.below((high - low) as usize + 1) as i64
    }

    /// True in one of `n` cases; false is the smaller choice.
    pub fn one_in(&mut self, n: usize) -> bool {
        n <= 1 || self.below(n) == n - 1
    }

    /// True in half of the cases; false is the smaller choice.
    pub fn flip(&mut self) -> bool {
        self.one_in(2)
    }

    /// One of the alternatives; the first is the smallest.
    pub fn pick<T: Copy>(&mut self, alternatives: &[T]) -> T {
        alternatives[self.below(alternatives.len())]
    }

    fn byte(&mut self) -> u8 {
        match &mut self.stream {
            Stream::Seed(state) => (split_mix(state) >> 56) as u8,
            Stream::Bytes(bytes) => match bytes.split_first() {
                Some((first, rest)) => {
                    *bytes = rest;
                    *first
                }
                None => 0,
            },
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and good from the first number on.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spent_bytes_choose_the_smallest() {
        let mut source = Source::from_bytes(&[255]);
        assert_eq!(source.below(10), 9);
        assert_eq!(source.below(10), 0);
        assert_eq!(source.between(-3, 3), -3);
        assert!(!source.flip() && !source.one_in(7));
        assert_eq!(source.pick(&["first", "second"]), "first");
    }

    #[test]
    fn smaller_bytes_choose_smaller_alternatives() {
        for n in [2, 3, 7, 200, 256] {
            let choices = (0..=255).map(|byte| Source::from_bytes(&[byte]).below(n));
            let choices: Vec<usize> = choices.collect();
            assert!(choices.is_sorted());
            assert_eq!((choices[0], choices[255]), (0, n - 1));
        }
    }

    #[test]
    fn seeds_reach_every_alternative_and_repeat() {
        let mut source = Source::from_seed(1);
        let mut counts = [0_usize; 5];
        for _ in 0..1000 {
            counts[source.below(5)] += 1;
        }
        assert!(counts.iter().all(|&n| n > 100), "{counts:?}");
        let mut again = Source::from_seed(9);
        let mut same = again.clone();
        assert_eq!(again.below(1 << 40), same.below(1 << 40));
    }
}
