"""A residual and its normalisation."""

import numpy as np

from shared import c_impl

NAME = "rms_norm"
DESCRIPTION = "h = x + r, y = h / sqrt(mean(h^2) + 1e-6) * g by rows; both"
DTYPE = "f32"
OUTPUTS = ("h", "y")
tolerance = 1e-6
SIZES = {"small": (5, 37), "odd": (33, 517), "full": (4096, 1024)}


def make_inputs(scale, seed):
    n, m = SIZES[scale]
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    return {"x": draw(n, m), "r": draw(n, m), "g": draw(m)}


def _norm(x, r, g):
    h = x + r
    size = np.sqrt(np.einsum("ij,ij->i", h, h) / h.shape[1] + h.dtype.type(1e-6))
    return h, h / size[:, None] * g


def reference(inputs):
    return dict(zip(OUTPUTS, _norm(*[value.astype(np.float64) for value in inputs.values()])))


def _outputs(inputs):
    like = inputs["x"]
    return [np.empty_like(like), np.empty_like(like)], like.shape


impls = {"numpy": lambda inputs: lambda: _norm(*inputs.values()), "c": c_impl(NAME, ("x", "r", "g"), _outputs)}
