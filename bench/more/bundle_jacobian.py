"""The Jacobian of bundle adjustment."""

import numpy as np

from shared import c_impl

NAME = "bundle_jacobian"
DESCRIPTION = "reprojection errors of bundle adjustment, and the blocks of their Jacobian by camera and by point"
DTYPE = "f64"
OUTPUTS = ("e", "by_camera", "by_point")
tolerance = 1e-10
SIZES = {"small": (3, 8, 17), "odd": (9, 130, 1003), "full": (64, 20_000, 100_000)}


def make_inputs(scale, seed):
    c, p, o = SIZES[scale]
    rng = np.random.default_rng(seed)
    cameras = np.concatenate(
        [
            rng.uniform(-0.5, 0.5, (c, 3)),
            rng.uniform(-0.2, 0.2, (c, 2)),
            rng.uniform(-6, -5, (c, 1)),
            rng.uniform(400, 500, (c, 1)),
            rng.uniform(-0.05, 0.05, (c, 2)),
        ],
        axis=1,
    )
    return {
        "cameras": cameras,
        "points": rng.uniform(-1, 1, (p, 3)),
        "camera": rng.integers(0, c, o, np.int32),
        "point": rng.integers(0, p, o, np.int32),
        "seen": rng.uniform(-100, 100, (o, 2)),
    }


def _project(c, p):
    """Points as seen by their cameras, both by rows; complex numbers pass through."""
    angle = np.sqrt((c[:, :3] ** 2).sum(1))[:, None]
    k = c[:, :3] / angle
    turned = p * np.cos(angle) + np.cross(k, p) * np.sin(angle) + k * (k * p).sum(1)[:, None] * (1 - np.cos(angle))
    q = turned + c[:, 3:6]
    at = -q[:, :2] / q[:, 2:]
    rr = (at**2).sum(1)
    return (c[:, 6] * (1 + rr * (c[:, 7] + rr * c[:, 8])))[:, None] * at


def _by_steps(inputs):
    """Complex steps in each of the twelve directions, for all observations at once."""
    both = np.concatenate([inputs["cameras"][inputs["camera"]], inputs["points"][inputs["point"]]], axis=1)
    columns = []
    for i in range(12):
        moved = both.astype(complex)
        moved[:, i] += 1e-30j
        columns.append(_project(moved[:, :9], moved[:, 9:]).imag / 1e-30)
    jacobian = np.stack(columns, axis=2)
    return _project(both[:, :9], both[:, 9:]) - inputs["seen"], jacobian[:, :, :9], jacobian[:, :, 9:]


def reference(inputs):
    return dict(zip(OUTPUTS, _by_steps(inputs)))


def _outputs(inputs):
    o = len(inputs["seen"])
    return [np.empty((o, 2)), np.empty((o, 2, 9)), np.empty((o, 2, 3))], (len(inputs["cameras"]), o)


impls = {
    "numpy": lambda inputs: lambda: _by_steps(inputs),
    "c": c_impl(NAME, ("cameras", "points", "camera", "point", "seen"), _outputs),
}
