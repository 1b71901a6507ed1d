#!/usr/bin/env python3
"""Fits the polynomials of the elementary functions and prints `coefficients.rs`.

    python3 crates/codegen/math/fit.py > crates/codegen/src/math/coefficients.rs

Every polynomial is fitted in 60 digits, by least squares with the weight that makes errors relative, at
the nodes of Chebyshev; then its coefficients are rounded to their type one after the other, lowest
first, and those that follow are fitted again.
"""

from mpmath import mp, mpf, cos, erf, erfc, exp, log, lu_solve, matrix, pi, sin, sqrt, tanh
import struct

mp.dps = 60
LN2 = log(mpf(2))


def single(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def double(x):
    return mpf(float(x))


def fit(f, weight, low, high, degree, rounding):
    """p with p(x) near f(x), errors weighted, on [low, high]; coefficients from the constant up."""
    n = 8 * (degree + 1)
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values, weights = [f(x) for x in nodes], [weight(x) for x in nodes]
    done = []
    while len(done) <= degree:
        powers = range(len(done), degree + 1)
        rest = [v - sum(c * x**k for k, c in enumerate(done)) for x, v in zip(nodes, values)]
        rows = [[w * x**k for k in powers] for x, w in zip(nodes, weights)]
        normal = matrix([[sum(r[i] * r[j] for r in rows) for j in range(len(rows[0]))] for i in range(len(rows[0]))])
        right = matrix([sum(r[i] * w * v for r, w, v in zip(rows, weights, rest)) for i in range(len(rows[0]))])
        done.append(rounding(lu_solve(normal, right)[0]))
    worst = max(abs(w * (v - sum(c * x**k for k, c in enumerate(done)))) for x, v, w in zip(nodes, values, weights))
    return done, worst


def show(name, doc, f, weight, low, high, degree, kind):
    rounding = single if kind == "f32" else double
    coefficients, worst = fit(f, weight, low, high, degree, rounding)
    print(f"/// {doc} The error is at most 2^{float(log(worst, 2)):.1f}.")
    print(f"pub(super) const {name}_{kind.upper()}: &[f64] = &[")
    for c in coefficients:
        print(f"    {float(c)!r},")
    print("];\n")


def below(x):
    """The next number of a type that is not above."""
    near = single(x)
    bits = struct.unpack("i", struct.pack("f", float(near)))[0]
    return near if near <= x else mpf(struct.unpack("f", struct.pack("i", bits - 1))[0])


def parts(name, doc, value, kind, n, rounding=None):
    """A number as a sum of numbers of a type."""
    rounding = rounding or (single if kind == "f32" else double)
    found = []
    for _ in range(n):
        found.append(rounding(value))
        value -= found[-1]
    print(f"/// {doc}, as a sum.")
    print(f"pub(super) const {name}_{kind.upper()}: [f64; {n}] = [{', '.join(repr(float(x)) for x in found)}];\n")


def tail(f, terms):
    """f - its first terms, safe near 0 thanks to 60 digits."""
    return lambda x: f(x) - terms(x)


print("//! Coefficients of the elementary functions. Written by `math/fit.py`; do not edit.\n")
print("#![allow(clippy::approx_constant, reason = \"polynomials and parts of sums\")]\n")
half = LN2 / 2 * mpf("1.0001")
tiny = mpf(10) ** -20
for kind, degree in (("f32", 4), ("f64", 10)):
    show("EXP", "`(exp(r) - 1 - r) / r^2`.", lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > tiny else mpf(1) / 2,
         lambda r: r**2 if abs(r) > tiny else tiny, -half, half, degree, kind)
for kind, degree in (("f32", 6), ("f64", 12)):
    show("EXP2", "`(2^r - 1) / r`.", lambda r: (mpf(2) ** r - 1) / r if abs(r) > tiny else LN2,
         lambda r: abs(r) + tiny, -mpf("0.5001"), mpf("0.5001"), degree, kind)
low, high = sqrt(mpf(2)) / 2 - 1, sqrt(mpf(2)) - 1
show("LOG", "`(log(1 + f) - f + f^2 / 2) / f^3`.", lambda f: (log(1 + f) - f + f**2 / 2) / f**3 if abs(f) > mpf(10) ** -12 else mpf(1) / 3,
     lambda f: abs(f**2) + tiny, low * mpf("1.0001"), high * mpf("1.0001"), 8, "f32")
top = (high / (2 + high)) ** 2 * mpf("1.0001")


def atanh_part(z):
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) / s - 2) / z if z > mpf(10) ** -20 else mpf(2) / 3


show("LOG", "`(log((1 + s) / (1 - s)) / s - 2) / s^2` in powers of `s^2`.", atanh_part, lambda z: z + tiny, mpf(0), top, 7, "f64")
quarter = (pi / 4 * mpf("1.001")) ** 2


def sine(z):
    r = sqrt(z)
    return (sin(r) / r - 1) / z if z > tiny else -mpf(1) / 6


def cosine(z):
    return (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > mpf(10) ** -15 else mpf(1) / 24


for kind, s, c in (("f32", 2, 2), ("f64", 6, 5)):
    show("SIN", "`(sin(r) - r) / r^3` in powers of `r^2`.", sine, lambda z: z + tiny, mpf(0), quarter, s, kind)
    show("COS", "`(cos(r) - 1 + r^2 / 2) / r^4` in powers of `r^2`.", cosine, lambda z: z**2 + tiny, mpf(0), quarter, c, kind)


def tanh_part(z):
    x = sqrt(z)
    return (tanh(x) / x - 1) / z if z > tiny else -mpf(1) / 3


show("TANH", "`(tanh(x) - x) / x^3` in powers of `x^2`, up to 5/8.", tanh_part, lambda z: z + tiny, mpf(0), mpf("0.3907"), 4, "f32")


def erf_part(z):
    x = sqrt(z)
    return (erf(x) / x if z > tiny else 2 / sqrt(pi)) - 1


# `erf` up to 1 in powers of the square, and `erfc(x) exp(x^2)` beyond in powers of (x - 2) / (x + 2).
show("ERF", "`erf(x) / x - 1` in powers of `x^2`, up to 1.", erf_part, lambda z: mpf(1), mpf(0), mpf("1.001"), 7, "f32")


def erfc_part(t):
    x = 2 * (1 + t) / (1 - t)
    return erfc(x) * exp(x * x) * (1 + 2 * x)


show("ERFC", "`erfc(x) exp(x^2) (1 + 2 x)` in powers of `(x - 2) / (x + 2)`, from 0 to 11.", erfc_part, lambda t: 1 / erfc_part(t),
     mpf(-1), mpf(9) / 13, 11, "f32")

for kind in ("f32", "f64"):
    parts("LN2", "`log(2)`", LN2, kind, 2)
    parts("LOG2_E", "`log2(e)`", 1 / LN2, kind, 2)
    parts("LOG10_E", "`log10(e)`", 1 / log(mpf(10)), kind, 2)
    parts("LOG10_2", "`log10(2)`", LN2 / log(mpf(10)), kind, 2)
    parts("HALF_PI", "`pi / 2`", pi / 2, kind, 3, below if kind == "f32" else double)

short = mpf(int(LN2 * 2**40)) / 2**40
print("/// `log(2)` as a sum whose first part has 40 bits.")
print(f"pub(super) const SHORT_LN2_F64: [f64; 2] = [{float(short)!r}, {float(LN2 - short)!r}];")
