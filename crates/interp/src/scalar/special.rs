//! Digamma, trigamma and polygamma, which no library at hand has.
//!
//! The argument is moved up by the recurrence `ψₙ(x) = ψₙ(x + 1) − (−1)ⁿ n! / xⁿ⁺¹` until the
//! asymptotic series has converged to a double, and negative arguments are reflected where a
//! closed form exists (`n ≤ 1`) and moved up otherwise. Relative accuracy is about 1e-14 away from
//! the zeros of digamma, absolute accuracy there.

/// The Bernoulli numbers B₂, B₄, … of the asymptotic series.
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43_867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// Poles at 0, −1, −2, ….
fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}

/// The derivative of `lgamma`.
pub(super) fn digamma(x: f64) -> f64 {
    if is_pole(x) || x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x < 0.0 {
        let angle = std::f64::consts::PI * (x - x.floor());
        return digamma(1.0 - x) - std::f64::consts::PI / angle.tan();
    }
    let (mut at, mut below) = (x, 0.0);
    while at < 10.0 {
        below += 1.0 / at;
        at += 1.0;
    }
    if at == f64::INFINITY {
        return at;
    }
    let square = 1.0 / (at * at);
    let (mut power, mut series) = (square, 0.0);
    for (k, b) in (1..).zip(BERNOULLI) {
        series += b / f64::from(2 * k) * power;
        power *= square;
    }
    at.ln() - 0.5 / at - series - below
}

/// The derivative of `digamma`.
pub(super) fn trigamma(x: f64) -> f64 {
    if is_pole(x) {
        return f64::INFINITY;
    }
    if x < 0.0 {
        let sine = (std::f64::consts::PI * (x - x.floor())).sin();
        return (std::f64::consts::PI / sine).powi(2) - trigamma(1.0 - x);
    }
    polygamma_positive(1, x)
}

/// The derivative of order `n` of `digamma`; NaN for a negative order.
pub(super) fn polygamma(n: i128, x: f64) -> f64 {
    match n {
        0 => digamma(x),
        1 => trigamma(x),
        // Factorials beyond 170 are no doubles.
        2..=169 if is_pole(x) => f64::NAN,
        2..=169 => polygamma_positive(n as i32, x),
        _ => f64::NAN,
    }
}

/// Orders from 1 on. Negative arguments are moved up too, one step at a time; far below zero that
/// would be slow, and the value is that of the nearest pole alone.
fn polygamma_positive(n: i32, x: f64) -> f64 {
    if x.is_nan() || x < -1e6 {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let factorial = |k: i32| (1..=k).map(f64::from).product::<f64>();
    let n_factorial = factorial(n);
    // The larger the order, the later the series converges.
    let start = f64::from(10 + n);
    let (mut at, mut below) = (x, 0.0);
    while at < start {
        below += n_factorial / at.powi(n + 1);
        at += 1.0;
    }
    let mut series = factorial(n - 1) / at.powi(n) + n_factorial / (2.0 * at.powi(n + 1));
    let mut ratio = n_factorial / at.powi(n + 2);
    for (k, b) in (1_i32..).zip(BERNOULLI) {
        // (2k + n − 1)! / (2k)! · B₂ₖ / x^(2k + n), built up from one k to the next.
        if k == 1 {
            ratio *= f64::from(n + 1) / 2.0;
        } else {
            let (top, bottom) = (2 * k + n - 1, 2 * k);
            ratio *= f64::from(top) * f64::from(top - 1)
                / (f64::from(bottom) * f64::from(bottom - 1) * at * at);
        }
        series += b * ratio;
    }
    let sum = series + below;
    if n % 2 == 1 { sum } else { -sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 2e-14 * (1.0 + want.abs()), "{got} is not {want}");
    }

    #[test]
    fn known_values() {
        near(digamma(1.0), -0.577_215_664_901_532_9);
        near(digamma(0.5), -1.963_510_026_021_423_5);
        near(digamma(-0.5), 0.036_489_973_978_576_52);
        near(digamma(1e6), 13.815_510_057_964_191);
        near(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(trigamma(-0.5), 8.934_802_200_544_679);
        near(polygamma(2, 1.0), -2.404_113_806_319_188_6);
        near(polygamma(3, 0.5), std::f64::consts::PI.powi(4));
        near(polygamma(2, -0.5), -0.828_796_644_234_319_9);
        near(polygamma(5, 2.25), 1.056_487_681_292_045_9);
        assert!(digamma(-3.0).is_nan() && polygamma(-1, 2.0).is_nan());
    }
}
