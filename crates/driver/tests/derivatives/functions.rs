//! Functions that random programs call: some have rules, some contain requests, some both, and some
//! ask for derivatives of what others of them compute.

/// Their text. All rules say what the bodies do.
pub(crate) const FUNCTIONS: &str = "\
fn soft(x: f64) -> f64 { log(1.0 + exp(x)) }
fn cube(x: f64) -> f64 { x * x * x }
@fn cube(x) { 3.0 * x * x * @x }
fn area(x: f64, y: f64) -> f64 { x * sin(y) }
@fn area(x, y) from @r { (sin(y) * @r, x * cos(y) * @r) }
fn blend(x, y, k, least = -50) { max(x * k + (1 - k) * y, least) }
fn given(f, x: f64) -> f64 { f(x) * x }
@fn given(f, x) { (f(x) + f(1.0) * x) * @x }
fn chained(x: [f64; 4]) -> f64 {
    let u[i in 0..4] = sin(x[i]) * x[0];
    let y[i in 0..4] = 0.3 * u[i] ** 2 + u[2];
    let J[i in 0..4, j in 0..4] = sum[k in 0..4]((@y / @u)[i, k] * (@u / @x)[k, j]);
    sum[i, j](J[i, j] * x[j])
}
fn slope(x: f64) -> f64 { let y = sin(x) * x; @y / @x }
fn bend(x: f64, k: f64) -> f64 { let y = slope(x) * k + slope(0.5 * k); @y / @x + 0.5 * (@y / @k) }
fn steep(x: f64) -> f64 { let y = cube(x) + area(x, 0.5 * x); @y / @x }
fn known(x: f64) -> f64 { let y = x ** 3 * 0.5; let d = @y / @x; d * 0.3 }
@fn known(x) { 0.9 * x * @x }
fn above(x: f64) -> f64 { let y = known(x) * slope(x); @y / @x }
@fn above(x) from @r { curve(x) * @r }
fn curve(x: f64) -> f64 { let y = known(x) * slope(x); let d = @y / @x; @d / @x }
fn beyond(x: f64) -> f64 { let y = above(x) * 0.2 + steep(x); @y / @x }
fn spread(x: f64, k: f64) -> f64 {
    let y = x * x * known(x) * k;
    let g[i in 0..4] = (@y / @x) * (i as f64) + (@y / @k);
    g[1] - 0.1 * sum[i](g[i] * (@y / @x))
}
fn uphill(x: [f64; 4]) -> [f64; 4] { let l = sum[i in 0..4](x[i] ** 3 * 0.2 + x[i] * x[0]); @l / @x }
fn downhill(x: [f64; 4]) -> [f64; 4] {
    let g = uphill(x);
    let d[i in 0..4] = x[i] - 0.1 * g[i] / (1.0 + (@g[i] / @x[i]) ** 2);
    d
}
fn walked(x: [f64; 4]) -> f64 {
    let p[0] = x;
    let p[t in 1..3] = { let q = p[t - 1]; let g = uphill(q); let n[i in 0..4] = sin(q[i] - 0.1 * g[i]); n };
    let e = p[2];
    let l = sum[i in 0..4](e[i] * slope(x[i]));
    let d = @l / @x;
    sum[i](d[i] * x[i])
}
fn combined(x: [f64; 4], v: [f64; 4]) -> f64 {
    let y[i in 0..4] = sin(x[i]) * x[0];
    let s = sum[i in 0..4](x[i] * x[i] * v[i]);
    let d = v * @y - 0.3 * @s * x + @y / (1.5 + v * v) - 0.2 * (@y + @s);
    let J = d / @x;
    sum[i, j](J[i, j] * x[j]) + sum[i, j](((x * @s) / @v)[i, j] * v[i])
}
fn rested(x: f64, k: f64, n: i32) -> f64 {
    let p[0] = x;
    let p[t in 1..] = { let q = p[t - 1]; let l = sin(q) * q + 0.2 * (q - k) ** 2; q - 0.1 * (@l / @q) }
        until { let q = p[t]; let l = sin(q) * k; t > n || @l / @q > 1e9 }, max 5;
    p[last] + 0.1 * sum[t](p[t] * k)
}
fn flat(x: f64) -> f64 { floor(0.001 * x + 0.5) + 2.0 }
@fn flat(x) { 0.0 }
fn lean(x: [f64; 4], k: f64) -> [f64; 4] { let y[i in 0..4] = floor(0.001 * x[i] + 0.5) + k * k; y }
@fn lean(x, k) from @r { let z[i in 0..len(x)] = 0.0f64; (z, 2.0 * k * sum[i](@r[i])) }
fn paired(x: f64, n: i32) -> [f64; 2] { [x * (n as f64), floor(0.001 * x + 0.5)] }
@fn paired(x, n) { [@x * (n as f64), 0.0] }
";

/// The number of kinds of bindings that call functions with requests in them.
pub(crate) const KINDS: usize = 11;

/// The rank of a kind.
pub(crate) fn rank(kind: usize) -> usize {
    if (6..9).contains(&kind) { 0 } else { 1 }
}

/// The value of a kind at a point: vectors `u`, `v`, and a scalar `a`.
pub(crate) fn value(kind: usize, [u, v, a]: [&str; 3]) -> String {
    match kind {
        0 => format!("0.3 * slope({u}[i]) * bend({v}[i], {a})"),
        1 => format!("0.2 * steep({u}[i]) + 0.3 * known({v}[i])"),
        2 => format!("0.2 * above(0.5 * {u}[i]) * {v}[i]"),
        3 => format!("0.1 * spread({u}[i], {v}[i]) + 0.1 * spread({a}, {u}[0])"),
        4 => format!("downhill({u})[i] + 0.2 * uphill({v})[3 - i]"),
        5 => format!("if {u}[i] > 0.2 {{ 0.1 * beyond({v}[i]) }} else {{ 0.2 * known({u}[i]) }}"),
        6 => format!("0.1 * walked({u}) + 0.1 * spread({a}, {v}[1]) * spread({v}[2], {a})"),
        8 => format!("0.1 * combined({u}, {v}) + 0.1 * {a}"),
        10 => format!(
            "flat({u}[i]) * {v}[i] + 0.1 * lean({u}, {a})[i] - 0.2 * paired({v}[i], 2)[i % 2]"
        ),
        9 => format!("rested({u}[i], {v}[i], seg[i]) - 0.2 * rested({a}, {u}[0], 1)"),
        _ => format!("0.2 * sum[i](above(0.5 * {u}[i]) * slope({v}[i])) + 0.2 * known({a})"),
    }
}
