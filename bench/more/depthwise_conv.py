"""A depthwise convolution."""

import numpy as np

from shared import c_impl

NAME = "depthwise_conv"
DESCRIPTION = "3 x 3 convolution with one filter and bias per channel, NCHW, zeros around"
DTYPE = "f32"
OUTPUTS = ("y",)
tolerance = 1e-6
SIZES = {"small": (2, 3, 7, 21), "odd": (2, 5, 17, 71), "full": (8, 64, 112, 112)}


def make_inputs(scale, seed):
    n, c, p, q = SIZES[scale]
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    return {"x": draw(n, c, p, q), "w": draw(c, 3, 3), "bias": draw(c)}


def _convolve(x, w, bias):
    p, q = x.shape[2:]
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    y = np.broadcast_to(bias[:, None, None], x.shape).copy()
    for r in range(3):
        for s in range(3):
            y += wide[:, :, r : r + p, s : s + q] * w[:, r, s, None, None]
    return y


def reference(inputs):
    return {"y": _convolve(*[value.astype(np.float64) for value in inputs.values()])}


impls = {
    "numpy": lambda inputs: lambda: _convolve(*inputs.values()),
    "c": c_impl(NAME, ("x", "w", "bias"), lambda i: ([np.empty_like(i["x"])], i["x"].shape)),
}
