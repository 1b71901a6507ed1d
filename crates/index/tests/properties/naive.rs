//! A range solver that tries every value: the meaning of the rounds, without any algebra.

use einlang_index::solve::Problem;
use einlang_index::{Quasi, Var};

/// One read: the expression as text over `i j k`, the extent, and for a read under a condition
/// the index and the least value it must have.
#[derive(Clone, Debug)]
pub(crate) struct PlainRead {
    pub(crate) expr: String,
    pub(crate) extent: i64,
    pub(crate) condition: Option<(usize, i64)>,
}

/// An explicit range `lo..hi`, or `lo..outer + hi` for an index further out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PlainRange {
    pub(crate) lo: i64,
    pub(crate) hi: i64,
    pub(crate) outer: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct PlainProblem {
    /// The explicit ranges of `i`, `j` and `k`.
    pub(crate) ranges: Vec<Option<PlainRange>>,
    pub(crate) reads: Vec<PlainRead>,
}

pub(crate) const NAMES: [&str; 3] = ["i", "j", "k"];

pub(crate) struct Built {
    pub(crate) problem: Problem<usize>,
    pub(crate) indices: Vec<Var>,
    pub(crate) extents: Vec<Var>,
}

/// Every choice of values for the indices in `wanted` (and those their ranges depend on), as full
/// points with zeros elsewhere; an index in `fixed` has that value.
pub(crate) fn choices(
    ranges: &[Option<PlainRange>],
    wanted: &[usize],
    fixed: Option<(usize, i64)>,
) -> Vec<Vec<i64>> {
    let mut needed = vec![false; ranges.len()];
    for at in (0..ranges.len()).rev() {
        needed[at] |= wanted.contains(&at);
        if let (true, Some(PlainRange { outer: Some(outer), .. })) = (needed[at], ranges[at]) {
            needed[outer] = true;
        }
    }
    let mut points = vec![vec![0i64; ranges.len()]];
    for at in (0..ranges.len()).filter(|at| needed[*at]) {
        let mut next = Vec::new();
        for point in points {
            let values = match (fixed, ranges[at]) {
                (Some((index, value)), _) if index == at => value..value + 1,
                (_, Some(r)) => r.lo..r.hi + r.outer.map_or(0, |outer| point[outer]),
                (_, None) => panic!("an unsolved index has no values"),
            };
            for value in values {
                let mut point = point.clone();
                point[at] = value;
                next.push(point);
            }
        }
        points = next;
    }
    points
}

/// The naive solver. It answers `None` when an index runs over nothing, where the worst case means
/// little.
struct Naive<'a> {
    built: &'a Built,
    extents: Vec<i64>,
    ranges: Vec<Option<PlainRange>>,
    pending: Vec<bool>,
}

/// Values beyond this are taken for infinity; no finite bound of the tests comes close.
const FAR: i64 = 90;

impl Built {
    pub(crate) fn expr(&self, s: usize) -> &Quasi {
        &self.problem.subscripts[s].expr
    }

    pub(crate) fn used(&self, s: usize) -> Vec<usize> {
        let uses = |at: &usize| self.expr(s).mentions(self.indices[*at]);
        (0..self.indices.len()).filter(uses).collect()
    }

    pub(crate) fn bare(&self, s: usize) -> Option<usize> {
        let var = self.expr(s).as_var()?;
        self.indices.iter().position(|i| *i == var)
    }

    pub(crate) fn value(&self, s: usize, point: &[i64]) -> i128 {
        self.expr(s).eval(&|v| point[v.number()]).unwrap()
    }
}

impl Naive<'_> {
    /// The interval that `0 <= e < extent` leaves to `target` for all values of the others. A side
    /// counts only if the values that break it are all the small or all the large ones. `None` when
    /// every value breaks it.
    fn worst(&self, s: usize, target: usize) -> Option<(i64, Option<i64>)> {
        let values = |t: i64| {
            let points = choices(&self.ranges, &self.built.used(s), Some((target, t)));
            points.into_iter().map(|p| self.built.value(s, &p)).collect::<Vec<i128>>()
        };
        let values: Vec<Vec<i128>> = (0..=FAR).map(values).collect();
        let extent = i128::from(self.extents[s]);
        let below: Vec<bool> = values.iter().map(|v| v.iter().all(|x| *x < extent)).collect();
        let above: Vec<bool> = values.iter().map(|v| v.iter().all(|x| *x >= 0)).collect();
        let (mut lo, mut hi) = (0, None);
        for holds in [below, above] {
            let first = |wanted: bool| holds.iter().position(|h| *h == wanted).map(|t| t as i64);
            if holds.is_sorted_by(|a, b| a >= b) && holds[0] {
                hi = hi.into_iter().chain(first(false)).min();
            } else if holds.is_sorted() && holds[FAR as usize] {
                lo = lo.max(first(true)?);
            } else if !holds.contains(&true) {
                return None;
            }
        }
        Some((lo, hi))
    }

    fn solve(mut self) -> Option<Vec<Option<PlainRange>>> {
        for at in 0..self.ranges.len() {
            let uses = (0..self.extents.len()).filter(|s| self.built.bare(*s) == Some(at));
            let least = uses.map(|s| self.extents[s]).min();
            if self.ranges[at].is_none() {
                self.ranges[at] = least.map(|hi| PlainRange { lo: 0, hi, outer: None });
            }
        }
        loop {
            for target in (0..self.ranges.len()).rev() {
                for s in 0..self.pending.len() {
                    let inferred = |at: &usize| self.built.problem.indices[*at].explicit.is_none();
                    let outermost = self.built.used(s).into_iter().find(inferred);
                    let acts = self.pending[s] && self.unsolved(s).is_empty();
                    if acts && outermost == Some(target) {
                        self.pending[s] = false;
                        let (lo, hi) = self.worst(s, target)?;
                        self.shrink(target, lo, hi)?;
                    }
                }
            }
            let mut found = Vec::new();
            for s in 0..self.pending.len() {
                if let ([target], true) = (&self.unsolved(s)[..], self.pending[s])
                    && let (lo, Some(hi)) = self.worst(s, *target)?
                {
                    self.pending[s] = false;
                    found.push((*target, lo, hi));
                }
            }
            if found.is_empty() {
                return Some(self.ranges);
            }
            for (target, lo, hi) in found {
                self.shrink(target, lo, Some(hi))?;
            }
        }
    }

    /// The indices of a subscript, and those their ranges depend on, that have no range.
    fn unsolved(&self, s: usize) -> Vec<usize> {
        let mut all = self.built.used(s);
        for at in (0..self.ranges.len()).rev() {
            if let (true, Some(r)) = (all.contains(&at), self.ranges[at]) {
                all.extend(r.outer);
            }
        }
        all.retain(|at| self.ranges[*at].is_none());
        all.sort_unstable();
        all.dedup();
        all
    }

    fn shrink(&mut self, target: usize, lo: i64, hi: Option<i64>) -> Option<()> {
        let old = self.ranges[target].unwrap_or(PlainRange { lo: 0, hi: i64::MAX, outer: None });
        let (lo, hi) = (old.lo.max(lo), old.hi.min(hi.unwrap_or(i64::MAX)));
        self.ranges[target] = Some(PlainRange { lo, hi, outer: None });
        (lo < hi).then_some(())
    }
}

pub(crate) fn naive(plain: &PlainProblem, built: &Built) -> Option<Vec<Option<PlainRange>>> {
    // A bare use settles an index without a range; one with a range may limit those further out.
    let settled = |s: usize| built.bare(s).is_some_and(|at| plain.ranges[at].is_none());
    let acts = |s: usize| plain.reads[s].condition.is_none() && !settled(s);
    let pending = (0..plain.reads.len()).map(acts).collect();
    let extents = plain.reads.iter().map(|r| r.extent).collect();
    Naive { built, extents, ranges: plain.ranges.clone(), pending }.solve()
}
