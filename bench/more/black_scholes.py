"""Prices of European options."""

import math

import numpy as np

from shared import c_impl

NAME = "black_scholes"
DESCRIPTION = "Black-Scholes: calls, puts, and the derivatives of calls by spot and volatility"
DTYPE = "f32"
OUTPUTS = ("call", "put", "delta", "vega")
tolerance = 3e-6
SIZES = {"small": 101, "odd": 10_007, "full": 2_000_000}


def make_inputs(scale, seed):
    n = SIZES[scale]
    rng = np.random.default_rng(seed)
    between = lambda low, high: rng.uniform(low, high, n).astype(np.float32)  # noqa: E731
    return {
        "s": between(50, 150),
        "strike": between(50, 150),
        "years": between(0.2, 2),
        "sigma": between(0.1, 0.6),
        "rate": 0.03125,
    }


def _prices(erf, s, strike, years, sigma, rate):
    width = sigma * np.sqrt(years)
    d1 = (np.log(s / strike) + (rate + 0.5 * sigma**2) * years) / width
    normal = lambda v: 0.5 * (1 + erf(v * s.dtype.type(0.5**0.5)))  # noqa: E731
    paid = strike * np.exp(-rate * years)
    delta = normal(d1)
    call = s * delta - paid * normal(d1 - width)
    vega = s * np.sqrt(years) * np.exp(-0.5 * d1 * d1) * s.dtype.type((2 * math.pi) ** -0.5)
    return call, call - s + paid, delta, vega


def reference(inputs):
    wide = [np.asarray(value, np.float64) for value in inputs.values()]
    return dict(zip(OUTPUTS, _prices(np.vectorize(math.erf), *wide)))


def _scipy(inputs):
    from scipy.special import erf

    return lambda: _prices(erf, *[np.asarray(value, np.float32)[()] for value in inputs.values()])


def _outputs(inputs):
    n = len(inputs["s"])
    return [np.empty(n, np.float32) for _ in OUTPUTS], (n,)


impls = {"scipy": _scipy, "c": c_impl(NAME, ("s", "strike", "years", "sigma", "rate"), _outputs)}
