//! The sizes of the call that a plan is made for.
//!
//! They only choose among orders of the same sums: which axis runs in lanes, and how large a tile is. What is
//! made for some sizes is right for all others, and gives the same bits. Long axes have one of two lengths, so that
//! plans can be kept for later calls.

use std::cell::Cell;

use einlang_index::{Quasi, Var};
use einlang_tir::module::{Module, SymbolSource};
use rustc_hash::FxHashMap as HashMap;

use crate::threads::MOST_ON_STACK;

/// The least length of axes that are very long.
const VERY_LONG: i64 = 1024;

/// What a plan takes the length of an axis to be.
pub fn length_for_plans(length: i64) -> i64 {
    match length {
        ..=MOST_ON_STACK => length,
        VERY_LONG.. => VERY_LONG,
        _ => MOST_ON_STACK + 1,
    }
}

/// What is known of sizes, and whether anybody asked.
#[derive(Default)]
pub(crate) struct Sizes {
    known: HashMap<Var, i64>,
    /// Those that are computed from them.
    computed: HashMap<Var, i64>,
    asked: Cell<bool>,
}

impl Sizes {
    /// The sizes of a call, given by the shapes of its inputs.
    pub(crate) fn of(module: &Module, shapes: &[Vec<i64>]) -> Sizes {
        let mut sizes = Sizes::default();
        let is_called = shapes.len() == module.inputs.len();
        for symbol in module.symbols.iter().filter(|_| is_called) {
            match &symbol.source {
                SymbolSource::Shape(input, axis) => {
                    let number = module.inputs.iter().position(|of| of.name == *input);
                    let extent = number.and_then(|number| shapes[number].get(*axis));
                    let extent = extent.map(|extent| length_for_plans(*extent));
                    sizes.known.extend(extent.map(|extent| (symbol.var, extent)));
                }
                SymbolSource::Max(of) => {
                    let all: Option<Vec<i64>> = of.iter().map(|of| sizes.value(of)).collect();
                    let most = all.and_then(|all| all.into_iter().max());
                    sizes.computed.extend(most.map(|most| (symbol.var, most)));
                }
                SymbolSource::Min(of) => {
                    let all: Option<Vec<i64>> = of.iter().map(|of| sizes.value(of)).collect();
                    let least = all.and_then(|all| all.into_iter().min());
                    sizes.computed.extend(least.map(|least| (symbol.var, least)));
                }
                _ => {}
            }
        }
        sizes
    }

    /// The sizes of inputs, by their symbols.
    pub(super) fn known(&self) -> &HashMap<Var, i64> {
        &self.known
    }

    /// Whether a choice depended on them.
    pub(crate) fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// How long an axis of the call is, for a choice.
    pub(super) fn extent(&self, extent: &Quasi) -> Option<i64> {
        self.asked.set(true);
        self.value(extent)
    }

    fn value(&self, of: &Quasi) -> Option<i64> {
        let known = |var: Var| self.known.get(&var).or_else(|| self.computed.get(&var)).copied();
        let mut all = true;
        of.for_each_var(&mut |var| all &= known(var).is_some());
        let value = |var: Var| known(var).unwrap_or(0);
        all.then(|| of.eval(&value).ok()).flatten().and_then(|n| i64::try_from(n).ok())
    }
}
