//! Random programs whose derivatives are known to exist.
//!
//! Every binding adds an input of its own shape, which is zero: perturbing a binding after its
//! definition is perturbing that input.

use einlang_testkit::generate::Source;

use super::functions;

/// The length of every axis.
pub(crate) const N: usize = 4;

/// A program with inputs and the names of its bindings.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The text, without requests.
    pub(crate) text: String,
    /// Names and ranks of the bindings, in order.
    pub(crate) bindings: Vec<(String, usize)>,
}

/// A random program with so many bindings. `nested` allows requests in it.
pub(crate) fn program(source: &mut Source<'_>, n_bindings: usize, nested: bool) -> Made {
    let mut made = Made {
        text: "input h: i32 = 2;\nlet idx = [2, 0, 3, 0];\nlet seg = [1, 0, 1, 2];\nlet out = [2, -1, 3, 0];\n"
            .to_owned(),
        bindings: Vec::new(),
    };
    made.text.push_str(functions::FUNCTIONS);
    made.leaf(source, 1);
    made.leaf(source, 2);
    made.leaf(source, 0);
    for _ in 0..n_bindings {
        made.binding(source, nested);
    }
    made
}

impl Made {
    fn next(&mut self, rank: usize) -> (String, String) {
        let name = format!("b{}", self.bindings.len());
        let input = format!("e{}", self.bindings.len());
        let shape = ["", "; 4", "; 4, 4"][rank];
        let ty = if rank == 0 { "f64".to_owned() } else { format!("[f64{shape}]") };
        self.text.push_str(&format!("input {input}: {ty};\n"));
        self.bindings.push((name.clone(), rank));
        (name, input)
    }

    fn leaf(&mut self, source: &mut Source<'_>, rank: usize) {
        let mut number = || format!("{:.5}", source.between(-150_000, 150_000) as f64 / 1e5);
        let mut row = || format!("[{}]", (0..N).map(|_| number()).collect::<Vec<_>>().join(", "));
        let rows = match rank {
            2 => format!("[{}]", (0..N).map(|_| row()).collect::<Vec<_>>().join(", ")),
            1 => row(),
            _ => number(),
        };
        let (name, input) = self.next(rank);
        let ty = ["f64", "[f64; 4]", "[f64; 4, 4]"][rank];
        self.text.push_str(&format!("let l{name}: {ty} = {rows};\n"));
        let line = match rank {
            0 => format!("let {name} = l{name} + {input};\n"),
            1 => format!("let {name}[i] = l{name}[i] + {input}[i];\n"),
            _ => format!("let {name}[i, j] = l{name}[i, j] + {input}[i, j];\n"),
        };
        self.text.push_str(&line);
    }

    fn one(&self, source: &mut Source<'_>, rank: usize) -> String {
        let fitting: Vec<&String> =
            self.bindings.iter().filter(|(_, r)| *r == rank).map(|(name, _)| name).collect();
        // Later ones more often, so that chains become long.
        let at = source.below(fitting.len()).max(source.below(fitting.len()));
        fitting[at].clone()
    }

    fn binding(&mut self, source: &mut Source<'_>, nested: bool) {
        let (u, v, w) = (self.one(source, 1), self.one(source, 1), self.one(source, 1));
        let (m, k) = (self.one(source, 2), self.one(source, 2));
        let (a, c) = (self.one(source, 0), self.one(source, 0));
        let kind = source.below(if nested { 44 + functions::KINDS } else { 39 });
        let rank = match kind {
            0..=15 | 29..=31 | 33..=35 | 38..=40 => 1,
            16..=19 | 32 | 36 | 37 | 41 => 2,
            44.. => functions::rank(kind - 44),
            _ => 0,
        };
        let (b, e) = self.next(rank);
        let line = match kind {
            0 => format!("let {b}[i] = sin({u}[i]) * {v}[i] + 0.5 * {a} + {e}[i];"),
            1 => match source.below(3) {
                0 => format!("let {b}[i] = tanh(sum[j]({m}[i, j] * {u}[j])) + {e}[i];"),
                // Sums that continue each other, along the columns and down the rows.
                1 => format!(
                    "let g{b}[g in 0..2, k in 0..h] = sum[j]({m}[j, g * h + k] * {u}[j]) + {v}[k];\nlet {b}[i in 0..4] = sum[k in 0..h](g{b}[0, k] * sin(g{b}[1, k])) * {w}[i] + {e}[i];"
                ),
                _ => format!(
                    "let g{b}[t in 1..4, g in 0..2, k in 0..h] = 0.3 * sum[j in 0..h]({m}[g * h + k, j] * {b}[t - 1]) + {v}[t];\nlet {b}[0] = {u}[0] + {e}[0];\nlet {b}[t in 1..4] = sin(g{b}[t, 0, 0]) * g{b}[t, 1, 1] + g{b}[t, 0, 1] + {e}[t];"
                ),
            },
            2 => format!(
                "let {b}[i] = {u}[i - 1 else {a}] * {v}[i] - 0.3 * {u}[i + 1 else 0.2] + {e}[i];"
            ),
            3 => match source.below(3) {
                0 => format!(
                    "let {b}[0] = {u}[0] + {e}[0];\nlet {b}[t in 1..4] = 0.5 * {b}[t - 1] * {v}[t] + tanh({u}[t]) + {e}[t];"
                ),
                1 => format!(
                    "let g{b}[0] = {a};\nlet g{b}[t in 1..4] = 0.5 * g{b}[t - 1] * {b}[t - 1] + {v}[t];\nlet {b}[t in 0..4] = sin(g{b}[t]) * {u}[t] + {e}[t];"
                ),
                // One recurrence reads the other a step ahead.
                _ => format!(
                    "let g{b}[0] = {a};\nlet g{b}[1] = {v}[1];\nlet g{b}[t in 2..5] = 0.5 * g{b}[t - 1] * {b}[t - 2] + {v}[t - 1];\nlet {b}[t in 0..4] = 0.4 * sin(g{b}[t + 1]) + {u}[t] + {e}[t];"
                ),
            },
            4 => format!(
                "let {b}[3] = {u}[3] * {a} + {e}[3];\nlet {b}[t in 0..3] = 0.4 * sin({b}[t + 1]) + {v}[t] + {e}[t];"
            ),
            5 => format!(
                "let {b}[i] = if {u}[i] > 0.25 {{ {u}[i] * {v}[i] }} else {{ 0.5 * {w}[i] - {a} }} + {e}[i];"
            ),
            6 => match source.below(2) {
                0 => format!("let {b}[i] = {u}[idx[i]] * {v}[i] + {e}[i];"),
                // The guard alone keeps the sum from a point that is not there.
                _ => format!(
                    "let {b}[i in 0..4] = {w}[i] + {e}[i];\nlet {b}[i in 0..4] = sum[k]({u}[out[i]] * {v}[k]) * 0.5 + {e}[i] where out[i] >= 0;"
                ),
            },
            7 => {
                format!("let {b}[s in 0..4] = sum[i]({u}[i] * {v}[i] where seg[i] == s) + {e}[s];")
            }
            8 => match source.below(3) {
                0 => format!("let {b}[i] = sum[k in 0..=i]({u}[k] * {v}[i]) + {e}[i];"),
                1 => format!(
                    "let {b}[i] = reduce[k in 0..seg[i] + 1](0.3, |p, q| p + q + p * q)(0.5 * {u}[k] * {v}[i]) + {e}[i];"
                ),
                _ => format!(
                    "let {b}[i] = sum[k in 0..seg[i]](sin({u}[i] * (k as f64 + 0.5))) * {v}[i] + {e}[i];"
                ),
            },
            9 => format!("let {b}[i] = exp(0.3 * {u}[i]) / sum[k](exp(0.3 * {u}[k])) + {e}[i];"),
            // Products that are added, in an extremum: its terms must come out alike wherever they are computed.
            10 => format!("let {b}[i] = max[j]({m}[i, j] * {u}[j] + 0.3 * {v}[j]) + {e}[i];"),
            11 => format!("let {b}[i] = prod[j](0.5 * {m}[i, j] + {u}[j]) + {e}[i];"),
            12 => format!(
                "let {b}[i] = {{ let p = {u}[i] * {v}[i]; let q[j] = p * {w}[j]; sum[j](q[j] * q[j]) * 0.2 + p }} + {e}[i];"
            ),
            13 => format!(
                "let {b}[t in 0..4] = 0.5 * {b}[t - 1 else {a}] + {u}[t] * {b}[t - 2 else {c}] + {e}[t];"
            ),
            14 => format!("let {b}[i] = soft({u}[i]) * cube(0.5 * {v}[i]) + {e}[i];"),
            15 => format!("let {b}[i] = area({u}[i], {v}[3 - i]) + {e}[i];"),
            16 => format!("let {b}[i, j] = {u}[i] * {v}[j] + {e}[i, j];"),
            17 => format!("let {b}[i, j] = 0.4 * sum[k]({m}[i, k] * {k}[k, j]) + {e}[i, j];"),
            18 => format!(
                "let {b}[i, j] = 0.3 * {m}[j, i] * {u}[i] + {k}[i, j] ** 2 * 0.2 + {e}[i, j];"
            ),
            19 => format!(
                "let {b}[i in 0..4, j in 0..4] = {m}[i, j] + 0.3 * {b}[i - 1, j else {a}] * {u}[j] + 0.2 * {b}[i, j - 1 else 0.1] + {e}[i, j];"
            ),
            20 => format!("let {b} = sum[i]({u}[i] * {v}[i]) * 0.5 + {e};"),
            21 => format!("let {b} = {a} * sin({c}) + {u}[2] * {m}[1, 3] + {e};"),
            22 => format!("let {b} = sum[i, j]({m}[i, j] * {u}[i] * {v}[j]) * 0.2 + {e};"),
            23 => format!("let {b} = min[i]({u}[i]) * max[i]({v}[i]) + {e};"),
            24 => format!("let {b} = reduce[i](0.3, |p, q| p + q + p * q)(0.5 * {u}[i]) + {e};"),
            25 => match source.below(2) {
                0 => format!("let {b} = mean[i](({u}[i] - {a}) ** 2) + {e};"),
                // How many terms are kept is counted by what is differentiated.
                _ => format!(
                    "let {b} = mean[i](({u}[i] - {a}) ** 2 where {v}[i] > 0.1 || i == 0) * {c} + {e};"
                ),
            },
            26 => format!("let {b} = prod[i]({u}[i] where {v}[i] > 0.1) * 0.5 + {e};"),
            27 => match source.below(3) {
                0 => format!("let {b} = {u}[3] * sqrt(1.5 + {a} ** 2) + {e};"),
                1 => format!("let {b} = blend({u}[3], sin({a}), 0.25) + {e};"),
                // The rule speaks of `x`, the body of what the function captures.
                _ => format!("let {b} = given(|t| t * {a}, {u}[1]) * 0.5 + {e};"),
            },
            28 => format!("let {b} = max[i, j]({m}[i, j]) * 0.5 + {e};"),
            29 => format!(
                "let {b}[i in 0..4] = {u}[i + 2 else {a}] * {v}[i - 1 else 0.3] + {u}[i] ** 2 + {e}[i];"
            ),
            30 => format!(
                "let {b}[i in 0..4] = sum[r in 0..2]({u}[i + r else {c}] * {v}[r]) * 0.5 + {e}[i];"
            ),
            // The last summand keeps equal products apart: where two are extremal, there is a kink.
            31 => format!(
                "let {b}[i in 0..4] = {u}[i / 2] * {v}[(i + 1) % 4] + 0.5 * sin({w}[i]) + {e}[i];"
            ),
            32 => format!(
                "let {b}[i in 0..4, j in 0..4] = {m}[i, j - 1 else 0.1] * {k}[i + 1, j else {a}] + {e}[i, j];"
            ),
            // The numbers of steps and the extents are data, so that no difference changes them.
            33 => format!(
                "let {b}[i] = {{ let x[0] = {u}[i]; let x[t in 1..] = 0.4 * x[t - 1] * {v}[i] + sin(x[t - 1]) until t > seg[i], max 6; x[last] + 0.1 * sum[t](x[t] * {w}[i]) }} + {e}[i];"
            ),
            34 => format!(
                "let {b}[i] = {{ let n = seg[i] + 1; let q[j in 0..n] = {u}[j] * {v}[i]; 0.5 * sum[j](q[j]) * q[n - 1] }} + {e}[i];"
            ),
            35 => format!(
                "let {b}[t in 0..4] = {{ let x[0] = {b}[t - 1 else {a}]; let x[s in 1..] = 0.4 * sin(x[s - 1]) + {u}[t] until s > seg[t], max 6; x[last] }} + {e}[t];"
            ),
            // Only the condition keeps the diagonal from reading itself.
            36 => format!(
                "let {b}[i in 0..4, j in 0..4] = if i == j {{ 1.5 + sin({m}[i, j]) }} else {{ 0.4 * {k}[i, j] * {b}[j, j] }} + {e}[i, j] where j <= i else 0.2 * {u}[j] + {e}[i, j];"
            ),
            37 => format!(
                "let {b}[t in 0..4, i in 0..4] = max[j]({m}[i, j] + 0.3 * {v}[j] * {b}[t - 1, j else {u}[j]]) + {e}[t, i];"
            ),
            // A copy that is read at its own point and at fixed ones.
            38 => format!(
                "let c{b}[i in 0..4] = {u}[i];\nlet {b}[i in 0..4] = sin(c{b}[i]) * c{b}[0] + 0.3 * c{b}[2] * {v}[i] + {e}[i];"
            ),
            39 => match source.below(2) {
                0 => format!(
                    "let r{b} = @{a} / @{u};\nlet {b}[i] = 0.2 * r{b}[i] + {u}[i] + {e}[i];"
                ),
                // By the step before of an open recurrence itself.
                _ => format!(
                    "let o{b}[0] = {a};\nlet o{b}[t in 1..] = {{ let l = sin(o{b}[t - 1]) * {c}; o{b}[t - 1] + 0.1 * (@l / @o{b}[t - 1]) }} until t > 3 || @o{b}[t] / @{a} > 1e9, max 6;\nlet {b}[i] = {u}[i] * o{b}[last] + 0.1 * sum[t](o{b}[t]) + {e}[i];"
                ),
            },
            40 => format!(
                "let r{b} = @{u} / @{v};\nlet {b}[i] = 0.2 * sum[j](r{b}[i, j] * {w}[j]) + {e}[i];"
            ),
            41 => format!("let r{b} = @{u} / @{v};\nlet {b}[i, j] = 0.2 * r{b}[i, j] + {e}[i, j];"),
            42 => format!("let {b} = 0.2 * chained({u}) + {e};"),
            44.. => {
                let value = functions::value(kind - 44, [&u, &v, &a]);
                let slot = ["", "[i]"][rank];
                let range = ["", "[i in 0..4]"][rank];
                format!("let {b}{range} = {value} + {e}{slot};")
            }
            _ => format!("let r{b} = @{c} / @{a};\nlet {b} = 0.2 * r{b} + {a} + {e};"),
        };
        self.text.push_str(&line);
        self.text.push('\n');
    }
}

/// Parts of the Jacobian of `y` by `p`, as bindings, and what each is of the whole.
pub(crate) fn projections(y: (&str, usize), p: (&str, usize)) -> (String, Vec<Projection>) {
    let ((y, of), (p, by)) = (y, p);
    let jacobian = format!("(@{y} / @{p})");
    let list = |parts: &[&str]| parts.join(", ");
    let at = |of: &[&str], by: &[&str]| match of.len() + by.len() {
        0 => jacobian.clone(),
        _ => format!("{jacobian}[{}]", list(&[of, by].concat())),
    };
    let (targets, parameters) = (&["i", "k"][..of], &["j", "l"][..by]);
    let (fixed_of, fixed_by) = (&["1", "2"][..of], &["3", "0"][..by]);
    let (all_of, all_by) = (&[":", ":"][..of], &[":", ":"][..by]);
    let shape = ["0.7", "[0.5, -1.0, 0.25, 2.0]", SQUARE];
    let kinds = ["f64", "[f64; 4]", "[f64; 4, 4]"];
    let mut text = format!("let along: {} = {};\n", kinds[by], shape[by]);
    text += &format!("let weight: {} = {};\n", kinds[of], shape[of]);
    let read = |name: &str, at: &[&str]| match at.is_empty() {
        true => name.to_owned(),
        false => format!("{name}[{}]", list(at)),
    };
    let slots = |name: &str, at: &[&str]| read(name, at);
    text += &format!("let entry = {};\n", at(fixed_of, fixed_by));
    text += &format!("let row = {};\n", at(fixed_of, all_by));
    text += &format!("let column = {};\n", at(all_of, fixed_by));
    let (of_point, by_point) = (read(y, fixed_of), read(p, fixed_by));
    text += &format!("let paired = (@{of_point} / @({p}, {by_point})).1;\n");
    let mut made = vec![Projection::Entry, Projection::Row, Projection::Column, Projection::Paired];
    if by > 0 {
        let product = format!("{} * {}", at(targets, parameters), read("along", parameters));
        let sum = format!("sum[{}]({product})", list(parameters));
        text += &format!("let jvp_out = {{ let {} = {sum}; t }};\n", slots("t", targets));
        made.push(Projection::Jvp);
    }
    if of > 0 {
        let product = format!("{} * {}", read("weight", targets), at(targets, parameters));
        let sum = format!("sum[{}]({product})", list(targets));
        text += &format!("let vjp_out = {{ let {} = {sum}; t }};\n", slots("t", parameters));
        made.push(Projection::Vjp);
    }
    (text, made)
}

const SQUARE: &str = "[[0.5, -1.0, 0.25, 2.0], [0.1, 0.2, 0.3, 0.4], [-0.5, 1.0, 0.75, -0.25], \
                      [0.3, 0.6, -0.9, 1.2]]";

/// The weights of a vector of some rank.
pub(crate) fn weights(rank: usize) -> Vec<f64> {
    match rank {
        0 => vec![0.7],
        1 => vec![0.5, -1.0, 0.25, 2.0],
        _ => SQUARE.split(['[', ']', ',', ' ']).filter_map(|number| number.parse().ok()).collect(),
    }
}

/// A part of a Jacobian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Projection {
    Entry,
    Row,
    Column,
    /// The entry, of a tuple of paths.
    Paired,
    Jvp,
    Vjp,
}

impl Projection {
    /// The name of the binding.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Projection::Entry => "entry",
            Projection::Row => "row",
            Projection::Column => "column",
            Projection::Paired => "paired",
            Projection::Jvp => "jvp_out",
            Projection::Vjp => "vjp_out",
        }
    }

    /// The same part, taken from the whole.
    pub(crate) fn of(self, jacobian: &[f64], of: usize, by: usize) -> Vec<f64> {
        let width = N.pow(by as u32);
        let rows: Vec<&[f64]> = jacobian.chunks(width).collect();
        let target = [0, 1, N + 2][of];
        let parameter = [0, 3, 3 * N][by];
        match self {
            Projection::Entry | Projection::Paired => vec![rows[target][parameter]],
            Projection::Row => rows[target].to_vec(),
            Projection::Column => rows.iter().map(|row| row[parameter]).collect(),
            Projection::Jvp => {
                let along = weights(by);
                let product = |row: &&[f64]| row.iter().zip(&along).map(|(a, b)| a * b).sum();
                rows.iter().map(product).collect()
            }
            Projection::Vjp => {
                let weight = weights(of);
                let column = |j: usize| rows.iter().zip(&weight).map(|(row, w)| row[j] * w).sum();
                (0..width).map(column).collect()
            }
        }
    }
}
