"""How far a result may be from the reference, in units of the type's epsilon.

A float agrees when `|got - want| <= eps * (relative * |want| + absolute)`; `eps` is 2⁻²³ for `f32`
and 2⁻⁵² for `f64`. References for `f32` are computed in `f64` from the rounded arguments, so the
bounds hold for the whole error of the library. Integers, truth values and NaN agree exactly.

`relative` pays for the rounding of the function itself; `absolute` pays for cancellation, in
units of the size of the terms, which are of order 1 in these cases unless it says otherwise.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    relative: float
    absolute: float = 0.0


# Exact up to the last bit or two, unless it is named below.
DEFAULT = Bound(4)

AREAS = {
    "linalg": Bound(64, 64),
    "ml": Bound(32, 32),
    "numerics": Bound(64, 64),
}

BOUNDS = {
    # Sums of products near zero; the sums are of order 1.
    "array::cov": Bound(8, 8),
    "array::corrcoef": Bound(8, 8),
    "array::quantile": Bound(4, 4),
    "array::median": Bound(4, 4),
    # Near their zeros only the absolute error is small.
    "math::bessel_j0": Bound(4, 8),
    "math::bessel_j1": Bound(4, 8),
    "math::lgamma": Bound(4, 4),
    "math::digamma": Bound(8, 8),
    # Products and tails of exponentials multiply relative errors.
    "math::beta": Bound(32),
    "math::erfc": Bound(16),
    # Iterations that end at a tolerance of 1e-6 for `f32` and 1e-13 for `f64`.
    "numerics::brent": Bound(8, 512),
    # An angle of up to 2 pi is rounded before its cosine is taken, then stretched by up to 5.8.
    "random::normal": Bound(8, 32),
}


def tolerance(function):
    area = function.split("::")[0]
    return BOUNDS.get(function, AREAS.get(area, DEFAULT))
