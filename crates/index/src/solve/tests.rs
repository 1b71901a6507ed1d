//! Worked examples: those of the language reference, and one for each way a range is found or not.
//!
//! A problem is written as its indices (outputs before the bar, reductions after it, explicit
//! ranges with `in`) and its reads, one string for each subscript: `x[i + k] < n`. A read under a
//! condition is written `if i > 0: x[i - 1] < n`, a default read `else: x[i - 1] < n`, an equation
//! `s = i + 1`. The report lists the ranges, then everything that is not simply in order.

use super::{AxisId, EqualityStatus, Index, Problem, Read, Subscript};
use crate::domain::Domain;
use crate::error::Truth;
use crate::minmax::MinMax;
use crate::prove::{Facts, Verdict};
use crate::quasi::Quasi;
use crate::range::Range;
use crate::var::{VarKind, Vars};

fn problem(indices: &str, reads: &[&str], vars: &mut Vars) -> Problem<String> {
    let mut problem = Problem {
        indices: Vec::new(),
        subscripts: Vec::new(),
        equations: Vec::new(),
        facts: Facts::new(),
    };
    let (outputs, reductions) = indices.split_once('|').unwrap_or((indices, ""));
    for (list, output) in [(outputs, true), (reductions, false)] {
        for text in list.split(',').map(str::trim).filter(|t| !t.is_empty()) {
            let (name, range) = text.split_once(" in ").unwrap_or((text, ""));
            let var = vars.index(name);
            let explicit = range.split_once("..").map(|(lo, hi)| {
                let lo = Quasi::parse(lo, vars).unwrap();
                match hi {
                    "" => Range::open(lo, text.to_owned()),
                    hi => Range::new(lo, Quasi::parse(hi, vars).unwrap(), text.to_owned()),
                }
            });
            problem.indices.push(Index { var, explicit, output });
        }
    }
    let mut axes = Vec::new();
    for text in reads {
        if let Some((name, value)) = text.split_once(" = ") {
            let value = Quasi::parse(value, vars).unwrap();
            problem.equations.push((vars.index(name), value));
            continue;
        }
        let subscript = subscript(text, &mut axes, vars);
        problem.subscripts.push(subscript);
    }
    for name in ["n", "m", "k_", "K", "N"] {
        if let Some(symbol) = vars.lookup(name).filter(|v| v.kind() == VarKind::Symbol) {
            problem.facts.assume_nonnegative(symbol);
        }
    }
    problem
}

fn subscript(text: &str, axes: &mut Vec<String>, vars: &mut Vars) -> Subscript<String> {
    let (condition, read) = text.split_once(": ").unwrap_or(("", text));
    let (access, extent) = read.split_once("] < ").unwrap();
    let (tensor, expr) = access.split_once('[').unwrap();
    let expr = Quasi::parse(expr, vars).unwrap();
    let axis = axes.iter().position(|a| a == tensor).unwrap_or_else(|| {
        axes.push(tensor.to_owned());
        axes.len() - 1
    });
    let read = match condition.strip_prefix("if ") {
        Some(condition) => {
            Read::When(Domain::parse(&format!("{{ [] : {condition} }}"), vars).unwrap())
        }
        None if condition == "else" => Read::Default,
        None => Read::Always,
    };
    let extents = extent.strip_prefix("min(").and_then(|e| e.strip_suffix(')')).unwrap_or(extent);
    let extents = extents.split(", ").map(|e| Quasi::parse(e, vars).unwrap().into());
    let extent = MinMax::min_of(extents).unwrap();
    Subscript { expr, extent, axis: AxisId(axis as u32), read, from: text.to_owned() }
}

/// The report of a problem.
fn solve(indices: &str, reads: &[&str]) -> String {
    let mut vars = Vars::new();
    let solution = problem(indices, reads, &mut vars).solve();
    let mut lines = Vec::new();
    for solved in &solution.solved {
        let name = vars.name(solved.var).unwrap();
        lines.push(format!("{name} in {}", solved.range.display(&vars)));
        if solved.starts_at_zero != Truth::True {
            lines.push(format!("{name} starts at 0: {:?}", solved.starts_at_zero));
        }
    }
    for unsolved in &solution.unsolved {
        let name = vars.name(unsolved.var).unwrap();
        lines.push(match &unsolved.suggestion {
            Some(range) => format!("{name} unsolved, try {}", range.display(&vars)),
            None => format!("{name} unsolved"),
        });
    }
    for e in solution.equalities.iter().filter(|e| e.status != EqualityStatus::Proved) {
        lines.push(format!("{} and {}: {:?}", reads[e.first], reads[e.second], e.status));
    }
    for o in &solution.obligations {
        for (side, verdict) in [("below", o.lower), ("above", o.upper)] {
            if verdict != Verdict::Holds {
                lines.push(format!("#{} {side}: {verdict:?}", o.subscript));
            }
        }
    }
    lines.join("; ")
}

#[test]
fn convolution() {
    assert_eq!(solve("i | k", &["x[i + k] < 6", "w[k] < 3"]), "i in 0..4; k in 0..3");
    assert_eq!(solve("i | k", &["x[i + k] < n", "w[k] < K"]), "i in 0..n - K + 1; k in 0..K");
    let two_dimensional = ["p + r", "q + s"].map(|e| format!("X{e}[{e}] < n"));
    let reads = [&two_dimensional[0], &two_dimensional[1], "r[r] < 2", "s[s] < 3"];
    assert_eq!(solve("p, q | r, s", &reads), "p in 0..n - 1; q in 0..n - 2; r in 0..2; s in 0..3");
}

#[test]
fn strides() {
    assert_eq!(solve("i | k in 0..2", &["x[2*i + k] < 7"]), "i in 0..3; k in 0..2");
    assert_eq!(solve("i", &["x[2*i] < 7"]), "i in 0..4");
    assert_eq!(solve("i", &["x[2*i + 1] < 7"]), "i in 0..3");
    assert_eq!(solve("i", &["x[2*i] < n"]), "i in 0..floor((n + 1) / 2)");
    assert_eq!(solve("i", &["x[2*i + 1] < n"]), "i in 0..floor(n / 2)");
}

#[test]
fn reversed() {
    assert_eq!(solve("i", &["x[4 - 1 - i] < 4"]), "i in 0..4");
    assert_eq!(solve("i", &["x[n - 1 - i] < n"]), "i in 0..n");
}

#[test]
fn divisions() {
    assert_eq!(solve("i in 0..6", &["x[i / 2] < 3"]), "i in 0..6");
    assert_eq!(solve("i", &["x[i / 2] < 3"]), "i in 0..6");
    assert_eq!(solve("i", &["x[i / 2] < n"]), "i in 0..2*n");
    assert_eq!(solve("i | k", &["x[(i + k) / 2] < n", "w[k] < 3"]), "i in 0..2*n - 2; k in 0..3");
    assert_eq!(solve("i", &["x[(i - 1) / 2] < 3"]), "i in 0..7");
    assert_eq!(solve("i", &["x[i + i / 2] < 10"]), "i in 0..7");
    assert_eq!(solve("i", &["x[3 - i / 2] < 9"]), "i in 0..8");
}

#[test]
fn remainders() {
    assert_eq!(solve("i", &["x[i % 3] < 3"]), "i unsolved, try 0..3");
    assert_eq!(solve("i", &["x[i % 3] < 3", "y[i] < n"]), "i in 0..n");
    assert_eq!(solve("i", &["x[i % 3] < 2", "y[i] < 9"]), "i in 0..9; #0 above: Fails");
    assert_eq!(solve("i | k in 0..9", &["x[i + k % 4] < 9"]), "i in 0..6; k in 0..9");
    assert_eq!(solve("i | k in 0..9", &["x[i + k + k % 4] < 19"]), "i in 0..9; k in 0..9");
    assert_eq!(solve("i | k", &["x[i + k % 4] < n", "w[k] < m"]), "i in 0..n - 3; k in 0..m");
}

#[test]
fn reads_intersect() {
    assert_eq!(solve("i", &["a[i + 3] < 6", "b[i] < 3"]), "i in 0..3");
    assert_eq!(solve("i", &["a[i] < 6", "a[i + 4] < 6"]), "i in 0..2");
    assert_eq!(solve("i", &["a[i + 1] < n", "b[i + 2] < m"]), "i in 0..min(n - 1, m - 2)");
    let stencil = ["u0[i] < 3", "u1[j] < 4", "u0[i + 1] < 3", "u1[j + 1] < 4"];
    assert_eq!(solve("i, j", &stencil), "i in 0..2; j in 0..3");
    let window = ["u0[i + a] < 3", "u1[j + b] < 4"];
    assert_eq!(
        solve("i, j | a in 0..2, b in 0..3", &window),
        "i in 0..2; j in 0..2; a in 0..2; b in 0..3"
    );
}

#[test]
fn offsets_shrink() {
    assert_eq!(solve("i", &["x[i + 1] < 5", "x[i] < 5"]), "i in 0..4");
    assert_eq!(solve("i", &["x[i + 2] < n", "x[i + 1] < n", "x[i] < n"]), "i in 0..n - 2");
    assert_eq!(solve("i", &["x[i] < 4", "x[i - 1] < 4"]), "i in 1..4; i starts at 0: False");
    assert_eq!(
        solve("i | k in -1..2", &["x[i + k] < n"]),
        "i in 1..n - 1; i starts at 0: False; k in -1..2"
    );
}

#[test]
fn shrinking_goes_from_the_inside_out() {
    // j shrinks to 0..2 first, so i only has to leave room for j = 1.
    let reads = ["a[i] < 6", "b[j] < 3", "a[i + j] < 6", "b[j + 1] < 3"];
    assert_eq!(solve("i, j", &reads), "i in 0..5; j in 0..2");
    // Both are solved in one round, then their sum shrinks the outermost.
    assert_eq!(
        solve("i, j", &["c[i + j] < 9", "a[i + 1] < 7", "b[j + 2] < 7"]),
        "i in 0..5; j in 0..5"
    );
    // The explicit one is never shrunk, the other one is.
    assert_eq!(solve("i in 0..4, j", &["c[i + j] < 9", "b[j] < 9"]), "i in 0..4; j in 0..6");
}

#[test]
fn explicit_ranges_win() {
    assert_eq!(solve("i in 0..2", &["a[i] < 4", "b[i] < 2"]), "i in 0..2");
    assert_eq!(solve("i in 0..3", &["b[i] < 2"]), "i in 0..3; #0 above: Fails");
    assert_eq!(solve("i in 0..n", &["b[i] < 2"]), "i in 0..n; #0 above: Depends");
    assert_eq!(solve("i in 0..n", &["x[i + 1] < n"]), "i in 0..n; #0 above: Fails");
    assert_eq!(solve("", &["x[3] < 3", "x[0 - 1] < 3"]), "#0 above: Fails; #1 below: Fails");
}

#[test]
fn ranges_that_depend_on_outer_indices() {
    assert_eq!(solve("i | k in 0..i + 1", &["x[i - k] < n"]), "i in 0..n; k in 0..i + 1");
    assert_eq!(solve("i | k in 0..i + 1", &["x[k] < n", "y[i] < n"]), "i in 0..n; k in 0..i + 1");
    assert_eq!(solve("i, j in 0..i", &["x[j] < 5"]), "i in 0..6; j in 0..i");
    assert_eq!(solve("i, j in 0..i", &["x[j + 1] < 5"]), "i in 0..5; j in 0..i");
    assert_eq!(solve("i | k in 0..i + 1", &["x[k] < n"]), "i in 0..n; k in 0..i + 1");
    // A suffix says nothing about where it may start.
    assert_eq!(solve("i | k in i..n", &["x[k] < n"]), "k in i..n; i unsolved");
}

#[test]
fn equal_extents() {
    assert_eq!(
        solve("i", &["left[i] < 3", "right[i] < 4"]),
        "i in 0..3; left[i] < 3 and right[i] < 4: Refuted; #1 above: Holds"
            .replace("; #1 above: Holds", "")
    );
    assert_eq!(solve("i", &["a[i] < n", "b[i] < m"]), "i in 0..n; a[i] < n and b[i] < m: Unproved");
    assert_eq!(
        solve("| i", &["a[i] < N", "b[i] < N - 1", "a[i + 1] < N"]),
        "i in 0..N - 1; a[i] < N and b[i] < N - 1: Offset"
    );
    assert_eq!(
        solve("| i", &["a[i] < N", "b[i] < N - 1"]),
        "i in 0..N - 1; a[i] < N and b[i] < N - 1: Refuted"
    );
    // The same axis twice requires nothing.
    assert_eq!(solve("i", &["a[i] < n", "a[i] < n"]), "i in 0..n");
}

#[test]
fn conditions() {
    assert_eq!(solve("i", &["x[i] < 4", "if i > 0: x[i - 1] < 4"]), "i in 0..4");
    assert_eq!(solve("i", &["x[i] < 4", "if true: x[i - 1] < 4"]), "i in 0..4; #1 below: Fails");
    assert_eq!(solve("i", &["if i > 0: x[i] < n"]), "i in 0..n");
    assert_eq!(solve("i", &["if i > 0: x[i - 1] < n"]), "i unsolved, try 0..n");
    let where_variable = ["s = i + 1", "x[i] < n", "if s < n: x[s] < n"];
    assert_eq!(solve("i", &where_variable), "i in 0..n");
}

#[test]
fn equations() {
    assert_eq!(solve("i", &["s = i + 1", "x[s] < 5", "x[i] < 5"]), "i in 0..4");
    assert_eq!(solve("o | k", &["p = o + k", "x[p] < 5", "w[k] < 2"]), "o in 0..4; k in 0..2");
    assert_eq!(solve("i", &["a = 2*i", "b = a + 1", "x[b / 2] < n"]), "i in 0..n");
    assert_eq!(solve("i", &["s = i", "x[s] < n"]), "i in 0..n");
}

#[test]
fn failures_suggest_a_range() {
    assert_eq!(solve("i", &[]), "i unsolved");
    assert_eq!(solve("i", &["else: x[i - 1] < 3"]), "i unsolved, try 0..3");
    assert_eq!(solve("i, j", &["x[i + j] < n"]), "i unsolved, try 0..n; j unsolved, try 0..n");
    assert_eq!(solve("i, j", &["x[i + j] < n", "y[j] < m"]), "i in 0..n - m + 1; j in 0..m");
}

#[test]
fn extents_that_are_minima() {
    assert_eq!(solve("i", &["x[i + 1] < min(n, m)"]), "i in 0..min(n - 1, m - 1)");
    assert_eq!(
        solve("i | k", &["x[i + k] < 9", "y[k] < min(n, m)"]),
        "i in 0..max(-n + 10, -m + 10); k in 0..min(n, m)"
    );
    assert_eq!(solve("i in 0..n", &["x[i] < min(n, m)"]), "i in 0..n; #0 above: Depends");
    assert_eq!(solve("t in 1..", &["x[t - 1] < n"]), "t in 1..; #0 above: Fails");
}

#[test]
fn bounds_say_where_they_come_from() {
    let mut vars = Vars::new();
    let solution = problem("i", &["a[i] < 9", "b[i + 2] < 8", "c[i + 1] < 5"], &mut vars).solve();
    let range = &solution.solved[0].range;
    let origins: Vec<_> = range.upper.iter().map(|b| b.from.as_deref()).collect();
    assert_eq!(origins, [Some("c[i + 1] < 5")]);
    assert_eq!(range.lower[0].from, None);
}
