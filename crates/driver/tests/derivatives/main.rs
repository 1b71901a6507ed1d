//! Derivatives of random programs: every way of computing them, by the oracle and by loops, agrees with the
//! others to rounding and with differences of the program's own values.

mod cases;
mod classics;
mod counts;
mod effects;
mod functions;
mod library;
mod program;

use einlang_driver::Session;
use einlang_driver::run::{Executable, Failure, Given, RunOptions};
use einlang_interp::io::MemoryIo;
use einlang_interp::options::Backend;
use einlang_interp::value::HostValue;
use einlang_sema::shapes::Options;
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;
use einlang_tir::passes::Mode;

use program::{Made, N, program, projections};

/// Tests that run side by side: so many of programs without requests in them, and with.
const PARTS: (u64, u64) = (4, 2);

/// How many programs each part tries, 500 in all; `EINLANG_PROGRAMS=5000` tries more.
fn n_programs() -> u64 {
    let wanted = std::env::var("EINLANG_PROGRAMS").ok();
    let wanted: u64 = wanted.and_then(|text| text.parse().ok()).unwrap_or(500);
    wanted.div_ceil(PARTS.0 + PARTS.1)
}

fn build(text: &str, outputs: &[String], mode: Mode) -> Executable {
    let world = MemoryWorld::new();
    let options = Options { outputs: Some(outputs.to_vec()), ..Options::default() };
    let mut session = Session::new(&world).with_options(options).with_mode(mode);
    let file = session.add_text("generated.ein", text);
    match session.build(file) {
        Ok(executable) => executable,
        Err(failure) => panic!("{}\n{text}", words(&failure)),
    }
}

fn words(failure: &Failure) -> String {
    match failure {
        Failure::Program(found) => {
            found.iter().map(|d| format!("{}: {}\n", d.code.as_str(), d.message)).collect()
        }
        Failure::Usage { message, .. } | Failure::Bug(message) => message.clone(),
    }
}

/// The value of one input: zero, or a step in a direction.
fn given(rank: usize, direction: Option<&[f64]>, step: f64) -> String {
    let number = |at: usize| format!("{:?}", direction.map_or(0.0, |d| d[at]) * step);
    let row = |from: usize| (from..from + N).map(number).collect::<Vec<_>>().join(", ");
    match rank {
        0 => number(0),
        1 => format!("[{}]", row(0)),
        _ => format!(
            "[{}]",
            (0..N).map(|i| format!("[{}]", row(N * i))).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn run(
    executable: &Executable,
    made: &Made,
    moved: usize,
    direction: &[f64],
    step: f64,
) -> Vec<Vec<f64>> {
    run_on(Backend::Oracle, executable, made, moved, direction, step)
}

fn run_on(
    backend: Backend,
    executable: &Executable,
    made: &Made,
    moved: usize,
    direction: &[f64],
    step: f64,
) -> Vec<Vec<f64>> {
    let inputs = made.bindings.iter().enumerate().map(|(at, (_, rank))| {
        let direction = (at == moved).then_some(direction);
        (format!("e{at}"), Given::Text(given(*rank, direction, step)))
    });
    let mut options = RunOptions { inputs: inputs.collect(), ..RunOptions::default() };
    options.limits.steps = Some(200_000_000);
    options.limits.backend = backend;
    match executable.run(&options, &mut MemoryIo::default()) {
        Ok(outcome) => outcome.outputs.iter().map(|output| numbers(&output.value)).collect(),
        Err(failure) => panic!("{}\n{}", words(&failure), made.text),
    }
}

fn numbers(value: &HostValue) -> Vec<f64> {
    let number = |constant: einlang_tir::constant::Const| constant.as_float().unwrap_or(f64::NAN);
    match (value.as_scalar(), value.as_tensor()) {
        (Some(scalar), _) => vec![number(scalar)],
        (None, Some(tensor)) => tensor.consts().map(number).collect(),
        (None, None) => Vec::new(),
    }
}

/// What rounding may leave of terms of about one that cancel: all entries of a Jacobian may be zero in truth.
const CANCELLED: f64 = 1e-15;

/// Whether two ways to compute an entry agree. Entries may be small: what counts is the largest of them.
fn agree(a: f64, b: f64, largest: f64) -> bool {
    a == b || (a - b).abs() <= (1e-7 * largest).max(CANCELLED) || a.is_nan() && b.is_nan()
}

/// The largest of some entries.
fn largest(entries: &[f64]) -> f64 {
    entries.iter().filter(|a| a.is_finite()).fold(0.0, |most, a| most.max(a.abs()))
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || a.is_nan() && b.is_nan()
}

/// The product of a Jacobian with a direction.
fn times(jacobian: &[f64], direction: &[f64]) -> Vec<f64> {
    let rows = jacobian.chunks(direction.len());
    rows.map(|row| row.iter().zip(direction).map(|(a, b)| a * b).sum()).collect()
}

/// Checks one program; gives how many derivatives other than zero were compared.
fn check(seed: u64, nested: bool) -> usize {
    let mut source = Source::from_seed(seed);
    let n_bindings = 2 + source.below(6);
    let made = program(&mut source, n_bindings, nested);
    let target = made.bindings.len() - 1;
    let moved = source.below(target);
    let (y, p) = (&made.bindings[target].0, &made.bindings[moved].0);
    let size = N.pow(made.bindings[moved].1 as u32);
    let direction: Vec<f64> = (0..size).map(|_| source.between(-100, 100) as f64 / 50.0).collect();
    let text = format!("{}let J = @{y} / @{p};\nlet K = @{y} / @e{moved};\n", made.text);
    let outputs = ["J".to_owned(), "K".to_owned()];
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    let n_modes = if seed.is_multiple_of(4) { 3 } else { 2 };
    let modes = [Mode::Forward, Mode::Reverse, Mode::Cheaper].into_iter().take(n_modes);
    for (number, mode) in modes.enumerate() {
        let executable = build(&text, &outputs, mode);
        // One of the modes is run by loops as well.
        let by_loops = seed % n_modes as u64 == number as u64;
        for backend in
            [Backend::Oracle, Backend::Bytecode].into_iter().take(1 + usize::from(by_loops))
        {
            let values = run_on(backend, &executable, &made, usize::MAX, &[], 0.0);
            let by = ["by the binding", "by the input"];
            let names = by.map(|by| format!("{mode:?} on {backend:?} {by}"));
            found.extend(names.into_iter().zip(values));
        }
    }
    let (_, first) = &found[0];
    // So far from one, the sines of what was rounded are anything.
    if largest(first) > 1e15 {
        return 0;
    }
    for (name, other) in &found[1..] {
        for (at, (a, b)) in first.iter().zip(other).enumerate() {
            let agree = agree(*a, *b, largest(first));
            assert!(agree, "forward {a}, {name} {b} at {at}, seed {seed}\n{text}");
        }
    }
    check_projections(&made, target, moved, first);
    let primal = build(&made.text, std::slice::from_ref(y), Mode::Cheaper);
    // The difference, and what rounding makes of it.
    let difference = |h: f64| -> Vec<(f64, f64)> {
        let up = run(&primal, &made, moved, &direction, h).remove(0);
        let down = run(&primal, &made, moved, &direction, -h).remove(0);
        let pairs = up.iter().zip(&down);
        pairs.map(|(a, b)| ((a - b) / (2.0 * h), a.abs().max(b.abs()) * f64::EPSILON / h)).collect()
    };
    let exact = times(first, &direction);
    let mut n_compared = 0;
    let mut open: Vec<usize> = (0..exact.len()).collect();
    let mut wrong = Vec::new();
    // Functions that change fast need smaller steps; a wrong derivative is wrong with all of them.
    for step in [1e-4, 1e-5, 1e-6] {
        let (coarse, fine) = (difference(2.0 * step), difference(step));
        wrong.clear();
        for at in std::mem::take(&mut open) {
            let ((coarse, _), (fine, rounding), exact) = (coarse[at], fine[at], exact[at]);
            // A kink between the points shows as differences that do not converge, and values
            // beyond all numbers have none.
            if !close(coarse, fine, 1e-4) || !fine.is_finite() {
                continue;
            }
            // Differences of large values say little.
            if rounding > 1e-6 * (1.0 + fine.abs()) {
                continue;
            }
            let extrapolated = (4.0 * fine - coarse) / 3.0;
            if close(exact, extrapolated, 1e-6) {
                n_compared += usize::from(extrapolated.abs() > 1e-9);
            } else {
                wrong.push((exact, extrapolated));
                open.push(at);
            }
        }
        if open.is_empty() {
            break;
        }
    }
    if !open.is_empty() {
        let at_rest = |h: f64| run(&primal, &made, moved, &direction, h).remove(0);
        let (here, up, down) = (at_rest(0.0), at_rest(KINK), at_rest(-KINK));
        open.retain(|at| {
            let sides = ((here[*at] - down[*at]) / KINK, (up[*at] - here[*at]) / KINK);
            !is_between(exact[*at], sides)
        });
    }
    assert!(open.is_empty(), "derivatives and differences {wrong:?}, seed {seed}\n{text}");
    n_compared
}

/// The step on both sides of a point.
const KINK: f64 = 1e-6;

/// Whether there is a kink at the point itself, where terms of an extremum are equal: the slopes on both
/// sides differ, and that of the first extremal term is one of them or lies between them.
fn is_between(exact: f64, (left, right): (f64, f64)) -> bool {
    let slack = 1e-5 * (1.0 + exact.abs());
    (left - right).abs() > 2.0 * slack
        && left.min(right) - slack <= exact
        && exact <= left.max(right) + slack
}

/// Entries, rows, columns and products with vectors are parts of the whole.
fn check_projections(made: &Made, target: usize, moved: usize, jacobian: &[f64]) {
    let ((y, of), (p, by)) = (&made.bindings[target], &made.bindings[moved]);
    let (lines, parts) = projections((y, *of), (p, *by));
    let text = format!("{}{lines}", made.text);
    let outputs: Vec<String> = parts.iter().map(|part| part.name().to_owned()).collect();
    let executable = build(&text, &outputs, Mode::Cheaper);
    let found = run(&executable, made, usize::MAX, &[], 0.0);
    for (part, found) in parts.iter().zip(&found) {
        let expected = part.of(jacobian, *of, *by);
        let most = largest(jacobian).max(largest(&expected));
        let agree = found.iter().zip(&expected).all(|(a, b)| agree(*a, *b, most));
        let fits = found.len() == expected.len() && agree;
        assert!(fits, "{part:?}: {found:?}, of the whole {expected:?}\n{text}");
    }
}

/// One part of the programs.
fn check_part(part: u64, of: u64, first: u64, nested: bool) {
    let seeds = (0..n_programs()).map(|at| first + at * of + part);
    let n_compared: usize = seeds.map(|seed| check(seed, nested)).sum();
    assert!(n_compared as u64 >= n_programs(), "only {n_compared} derivatives were compared");
}

fn check_plain(part: u64) {
    check_part(part, PARTS.0, 0, false);
}

fn check_nested(part: u64) {
    check_part(part, PARTS.1, 1_000_000, true);
}

#[test]
fn derivatives_agree_with_differences_1() {
    check_plain(0);
}

#[test]
fn derivatives_agree_with_differences_2() {
    check_plain(1);
}

#[test]
fn derivatives_agree_with_differences_3() {
    check_plain(2);
}

#[test]
fn derivatives_agree_with_differences_4() {
    check_plain(3);
}

#[test]
fn derivatives_of_derivatives_agree_with_differences_1() {
    check_nested(0);
}

#[test]
fn derivatives_of_derivatives_agree_with_differences_2() {
    check_nested(1);
}
