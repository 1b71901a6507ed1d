"""Local alignment with affine gaps."""

import numpy as np

from shared import c_impl

NAME = "smith_waterman"
DESCRIPTION = "best local alignment score of two sequences, a gap of n letters costs open + (n - 1) extend"
DTYPE = "i32"
OUTPUTS = ("best",)
tolerance = 0.0
SIZES = {"small": (37, 45), "odd": (131, 97), "full": (4000, 4200)}


def make_inputs(scale, seed):
    n, m = SIZES[scale]
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n, np.int32), rng.integers(0, 4, m, np.int32)
    length = n // 3
    b[m // 5 : m // 5 + length] = np.where(rng.random(length) < 0.9, a[n // 4 : n // 4 + length], 0)
    return {"a": a, "b": b, "same": 3, "other": -2, "open": 5, "extend": 1}


def reference(inputs):
    a, b = inputs["a"], inputs["b"]
    h, f = np.zeros(len(b) + 1), np.full(len(b) + 1, -1e6)
    best = 0.0
    for x in a:
        old, h, e = h, np.zeros(len(b) + 1), -1e6
        for j, y in enumerate(b, 1):
            e = max(e - inputs["extend"], h[j - 1] - inputs["open"])
            f[j] = max(f[j] - inputs["extend"], old[j] - inputs["open"])
            h[j] = max(0.0, old[j - 1] + inputs["same" if x == y else "other"], e, f[j])
        best = max(best, h.max())
    return {"best": best}


def _numpy(inputs):
    """Row by row: the best gap within a row is a running maximum."""
    a, b, same, other, first, more = inputs.values()

    def call():
        m = len(b)
        slope = more * np.arange(m + 1, dtype=np.int32)
        h, f = np.zeros(m + 1, np.int32), np.full(m + 1, -1_000_000, np.int32)
        best = 0
        for x in a:
            f = np.maximum(f - more, h - first)
            base = np.maximum(f[1:], np.maximum(0, h[:-1] + np.where(b == x, same, other).astype(np.int32)))
            h = np.zeros(m + 1, np.int32)
            h[1:] = base
            gap = np.maximum.accumulate(h + slope)[:-1] - slope[:-1] - first
            h[1:] = np.maximum(base, gap)
            f[0] = -1_000_000
            best = max(best, int(h.max()))
        return best

    return call


def _c(inputs):
    inputs = dict(inputs, b=inputs["b"][::-1].copy())
    return c_impl(NAME, tuple(inputs), lambda i: ([np.zeros((), np.int32)], (len(i["a"]), len(i["b"]))))(inputs)


impls = {"numpy": _numpy, "c": _c}
