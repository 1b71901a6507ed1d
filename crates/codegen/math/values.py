#!/usr/bin/env python3
"""Prints values of the elementary functions that are right to the last bit of an `f64`.

    python3 crates/codegen/math/values.py > crates/codegen/src/math/values.txt

A line is the operation, the bits of the argument and the bits of the value.
"""

import random
import struct

from mpmath import mp, mpf
import mpmath

mp.prec = 400
random.seed(7)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def spread(low, high):
    """Numbers whose exponents are spread evenly."""
    return lambda: random.choice([-1, 1]) * 2 ** random.uniform(low, high)


def even(low, high):
    return lambda: random.uniform(low, high)


FUNCTIONS = {
    "exp": (mpmath.exp, [even(-745, 709.7), even(-2, 2), spread(-40, 3)]),
    "exp2": (lambda x: mpf(2) ** x, [even(-1074, 1023.9), even(-2, 2), spread(-40, 3)]),
    "expm1": (mpmath.expm1, [even(-40, 709), even(-1, 1), spread(-60, 3)]),
    "tanh": (mpmath.tanh, [even(-20, 20), even(-1, 1), spread(-60, 3)]),
    "log": (mpmath.log, [lambda: abs(spread(-1070, 1020)()), even(0.4, 2.5), even(0.999, 1.001)]),
    "log2": (lambda x: mpmath.log(x, 2), [lambda: abs(spread(-1070, 1020)()), even(0.4, 2.5), even(0.999, 1.001)]),
    "log10": (lambda x: mpmath.log(x, 10), [lambda: abs(spread(-1070, 1020)()), even(0.4, 2.5), even(0.999, 1.001)]),
    "log1p": (mpmath.log1p, [even(-0.9, 5), spread(-60, -1), lambda: abs(spread(0, 900)())]),
    "sin": (mpmath.sin, [even(-10, 10), spread(-40, 10), even(-1e6, 1e6)]),
    "cos": (mpmath.cos, [even(-10, 10), spread(-40, 10), even(-1e6, 1e6)]),
}

for name, (function, draws) in FUNCTIONS.items():
    for at in range(90):
        x = draws[at % len(draws)]()
        value = function(mpf(x))
        print(f"{name} {bits(x):016x} {bits(float(value)):016x}")
