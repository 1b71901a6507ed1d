"""Gravity between all pairs of bodies."""

import numpy as np

from shared import c_impl

NAME = "nbody"
DESCRIPTION = "leapfrog steps of softened gravity between all pairs; the last positions and velocities"
DTYPE = "f32"
OUTPUTS = ("x", "v")
tolerance = 1e-5
SIZES = {"small": (21, 3), "odd": (131, 4), "full": (4096, 3)}


def make_inputs(scale, seed):
    n, steps = SIZES[scale]
    rng = np.random.default_rng(seed)
    x, v = (rng.standard_normal((n, 3)).astype(np.float32) for _ in range(2))
    return {"x0": x, "v0": v, "m": rng.random(n, np.float32) / n, "steps": steps, "dt": 0.01, "soft": 0.05}


def _leap(x, v, m, steps, dt, soft):
    for _ in range(steps):
        d = x[None] - x[:, None]
        r2 = (d * d).sum(2) + soft * soft
        v = v + dt * np.einsum("ij,ijc->ic", m / (r2 * np.sqrt(r2)), d)
        x = x + dt * v
    return x, v


def reference(inputs):
    x, v, m, steps, dt, soft = inputs.values()
    dt, soft = float(np.float32(dt)), float(np.float32(soft))
    return dict(zip(OUTPUTS, _leap(*(a.astype(np.float64) for a in (x, v, m)), steps, dt, soft)))


def _numpy(inputs):
    x, v, m, steps, dt, soft = inputs.values()
    return lambda: _leap(x, v, m, steps, np.float32(dt), np.float32(soft))


def _outputs(inputs):
    like = inputs["x0"]
    return [np.empty_like(like), np.empty_like(like)], (len(like),)


impls = {"numpy": _numpy, "c": c_impl(NAME, ("x0", "v0", "m", "steps", "dt", "soft"), _outputs)}
