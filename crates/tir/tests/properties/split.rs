//! `split_clauses` against the rule it implements, point by point: the textually last clause
//! whose domain holds the point and whose guard holds there defines it.

use std::collections::HashMap;

use einlang_index::Var;
use einlang_tir::constant::Const;
use einlang_tir::module::{Binding, Module};
use einlang_tir::op::Op;
use einlang_tir::passes::{Ctx, split_clauses};
use einlang_tir::region::{Arg, InstKind, Region};
use einlang_tir::text::parse_module;
use einlang_tir::types::Elem;
use proptest::prelude::*;

use crate::generate::Dice;

const SIZE: i64 = 5;

/// A rank-2 binding with random boxes and guards; clause `n` yields `n`.
fn random(dice: &mut Dice) -> Module {
    let n_clauses = 2 + dice.below(3);
    let mut text = format!("module m {{ binding a: i32[i < {SIZE}, j < {SIZE}] {{\n");
    for at in 0..n_clauses {
        let (low, high) = (dice.below(3), 2 + dice.below(3));
        let (index, other) = if dice.one_in(2) { ("i", "j") } else { ("j", "i") };
        let conditions = match dice.below(4) {
            0 => format!("{index} = {low} and 0 <= {other} < {SIZE}"),
            1 => format!("0 <= i < {SIZE} and 0 <= j <= i"),
            2 => format!("0 <= i < {SIZE} and 0 <= j < {SIZE} and (i + j) mod 2 = 0"),
            _ => format!("{low} <= {index} <= {high} and 0 <= {other} <= 3"),
        };
        let guard = match dice.below(3) {
            0 => {
                let (g, h, c) = (10 * at, 10 * at + 1, 10 * at + 2);
                let modulus = 2 + dice.below(2);
                format!(
                    "where {{ %{g}: i32 = index i + 2*j; %{h}: i32 = rem %{g}, {modulus}i32;
                     %{c}: bool = eq %{h}, 0i32; yield %{c}; }}"
                )
            }
            _ => String::new(),
        };
        text += &format!("clause {{ [i, j] : {conditions} }} {guard} {{ yield {at}i32; }}\n");
    }
    text += "} output a; }";
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The first result of a region of indices, remainders, comparisons and branches.
fn eval(region: &Region, at: &dyn Fn(Var) -> i64, known: &mut HashMap<u32, Const>) -> Const {
    let get = |arg: &Arg, known: &HashMap<u32, Const>| match arg {
        Arg::Const(constant) => *constant,
        Arg::Value(value) => known[&value.number],
        Arg::Tensor(_) => unreachable!("no tensors here"),
    };
    for inst in &region.insts {
        let value = match &inst.kind {
            InstKind::Index(expr) => Const::int(Elem::I32, expr.eval(at).expect("small and known")),
            InstKind::Op(op, args) => {
                let args: Vec<Const> = args.iter().map(|arg| get(arg, known)).collect();
                let (a, b) = (
                    args[0].as_int().expect("small and known"),
                    args[1].as_int().expect("small and known"),
                );
                match op {
                    Op::Rem => Const::int(Elem::I32, a % b),
                    _ => Const::bool(a == b),
                }
            }
            InstKind::If { condition, then, otherwise } => {
                let holds = get(condition, known).as_bool().expect("small and known");
                eval(if holds { then } else { otherwise }, at, known)
            }
            other => unreachable!("{other:?}"),
        };
        known.insert(inst.results[0].as_scalar().expect("small and known").number, value);
    }
    get(&region.results[0], known)
}

/// Each clause that covers a point, with what it yields there.
fn covering(binding: &Binding, point: [i64; 2]) -> Vec<Const> {
    let dims = binding.dims();
    let at = |var: Var| if var == dims[0] { point[0] } else { point[1] };
    let holds =
        |guard: &Region| eval(guard, &at, &mut HashMap::new()).as_bool().expect("small and known");
    let clauses = binding.clauses.iter().filter(|clause| {
        clause.domain.contains(&point, &|_| 0).expect("small and known")
            && clause.guard.as_ref().is_none_or(holds)
    });
    clauses.map(|clause| eval(&clause.body, &at, &mut HashMap::new())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn splitting_keeps_every_point(seed: u64) {
        let mut module = random(&mut Dice::new(seed));
        let before = module.groups[0].bindings[0].clone();
        prop_assert_eq!(split_clauses(&mut module, &Ctx::default()), Ok(()));
        prop_assert!(module.properties.disjoint);
        let after = &module.groups[0].bindings[0];
        for point in (0..SIZE).flat_map(|i| (0..SIZE).map(move |j| [i, j])) {
            let (old, new) = (covering(&before, point), covering(after, point));
            prop_assert!(new.len() <= 1, "{:?}: {:?}\n{}", point, new, module);
            prop_assert_eq!(old.last(), new.last(), "{:?}\n{}", point, module);
        }
    }
}
