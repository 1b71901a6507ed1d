//! No text makes a reader or the verifier panic.

use einlang_tir::host::parse_program;
use einlang_tir::text::parse_module;
use einlang_tir::verify::verify;
use proptest::prelude::*;

use crate::generate::{Dice, module};

/// The text with some bytes deleted, doubled or replaced by signs of the grammar.
fn mutated(dice: &mut Dice, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(4) {
        let at = dice.below(chars.len());
        match dice.below(3) {
            0 => drop(chars.remove(at)),
            1 => chars.insert(at, chars[at]),
            _ => chars[at] = ['{', '}', '[', '%', ';', '0', '`', '"', 'i', '-'][dice.below(10)],
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn mutated_texts_are_read_or_refused(seed: u64) {
        let mut dice = Dice::new(seed);
        let text = module(&mut dice).to_string();
        let text = mutated(&mut dice, &text);
        if let Ok(module) = parse_module(&text) {
            let _ = verify(&module);
            let again = module.to_string();
            prop_assert_eq!(parse_module(&again), Ok(module), "{}", again);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}") {
        let _ = parse_module(&text);
        let _ = parse_module(&format!("module m {{ {text} }}"));
        let _ = parse_program(&format!("program {{ {text} }}"));
    }
}

#[test]
fn errors_name_line_and_column() {
    let error = parse_module("module m {\n  symbol N\n}").unwrap_err();
    assert_eq!(error.to_string(), "line 3, column 1: expected `;`, found `}`");
    let error = parse_module("module m {\n  assume Q >= 1;\n}").unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 10: `Q` is neither an index nor a symbol");
}
