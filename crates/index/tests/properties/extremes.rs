//! First and last points, counts, listings and boxes against enumeration.

use crate::plain::*;
use einlang_index::{Affine, Constraint, Domain, GaveUp, Piece, Set};
use proptest::prelude::*;

/// The points of the oracle for one symbol, in lexicographic order.
fn inside(a: &PlainDomain, n: i64) -> Vec<Vec<i64>> {
    box_points(a.n_dims).into_iter().filter(|p| a.holds(&full(p, n))).collect()
}

/// The point of the piece that applies; pieces must exclude each other.
fn select(pieces: &[Piece], n: i64) -> Option<Vec<i64>> {
    let applies = |p: &&Piece| p.when.contains(&[], &|_| n).unwrap();
    let found: Vec<&Piece> = pieces.iter().filter(applies).collect();
    assert!(found.len() <= 1, "two pieces apply for n = {n}");
    let value = |q: &einlang_index::Quasi| q.eval(&|_| n).unwrap() as i64;
    found.first().map(|p| p.point.iter().map(value).collect())
}

/// The domain for one value of the symbol.
fn fixed(a: &PlainDomain, n: i64) -> Domain {
    let w = world();
    let fixed = a.build(&w).renamed(&w.dims[..a.n_dims]).unwrap();
    let sets = fixed.sets().iter().map(|s| s.substitute(w.n, &Affine::constant(n)).unwrap());
    Domain::of_sets(&w.dims[..a.n_dims], sets)
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn first_and_last_points(a in bounded(2, 2, 3, 3)) {
        let domain = a.build(&world());
        let (first, last) = (domain.lexmin(), domain.lexmax());
        if matches!(first, Err(GaveUp::Budget)) || matches!(last, Err(GaveUp::Budget)) {
            return Ok(());
        }
        let (first, last) = (first.unwrap(), last.unwrap());
        for n in SYMBOL {
            let points = inside(&a, n);
            prop_assert_eq!(select(&first, n), points.first().cloned(), "first, n = {}", n);
            prop_assert_eq!(select(&last, n), points.last().cloned(), "last, n = {}", n);
        }
    }

    #[test]
    fn listing_and_counting(a in bounded(3, 2, 3, 3), n in SYMBOL) {
        let domain = fixed(&a, n);
        let points = inside(&a, n);
        prop_assert_eq!(domain.count().unwrap(), points.len() as u128);
        prop_assert_eq!(domain.points(points.len()).unwrap(), points.clone());
        if !points.is_empty() {
            prop_assert!(domain.points(points.len() - 1).is_err());
        }
    }

    #[test]
    fn the_box_holds_all_points(a in bounded(2, 2, 3, 3)) {
        let domain = a.build(&world());
        let bounds = domain.bounding_box().unwrap();
        for n in SYMBOL {
            for p in inside(&a, n) {
                for (x, b) in p.iter().zip(&bounds) {
                    let low = b.lower.as_ref().unwrap().eval(&|_| n).unwrap();
                    let high = b.upper.as_ref().unwrap().eval(&|_| n).unwrap();
                    prop_assert!(low <= (*x).into() && high >= (*x).into());
                }
            }
        }
    }
}

#[test]
fn boxes_and_triangles_are_counted_without_listing() {
    let mut w = world();
    let mut count = |text: &str| Domain::parse(text, &mut w.vars).unwrap().count();
    assert_eq!(
        count("{ [i, j, k] : 0 <= i < 1000000 and 0 <= j < 1000000 and 0 <= k < 1000000 }"),
        Ok(10u128.pow(18))
    );
    assert_eq!(count("{ [i, j] : 0 <= i <= j < 1000 }"), Ok(500_500));
    assert_eq!(
        count("{ [i] : 0 <= i < 9000000000000000000 and i mod 3 <= 1 }"),
        Ok(6_000_000_000_000_000_000)
    );
    assert_eq!(count("{ [i] : 0 <= i }"), Err(GaveUp::Unbounded));
    assert_eq!(count("{ [i] : 0 <= i < n }"), Err(GaveUp::Symbolic));
    assert_eq!(count("{ [i, j] : 0 <= i and j < 0 and j > 0 }"), Ok(0));
    assert_eq!(count("{ [] }"), Ok(1));
}

#[test]
fn first_points_read_well() {
    let mut w = world();
    let domain = Domain::parse("{ [i, j] : 1 <= i < n and i <= j and j mod 2 = 0 }", &mut w.vars);
    let pieces = domain.unwrap().lexmin().unwrap();
    let shown: Vec<String> = pieces
        .iter()
        .map(|p| {
            let point: Vec<String> =
                p.point.iter().map(|q| q.display(&w.vars).to_string()).collect();
            format!("{} -> {}", p.when.simplified().display(&w.vars), point.join(", "))
        })
        .collect();
    assert_eq!(shown, ["{ [] : n >= 2 } -> 1, 2"]);
    let unbounded = Domain::parse("{ [i] : i <= n }", &mut w.vars).unwrap();
    assert_eq!(unbounded.lexmin(), Err(GaveUp::Unbounded));
    let assumption = Set::new([Constraint::Ge(Affine::new(-3, [(w.n, 1)]).unwrap())]).unwrap();
    let upper = Domain::parse("{ [i] : n <= i < 3 }", &mut w.vars).unwrap();
    assert!(upper.always_empty_given(&assumption).is_true());
}
