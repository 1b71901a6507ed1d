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

BOUNDS = {}


def tolerance(function):
    area = function.split("::")[0]
    return BOUNDS.get(function, AREAS.get(area, DEFAULT))
