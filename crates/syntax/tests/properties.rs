//! What holds for every text: the parser never panics, loses nothing, builds a sound tree and
//! points at real places; and what holds for well-formed ones: no complaint, and operators that
//! bind as the language reference says.
//!
//! Programs are drawn from bytes, so a failing case shrinks to a small program. Longer hunts:
//! `PROPTEST_CASES=100000 cargo test -p einlang-syntax --test properties`.

use std::fmt::Debug;

use einlang_syntax::SyntaxKind;
use einlang_testkit::fixtures::diff;
use einlang_testkit::generate::syntax::{Options, Parentheses, expression_with, file, file_with};
use einlang_testkit::generate::{Size, Source};
use einlang_testkit::invariants::{check, check_clean};
use einlang_testkit::mutate::Mutator;
use einlang_testkit::shape::shape;
use proptest::prelude::*;

/// What a generator makes of random bytes. Shrinking works on the bytes.
fn made<T: Debug>(most: usize, make: impl Fn(&mut Source<'_>) -> T) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u8>(), 0..most)
        .prop_map(move |bytes| make(&mut Source::from_bytes(&bytes)))
}

/// One program twice: with parentheses where they are needed, and everywhere.
fn both_ways(
    write: fn(&mut Source<'_>, Options) -> String,
    size: Size,
) -> impl Fn(&mut Source<'_>) -> [String; 2] {
    move |source| {
        let mut again = source.clone();
        let needed = write(source, Options::plain(size, Parentheses::Needed));
        [needed, write(&mut again, Options::plain(size, Parentheses::Everywhere))]
    }
}

/// A program with a few small mistakes.
fn mutated(source: &mut Source<'_>) -> String {
    let n_mistakes = 1 + source.below(4);
    let mut mistakes = Source::from_seed(source.below(usize::MAX) as u64);
    let mut text = file(source, Size::MEDIUM);
    for _ in 0..n_mistakes {
        if let Some(mutation) = Mutator::new(&text).random(&mut mistakes) {
            text = mutation.text;
        }
    }
    text
}

/// Pieces of text that a token soup is made of: every token, and beginnings without their end.
fn pieces() -> Vec<&'static str> {
    let fixed = SyntaxKind::ALL.iter().filter_map(|kind| kind.fixed_text());
    let others = [
        "x", "T", "until", "max", "from", "jagged", "1", "2.5", "0x", "1e", "7i64", "\"", "\"a\"",
        "\"{x}\"", "\"{", "}\"", "\"{x:", "{{", "\\", "// c\n", "/// d\n", "/* c */", "/*", "*/",
        "\n", "\n\n", " ", "\t", "\r\n", "é", "€", "“", "\u{feff}", "\u{0}", "^", "&", "'", "$",
    ];
    fixed.chain(others).collect()
}

/// Random pieces, touching or apart.
fn token_soup(most: usize) -> impl Strategy<Value = String> {
    let piece = (prop::sample::select(pieces()), any::<bool>());
    prop::collection::vec(piece, 0..most).prop_map(|pieces| {
        let spaced = pieces.into_iter().map(|(text, apart)| match apart {
            true => format!("{text} "),
            false => text.to_string(),
        });
        spaced.collect()
    })
}

/// So many cases, unless the environment asks for another number. Failures are repaired and become
/// fixtures; no file of seeds is kept.
fn cases(usual: u32) -> ProptestConfig {
    let from_environment = ProptestConfig::default();
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_asked { from_environment.cases } else { usual };
    ProptestConfig { cases, failure_persistence: None, ..from_environment }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn arbitrary_bytes_parse(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_characters_parse(text in ".{0,200}") {
        check(&text);
    }

    #[test]
    fn token_soup_parses(text in token_soup(60)) {
        check(&text);
    }

    #[test]
    fn generated_files_are_clean(text in made(800, |source| file(source, Size::MEDIUM))) {
        check_clean(&text);
    }

    #[test]
    fn mutated_programs_parse(text in made(600, mutated)) {
        check(&text);
    }

    #[test]
    fn needed_parentheses_suffice(texts in made(400, both_ways(file_with, Size::MEDIUM))) {
        same_shape(&texts);
    }

    #[test]
    fn operators_bind_as_documented(texts in made(60, both_ways(expression_with, Size::SMALL))) {
        same_shape(&texts);
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn long_token_soup_parses(text in token_soup(8000)) {
        check(&text);
    }

    #[test]
    fn long_files_are_clean(seed in any::<u64>()) {
        check_clean(&file(&mut Source::from_seed(seed), Size::LARGE));
    }
}

/// The formatter over the same texts; its layout has tests of its own.
mod formatter {
    use super::*;
    use einlang_testkit::invariants::check_format;

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn keeps_what_files_say(text in made(800, |source| file(source, Size::MEDIUM))) {
            check_format(&text);
        }

        #[test]
        fn keeps_what_mutated_files_say(text in made(400, mutated)) {
            check_format(&text);
        }

        #[test]
        fn keeps_token_soup(text in token_soup(60)) {
            check_format(&text);
        }
    }
}

fn same_shape(texts: &[String; 2]) {
    let [needed, everywhere] = texts.each_ref().map(|text| shape(&check_clean(text).parse.tree));
    let difference = diff(&everywhere, &needed);
    assert!(needed == everywhere, "{}\nis not\n{}\n{difference}", texts[0], texts[1]);
}
