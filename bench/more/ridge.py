"""Ridge regression by the normal equations."""

import numpy as np

from shared import c_impl

NAME = "ridge"
DESCRIPTION = "ridge regression for several targets: (X' X + lambda I) W = X' Y, by Cholesky"
DTYPE = "f64"
OUTPUTS = ("w",)
tolerance = 1e-10
SIZES = {"small": (40, 11, 3), "odd": (301, 67, 5), "full": (4000, 256, 32)}


def make_inputs(scale, seed):
    n, d, r = SIZES[scale]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return {"x": x, "y": x @ rng.standard_normal((d, r)) + 0.1 * rng.standard_normal((n, r)), "lambda": 0.5}


def reference(inputs):
    """Least squares with the penalty as further rows, without the normal equations."""
    x, y, weight = inputs.values()
    d, r = x.shape[1], y.shape[1]
    rows, targets = np.vstack([x, weight**0.5 * np.eye(d)]), np.vstack([y, np.zeros((d, r))])
    return {"w": np.linalg.lstsq(rows, targets, rcond=None)[0]}


def _numpy(inputs):
    x, y, weight = inputs.values()
    return lambda: np.linalg.solve(x.T @ x + weight * np.eye(x.shape[1]), x.T @ y)


def _scipy(inputs):
    from scipy.linalg import cho_factor, cho_solve

    x, y, weight = inputs.values()
    return lambda: cho_solve(cho_factor(x.T @ x + weight * np.eye(x.shape[1]), lower=True), x.T @ y)


def _outputs(inputs):
    (n, d), r = inputs["x"].shape, inputs["y"].shape[1]
    return [np.empty((d, r))], (n, d, r)


impls = {"numpy": _numpy, "scipy": _scipy, "c": c_impl(NAME, ("x", "y", "lambda"), _outputs)}
