//! Domain scanning: loops that visit every point of a domain once.
//!
//! The bounds of a dimension come from the constraints that mention no later dimension and from the
//! projection onto the dimensions so far. Projections only narrow the search: every constraint of
//! the set is either a bound of the last dimension that it mentions or left as a guard, so the
//! points are right even where a projection gives up. Dimensions that an equality fixes are bound
//! instead of looped over.

use einlang_index::{Affine, Constraint, Domain, GaveUp, MinMax, Quasi, Result, Set, Var};

use crate::ir::Range;

/// One dimension of a scan.
#[derive(Clone, Debug)]
pub(super) enum Level {
    /// It is fixed by those before it.
    Bind(Var, Quasi),
    /// It runs over a range.
    Range(Range),
}

/// A scan of one set: a guard outside, the levels, a guard inside.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    /// What must hold before anything is scanned.
    pub(super) before: Set,
    /// The dimensions, outermost first.
    pub(super) levels: Vec<Level>,
    /// What must hold at a point besides.
    pub(super) inside: Set,
}

/// Loops over the points of a set, with `dims` outermost first. If `ordered`, points come in the
/// order of `dims`.
pub(super) fn scan_set(set: &Set, dims: &[Var], ordered: bool, context: &Set) -> Result<Scan> {
    let mut rest = set.clone();
    let mut free: Vec<Var> = dims.to_vec();
    let mut fixed: Vec<(Var, Affine)> = Vec::new();
    while let Some((at, value)) = fixed_dim(&rest, &free, ordered) {
        let dim = free.remove(at);
        rest = rest.substitute(dim, &value)?;
        fixed.push((dim, value));
    }
    let domain = Domain::new(&*free, rest.clone()).simplified_given(context);
    let rest = match domain.sets() {
        [one] => one.clone(),
        [] => Set::nothing(),
        _ => rest,
    };
    // What has no points by what is known around it has no bounds either.
    let is_empty = domain.sets().is_empty();
    let mut levels: Vec<Level> = Vec::new();
    let mut known: Vec<Var> = Vec::new();
    place_fixed(&mut fixed, &free, &known, &mut levels);
    for at in 0..free.len() {
        let (lo, hi) = match is_empty {
            true => (MinMax::from(0), MinMax::from(0)),
            false => bounds(&rest, &free, at)?,
        };
        levels.push(Level::Range(Range { var: free[at], lo, hi, down: false }));
        known.push(free[at]);
        place_fixed(&mut fixed, &free, &known, &mut levels);
    }
    let mentions_free = |c: &Constraint| free.iter().any(|dim| c.expr().mentions(*dim));
    let outside = rest.constraints().filter(|c| !mentions_free(c));
    let congruences = rest.constraints().filter(|c| matches!(c, Constraint::Mod(_)));
    Ok(Scan {
        before: Set::new(outside)?,
        levels,
        inside: Set::new(congruences.filter(mentions_free))?,
    })
}

/// The last dimension that an equality fixes, with its value.
fn fixed_dim(set: &Set, free: &[Var], ordered: bool) -> Option<(usize, Affine)> {
    for (at, dim) in free.iter().enumerate().rev() {
        for eq in set.eqs() {
            let later = ordered && free[at + 1..].iter().any(|later| eq.mentions(*later));
            let value = match eq.coeff(*dim) {
                1 => eq.without(*dim).neg(),
                -1 => Ok(eq.without(*dim)),
                _ => continue,
            };
            if let (Ok(value), false) = (value, later) {
                return Some((at, value));
            }
        }
    }
    None
}

/// Binds the fixed dimensions whose value is known by now. What was fixed first may depend on what
/// was fixed later.
fn place_fixed(
    fixed: &mut Vec<(Var, Affine)>,
    free: &[Var],
    known: &[Var],
    levels: &mut Vec<Level>,
) {
    let mut at = fixed.len();
    while at > 0 {
        at -= 1;
        let waits = |var: Var| {
            (free.contains(&var) && !known.contains(&var)) || fixed.iter().any(|f| f.0 == var)
        };
        if !fixed[at].1.vars().any(waits) {
            let (dim, value) = fixed.remove(at);
            levels.push(Level::Bind(dim, value.into()));
            at = fixed.len();
        }
    }
}

/// The bounds of a dimension, the upper one excluded.
fn bounds(set: &Set, dims: &[Var], at: usize) -> Result<(MinMax, MinMax)> {
    let later = &dims[at + 1..];
    let known = |a: &&Affine| !later.iter().any(|dim| a.mentions(*dim));
    let (mut lower, mut upper) = side_bounds(set, dims[at], &known)?;
    if !later.is_empty() {
        let whole = Domain::new(dims, set.clone());
        if let Ok(projected) = whole.project(&dims[..=at])
            && let [one] = projected.sets()
        {
            let (more_lower, more_upper) = side_bounds(one, dims[at], &|_| true)?;
            lower.extend(more_lower);
            upper.extend(more_upper);
        } else if lower.is_empty() || upper.is_empty() {
            let (lo, hi) = hull(&whole.project(&dims[..=at])?, dims[at])?;
            return Ok((
                MinMax::max_of(lower.into_iter().chain([lo]))?,
                MinMax::min_of(upper.into_iter().chain([hi]))?,
            ));
        }
    }
    Ok((MinMax::max_of(lower)?, MinMax::min_of(upper)?))
}

/// The lower and upper bounds that a set gives a dimension.
fn side_bounds(
    set: &Set,
    dim: Var,
    known: &dyn Fn(&&Affine) -> bool,
) -> Result<(Vec<MinMax>, Vec<MinMax>)> {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let equal = set.eqs().iter().map(|a| (a, true));
    for (a, both) in set.ges().iter().map(|a| (a, false)).chain(equal) {
        let c = a.coeff(dim);
        if c == 0 || !known(&a) {
            continue;
        }
        // c * dim + rest >= 0
        let rest = Quasi::from(a.without(dim));
        if c > 0 || both {
            lower.push(MinMax::Value(least(&rest, c)?));
        }
        if c < 0 || both {
            upper.push(MinMax::Value(most(&rest, c)?.add_constant(1)?));
        }
    }
    Ok((lower, upper))
}

/// The least `x` with `c * x >= -rest` for positive `c`; for negative `c`, of the equality.
fn least(rest: &Quasi, c: i64) -> Result<Quasi> {
    let (number, c) = if c > 0 { (rest.neg()?, c) } else { (rest.clone(), negated(c)?) };
    if c == 1 { Ok(number) } else { number.ceil_div(c) }
}

fn most(rest: &Quasi, c: i64) -> Result<Quasi> {
    let (number, c) = if c < 0 { (rest.clone(), negated(c)?) } else { (rest.neg()?, c) };
    if c == 1 { Ok(number) } else { number.floor_div(c) }
}

fn negated(c: i64) -> Result<i64> {
    c.checked_neg().ok_or(GaveUp::Overflow)
}

/// The bounds of a dimension over a union of sets that mention no other dimension.
pub(super) fn hull(domain: &Domain, dim: Var) -> Result<(MinMax, MinMax)> {
    let (mut los, mut his) = (Vec::new(), Vec::new());
    for set in domain.sets() {
        let (lower, upper) = side_bounds(set, dim, &|_| true)?;
        los.push(MinMax::max_of(lower)?);
        his.push(MinMax::min_of(upper)?);
    }
    if los.is_empty() {
        return Ok((MinMax::from(0), MinMax::from(0)));
    }
    Ok((MinMax::min_of(los)?, MinMax::max_of(his)?))
}

/// The ranges of all dimensions in order, wide enough for a union of sets.
pub(crate) fn ranges_of(domain: &Domain, context: &Set) -> Result<(Vec<Range>, Option<Domain>)> {
    let dims = domain.dims().to_vec();
    let simple = domain.simplified_given(context);
    let within = |domain: &Domain| Domain::of_sets([], domain.sets().iter().cloned());
    if let [set] = simple.sets() {
        let mut ranges = Vec::with_capacity(dims.len());
        for at in 0..dims.len() {
            let (lo, hi) = bounds(set, &dims, at)?;
            ranges.push(Range { var: dims[at], lo, hi, down: false });
        }
        let left = |c: &Constraint| {
            matches!(c, Constraint::Mod(_)) || !dims.iter().any(|dim| c.expr().mentions(*dim))
        };
        let left = Set::new(set.constraints().filter(left))?;
        let guard = (!left.is_everything()).then(|| Domain::new([], left));
        return Ok((ranges, guard));
    }
    let mut ranges = Vec::with_capacity(dims.len());
    for at in 0..dims.len() {
        let projected = simple.project(&dims[..=at])?;
        let (lo, hi) = hull(&projected, dims[at])?;
        ranges.push(Range { var: dims[at], lo, hi, down: false });
    }
    Ok((ranges, Some(within(&simple))))
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap as HashMap;

    use einlang_index::Vars;

    use super::*;

    /// The points that the loops of a scan visit, in order.
    fn visited(scan: &Scan, dims: &[Var], params: &HashMap<Var, i64>) -> Vec<Vec<i64>> {
        let mut found = Vec::new();
        let mut values = params.clone();
        if scan.before.contains(&|var| values[&var]).expect("small numbers") {
            visit(&scan.levels, scan, dims, &mut values, &mut found);
        }
        found
    }

    fn visit(
        levels: &[Level],
        scan: &Scan,
        dims: &[Var],
        values: &mut HashMap<Var, i64>,
        found: &mut Vec<Vec<i64>>,
    ) {
        let number = |value: i128| i64::try_from(value).expect("small numbers");
        match levels.split_first() {
            None => {
                if scan.inside.contains(&|var| values[&var]).expect("small numbers") {
                    found.push(dims.iter().map(|dim| values[dim]).collect());
                }
            }
            Some((Level::Bind(var, expr), rest)) => {
                let value = expr.eval(&|var| values[&var]).expect("small numbers");
                values.insert(*var, number(value));
                visit(rest, scan, dims, values, found);
            }
            Some((Level::Range(range), rest)) => {
                let lo = number(range.lo.eval(&|var| values[&var]).expect("small numbers"));
                let hi = number(range.hi.eval(&|var| values[&var]).expect("small numbers"));
                for x in lo..hi {
                    values.insert(range.var, x);
                    visit(rest, scan, dims, values, found);
                }
            }
        }
    }

    #[test]
    fn what_is_empty_by_its_context_is_not_visited() {
        let mut vars = Vars::new();
        let symbol = vars.symbol("n");
        let read = |text: &str, vars: &mut Vars| Domain::parse(text, vars).expect("it reads");
        let domain = read("{ [i, j] : i = 3 and j < 0 and j > n }", &mut vars);
        let context = read("{ [] : n >= 0 }", &mut vars);
        let ([set], [context]) = (domain.sets(), context.sets()) else { panic!("one set each") };
        let scan = scan_set(set, domain.dims(), true, context).expect("it has no points");
        let params: HashMap<Var, i64> = [(symbol, 2)].into_iter().collect();
        assert_eq!(visited(&scan, domain.dims(), &params), Vec::<Vec<i64>>::new());
    }

    #[test]
    fn every_point_is_visited_once() {
        let texts = [
            "{ [i, j] : 0 <= i < n and 0 <= j <= i }",
            "{ [i, j] : 0 <= i < 5 and j = 2*i - 1 }",
            "{ [i, j] : 0 <= i + j <= n and 0 <= i - j <= 3 }",
            "{ [i, j] : 0 <= 3*i + 2*j < 7 and 0 <= i < 9 and 0 <= j < 9 }",
            "{ [i, j] : 2*i = 3*j and 0 <= j < n }",
            "{ [i, j] : 0 <= i < n and 0 <= j < 4 and (i + j) mod 3 = 1 }",
            "{ [i, j] : i = n - 4 and 0 <= j < i }",
        ];
        for text in texts {
            for n in 0..7 {
                let mut vars = Vars::new();
                let symbol = vars.symbol("n");
                let domain = Domain::parse(text, &mut vars).expect("it reads");
                let params: HashMap<Var, i64> = [(symbol, n)].into_iter().collect();
                let [set] = domain.sets() else { panic!("{text} is one set") };
                for ordered in [true, false] {
                    let scan = scan_set(set, domain.dims(), ordered, &Set::everything());
                    let found = visited(&scan.expect("it is bounded"), domain.dims(), &params);
                    let mut sorted = found.clone();
                    sorted.sort_unstable();
                    let all = (-20..20).flat_map(|i| (-20..20).map(move |j| vec![i, j]));
                    let inside =
                        |point: &Vec<i64>| domain.contains(point, &|_| n).expect("small numbers");
                    assert_eq!(sorted, all.filter(inside).collect::<Vec<_>>(), "{text}, n = {n}");
                    assert!(!ordered || found == sorted, "{text} in order");
                }
            }
        }
    }
}
