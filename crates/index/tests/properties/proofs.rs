//! Proofs are never wrong, and everything in the documented fragments is decided.

use crate::domain_ops::quasi;
use crate::plain::*;
use einlang_index::{Affine, Constraint, Domain, Facts, Quasi, Set, Truth, Var, Vars, Verdict};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn proofs_are_right(a in bounded(2, 2, 3, 3), goal in quasi(), fact in -3..=4i64) {
        let mut w = world();
        let goal = Quasi::parse(&goal, &mut w.vars).unwrap();
        let mut facts = Facts::new();
        facts.assume(Constraint::Ge(Affine::new(-fact, [(w.n, 1)]).unwrap()));
        facts.assume(Constraint::Ge(Affine::new(4, [(w.n, -1)]).unwrap()));
        let domain = a.build(&w);
        let (i, j) = (w.dims[0], w.dims[1]);
        let mut used = Vec::new();
        let mut broken = Vec::new();
        for n in fact..=4 {
            let points = box_points(2).into_iter().filter(|p| a.holds(&full(p, n)));
            let points: Vec<Vec<i64>> = points.collect();
            let fails = |p: &Vec<i64>| {
                let value = |v: Var| if v == i { p[0] } else if v == j { p[1] } else { n };
                goal.eval(&value).unwrap() < 0
            };
            used.push(!points.is_empty());
            broken.push(points.iter().any(fails));
        }
        let holds = !broken.contains(&true);
        // Everything is bounded, so enumeration is the whole truth.
        let answer = facts.prove(&domain, &goal);
        prop_assert!(answer == Truth::of(Ok(holds)) || answer == Truth::Unknown);
        let verdict = match (holds, used == broken) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Fails,
            (false, false) => Verdict::Depends,
        };
        let judged = facts.judge(&domain, &goal);
        prop_assert!(judged == verdict || judged == Verdict::Unknown, "{:?} {:?}", judged, verdict);
    }

    /// Facts that contradict each other are found out, whatever they speak of.
    #[test]
    fn contradictions_are_found(a in bounded(2, 2, 3, 3), least in -3..=4i64) {
        let w = world();
        let between = [
            Constraint::Ge(Affine::new(-least, [(w.n, 1)]).unwrap()),
            Constraint::Ge(Affine::new(4, [(w.n, -1)]).unwrap()),
        ];
        let domain = a.build(&w);
        let impossible = domain.sets().iter().all(|set| {
            let facts = set.constraints().chain(between.iter().cloned());
            Facts::of(facts.collect()).are_impossible().is_true()
        });
        let has_point = |n: i64| box_points(2).iter().any(|p| a.holds(&full(p, n)));
        prop_assert_eq!(impossible, !(least..=4).any(has_point));
    }
}

/// `n` indices or symbols.
fn many(vars: &mut Vars, n: usize) -> Vec<Var> {
    (0..n).map(|k| vars.index(&format!("x{k}"))).collect()
}

fn two_variable(n_vars: usize) -> impl Strategy<Value = (usize, i64, usize, i64, i64, bool)> {
    let unit = prop_oneof![Just(1i64), Just(-1), Just(0)];
    let constant = prop_oneof![-20..=20i64, -(1i64 << 31)..=1 << 31];
    (0..n_vars, unit.clone(), 0..n_vars, unit, constant, prop::bool::weighted(0.1))
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn fragment_1_two_variables(
        list in prop::collection::vec(two_variable(16), 1..160),
        hidden in prop::option::of(prop::collection::vec(-99..99i64, 16)),
    ) {
        let mut vars = Vars::new();
        let x = many(&mut vars, 16);
        let constraints = list.iter().map(|&(a, ca, b, cb, k, equal)| {
            let terms = [(a, ca), (b, if a == b { 0 } else { cb })];
            // With a hidden point every constraint is moved so that the point satisfies it, which
            // keeps contradictions from cutting the work short.
            let constant = hidden.as_ref().map_or(k, |p| {
                let value: i64 = terms.iter().map(|(at, c)| c * p[*at]).sum();
                if equal { -value } else { k.rem_euclid(7) - value }
            });
            let expr = Affine::new(constant, terms.map(|(at, c)| (x[at], c))).unwrap();
            if equal { Constraint::Eq(expr) } else { Constraint::Ge(expr) }
        });
        let empty = Domain::new(x.clone(), Set::new(constraints).unwrap()).is_empty();
        prop_assert!(empty != Truth::Unknown);
        prop_assert!(empty == Truth::False || hidden.is_none());
    }

    #[test]
    fn fragment_2_one_subscript(
        ranges in prop::collection::vec(prop_oneof![(1..=64i64).prop_map(Ok), (0..2usize).prop_map(Err)], 1..=4),
        coeffs in prop::collection::vec(-16..=16i64, 6),
        (divided, divisor, op, constant) in (prop::collection::vec(-16..=16i64, 6), 1..=16i64, 0..5, -300..300i64),
    ) {
        let mut vars = Vars::new();
        let x = many(&mut vars, ranges.len());
        let symbols = [vars.symbol("n"), vars.symbol("m")];
        let mut facts = Facts::new();
        symbols.iter().for_each(|s| facts.assume_nonnegative(*s));
        let mut constraints = Vec::new();
        for (v, range) in x.iter().zip(&ranges) {
            let end = match range {
                Ok(number) => Affine::constant(*number),
                Err(symbol) => Affine::var(symbols[*symbol]),
            };
            constraints.push(Constraint::Ge(Affine::var(*v)));
            constraints.push(Constraint::lt(&Affine::var(*v), &end).unwrap());
        }
        let all = || x.iter().copied().chain(symbols);
        let goal = Quasi::from(Affine::new(constant, all().zip(coeffs)).unwrap());
        let number = Quasi::from(Affine::new(0, all().zip(divided)).unwrap());
        let goal = match op {
            0 => goal,
            1 => goal.add(&number.floor_div(divisor).unwrap()).unwrap(),
            2 => goal.sub(&number.floor_mod(divisor).unwrap()).unwrap(),
            3 => goal.sub(&number.trunc_div(divisor).unwrap()).unwrap(),
            _ => goal.add(&number.trunc_rem(divisor).unwrap()).unwrap(),
        };
        let domain = Domain::new(x, Set::new(constraints).unwrap());
        prop_assert!(facts.prove(&domain, &goal) != Truth::Unknown);
    }

    #[test]
    fn fragment_3_small_systems(
        list in prop::collection::vec((prop::collection::vec(-4..=4i64, 4), -99..=99i64), 1..=8),
    ) {
        let mut vars = Vars::new();
        let x = many(&mut vars, 4);
        let constraints = list.iter().map(|(coeffs, k)| {
            Constraint::Ge(Affine::new(*k, x.iter().copied().zip(coeffs.iter().copied())).unwrap())
        });
        let domain = Domain::new(x.clone(), Set::new(constraints).unwrap());
        prop_assert!(domain.is_empty() != Truth::Unknown);
    }
}

#[test]
fn ordinary_obligations() {
    let mut w = world();
    let mut facts = Facts::new();
    facts.assume_nonnegative(w.n);
    facts.assume(Constraint::equal(&Affine::var(w.m), &Affine::var(w.n)).unwrap());
    let mut judge = |domain: &str, goal: &str| {
        let domain = Domain::parse(domain, &mut w.vars).unwrap();
        facts.judge(&domain, &Quasi::parse(goal, &mut w.vars).unwrap())
    };
    assert_eq!(judge("{ [i] : 0 <= i < n }", "m - 1 - i"), Verdict::Holds);
    assert_eq!(judge("{ [i] : 0 <= i < n }", "m - 1 - (i + 1)"), Verdict::Fails);
    assert_eq!(judge("{ [i] : 0 <= i < n }", "6 - i"), Verdict::Depends);
    assert_eq!(judge("{ [i] : 0 <= i < 6 }", "2 - i / 2"), Verdict::Holds);
    assert_eq!(judge("{ [i, j] : 0 <= i < n and 0 <= j <= i }", "i - j"), Verdict::Holds);
    assert_eq!(judge("{ [i] : 0 <= i < 2*n }", "n - 1 - i / 2"), Verdict::Holds);
    assert_eq!(judge("{ [i] }", "1 - (i mod 2)"), Verdict::Holds);
    assert_eq!(judge("{ [i] : i < 0 and i > 0 }", "-1"), Verdict::Holds);
}
