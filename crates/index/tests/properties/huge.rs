//! Extreme coefficients: an answer or `GaveUp`, never a panic, never a wrong answer.

use crate::plain::*;
use einlang_index::solve::{AxisId, Index, Problem, Read, Subscript};
use einlang_index::{Affine, Constraint, Domain, Facts, Map, Quasi, Range, Set, Truth, Var};
use proptest::prelude::*;

fn extreme() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MAX),
        Just(i64::MIN),
        Just(i64::MAX - 1),
        Just(i64::MIN + 1),
        Just(1i64 << 62),
        Just(0),
        -3..=3i64,
        any::<i64>(),
    ]
}

fn affine(w: &World, c: &[i64]) -> Affine {
    Affine::new(c[0], [(w.dims[0], c[1]), (w.dims[1], c[2]), (w.n, c[3])]).unwrap()
}

fn constraints() -> impl Strategy<Value = Vec<(Vec<i64>, u8)>> {
    prop::collection::vec((prop::collection::vec(extreme(), 4), 0..4u8), 1..5)
}

fn build(w: &World, list: &[(Vec<i64>, u8)]) -> einlang_index::Result<Domain> {
    let dims = &w.dims[..2];
    let mut domain = Domain::everything(dims);
    for (c, kind) in list {
        let a = affine(w, c);
        domain = match kind {
            0 | 1 => domain.restricted(&Set::new([Constraint::Ge(a)])?)?,
            2 => domain.restricted(&Set::new([Constraint::Eq(a)])?)?,
            _ => {
                let rest = Quasi::from(a).floor_mod(c[1].saturating_abs().max(1))?;
                domain.intersect(&Domain::where_zero(dims, &rest)?)?
            }
        };
    }
    Ok(domain)
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn nothing_panics(list in constraints(), goal in prop::collection::vec(extreme(), 4), d in extreme()) {
        let w = world();
        let Ok(domain) = build(&w, &list) else { return Ok(()) };
        let goal = Quasi::from(affine(&w, &goal));
        let divided = [goal.trunc_div(d), goal.floor_mod(d), goal.ceil_div(d), goal.trunc_rem(d)];
        let text = domain.display(&w.vars).to_string();
        let mut vars = w.vars.clone();
        prop_assert_eq!(Domain::parse(&text, &mut vars), Ok(domain.clone()));
        let _ = (domain.is_empty(), domain.lexmin(), domain.lexmax(), domain.bounding_box());
        let _ = (domain.count(), domain.points(9), domain.complement(), domain.disjoint());
        let _ = (domain.project(&w.dims[..1]), domain.occupied(), domain.simplified());
        for goal in divided.into_iter().flatten().chain([goal]) {
            let map = Map::new(&w.dims[..2], [goal.clone(), w.n.into()]);
            let _ = (Facts::new().judge(&domain, &goal), domain.preimage(&map));
            let _ = (domain.image(&map, &w.dims[1..]), goal.eval(&|_| i64::MIN));
        }
    }

    #[test]
    fn emptiness_is_right_on_few_points(list in constraints(), x in extreme(), y in extreme(), n in extreme()) {
        let w = world();
        let Ok(domain) = build(&w, &list) else { return Ok(()) };
        let at = |v: Var| if v == w.dims[0] { x } else if v == w.dims[1] { y } else { n };
        let Ok(contained) = domain.contains(&[x, y], &|_| n) else { return Ok(()) };
        let mut inside = true;
        for (c, kind) in &list {
            let Ok(value) = affine(&w, c).eval(&at) else { return Ok(()) };
            inside &= match kind {
                0 | 1 => value >= 0,
                2 => value == 0,
                _ => value.rem_euclid(c[1].saturating_abs().max(1).into()) == 0,
            };
        }
        prop_assert_eq!(contained, inside);
        prop_assert!(!(inside && domain.is_empty() == Truth::True));
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn the_solver_does_not_panic(
        reads in prop::collection::vec((prop::collection::vec(extreme(), 4), extreme(), extreme()), 1..4),
        ends in prop::option::of((extreme(), extreme())),
    ) {
        let w = world();
        let subscripts = reads.iter().enumerate().map(|(at, (c, d, extent))| {
            let expr = Quasi::from(affine(&w, c));
            let expr = expr.trunc_div(*d).unwrap_or(expr);
            let (axis, read) = (AxisId(at as u32), Read::Always);
            Subscript { expr, extent: (*extent).into(), axis, read, from: () }
        });
        let explicit = ends.map(|(lo, hi)| Range::new(lo, hi, ()));
        let indices = vec![
            Index { var: w.dims[0], explicit: None, output: true },
            Index { var: w.dims[1], explicit, output: false },
        ];
        let (subscripts, facts) = (subscripts.collect(), Facts::new());
        let problem = Problem { indices, subscripts, equations: Vec::new(), facts };
        let solution = problem.solve();
        for solved in &solution.solved {
            let _ = (solved.range.extent(), solved.range.is_empty(&solution.facts));
            let _ = solved.range.display(&w.vars).to_string();
        }
    }
}
