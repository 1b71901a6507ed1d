"""`std::math`."""

import math

import numpy as np
from scipy import special

from values import FLOATS, SHAPES, exact, integers, rounded, uniform

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5]


def away_from_zero(x):
    """Halves away from zero, as the language rounds."""
    return np.trunc(x + np.copysign(np.nextafter(0.5, 0.0), x))


# Function, reference, the interval of the arguments, and whether the special values make sense.
UNARY = [
    ("sin", np.sin, -10, 10, True),
    ("cos", np.cos, -10, 10, True),
    ("tan", np.tan, -1.5, 1.5, True),
    ("asin", np.arcsin, -1, 1, True),
    ("acos", np.arccos, -1, 1, True),
    ("atan", np.arctan, -20, 20, True),
    ("sinh", np.sinh, -8, 8, True),
    ("cosh", np.cosh, -8, 8, True),
    ("tanh", np.tanh, -4, 4, True),
    ("asinh", np.arcsinh, -50, 50, True),
    ("acosh", np.arccosh, 1, 50, True),
    ("atanh", np.arctanh, -0.99, 0.99, True),
    ("sqrt", np.sqrt, 0, 100, True),
    ("cbrt", np.cbrt, -100, 100, True),
    ("exp", np.exp, -20, 20, True),
    ("exp2", np.exp2, -20, 20, True),
    ("expm1", np.expm1, -2, 2, True),
    ("log", np.log, 0.01, 50, True),
    ("log2", np.log2, 0.01, 50, True),
    ("log10", np.log10, 0.01, 50, True),
    ("log1p", np.log1p, -0.9, 9, True),
    ("abs", np.abs, -5, 5, True),
    ("sign", np.sign, -5, 5, True),
    ("floor", np.floor, -5, 5, True),
    ("ceil", np.ceil, -5, 5, True),
    ("round", away_from_zero, -5, 5, True),
    ("trunc", np.trunc, -5, 5, True),
    ("sigmoid", special.expit, -30, 30, True),
    ("logit", special.logit, 0.001, 0.999, True),
    ("erf", special.erf, -3, 3, True),
    ("erfc", special.erfc, -3, 5, True),
    ("gamma", special.gamma, -3.9, 20, False),
    ("lgamma", special.gammaln, 0.1, 40, False),
    ("digamma", special.psi, 0.1, 40, False),
    ("bessel_j0", special.j0, -30, 30, False),
    ("bessel_j1", special.j1, -30, 30, False),
    ("saturate", lambda x: np.clip(x, 0, 1), -2, 2, True),
    ("is_nan", np.isnan, -2, 2, True),
    ("is_finite", np.isfinite, -2, 2, True),
]

BINARY = [
    ("pow", np.power, (0.1, 5), (-3, 3)),
    ("hypot", np.hypot, (-5, 5), (-5, 5)),
    ("atan2", np.arctan2, (-5, 5), (-5, 5)),
    ("fmod", np.fmod, (-9, 9), (0.5, 3)),
    ("min", np.minimum, (-5, 5), (-5, 5)),
    ("max", np.maximum, (-5, 5), (-5, 5)),
    ("logaddexp", np.logaddexp, (-30, 30), (-30, 30)),
    ("beta", special.beta, (0.3, 8), (0.3, 8)),
]


def result_type(want, dtype):
    return bool if np.asarray(want).dtype == bool else dtype


def add_unary(suite):
    for name, reference, lo, hi, with_special in UNARY:
        for dtype in FLOATS:
            arguments = [uniform(f"{name}{shape}", shape, dtype, lo, hi) for shape in SHAPES]
            if with_special:
                arguments.append(np.array(SPECIAL, dtype))
            else:
                arguments.append(np.array([np.nan, 1.0, 0.5], dtype))
            for x in arguments:
                want = reference(exact(x))
                suite.call(f"math::{name}", x, want=rounded(want, result_type(want, dtype)))


def add_binary(suite):
    for name, reference, (alo, ahi), (blo, bhi) in BINARY:
        for dtype in FLOATS:
            for shape in SHAPES:
                a = uniform(f"{name}a{shape}", shape, dtype, alo, ahi)
                b = uniform(f"{name}b{shape}", shape, dtype, blo, bhi)
                suite.call(f"math::{name}", a, b, want=rounded(reference(exact(a), exact(b)), dtype))
    pairs = np.array([[0, 0], [np.inf, np.inf], [-np.inf, -np.inf], [np.inf, -np.inf], [np.nan, 1.0],
                      [1.0, np.nan], [3.0, 3.0], [700.0, 700.0], [-700.0, 5.0]])
    for dtype in FLOATS:
        a, b = pairs[:, 0].astype(dtype), pairs[:, 1].astype(dtype)
        suite.call("math::logaddexp", a, b, want=rounded(np.logaddexp(exact(a), exact(b)), dtype))
        suite.call("math::hypot", a, b, want=rounded(np.hypot(exact(a), exact(b)), dtype))
        suite.call("math::atan2", a, b, want=rounded(np.arctan2(exact(a), exact(b)), dtype))
        # `if b < a { b } else { a }`: a NaN counts only in first place.
        suite.call("math::min", a, b, want=np.where(b < a, b, a))
        suite.call("math::max", a, b, want=np.where(b > a, b, a))
    big, small = np.float32(3e30), np.float32(1e-30)
    suite.call("math::hypot", big, big, want=np.hypot(big, big))
    suite.call("math::hypot", small, small, want=np.hypot(small, small))


def add_integers(suite):
    for shape in ((7,), (2, 3), (0,)):
        a, b = integers(f"min{shape}", shape), integers(f"max{shape}", shape)
        suite.call("math::min", a, b, want=np.minimum(a, b))
        suite.call("math::max", a, b, want=np.maximum(a, b))
        suite.call("math::abs", a, want=np.abs(a))
        suite.call("math::sign", a, want=np.sign(a))
        suite.call("math::clamp", a, np.int32(-2), np.int32(2), want=np.clip(a, -2, 2))
    pairs = [(12, -18), (0, 0), (0, 5), (-7, 0), (17, 5), (2**20, 2**15), (-6, -4), (1, 1)]
    for dtype in (np.int32, np.int64):
        for a, b in pairs:
            x, y = dtype(a), dtype(b)
            suite.call("math::gcd", x, y, want=dtype(math.gcd(a, b)))
            suite.call("math::lcm", x, y, want=dtype(math.lcm(a, b)))
        for n in (0, 1, 5, 12):
            suite.call("math::factorial", dtype(n), want=dtype(math.factorial(n)))
    suite.call("math::factorial", np.int64(20), want=np.int64(math.factorial(20)))


def add_rest(suite):
    for dtype in FLOATS:
        for shape in SHAPES:
            x = uniform(f"clamp{shape}", shape, dtype)
            lo, hi = dtype(-1), dtype(1.5)
            suite.call("math::clamp", x, lo, hi, want=np.clip(x, lo, hi))
        a, b, t = dtype(2.5), dtype(-4.25), dtype(0.3)
        suite.call("math::lerp", a, b, t, want=rounded(exact(a) + (exact(b) - exact(a)) * exact(t), dtype))
        for x, y in [(1.0, 1.0 + 1e-6), (1.0, 1.1), (np.inf, np.inf), (np.nan, np.nan), (0.0, 1e-9), (np.inf, 1.0)]:
            suite.call("math::is_close", dtype(x), dtype(y), want=np.isclose(dtype(x), dtype(y)))
    for name, value in (("PI", np.pi), ("E", np.e), ("TAU", 2 * np.pi), ("INF", np.inf), ("NAN", np.nan),
                        ("EPS", np.finfo(np.float32).eps)):
        for dtype, kind in ((np.float32, "f32"), (np.float64, "f64")):
            suite.text(f"math::{name}", f"std::math::{name} as {kind}", dtype(value))
    for name, value in (("pi", np.pi), ("e", np.e), ("tau", 2 * np.pi)):
        suite.text(f"math::{name}", f"std::math::{name}()", np.float32(value))


def add(suite):
    add_unary(suite)
    add_binary(suite)
    add_integers(suite)
    add_rest(suite)
