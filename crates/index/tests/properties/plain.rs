//! Random constraints over two or three dimensions and a symbol, with an oracle that knows nothing
//! of the crate's algorithms: it evaluates the constraints as generated at every point of a box.

use std::fmt;

use einlang_index::{Affine, Constraint, Domain, Quasi, Set, Var, Vars};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A run of so many cases, the same ones every time; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` give
/// others and more. Failures are reproduced from the printed input, not from a file.
pub(crate) fn cases(n: u32) -> ProptestConfig {
    let (rng_seed, failure_persistence) = (RngSeed::Fixed(4), None);
    ProptestConfig { rng_seed, failure_persistence, ..ProptestConfig::with_cases(n) }
}

/// Variables `i j k` and symbols `n m`, always numbered alike.
pub(crate) struct World {
    pub(crate) vars: Vars,
    pub(crate) dims: Vec<Var>,
    pub(crate) n: Var,
    pub(crate) m: Var,
}

pub(crate) fn world() -> World {
    let mut vars = Vars::new();
    let dims = ["i", "j", "k"].map(|name| vars.index(name)).to_vec();
    let (n, m) = (vars.symbol("n"), vars.symbol("m"));
    World { vars, dims, n, m }
}

/// A constraint as plain numbers: coefficients of `i j k n`, a constant, and the kind.
#[derive(Clone)]
pub(crate) struct Plain {
    pub(crate) coeffs: [i64; 4],
    pub(crate) constant: i64,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Ge,
    Eq,
    Mod(i64, i64),
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([i, j, k, n], c) = (self.coeffs, self.constant);
        write!(f, "{i}*i + {j}*j + {k}*k + {n}*n + {c} {:?}", self.kind)
    }
}

impl Plain {
    pub(crate) fn holds(&self, point: &[i64; 4]) -> bool {
        let sum: i64 = self.coeffs.iter().zip(point).map(|(c, x)| c * x).sum();
        let value = sum + self.constant;
        match self.kind {
            Kind::Ge => value >= 0,
            Kind::Eq => value == 0,
            Kind::Mod(m, k) => value.rem_euclid(m) <= k,
        }
    }

    pub(crate) fn affine(&self, w: &World) -> Affine {
        let vars = [w.dims[0], w.dims[1], w.dims[2], w.n];
        Affine::new(self.constant, vars.into_iter().zip(self.coeffs)).unwrap()
    }

    /// The constraint, with the congruence written through a quotient and remainder.
    pub(crate) fn domain(&self, w: &World, dims: &[Var]) -> Domain {
        let a = self.affine(w);
        match self.kind {
            Kind::Ge => Domain::new(dims, Set::new([Constraint::Ge(a)]).unwrap()),
            Kind::Eq => Domain::new(dims, Set::new([Constraint::Eq(a)]).unwrap()),
            Kind::Mod(m, k) => {
                let rest = Quasi::from(a).floor_mod(m).unwrap();
                let slack = rest.neg().unwrap().add_constant(k).unwrap();
                Domain::where_nonnegative(dims, &[slack]).unwrap()
            }
        }
    }
}

/// A union of conjunctions.
#[derive(Clone, Debug)]
pub(crate) struct PlainDomain {
    pub(crate) n_dims: usize,
    pub(crate) parts: Vec<Vec<Plain>>,
}

impl PlainDomain {
    pub(crate) fn holds(&self, point: &[i64; 4]) -> bool {
        self.parts.iter().any(|part| part.iter().all(|c| c.holds(point)))
    }

    pub(crate) fn build(&self, w: &World) -> Domain {
        let dims = &w.dims[..self.n_dims];
        let mut union = Domain::nothing(dims);
        for part in &self.parts {
            let mut all = Domain::everything(dims);
            for constraint in part {
                all = all.intersect(&constraint.domain(w, dims)).unwrap();
            }
            union = union.union(&all).unwrap();
        }
        union
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        5 => Just(Kind::Ge),
        1 => Just(Kind::Eq),
        1 => (2..=5i64).prop_flat_map(|m| (Just(m), 0..m)).prop_map(|(m, k)| Kind::Mod(m, k)),
    ]
}

fn plain(n_dims: usize, coeff: i64) -> impl Strategy<Value = Plain> {
    let c = -coeff..=coeff;
    ([c.clone(), c.clone(), c, -2..=2i64], -9..=9i64, kind()).prop_map(
        move |(mut coeffs, constant, kind)| {
            coeffs[n_dims..3].fill(0);
            Plain { coeffs, constant, kind }
        },
    )
}

/// The side of the box that random domains live in, so that the oracle sees all of them.
pub(crate) const SIDE: i64 = 5;

/// `-SIDE <= x <= SIDE` for each dimension.
pub(crate) fn within_box(n_dims: usize) -> Vec<Plain> {
    let bound = |at: usize, sign: i64| {
        let mut coeffs = [0; 4];
        coeffs[at] = sign;
        Plain { coeffs, constant: SIDE, kind: Kind::Ge }
    };
    (0..n_dims).flat_map(|at| [bound(at, 1), bound(at, -1)]).collect()
}

/// Up to `parts` conjunctions of up to `constraints` each, all within the box.
pub(crate) fn bounded(
    n_dims: usize,
    parts: usize,
    constraints: usize,
    coeff: i64,
) -> impl Strategy<Value = PlainDomain> {
    let part = prop::collection::vec(plain(n_dims, coeff), 0..=constraints);
    prop::collection::vec(part, 1..=parts).prop_map(move |mut parts| {
        parts.iter_mut().for_each(|p| p.extend(within_box(n_dims)));
        PlainDomain { n_dims, parts }
    })
}

/// The values of `n` that are tried.
pub(crate) const SYMBOL: std::ops::RangeInclusive<i64> = -3..=4;

/// All points of the box (a little larger than the domains) in lexicographic order.
pub(crate) fn box_points(n_dims: usize) -> Vec<Vec<i64>> {
    let side = SIDE + 1;
    let mut points = vec![Vec::new()];
    for _ in 0..n_dims {
        points = points
            .into_iter()
            .flat_map(|p| (-side..=side).map(move |x| p.iter().copied().chain([x]).collect()))
            .collect();
    }
    points
}

/// The point with the symbol, as the oracle wants it.
pub(crate) fn full(point: &[i64], n: i64) -> [i64; 4] {
    let mut all = [0, 0, 0, n];
    all[..point.len()].copy_from_slice(point);
    all
}

/// The points of a domain for one value of the symbol, by the crate's own membership test.
pub(crate) fn has(domain: &Domain, point: &[i64], n: i64) -> bool {
    domain.contains(point, &|_| n).unwrap()
}
