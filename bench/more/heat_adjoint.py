"""The adjoint of the heat equation."""

import numpy as np

from shared import c_impl

NAME = "heat_adjoint"
DESCRIPTION = "misfit of the heat equation with a conductivity field after some steps, and its gradients by initial field and conductivity"
DTYPE = "f64"
OUTPUTS = ("misfit", "du", "dk")
tolerance = 1e-10
SIZES = {"small": (9, 12, 5), "odd": (23, 41, 9), "full": (384, 400, 100)}


def make_inputs(scale, seed):
    n, m, steps = SIZES[scale]
    rng = np.random.default_rng(seed)
    draw = lambda: rng.random((n, m))  # noqa: E731
    return {"u0": draw(), "k": 0.5 + draw(), "seen": draw(), "steps": steps, "dt": 0.1}


def _misfit(u, k, seen, steps, dt):
    kx, ky = 0.5 * (k[:, 1:] + k[:, :-1]), 0.5 * (k[1:] + k[:-1])
    for _ in range(steps):
        fx, fy = kx * (u[:, 1:] - u[:, :-1]), ky * (u[1:] - u[:-1])
        u = u.copy()
        u[1:-1, 1:-1] += dt * (fx[1:-1, 1:] - fx[1:-1, :-1] + fy[1:, 1:-1] - fy[:-1, 1:-1])
    return 0.5 * ((u - seen) ** 2).sum()


def reference(inputs):
    """Complex steps, one parameter at a time."""
    rest = inputs["seen"], inputs["steps"], inputs["dt"]
    gradients = []
    for which in range(2):
        gradient = np.empty_like(inputs["u0"])
        for at in np.ndindex(gradient.shape):
            fields = [inputs["u0"].astype(complex), inputs["k"].astype(complex)]
            fields[which][at] += 1e-30j
            gradient[at] = _misfit(*fields, *rest).imag / 1e-30
        gradients.append(gradient)
    return {"misfit": _misfit(inputs["u0"], inputs["k"], *rest), "du": gradients[0], "dk": gradients[1]}


def _numpy(inputs):
    u0, k, seen, steps, dt = inputs.values()

    def call():
        kx, ky = dt * 0.5 * (k[:, 1:] + k[:, :-1]), dt * 0.5 * (k[1:] + k[:-1])
        u = np.empty((steps + 1, *u0.shape))
        u[0] = u0
        for t in range(steps):
            fx, fy = kx * (u[t, :, 1:] - u[t, :, :-1]), ky * (u[t, 1:] - u[t, :-1])
            u[t + 1] = u[t]
            u[t + 1, 1:-1, 1:-1] += fx[1:-1, 1:] - fx[1:-1, :-1] + fy[1:, 1:-1] - fy[:-1, 1:-1]
        du = u[steps] - seen
        misfit = 0.5 * (du**2).sum()
        inner = np.zeros_like(du)
        gx, gy = np.zeros_like(kx), np.zeros_like(ky)
        for t in reversed(range(steps)):
            inner[1:-1, 1:-1] = du[1:-1, 1:-1]
            sx, sy = inner[:, :-1] - inner[:, 1:], inner[:-1] - inner[1:]
            gx += (u[t, :, 1:] - u[t, :, :-1]) * sx
            gy += (u[t, 1:] - u[t, :-1]) * sy
            sx, sy = kx * sx, ky * sy
            du[:, :-1] -= sx
            du[:, 1:] += sx
            du[:-1] -= sy
            du[1:] += sy
        dk = np.zeros_like(k)
        dk[:, :-1] += gx
        dk[:, 1:] += gx
        dk[:-1] += gy
        dk[1:] += gy
        return misfit, du, 0.5 * dt * dk

    return call


def _outputs(inputs):
    like = inputs["u0"]
    return [np.empty(()), np.empty_like(like), np.empty_like(like)], like.shape


impls = {"numpy": _numpy, "c": c_impl(NAME, ("u0", "k", "seen", "steps", "dt"), _outputs)}
