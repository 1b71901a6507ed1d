//! Programs in the forms that time takes besides a plain recurrence: recurrences over every so many points
//! of another, grids of which either axis may be the longer one, batches, open axes with sums that are shifted,
//! and recurrences and sums that go along with an open axis or with an adjoint.

use einlang_testkit::generate::Source;

/// A random program, and whether its sums are added up in another order with checkpoints.
pub(crate) fn random_form(source: &mut Source) -> (String, bool) {
    match source.pick(&[0, 1, 2, 3, 4]) {
        4 => (follow(source), false),
        0 => (coarse(source), true),
        1 => (grid(source), true),
        2 => (batch(source), true),
        _ => open(source),
    }
}

/// The beginning of a program with two parameters.
fn begin(inputs: &str) -> String {
    format!("input T: i32 = 10;\n{inputs}fn main() {{\n    let p = 0.7f64;\n    let q = 0.2f64;\n")
}

fn end(loss: &str, more: &str) -> String {
    format!("    let loss = {loss};\n    (loss, @loss / @p, @loss / @q{more})\n}}\n")
}

/// A recurrence over every so many points of another one.
fn coarse(source: &mut Source) -> String {
    let step = source.pick(&["2", "3", "10"]);
    let own = source.pick(&["0.9 * y[k - 1]", "0.5 * sin(y[k - 1])", "q * y[k - 1] * y[k - 1]"]);
    let read = match source.pick(&[0, 1, 2, 3]) {
        0 => format!("x[{step} * k]"),
        1 => format!("p * x[{step} * k + 1]"),
        2 => format!("x[{step} * k] * x[{step} * k - 1]"),
        _ => format!("mean[r in 0..{step}](x[{step} * k + r])"),
    };
    let first = source.pick(&["x[0]", "q", "x[1] * p"]);
    let point = source.pick(&["q * cos(x[t - 1]) + 0.3 * p", "0.8 * tanh(x[t - 1] * p) + 0.1 * q"]);
    let loss = source.pick(&["y[last] * y[last]", "sum[k](y[k] * y[k])", "y[last] * x[last]"]);
    begin("")
        + &format!(
            "    let x[0] = p;\n    let x[t in 1..T] = {point};\n    let y[0] = {first};\n    \
             let y[k in 1..T / {step}] = {own} + {read};\n"
        )
        + &end(loss, "")
}

/// A grid with an axis of an input, outside or inside.
fn grid(source: &mut Source) -> String {
    let outside = source.pick(&[false, true]);
    let at = |l: &str, t: &str| match outside {
        true => format!("x[{l}, {t}]"),
        false => format!("x[{t}, {l}]"),
    };
    let (before, below) = (at("l", "t - 1"), at("l - 1", "t"));
    let corner = at("l - 1", "t - 1");
    let mut body = format!("0.5 * sin({before}) * q + 0.3 * {below} * w[l]");
    if source.pick(&[false, true]) {
        body += &format!(" + 0.1 * {corner}");
    }
    let row = match source.pick(&[0, 1]) {
        0 => "0.9 * cos(t as f64) * q".to_owned(),
        _ => format!("0.9 * {} + 0.01 * w[0]", at("0", "t - 1")),
    };
    let (first, zero, all) =
        (at("l in 0..L", "0"), at("0", "t in 1..T"), at("l in 1..L", "t in 1..T"));
    let loss = match source.pick(&[0, 1, 2]) {
        0 => at("last", "last"),
        1 => format!("sum[t in 0..T]({0} * {0})", at("L - 1", "t")),
        _ => format!("{} * {}", at("L - 1", "T - 1"), at("1", "last")),
    };
    begin("input w: [f64; L];\n")
        + &format!(
            "    let {first} = w[l] * p;\n    let {zero} = {row};\n    let {all} = {body};\n"
        )
        + &end(&loss, ", @loss / @w")
}

/// Many recurrences side by side, the axis of time inside.
fn batch(source: &mut Source) -> String {
    let extent = source.pick(&["L", "4"]);
    let input = format!("input w: [f64; {extent}];\n");
    if source.pick(&[false, true]) {
        let run = "fn run(x0: f64, p: f64, q: f64, n: i32) -> f64 {\n    let x[0] = x0;\n    \
                   let x[t in 1..n] = p * sin(x[t - 1]) + q * x0;\n    x[last]\n}\n";
        let body = format!("    let y[b in 0..{extent}] = run(w[b], p, q, T);\n");
        return begin(&(input + run)) + &body + &end("sum[b](y[b] * y[b])", ", @loss / @w");
    }
    let state = source.pick(&[false, true]);
    let (axis, j) = if state { (", j in 0..3", ", j") } else { ("", "") };
    let read = match state {
        true => "sum[k in 0..3](x[b, t - 1, k]) * 0.3 * p".to_owned(),
        false => "x[b, t - 1] * p".to_owned(),
    };
    let all = if state { "b, j in 0..3" } else { "b" };
    let loss = format!("sum[{all}](x[b, last{j}] * x[b, last{j}])");
    begin(&input)
        + &format!(
            "    let x[b in 0..{extent}, 0{axis}] = w[b];\n    \
             let x[b in 0..{extent}, t in 1..T{axis}] = tanh({read}) + q * w[b];\n"
        )
        + &end(&loss, ", @loss / @w")
}

/// An open recurrence, and sums along it that begin and end elsewhere.
fn open(source: &mut Source) -> (String, bool) {
    let sum = source.pick(&[
        "sum[k in 2..len(x) + 2](x[k - 2] * x[k - 2])",
        "sum[k in 1..=len(x)](x[k - 1] * cos(k as f64))",
        "sum[k in 1..len(x)]((x[k] - x[k - 1]) ** 2)",
        "sum[k in 0..len(x) - 1](x[k + 1] * x[k])",
    ]);
    let also = source.pick(&["", " + x[last]", " + x[0] * x[last - 1]"]);
    let text = begin("")
        + "    let x[0] = p;\n    let x[t in 1..] = x[t - 1] - 0.002 * q * sin(x[t - 1]) until t >= T, \
           max 100000;\n"
        + &end(&format!("{sum}{also}"), "");
    (text, false)
}

/// A second recurrence that reads the first one, which may be open, and sums over both that the adjoint may
/// wait for.
fn follow(source: &mut Source) -> String {
    let (range, until) = match source.pick(&[false, true, true]) {
        false => ("1..T", ""),
        true => ("1..", " until t >= T, max 100000"),
    };
    let read = source.pick(&["x[t]", "x[t - 1]", "x[t] * x[t - 1]"]);
    let own =
        source.pick(&["0.9 * y[t - 1]", "0.5 * sin(y[t - 1])", "0.2 * q * y[t - 1] * y[t - 1]"]);
    let body = source.pick(&["0.1 * q", "0.1 * p * q", "0.0"]);
    let first = source.pick(&["q", "x[0]", "0.3"]);
    let total = source.pick(&["1.0f64", "sum[t](x[t])", "sum[t](sin(x[t])) * sum[t](x[t] * x[t])"]);
    let loss = source.pick(&[
        "total * y[last]",
        "total + y[last] * y[last]",
        "total * sum[t](y[t] * x[t])",
        "total + sum[t](y[t])",
    ]);
    begin("")
        + &format!(
            "    let x[0] = p;\n    \
             let x[t in {range}] = x[t - 1] - 0.002 * q * sin(x[t - 1]){until};\n    \
             let y[0] = {first};\n    \
             let y[t in 1..len(x)] = {own} + {body} + 0.1 * p * cos({read});\n    \
             let total = {total};\n"
        )
        + &end(loss, "")
}
