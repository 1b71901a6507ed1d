//! Reported windows against brute force: random recurrences, small boxes, every point.
//!
//! For each case the report of the compiler is held against a simulation that knows nothing of it
//! but the order of the axes: that order computes every point before it is read, the windows lose no
//! live value, and within the documented fragment none of them could be smaller. What is observed as
//! a whole, at a fixed early point or at an index that is data is kept in full.
//!
//! 2,000 programs are tried; `EINLANG_CASES=20000` tries more. With `--nocapture` the test prints how
//! many axes have windows, and where brute force found that less would have been enough.

mod case;
mod liveness;
mod text;

use std::collections::BTreeMap;

use case::{Case, Dice, Guard, Observer, Read};
use einlang_loops::window::{AxisOrder, BindingStorage, Keep, StorageReport, analyse_program};
use einlang_tir::host::parse_program;
use liveness::{Placed, Simulation};

fn n_cases() -> u64 {
    let wanted = std::env::var("EINLANG_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

fn report(text: &str, outputs: &[String]) -> StorageReport {
    let program = parse_program(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    analyse_program(&program, outputs)
}

/// What was found, by kind.
#[derive(Default)]
struct Tally(BTreeMap<String, u64>);

impl Tally {
    fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }
}

#[test]
fn windows_are_sufficient_and_minimal() {
    let mut tally = Tally::default();
    for seed in 0..n_cases() {
        let case = Case::random(&mut Dice::new(seed));
        let (text, outputs) = text::program(&case);
        check(&case, &report(&text, &outputs), &text, seed, &mut tally);
    }
    for (what, n) in &tally.0 {
        println!("{n:8}  {what}");
    }
    let finite = tally.0.get("axes with a window").copied().unwrap_or(0);
    assert!(finite > n_cases() / 3, "only {finite} windows: the cases say too little");
}

fn check(case: &Case, report: &StorageReport, text: &str, seed: u64, tally: &mut Tally) {
    let fail = |what: String| -> ! { panic!("case {seed}: {what}\n{text}\n{report:#?}") };
    let found: Vec<Option<&BindingStorage>> =
        (0..case.bindings.len()).map(|at| report.named(text::NAMES[at])).collect();
    let orders: Vec<Placed> = found
        .iter()
        .map(|binding| match binding.map(|binding| (binding.group, &binding.schedule)) {
            Some((group, AxisOrder::Axes(levels))) => (group, levels.clone()),
            _ => (0, Vec::new()),
        })
        .collect();
    let mut unordered =
        found.iter().flatten().filter(|b| matches!(b.schedule, AxisOrder::Other)).peekable();
    if unordered.peek().is_some() {
        tally.count("groups without an order of axes");
        if unordered.any(|binding| binding.has_window()) {
            fail("a window without an order".to_owned());
        }
        return;
    }
    if found.iter().any(Option::is_none) {
        // Nobody asks for it, or it does not read itself.
        return tally.count("cases with a binding that is not recurrent");
    }
    let simulation = Simulation::new(case, &orders);
    let dynamic = has_data(case);
    if let Some(wrong) = simulation.too_early() {
        match dynamic {
            true => return tally.count("data-dependent reads that would fail when run"),
            false => fail(wrong),
        }
    }
    for (at, binding) in found.iter().flatten().enumerate() {
        let windows: Vec<Option<u64>> = binding.axes.iter().map(|axis| axis.window()).collect();
        if let Some(wrong) = simulation.overwritten(at, &windows) {
            fail(wrong);
        }
        for (axis, kept) in binding.axes.iter().enumerate() {
            if kept.keep != Keep::Full && must_be_full(case, &simulation, at, axis) {
                fail(format!("axis {axis} of {} must be full", binding.name));
            }
            let why = kept.reasons.first().map_or(String::new(), |r| format!("{:?}", r.why));
            let why = why.split('(').next().unwrap_or_default().to_owned();
            judge(case, &simulation, (at, axis), (kept.keep, &why), tally, &|what| fail(what));
        }
    }
}

/// Compares one decision with the smallest window that loses nothing.
fn judge(
    case: &Case,
    simulation: &Simulation<'_>,
    (binding, axis): (usize, usize),
    (keep, why): (Keep, &str),
    tally: &mut Tally,
    fail: &dyn Fn(String),
) {
    let extent = case.extents[axis].unsigned_abs();
    let enough = (1..extent).find(|window| !simulation.loses(binding, axis, *window));
    match (keep, enough) {
        (Keep::Window(window), Some(enough)) if enough < window => {
            match in_fragment(case) {
                true => fail(format!("axis {axis}: window {window}, but {enough} is enough")),
                false => tally.count("windows that could be smaller, outside the fragment"),
            }
            tally.count("axes with a window");
        }
        (Keep::Window(_), _) => tally.count("axes with a window"),
        (Keep::Full, Some(_)) if must_be_full(case, simulation, binding, axis) => {
            tally.count("axes in full, as the language says");
        }
        (Keep::Full, Some(_)) => {
            tally.count(format!("axes in full where a window would do: {why}"));
        }
        (Keep::Full, None) => tally.count("axes in full that need it"),
    }
}

fn has_data(case: &Case) -> bool {
    let clauses = case.bindings.iter().flatten();
    clauses.flat_map(|clause| &clause.reads).any(|read| matches!(read, Read::Data { .. }))
}

/// What the language keeps in full whatever the extents are.
fn must_be_full(case: &Case, simulation: &Simulation<'_>, binding: usize, axis: usize) -> bool {
    let observers = case.observers.iter().filter(|observer| observer.of() == binding);
    let observed = observers.into_iter().any(|observer| match observer {
        Observer::Whole { .. } | Observer::Printed { .. } => true,
        Observer::Fixed { .. } => simulation.descends(binding, axis) == case.descending[axis],
        Observer::Dynamic { .. } => axis == 0,
        Observer::Plane { axis: along, .. } => axis != *along,
        _ => false,
    });
    observed || simulation.is_data(binding, axis)
}

/// The fragment in which windows are minimal: one binding, no guards, and clauses long enough for
/// every read to happen next to the point that would be overwritten.
fn in_fragment(case: &Case) -> bool {
    let long = |clause: &case::Clause| {
        clause.guard == Guard::None && clause.ranges.iter().all(|(low, high)| high - low >= 3)
    };
    case.bindings.len() == 1 && case.bindings[0].len() == 2 && case.bindings[0].iter().all(long)
}
