//! The range solver against a naive one that tries every value.

use crate::naive::*;
use crate::plain::cases;
use einlang_index::solve::{AxisId, EqualityStatus, Index, Problem, Read, Solution, Subscript};
use einlang_index::{Direction, Domain, Facts, Quasi, Range, Truth, Var, Vars, Verdict};
use proptest::prelude::*;

fn term() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&NAMES[..]);
    prop_oneof![
        4 => name.clone().prop_map(str::to_owned),
        2 => (name.clone(), -2..=3i64).prop_map(|(v, c)| format!("({c})*{v}")),
        1 => (name.clone(), -2..=4i64, 2..=3i64).prop_map(|(v, c, d)| format!("({v} + ({c})) / {d}")),
        1 => (name.clone(), name.clone(), 2..=3i64).prop_map(|(v, w, d)| format!("floor(({v} + {w}) / {d})")),
        1 => (name, 2..=3i64).prop_map(|(v, d)| format!("{v} % {d}")),
    ]
}

fn read() -> impl Strategy<Value = PlainRead> {
    let bare = prop::sample::select(&NAMES[..]).prop_map(str::to_owned);
    let offset = (term(), -1..=3i64).prop_map(|(t, c)| format!("{t} + ({c})"));
    let sum = (term(), term(), -1..=3i64).prop_map(|(a, b, c)| format!("{a} + {b} + ({c})"));
    let expr = prop_oneof![2 => bare, 3 => offset, 4 => sum];
    let condition = prop::option::weighted(0.2, (0..3usize, 0..4i64));
    (expr, 1..=12i64, condition).prop_map(|(expr, extent, condition)| PlainRead {
        expr,
        extent,
        condition,
    })
}

fn plain_range() -> impl Strategy<Value = Option<PlainRange>> {
    let number = (-1..=2i64, 1..=4i64).prop_map(|(lo, n)| (lo, lo + n, None));
    // Never empty, because no index goes below -1.
    let dependent = (0..2usize, 1..=2i64).prop_map(|(outer, hi)| (-1, hi, Some(outer)));
    let range = prop_oneof![3 => number, 1 => dependent];
    prop::option::weighted(0.4, range.prop_map(|(lo, hi, outer)| PlainRange { lo, hi, outer }))
}

fn plain_problem() -> impl Strategy<Value = PlainProblem> {
    let ranges = prop::collection::vec(plain_range(), 1..=3);
    (ranges, prop::collection::vec(read(), 1..=4)).prop_map(|(mut ranges, mut reads)| {
        for (at, range) in ranges.iter_mut().enumerate() {
            // Only an index further out may bound a range.
            *range = range.filter(|r| r.outer.is_none_or(|outer| outer < at));
        }
        // Names of indices the problem does not have become the first one.
        for name in &NAMES[ranges.len()..] {
            reads.iter_mut().for_each(|r| r.expr = r.expr.replace(*name, "i"));
        }
        for read in &mut reads {
            read.condition = read.condition.filter(|c| c.0 < ranges.len());
        }
        PlainProblem { ranges, reads }
    })
}

/// The problem for the solver, with numbers or symbols as extents.
fn build(plain: &PlainProblem, symbolic: bool) -> Built {
    let mut vars = Vars::new();
    let indices: Vec<Var> = NAMES[..plain.ranges.len()].iter().map(|n| vars.index(n)).collect();
    let mut facts = Facts::new();
    let mut extents = Vec::new();
    let explicit = |at: usize| {
        let range = plain.ranges[at]?;
        let outer = range.outer.map_or(Quasi::from(0), |outer| indices[outer].into());
        Some(Range::new(range.lo, outer.add_constant(range.hi).unwrap(), usize::MAX))
    };
    let decls = indices.iter().enumerate();
    let decls = decls.map(|(at, var)| Index { var: *var, explicit: explicit(at), output: true });
    let decls: Vec<Index<usize>> = decls.collect();
    let mut subscripts = Vec::new();
    for (at, read) in plain.reads.iter().enumerate() {
        let symbol = vars.symbol(&format!("n{at}"));
        facts.assume_nonnegative(symbol);
        extents.push(symbol);
        let extent = if symbolic { symbol.into() } else { read.extent.into() };
        let expr = Quasi::parse(&read.expr, &mut vars).unwrap();
        let read = match read.condition {
            None => Read::Always,
            Some((index, least)) => {
                let slack = Quasi::from(indices[index]).add_constant(-least).unwrap();
                Read::When(Domain::where_nonnegative(Vec::new(), &[slack]).unwrap())
            }
        };
        subscripts.push(Subscript { expr, extent, axis: AxisId(at as u32), read, from: at });
    }
    let problem = Problem { indices: decls, subscripts, equations: Vec::new(), facts };
    Built { problem, indices, extents }
}

/// The ranges of a solution in numbers; explicit ones as they were given.
fn ranges(
    solution: &Solution<usize>,
    built: &Built,
    plain: &PlainProblem,
) -> Vec<Option<PlainRange>> {
    let value = |v: Var| {
        let at = built.extents.iter().position(|e| *e == v).unwrap();
        plain.reads[at].extent
    };
    let one = |(at, var): (usize, &Var)| {
        let solved = solution.solved.iter().find(|s| s.var == *var)?;
        if !solved.inferred {
            return plain.ranges[at];
        }
        let lo = solved.range.lo().unwrap().eval(&value).unwrap() as i64;
        let hi = solved.range.hi().unwrap().eval(&value).unwrap() as i64;
        Some(PlainRange { lo, hi, outer: None })
    };
    built.indices.iter().enumerate().map(one).collect()
}

/// Whether subscript `s` stays in `0..extent` (each side) wherever it is read, and whether it is
/// read at all.
fn in_bounds(
    plain: &PlainProblem,
    built: &Built,
    ranges: &[Option<PlainRange>],
    s: usize,
) -> [bool; 3] {
    let condition = plain.reads[s].condition;
    let wanted: Vec<usize> = built.used(s).into_iter().chain(condition.map(|c| c.0)).collect();
    let points = choices(ranges, &wanted, None).into_iter();
    let points = points.filter(|p| condition.is_none_or(|(index, least)| p[index] >= least));
    let values: Vec<i128> = points.map(|p| built.value(s, &p)).collect();
    let extent = i128::from(plain.reads[s].extent);
    [values.iter().all(|v| *v >= 0), values.iter().all(|v| *v < extent), !values.is_empty()]
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn numbers(plain in plain_problem()) {
        let built = build(&plain, false);
        let solution = built.problem.solve();
        let found = ranges(&solution, &built, &plain);
        if let Some(expected) = naive(&plain, &built) {
            prop_assert_eq!(&found, &expected);
        }
        prop_assert_eq!(solution.unsolved.is_empty(), found.iter().all(Option::is_some));
        if found.contains(&None) {
            return Ok(());
        }
        for o in &solution.obligations {
            let [lower, upper, any] = in_bounds(&plain, &built, &found, o.subscript);
            for (verdict, holds) in [(o.lower, lower), (o.upper, upper)] {
                let expected = if holds || !any { Verdict::Holds } else { Verdict::Fails };
                prop_assert_eq!(verdict, expected, "subscript {}", o.subscript);
            }
        }
        for (solved, range) in solution.solved.iter().zip(&found) {
            let must = solved.inferred;
            prop_assert_eq!(solved.starts_at_zero, Truth::of(Ok(!must || range.unwrap().lo == 0)));
        }
        for e in &solution.equalities {
            let same = plain.reads[e.first].extent == plain.reads[e.second].extent;
            prop_assert_eq!(e.status == EqualityStatus::Proved, same);
        }
    }

    #[test]
    fn symbols(plain in plain_problem()) {
        let (concrete, built) = (build(&plain, false), build(&plain, true));
        let solution = built.problem.solve();
        let checked = |e: &einlang_index::solve::Equality| e.status == EqualityStatus::Unproved;
        let fails_at_entry = solution.equalities.iter().filter(|e| checked(e)).any(|e| {
            plain.reads[e.first].extent != plain.reads[e.second].extent
        });
        if fails_at_entry {
            return Ok(());
        }
        let found = ranges(&solution, &built, &plain);
        let affine = built.problem.subscripts.iter().all(|s| s.expr.as_affine().is_some());
        if let Some(expected) = naive(&plain, &concrete)
            && (affine || found.iter().all(Option::is_some))
        {
            let tangled = plain.reads.iter().any(|r| r.expr.contains('%') || r.expr.contains('/'));
            if !tangled {
                prop_assert_eq!(&found, &expected);
            }
        }
        if found.contains(&None) {
            return Ok(());
        }
        for o in &solution.obligations {
            let [lower, upper, any] = in_bounds(&plain, &built, &found, o.subscript);
            for (verdict, holds) in [(o.lower, lower), (o.upper, upper)] {
                prop_assert!(verdict != Verdict::Holds || holds, "subscript {}", o.subscript);
                prop_assert!(verdict != Verdict::Fails || !any || !holds, "subscript {}", o.subscript);
                prop_assert!(verdict != Verdict::Unknown || !affine);
            }
        }
    }

    #[test]
    fn directions(expr in term(), other in term(), at in prop::array::uniform3(-9..9i64)) {
        let mut vars = Vars::new();
        let indices = NAMES.map(|n| vars.index(n));
        let expr = Quasi::parse(&format!("{expr} - {other}"), &mut vars);
        let Ok(expr) = expr else { return Ok(()) };
        let value = |i: i64| {
            expr.eval(&|v| if v == indices[0] { i } else { at[v.number()] }).unwrap()
        };
        let (here, next) = (value(at[0]), value(at[0] + 1));
        match expr.direction(indices[0]) {
            Direction::Fixed => prop_assert_eq!(here, next),
            Direction::Up => prop_assert!(here <= next),
            Direction::Down => prop_assert!(here >= next),
            Direction::Mixed => {}
        }
    }
}
