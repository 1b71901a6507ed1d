"""Many small linear systems."""

import numpy as np

from shared import c_impl

NAME = "small_solves"
DESCRIPTION = "solutions of many systems of six equations with partial pivoting"
DTYPE = "f64"
OUTPUTS = ("x",)
tolerance = 1e-10
SIZES = {"small": 19, "odd": 1001, "full": 100_000}


def make_inputs(scale, seed):
    n = SIZES[scale]
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, 6, 6)) + 2 * np.eye(6)[rng.permutation(6)]
    return {"A": a, "b": np.einsum("nij,nj->ni", a, rng.standard_normal((n, 6)))}


def reference(inputs):
    return {"x": np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(*inputs.values())])}


impls = {
    "numpy": lambda inputs: lambda: np.linalg.solve(inputs["A"], inputs["b"][:, :, None])[:, :, 0],
    "c": c_impl(NAME, ("A", "b"), lambda i: ([np.empty_like(i["b"])], (len(i["b"]),))),
}
