"""Derivatives against analytic values, and against JAX on ten programs."""

import pickle
import re

import numpy as np
import pytest

import einlang


def test_gradients(module):
    x, w = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    g = einlang.grad(module.loss, wrt="w")
    np.testing.assert_allclose(g(x, w), 2 * x * w)
    np.testing.assert_allclose(g(x, w=w, k=3.0), 6 * x * w)
    value, (gx, gw) = einlang.value_and_grad(module.loss, wrt=["x", "w"])(x, w)
    assert value == module.loss(x, w)
    np.testing.assert_allclose(gx, w**2)
    np.testing.assert_allclose(gw, 2 * x * w)
    np.testing.assert_allclose(einlang.grad(module.loss)(x, w), w**2)
    np.testing.assert_allclose(einlang.grad(module.loss, wrt=-1)(x, w, 2.0), np.sum(x * w**2))
    with pytest.raises(TypeError, match="give `k` a value"):
        einlang.grad(module.loss, wrt="k")(x, w)
    assert "grad_loss" in repr(g)


def test_jacobians(module, rng):
    a, v = rng.standard_normal((3, 4)), rng.standard_normal(4)
    want = 2 * a * v
    np.testing.assert_allclose(einlang.jacobian(module.product, "v")(a, v), want)
    np.testing.assert_allclose(einlang.jacobian(module.product, "v", rows=1)(a, v), want[1])
    np.testing.assert_allclose(einlang.jacobian(module.product, "v", rows=[0, 2])(a, v), want[[0, 2]])
    np.testing.assert_allclose(einlang.jacobian(module.product, "v", rows=(1,))(a, v), want[1])
    ja, jv = einlang.jacobian(module.product, ["a", "v"])(a, v)
    assert ja.shape == (3, 3, 4)
    np.testing.assert_allclose(jv, want)


def test_products_with_vectors(module, rng):
    a, v = rng.standard_normal((3, 4)), rng.standard_normal(4)
    da, dv, c = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(3)
    value, change = einlang.jvp(module.product, (a, v), (da, dv))
    np.testing.assert_allclose(value, a @ v**2)
    np.testing.assert_allclose(change, da @ v**2 + 2 * a @ (v * dv))
    _, only = einlang.jvp(module.product, (a, v), dv, wrt="v")
    np.testing.assert_allclose(only, 2 * a @ (v * dv))
    value, pull = einlang.vjp(module.product, a, v)
    ca, cv = pull(c)
    np.testing.assert_allclose(ca, np.outer(c, v**2))
    np.testing.assert_allclose(cv, 2 * v * (c @ a))


def test_tangents_and_cotangents_have_the_shapes_of_their_values(module):
    a, v = np.ones((3, 4)), np.ones(4)
    _, pull = einlang.vjp(module.product, a, v)
    for shape in ((5,), (2,), (3, 1), ()):
        with pytest.raises(ValueError, match=re.escape(f"the cotangent has shape {shape}, the result (3,)")):
            pull(np.ones(shape))
    for shape in ((5,), (4, 1), ()):
        with pytest.raises(ValueError, match=re.escape(f"the tangent of `v` has shape {shape}, the parameter (4,)")):
            einlang.jvp(module.product, (a, v), np.ones(shape), wrt="v")
    _, pull = einlang.vjp(module.pair, v)
    with pytest.raises(ValueError, match=re.escape("the cotangent of value 1 has shape (1,), the value ()")):
        pull((None, np.ones(1)))
    np.testing.assert_array_equal(pull(([1, 2, 3, 4], 1.0))[0], [2, 3, 4, 5])
    np.testing.assert_array_equal(einlang.jvp(module.product, (a, [1, 1, 1, 1]), [1, 1, 1, 1], "v")[1], [8, 8, 8])


def test_gradients_of_records():
    m = einlang.loads(
        """
        struct P { w: [f64; N], b: f64 }
        pub fn loss(p: P, x: [f64; N]) -> f64 { (sum[i](p.w[i] * x[i]) + p.b) ** 2 }
        """
    )
    g = einlang.grad(m.loss, "p")({"w": [1.0, 2.0], "b": 0.5}, [3.0, 4.0])
    np.testing.assert_allclose(g.w, 2 * 11.5 * np.array([3.0, 4.0]))
    np.testing.assert_allclose(g.b, 23.0)


TUPLES = """
pub fn f(w: [f64; K], x: [f64; N, K]) -> (f64, [f64; N], i32) {
    let y[i] = sum[k](x[i, k] * w[k] ** 2);
    (sum[i](y[i] ** 2), y, N)
}
pub fn mixed(x: [f64; N]) -> (f32, [f64; N]) { let y[i] = x[i] ** 3; (sum[i](x[i] * x[i]) as f32, y) }
pub fn undeclared(x: f64) { (x * x, 3.0 * x) }
"""


def test_gradients_of_one_value_of_a_tuple(rng):
    m = einlang.loads(TUPLES)
    w, x = rng.standard_normal(3), rng.standard_normal((4, 3))
    y = x @ w**2
    want = 2 * y @ (2 * x * w)
    np.testing.assert_allclose(einlang.grad(m.f, "w", of=0)(w, x), want)
    np.testing.assert_allclose(einlang.grad(m.f, "w", of=-3)(w, x), want)
    (value, vector, n), slope = einlang.value_and_grad(m.f, of=0)(w, x)
    np.testing.assert_allclose([value, *vector], [y @ y, *y])
    assert n == 4
    np.testing.assert_allclose(slope, want)
    np.testing.assert_allclose(einlang.jacobian(m.f, "w", of=1)(w, x), 2 * x * w)
    np.testing.assert_allclose(einlang.jacobian(m.f, "w", rows=2, of=1)(w, x), (2 * x * w)[2])
    assert einlang.grad(m.undeclared, of=1)(2.0) == 3.0
    again = pickle.loads(pickle.dumps(einlang.grad(m.f, "w", of=0)))
    np.testing.assert_allclose(again(w, x), want)


def test_tuples_must_be_chosen_from(rng):
    m = einlang.loads(TUPLES)
    with pytest.raises(einlang.DerivativeError, match="of="):
        einlang.grad(m.f)
    with pytest.raises(einlang.DerivativeError, match=r"\[f64; N\]"):
        einlang.grad(m.f, of=1)
    with pytest.raises(ValueError, match="of="):
        einlang.jacobian(m.f)
    with pytest.raises(ValueError, match="no value 3"):
        einlang.grad(m.f, of=3)
    with pytest.raises(einlang.EinlangError):
        einlang.grad(m.f, of=2)(np.ones(2), np.ones((1, 2)))
    with pytest.raises(einlang.EinlangError):
        einlang.grad(m.undeclared)(2.0)


def test_products_of_tuples_with_vectors(rng):
    m = einlang.loads(TUPLES)
    w, x, dw, c = (rng.standard_normal(s) for s in (3, (4, 3), 3, 4))
    y, dy = x @ w**2, 2 * x @ (w * dw)
    value, (change, vector, nothing) = einlang.jvp(m.f, (w, x), dw, wrt="w")
    np.testing.assert_allclose(value[0], y @ y)
    np.testing.assert_allclose(change, 2 * y @ dy)
    np.testing.assert_allclose(vector, dy)
    assert nothing is None
    _, pull = einlang.vjp(m.f, w, x, wrt="w")
    np.testing.assert_allclose(pull((2.0, c, None)), (4 * y + c) @ (2 * x * w))
    np.testing.assert_allclose(pull((None, c, None)), c @ (2 * x * w))
    with pytest.raises(ValueError, match="3 cotangents"):
        pull((1.0, c))


def test_tuples_of_several_types(rng):
    m = einlang.loads(TUPLES)
    x, c = rng.standard_normal(3), rng.standard_normal(3)
    _, pull = einlang.vjp(m.mixed, x)
    (got,) = pull((1.0, c))
    np.testing.assert_allclose(got, 2 * x + 3 * c * x**2, rtol=1e-6)
    _, changes = einlang.jvp(m.mixed, (x,), (c,))
    np.testing.assert_allclose(changes[0], 2 * x @ c, rtol=1e-6)
    np.testing.assert_allclose(changes[1], 3 * x**2 * c)


# Each: the Einlang function, the same in JAX, and the shapes of the arguments.
PROGRAMS = {
    "regression": (
        "pub fn f(w: [f64; K], x: [f64; N, K], y: [f64; N]) -> f64 { sum[i]((sum[k](x[i, k] * w[k]) - y[i]) ** 2) }",
        lambda np_, w, x, y: np_.sum((x @ w - y) ** 2),
        [(3,), (5, 3), (5,)],
    ),
    "softmax": (
        "use std::ml::softmax; pub fn f(x: [f64; n], t: [f64; n]) -> f64 { let p = softmax(x); sum[n](t[n] * p[n]) }",
        lambda np_, x, t: np_.sum(t * np_.exp(x - x.max()) / np_.sum(np_.exp(x - x.max()))),
        [(6,), (6,)],
    ),
    "mlp": (
        """pub fn f(a: [f64; H, I], b: [f64; O, H], x: [f64; I]) -> f64 {
            let h[j] = tanh(sum[i](a[j, i] * x[i]));
            sum[o](sum[j](b[o, j] * h[j]) ** 2)
        }""",
        lambda np_, a, b, x: np_.sum((b @ np_.tanh(a @ x)) ** 2),
        [(4, 3), (2, 4), (3,)],
    ),
    "recurrence": (
        """pub fn f(w: [f64; N, N], h0: [f64; N]) -> f64 {
            let h[0] = h0;
            let h[t in 1..6, i] = tanh(sum[j](w[i, j] * h[t - 1, j]));
            sum[i](h[5, i])
        }""",
        lambda np_, w, h0: np_.sum(_steps(np_, w, h0, 5)),
        [(3, 3), (3,)],
    ),
    "convolution": (
        "pub fn f(x: [f64; N], k: [f64; K]) -> f64 { let y[i] = sum[j](x[i + j] * k[j]); sum[i](y[i] ** 3) }",
        lambda np_, x, k: np_.sum(np_.convolve(x, k[::-1], mode="valid") ** 3),
        [(8,), (3,)],
    ),
    "attention": (
        """pub fn f(q: [f64; N, D], k: [f64; M, D], v: [f64; M, D]) -> f64 {
            let s[i, j] = sum[d](q[i, d] * k[j, d]);
            let m[i] = max[j](s[i, j]);
            let e[i, j] = exp(s[i, j] - m[i]);
            let z[i] = sum[j](e[i, j]);
            sum[i, d]((sum[j](e[i, j] * v[j, d]) / z[i]) ** 2)
        }""",
        lambda np_, q, k, v: np_.sum((_softmax(np_, q @ k.T) @ v) ** 2),
        [(3, 2), (4, 2), (4, 2)],
    ),
    "branches": (
        "pub fn f(x: [f64; N], y: [f64; N]) -> f64 { sum[i](if x[i] > y[i] { x[i] * y[i] } else { x[i] ** 2 }) }",
        lambda np_, x, y: np_.sum(np_.where(x > y, x * y, x**2)),
        [(7,), (7,)],
    ),
    "distances": (
        "pub fn f(x: [f64; N, D], y: [f64; M, D]) -> f64 { sum[i, j](sqrt(1.0 + sum[d]((x[i, d] - y[j, d]) ** 2))) }",
        lambda np_, x, y: np_.sum(np_.sqrt(1.0 + np_.sum((x[:, None] - y[None]) ** 2, axis=-1))),
        [(3, 2), (4, 2)],
    ),
    "prefix": (
        "pub fn f(x: [f64; N], w: [f64; N]) -> f64 { let c[i] = sum[k in 0..=i](x[k]); sum[i](w[i] * c[i] ** 2) }",
        lambda np_, x, w: np_.sum(w * np_.cumsum(x) ** 2),
        [(6,), (6,)],
    ),
    "extremum": (
        "pub fn f(x: [f64; N, M], w: [f64; N]) -> f64 { sum[i](w[i] * max[j](sin(x[i, j]))) }",
        lambda np_, x, w: np_.sum(w * np_.max(np_.sin(x), axis=1)),
        [(3, 5), (3,)],
    ),
}


def _steps(np_, w, h, n):
    for _ in range(n):
        h = np_.tanh(w @ h)
    return h


def _softmax(np_, s):
    e = np_.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_against_numpy(name, rng):
    text, reference, shapes = PROGRAMS[name]
    args = [rng.standard_normal(shape) for shape in shapes]
    np.testing.assert_allclose(einlang.loads(text).f(*args), reference(np, *args), rtol=1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_against_jax(name, rng):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    text, reference, shapes = PROGRAMS[name]
    args = [rng.standard_normal(shape) for shape in shapes]
    by = list(range(len(args)))
    ours = einlang.grad(einlang.loads(text).f, wrt=by)(*args)
    theirs = jax.grad(lambda *a: reference(jax.numpy, *a), argnums=by)(*args)
    for mine, other in zip(ours, theirs):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)
