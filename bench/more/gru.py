"""A GRU layer."""

import numpy as np

from shared import c_impl

NAME = "gru"
DESCRIPTION = "GRU layer from a zero state: r, z = sigmoid(...), n = tanh(x Wn + r (h Un + b)), h' = (1 - z) n + z h; all states"
DTYPE = "f32"
OUTPUTS = ("h",)
tolerance = 1e-5
SIZES = {"small": (5, 3, 7, 19), "odd": (7, 13, 33, 50), "full": (100, 32, 128, 256)}


def make_inputs(scale, seed):
    t, b, i, h = SIZES[scale]
    rng = np.random.default_rng(seed)

    def draw(*shape, size=1.0):
        return (size * rng.standard_normal(shape)).astype(np.float32)

    return {
        "x": draw(t, b, i),
        "wx": draw(i, 3 * h, size=i**-0.5),
        "wh": draw(h, 3 * h, size=h**-0.5),
        "bx": draw(3 * h, size=0.1),
        "bh": draw(3 * h, size=0.1),
    }


def layer(x, wx, wh, bx, bh):
    """The layer in the precision of its arguments."""
    t, b, _ = x.shape
    n = wh.shape[0]
    u = x @ wx + bx
    h, states = np.zeros((b, n), x.dtype), np.empty((t, b, n), x.dtype)
    for step in range(t):
        v = h @ wh + bh
        gates = 1 / (1 + np.exp(-(u[step, :, : 2 * n] + v[:, : 2 * n])))
        new = np.tanh(u[step, :, 2 * n :] + gates[:, :n] * v[:, 2 * n :])
        h = new + gates[:, n:] * (h - new)
        states[step] = h
    return states


def reference(inputs):
    return {"h": layer(*[value.astype(np.float64) for value in inputs.values()])}


def _outputs(inputs):
    (t, b, i), h = inputs["x"].shape, inputs["wh"].shape[0]
    return [np.empty((t, b, h), np.float32)], (t, b, i, h)


impls = {
    "numpy": lambda inputs: lambda: layer(*inputs.values()),
    "c": c_impl(NAME, ("x", "wx", "wh", "bx", "bh"), _outputs),
}
