"""Shared by all tests of the package."""

import numpy as np
import pytest

import einlang


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def module():
    """Functions that several tests use."""
    return einlang.loads(
        """
        /// The weighted sum of squares.
        ///
        /// Weights may be negative.
        pub fn loss(x: [f64; n], w: [f64; n], k: f64 = 1.0) -> f64 { k * sum[n](x[n] * w[n] ** 2) }
        /// Everything times a factor.
        pub fn scale(x, factor) { let y[..i] = x[..i] * factor; y }
        pub fn same(x) { x }
        pub fn total(x: [f32; N]) -> f32 { sum[i](x[i]) }
        pub fn product(a: [f64; M, K], v: [f64; K]) -> [f64; M] { let y[i] = sum[k](a[i, k] * v[k] ** 2); y }
        pub fn pair(x: [f64; n]) -> ([f64; n], f64) { let y[n] = x[n] + 1.0; (y, sum[n](x[n])) }
        struct State { position: f32, weights: [f32; 2] }
        pub fn moved(s: State) -> State { State { position: s.position + 1.0, weights: s.weights * 2.0 } }
        pub fn slow(n: i64) -> f64 {
            let x[0] = 0.5f64;
            let x[t in 1..n] = 3.7 * x[t - 1] * (1.0 - x[t - 1]);
            x[last]
        }
        pub fn hello(name: str) -> str { "hello {name}" }
        """
    )
