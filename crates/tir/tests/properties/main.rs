//! Properties of random modules: well formed by construction, so they verify, print, read back and
//! survive every pass; and `split_clauses` never changes which clause defines a point.

mod derivatives;
mod generate;
mod mutate;
mod order;
mod split;

use einlang_tir::passes::{Ctx, PASSES, run_passes};
use einlang_tir::text::parse_module;
use einlang_tir::verify::verify;
use generate::{Dice, module};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn well_formed_modules_verify_and_read_back(seed: u64) {
        let module = module(&mut Dice::new(seed));
        let text = module.to_string();
        prop_assert_eq!(verify(&module), vec![], "{}", text);
        prop_assert_eq!(parse_module(&text), Ok(module), "{}", text);
    }

    #[test]
    fn passes_keep_modules_well_formed(seed: u64) {
        let mut module = module(&mut Dice::new(seed));
        let ctx = Ctx { verify: true, ..Ctx::default() };
        let result = run_passes(&mut module, PASSES, &ctx, &mut |_, _| {});
        prop_assert_eq!(result, Ok(()), "{}", module);
        let text = module.to_string();
        prop_assert_eq!(parse_module(&text), Ok(module), "{}", text);
    }
}
