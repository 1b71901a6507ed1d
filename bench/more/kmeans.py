"""Lloyd's iteration."""

import numpy as np

from shared import c_impl

NAME = "kmeans"
DESCRIPTION = "some steps of Lloyd's k-means; the last centres and labels"
DTYPE = "f64"
OUTPUTS = ("centres", "labels")
tolerance = 1e-10
SIZES = {"small": (60, 3, 4, 3), "odd": (1003, 7, 13, 4), "full": (200_000, 8, 16, 5)}


def make_inputs(scale, seed):
    n, d, k, steps = SIZES[scale]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) + 2 * rng.standard_normal((k, d))[rng.integers(0, k, n)]
    return {"x": x, "start": x[:k].copy(), "steps": steps}


def reference(inputs):
    x, c, steps = inputs["x"], inputs["start"].copy(), inputs["steps"]
    label = lambda c: np.array([((row - c) ** 2).sum(1).argmin() for row in x])  # noqa: E731
    for _ in range(steps):
        at = label(c)
        c = np.array([x[at == k].mean(0) if np.any(at == k) else c[k] for k in range(len(c))])
    return {"centres": c, "labels": label(c)}


def _numpy(inputs):
    x, start, steps = inputs.values()

    def label(c):
        return ((c * c).sum(1) - 2 * x @ c.T).argmin(1).astype(np.int32)

    def call():
        c = start
        for _ in range(steps):
            at = label(c)
            count = np.bincount(at, minlength=len(c))[:, None]
            total = np.stack([np.bincount(at, column, len(c)) for column in x.T], axis=1)
            c = np.where(count > 0, total / np.maximum(count, 1), c)
        return c, label(c)

    return call


def _outputs(inputs):
    (n, d), k = inputs["x"].shape, len(inputs["start"])
    return [np.empty((k, d)), np.empty(n, np.int32)], (n, d, k)


impls = {"numpy": _numpy, "c": c_impl(NAME, ("x", "start", "steps"), _outputs)}
