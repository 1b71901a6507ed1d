//! "Did you mean": the known name that a misspelt one was probably meant to be.
//!
//! A suggestion is worth its line only if it is nearly always right, so about one slip per three
//! letters is forgiven and no more. The answer does not depend on the order of the candidates,
//! which often come out of a hash map.

/// Names longer than this are compared only up to letter case: nobody types them by hand, and the
/// distance costs time and memory with the product of both lengths.
const LONGEST_NAME: usize = 100;

/// The candidate closest to `wanted`, or nothing when none is close.
///
/// A candidate that differs in letter case only wins over everything; then the fewest slips
/// (Damerau–Levenshtein) count, then the same first letter, then the alphabet. One-letter names
/// are all neighbours of each other, so for them only another letter case is suggested.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ranked = candidates.into_iter().filter_map(|name| Some((rank(wanted, name)?, name)));
    ranked.min().map(|(_, name)| name)
}

/// How far a candidate is from the wanted name; less is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    OtherCase,
    Slips { n_slips: usize, other_initial: bool },
}

fn rank(wanted: &str, name: &str) -> Option<Rank> {
    if name == wanted {
        return None;
    }
    if name.to_lowercase() == wanted.to_lowercase() {
        return Some(Rank::OtherCase);
    }
    let n_slips = slips(wanted, name)?;
    let other_initial = wanted.chars().next() != name.chars().next();
    Some(Rank::Slips { n_slips, other_initial })
}

/// The number of slips between two names, if it is small enough to believe in.
fn slips(wanted: &str, name: &str) -> Option<usize> {
    let (n_wanted, n_name) = (wanted.chars().count(), name.chars().count());
    let allowed = (n_wanted / 3).max(1);
    let comparable = n_wanted.min(n_name) > 1 && n_wanted <= LONGEST_NAME;
    if !comparable || n_wanted.abs_diff(n_name) > allowed {
        return None;
    }
    Some(strsim::damerau_levenshtein(wanted, name)).filter(|n_slips| *n_slips <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(wanted, candidates.iter().copied()), expected);
        assert_eq!(nearest(wanted, candidates.iter().rev().copied()), expected, "in any order");
    }

    #[test]
    fn a_slip_is_recognised() {
        check("lenght", &["length", "height", "width"], Some("length"));
        check("softmx", &["softmax", "softplus"], Some("softmax"));
        check("sum", &["prod", "sun", "argmax"], Some("sun"));
    }

    #[test]
    fn what_is_far_is_not_suggested() {
        check("tensor", &["matrix", "x", ""], None);
        check("", &["a", ""], None);
        check("ab", &["cd", "abcd"], None);
    }

    #[test]
    fn letter_case_comes_first() {
        check("Relu", &["elu", "relu", "Relo"], Some("relu"));
        check("ÄB", &["äb", "AB"], Some("äb"));
    }

    #[test]
    fn one_letter_names_differ_in_case_only() {
        check("x", &["y", "z", "xs"], None);
        check("x", &["y", "X"], Some("X"));
        check("xs", &["x", "s"], None);
    }

    #[test]
    fn ties_prefer_the_first_letter_and_then_the_alphabet() {
        check("bat", &["cat", "bar"], Some("bar"));
        check("bat", &["cat", "rat"], Some("cat"));
    }

    #[test]
    fn the_name_itself_is_no_suggestion() {
        check("grad", &["grad"], None);
        check("grad", &["grad", "grand"], Some("grand"));
    }

    #[test]
    fn very_long_names_are_cheap() {
        let (long, longer) = ("a".repeat(100_000), "a".repeat(100_001));
        check(&long, &[&longer], None);
        check(&long, &[&long.to_uppercase()], Some(&long.to_uppercase()));
    }
}
