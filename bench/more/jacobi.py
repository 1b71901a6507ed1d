"""Jacobi's iteration for a dense system."""

import numpy as np

from shared import c_impl

NAME = "jacobi"
DESCRIPTION = "Jacobi's iteration for a dense, diagonally dominant system until no value changes by more than a tolerance"
DTYPE = "f64"
OUTPUTS = ("x", "steps")
tolerance = 1e-10
SIZES = {"small": 23, "odd": 131, "full": 1000}


def make_inputs(scale, seed):
    n = SIZES[scale]
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, 1, (n, n)) / n
    a[np.arange(n), np.arange(n)] = 1.0 + rng.random(n)
    return {"A": a, "b": rng.standard_normal(n), "tol": 1e-12, "most": 500}


def _iterate(step, start, tol, most):
    x, steps = np.zeros_like(start), 0
    while steps < most:
        old, x = x, step(x)
        steps += 1
        if np.abs(x - old).max() < tol:
            break
    return x, steps


def reference(inputs):
    """The same steps, each written as the sum over the other unknowns."""
    a, b, tol, most = inputs.values()
    n = len(b)
    others = [np.delete(np.arange(n), i) for i in range(n)]

    def step(x):
        return np.array([(b[i] - a[i, others[i]] @ x[others[i]]) / a[i, i] for i in range(n)])

    return dict(zip(OUTPUTS, _iterate(step, b, tol, most)))


def _numpy(inputs):
    a, b, tol, most = inputs.values()
    d = np.diag(a)
    return lambda: _iterate(lambda x: x + (b - a @ x) / d, b, tol, most)


impls = {
    "numpy": _numpy,
    "c": c_impl(NAME, ("A", "b", "tol", "most"), lambda i: ([np.empty(len(i["b"])), np.empty((), np.int32)], (len(i["b"]),))),
}
