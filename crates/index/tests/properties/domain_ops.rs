//! Every operation on domains against enumeration of a small box.

use crate::plain::*;
use einlang_index::{Affine, Constraint, Domain, GaveUp, Map, Quasi, Set, Truth};
use proptest::prelude::*;

/// Compares a domain with a predicate at every point and symbol.
fn check(domain: &Domain, n_dims: usize, expect: impl Fn(&[i64], i64) -> bool) {
    for n in SYMBOL {
        for point in box_points(n_dims) {
            assert_eq!(has(domain, &point, n), expect(&point, n), "at {point:?}, n = {n}");
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn building_keeps_the_points(a in bounded(2, 2, 4, 3)) {
        check(&a.build(&world()), 2, |p, n| a.holds(&full(p, n)));
    }

    #[test]
    fn boolean_operations(a in bounded(2, 2, 3, 3), b in bounded(2, 2, 3, 3)) {
        let w = world();
        let (da, db) = (a.build(&w), b.build(&w));
        let in_a = |p: &[i64], n| a.holds(&full(p, n));
        let in_b = |p: &[i64], n| b.holds(&full(p, n));
        check(&da.intersect(&db).unwrap(), 2, |p, n| in_a(p, n) && in_b(p, n));
        check(&da.union(&db).unwrap(), 2, |p, n| in_a(p, n) || in_b(p, n));
        check(&da.subtract(&db).unwrap(), 2, |p, n| in_a(p, n) && !in_b(p, n));
        check(&da.simplified(), 2, in_a);
        let context = &db.sets()[..db.sets().len().min(1)];
        let shorter = da.simplified_given(&context.first().cloned().unwrap_or_default());
        let context = Domain::of_sets(db.dims(), context.iter().cloned());
        let both = |d: &Domain| d.intersect(&context).unwrap();
        prop_assert_eq!(both(&shorter).is_same(&both(&da)), Truth::True);
        check(&db.complement().unwrap(), 2, |p, n| !in_b(p, n));
    }

    /// However a set comes about, it is the same one.
    #[test]
    fn sets_have_one_form(a in bounded(2, 1, 6, 2), at in 0..6usize) {
        let w = world();
        let mut list = Vec::new();
        for plain in &a.parts[0] {
            list.push(match plain.kind {
                Kind::Ge => Constraint::Ge(plain.affine(&w)),
                Kind::Eq => Constraint::Eq(plain.affine(&w)),
                Kind::Mod(m, _) => Constraint::divides(m, &plain.affine(&w)).unwrap(),
            });
        }
        let at_once = Set::new(list.iter().cloned()).unwrap();
        let mut one_by_one = Set::everything();
        for constraint in &list {
            one_by_one = one_by_one.and(constraint.clone()).unwrap();
        }
        prop_assert_eq!(&one_by_one, &at_once);
        let (some, others) = list.split_at(at.min(list.len()));
        let [some, others] = [some, others].map(|part| Set::new(part.iter().cloned()).unwrap());
        prop_assert_eq!(some.intersect(&others).unwrap(), at_once);
    }

    /// What is left of a set when it is made shorter says something each.
    #[test]
    fn nothing_is_left_that_follows(a in bounded(2, 1, 5, 2)) {
        let w = world();
        let dims = &w.dims[..2];
        let shorter = a.build(&w).simplified();
        for set in shorter.sets() {
            let list: Vec<Constraint> = set.constraints().collect();
            for (at, constraint) in list.iter().enumerate() {
                let others = list.iter().enumerate().filter(|(other, _)| *other != at);
                let others = Set::new(others.map(|(_, other)| other.clone())).unwrap();
                let this = Domain::new(dims, Set::new([constraint.clone()]).unwrap());
                prop_assert_eq!(Domain::new(dims, others).is_subset(&this), Truth::False);
            }
        }
    }

    #[test]
    fn projection(a in bounded(3, 2, 4, 3)) {
        let w = world();
        let projected = a.build(&w).project(&[w.dims[0]]).unwrap();
        let inner = box_points(2);
        check(&projected, 1, |p, n| inner.iter().any(|q| a.holds(&[p[0], q[0], q[1], n])));
    }

    #[test]
    fn emptiness(a in bounded(3, 2, 5, 4)) {
        let domain = a.build(&world());
        let found = { SYMBOL }.any(|n| box_points(3).iter().any(|p| a.holds(&full(p, n))));
        // The symbol may need a value outside those tried, so only one direction is certain.
        prop_assert!(domain.is_empty() != Truth::Unknown);
        prop_assert!(!found || domain.is_empty() == Truth::False);
        for n in SYMBOL {
            let w = world();
            let fixed = Constraint::Eq(Affine::new(-n, [(w.n, 1)]).unwrap());
            let fixed = domain.restricted(&Set::new([fixed]).unwrap()).unwrap();
            let found = box_points(3).iter().any(|p| a.holds(&full(p, n)));
            prop_assert_eq!(fixed.is_empty(), Truth::of(Ok(!found)), "n = {}", n);
        }
    }

    #[test]
    fn subsets(a in bounded(2, 2, 3, 2), b in bounded(2, 2, 2, 2)) {
        let w = world();
        let answer = a.build(&w).is_subset(&b.build(&w));
        let holds = { SYMBOL }.all(|n| {
            box_points(2).iter().all(|p| !a.holds(&full(p, n)) || b.holds(&full(p, n)))
        });
        prop_assert!(answer != Truth::Unknown);
        prop_assert!(answer != Truth::True || holds);
    }

    #[test]
    fn last_clause_wins(clauses in prop::collection::vec(bounded(2, 1, 3, 2), 1..4)) {
        let w = world();
        let domains: Vec<Domain> = clauses.iter().map(|c| c.build(&w)).collect();
        let visible = Domain::make_disjoint(&domains).unwrap();
        for (at, domain) in visible.iter().enumerate() {
            check(domain, 2, |p, n| {
                let covers = |c: &PlainDomain| c.holds(&full(p, n));
                clauses.iter().rposition(covers) == Some(at)
            });
        }
    }

    #[test]
    fn disjoint_parts(a in bounded(2, 3, 3, 2)) {
        let domain = a.build(&world()).disjoint().unwrap();
        for n in SYMBOL {
            for p in box_points(2) {
                let parts = domain.sets().iter().filter(|s| {
                    has(&Domain::new(domain.dims(), (*s).clone()), &p, n)
                });
                prop_assert_eq!(parts.count(), usize::from(a.holds(&full(&p, n))));
            }
        }
    }
}

/// A random quasi-affine expression of `i`, `j` and `n`.
pub(crate) fn quasi() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("i".to_owned()),
        Just("j".to_owned()),
        Just("n".to_owned()),
        (-3..=3i64).prop_map(|c| format!("({c})")),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), -3..=3i64).prop_map(|(a, c)| format!("(({c})*{a})")),
            (inner.clone(), 1..=4i64).prop_map(|(a, d)| format!("({a} / {d})")),
            (inner.clone(), 1..=4i64).prop_map(|(a, d)| format!("({a} % {d})")),
            (inner.clone(), 1..=4i64).prop_map(|(a, d)| format!("floor({a} / {d})")),
            (inner.clone(), 1..=4i64).prop_map(|(a, d)| format!("({a} mod {d})")),
        ]
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn preimage(a in bounded(2, 2, 3, 2), x in quasi(), y in quasi()) {
        let mut w = world();
        let to = [x, y].map(|t| Quasi::parse(&t, &mut w.vars).unwrap());
        let map = Map::new(&w.dims[..2], to);
        let domain = match a.build(&w).preimage(&map) {
            Err(GaveUp::Budget) => return Ok(()),
            other => other.unwrap(),
        };
        for n in [-3, 0, 2, 4] {
            for p in box_points(2) {
                let q = map.apply(&p, &|_| n).unwrap();
                let inside = a.holds(&[q[0] as i64, q[1] as i64, 0, n]);
                prop_assert_eq!(has(&domain, &p, n), inside, "at {:?}, n = {}", p, n);
            }
        }
    }

    #[test]
    fn image(a in bounded(2, 2, 2, 2), x in quasi()) {
        let mut w = world();
        let to = Quasi::parse(&x, &mut w.vars).unwrap();
        let map = Map::new(&w.dims[..2], [to]);
        let domain = match a.build(&w).image(&map, &w.dims[..1]) {
            Err(GaveUp::Budget) => return Ok(()),
            other => other.unwrap(),
        };
        for n in [-3, 0, 4] {
            let inside = box_points(2).into_iter().filter(|p| a.holds(&full(p, n)));
            let values: Vec<i128> = inside.map(|p| map.apply(&p, &|_| n).unwrap()[0]).collect();
            for v in -40..=40 {
                prop_assert_eq!(has(&domain, &[v], n), values.contains(&v.into()), "at {}, n = {}", v, n);
            }
        }
    }
}
