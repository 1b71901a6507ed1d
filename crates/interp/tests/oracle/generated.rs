//! The oracle against a naive evaluation of random modules.
//!
//! The naive one walks the IR itself, by names, with tables of its own and plain recursion; it
//! knows nothing of slots, stacks or ranges. Every point of every binding must be the same number
//! or stop with the same code.

#[path = "../../../tir/tests/properties/generate.rs"]
mod generate;
mod naive;

use einlang_interp::options::Options;
use einlang_interp::oracle::Oracle;
use einlang_interp::tensor::{Storage, TensorValue};
use einlang_tir::constant::Const;
use einlang_tir::module::Module;
use einlang_tir::verify::verify;
use proptest::prelude::*;

use self::generate::Dice;
use self::naive::Naive;

/// Inputs of the declared shapes with small numbers.
fn inputs(module: &Module, arguments: &[i64], dice: &mut Dice) -> Vec<TensorValue> {
    let symbol = |var: einlang_index::Var| arguments[var.number()];
    let tensor = |input: &einlang_tir::region::Tensor| {
        let extent = |dim: &einlang_tir::types::Dim| dim.extent.eval(&symbol).expect("small");
        let shape: Vec<usize> =
            input.ty.dims.iter().map(|dim| extent(dim).max(0) as usize).collect();
        let mut data = Storage::with_capacity(input.ty.elem, 0);
        for _ in 0..shape.iter().product() {
            data.push_bits(Const::float(input.ty.elem, dice.below(9) as f64 - 3.0).bits());
        }
        TensorValue::new(shape, data).expect("it fits")
    };
    module.inputs.iter().map(tensor).collect()
}

/// Compares all points of all bindings; how many were numbers.
fn compare(module: &Module, dice: &mut Dice) -> Result<usize, TestCaseError> {
    let arguments: Vec<i64> = module.symbols.iter().map(|_| 1 + dice.below(4) as i64).collect();
    let inputs = inputs(module, &arguments, dice);
    let naive = Naive::new(module, &inputs, &arguments);
    let options = Options { steps: Some(1_000_000), ..Options::default() };
    let oracle = Oracle::new(module, inputs.clone(), arguments, &options);
    let mut oracle = oracle.map_err(|stop| TestCaseError::fail(stop.to_string()))?;
    let mut n_numbers = 0;
    for binding in module.bindings() {
        for point in naive.points(binding) {
            let got = oracle.point(binding.name.as_str(), &point);
            let want = naive.point(binding.name.as_str(), &point);
            let place = format!("{}{point:?} of\n{module}", binding.name.as_str());
            match (got, want) {
                // Some modules take too long for a test.
                (_, Err(code)) if code == "fuel" => return Ok(n_numbers),
                (Err(stop), _) if stop.code.as_str() == "E0803" => return Ok(n_numbers),
                (Ok(got), Ok(want)) => {
                    let show = |bits: Option<u64>| {
                        bits.map(|bits| Const::from_bits(binding.elem, bits).to_string())
                    };
                    // All NaNs are one.
                    let is_nan = |text: &Option<String>| {
                        text.as_ref().is_some_and(|t| t.contains("nan") || t.starts_with("0x"))
                    };
                    let (got, want) = (show(got), show(want));
                    prop_assert!(
                        got == want || is_nan(&got) && is_nan(&want),
                        "{got:?} {want:?} {place}"
                    );
                    n_numbers += 1;
                }
                // Which read of a data-dependent order is too early is the oracle's to say.
                (Err(stop), _) if stop.code.as_str() == "E0504" => {}
                (Err(stop), Err(code)) => {
                    let cycle = |code: &str| ["E0204", "E0503", "E0504"].contains(&code);
                    let same =
                        stop.code.as_str() == code || cycle(stop.code.as_str()) && cycle(&code);
                    prop_assert!(same, "{stop} {code} {place}");
                }
                (got, want) => prop_assert!(false, "{got:?} {want:?} {place}"),
            }
        }
    }
    Ok(n_numbers)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_modules_mean_what_the_naive_evaluation_says(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let module = generate::module(&mut dice);
        prop_assume!(verify(&module).is_empty());
        compare(&module, &mut dice)?;
    }
}

#[test]
fn enough_of_the_random_modules_give_numbers() {
    let mut total = 0;
    for seed in 0..60 {
        let mut dice = Dice::new(seed * 7919 + 3);
        let module = generate::module(&mut dice);
        if verify(&module).is_empty() {
            total += compare(&module, &mut dice).unwrap_or_else(|error| panic!("{seed}: {error}"));
        }
    }
    assert!(total > 100, "{total}");
}
