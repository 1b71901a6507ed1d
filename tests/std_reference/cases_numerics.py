"""`std::numerics`, against SciPy where it has the method, else against the formula."""

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.optimize
import scipy.sparse.csgraph

from values import FLOATS, exact, integers, rounded, uniform

KIND = {np.float32: "f32", np.float64: "f64"}

# The right side of `y' = f(t, y)`, in both languages.
EQUATIONS = [
    ("|t, y| -y", lambda t, y: -y),
    ("|t, y| y * cos(t)", lambda t, y: y * np.cos(t)),
    ("|t, y| 1.0 - y * y", lambda t, y: 1 - y * y),
]

# A function of one number, an interval, and its integral.
INTEGRANDS = [
    ("|x| x * x", lambda x: x * x, 0.0, 2.0),
    ("|x| exp(-x)", lambda x: np.exp(-x), 0.0, 3.0),
    ("|x| sin(x) + 1.0", lambda x: np.sin(x) + 1, -1.0, 2.0),
]

ROOTS = [
    ("|x| x * x - 2.0", lambda x: x * x - 2, 0.0, 2.0),
    ("|x| cos(x) - x", lambda x: np.cos(x) - x, 0.0, 1.0),
    ("|x| x ** 3 - 2.0 * x - 5.0", lambda x: x**3 - 2 * x - 5, 2.0, 3.0),
    ("|x| exp(x) - 3.0", lambda x: np.exp(x) - 3, 0.0, 2.0),
]


def euler(f, y, t, h, n):
    states = [y]
    for k in range(n):
        y = y + h * f(t + k * h, y)
        states.append(y)
    return np.array(states)


def midpoint(f, y, t, h, n):
    return euler(lambda s, y: f(s + h / 2, y + h / 2 * f(s, y)), y, t, h, n)


def rk4(f, y, t, h, n):
    def slope(s, y):
        a = f(s, y)
        b = f(s + h / 2, y + h / 2 * a)
        c = f(s + h / 2, y + h / 2 * b)
        return (a + 2 * b + 2 * c + f(s + h, y + h * c)) / 6

    return euler(slope, y, t, h, n)


def add_equations(suite):
    for dtype in FLOATS:
        for text, f in EQUATIONS:
            for shape in ((), (3,), (2, 2)):
                y0 = uniform("y0", shape, dtype, 0.2, 1.5)
                if "cos" in text or shape == ():
                    source = text
                else:
                    source = text.replace("1.0 - y * y", "-(y * y) + 1.0")
                for method in (euler, midpoint, rk4):
                    for n in (0, 1, 5):
                        want = method(f, exact(y0), 0.0, 0.125, n)
                        suite.expr(f"numerics::{method.__name__}", f"std::numerics::{method.__name__}({source}, {{}}, {{}}, {{}}, {n})",
                                   y0, dtype(0), dtype(0.125), want=rounded(want, dtype))
                flat = scipy.integrate.solve_ivp(lambda t, y: f(t, y), (0.0, 1.0), exact(y0).reshape(-1), rtol=1e-12, atol=1e-12)
                want = flat.y[:, -1].reshape(shape)
                suite.expr("numerics::rk45", f"std::numerics::rk45({source}, {{}}, {{}}, {{}}) as f32" if shape == () else
                           f"{{{{ let y = std::numerics::rk45({source}, {{}}, {{}}, {{}}); let z[..r] = y[..r] as f32; z }}}}",
                           y0, dtype(0), dtype(1), want=rounded(want, np.float32))


def add_quadrature(suite):
    for dtype in FLOATS:
        for text, f, a, b in INTEGRANDS:
            for n in (1, 4, 7):
                x = np.linspace(a, b, n + 1)
                call = f"({text}, {{}}, {{}}, {n})"
                suite.expr("numerics::trapezoid", "std::numerics::trapezoid" + call, dtype(a), dtype(b),
                           want=rounded(np.trapezoid(f(x), x), dtype))
                x = np.linspace(a, b, 2 * n + 1)
                suite.expr("numerics::simpson", "std::numerics::simpson" + call, dtype(a), dtype(b),
                           want=rounded(scipy.integrate.simpson(f(x), x=x), dtype))
                want = scipy.integrate.fixed_quad(f, a, b, n=n)[0]
                suite.expr("numerics::gauss_legendre", "std::numerics::gauss_legendre" + call, dtype(a), dtype(b),
                           want=rounded(want, dtype))


def add_roots(suite):
    for dtype in FLOATS:
        for text, f, a, b in ROOTS:
            want = scipy.optimize.brentq(f, a, b, xtol=1e-15)
            suite.expr("numerics::bisect", f"std::numerics::bisect({text}, {{}}, {{}})", dtype(a), dtype(b),
                       want=rounded(want, dtype))
            tol = 1e-6 if dtype == np.float32 else 1e-13
            suite.expr("numerics::brent", f"std::numerics::brent({text}, {{}}, {{}}, tol = {tol})", dtype(a), dtype(b),
                       want=rounded(want, dtype))


# A function of a row, its gradient and its second derivatives, in both languages.
SURFACES = [
    ("|x| (x[0] - 1.0) ** 2 + 10.0 * (x[1] + 2.0) ** 2",
     lambda x: np.array([2 * (x[0] - 1), 20 * (x[1] + 2)]),
     lambda x: np.diag([2.0, 20.0])),
    ("|x| exp(x[0]) - x[0] + std::math::cosh(x[1] - x[0])",
     lambda x: np.array([np.exp(x[0]) - 1 - np.sinh(x[1] - x[0]), np.sinh(x[1] - x[0])]),
     lambda x: np.array([[np.exp(x[0]) + np.cosh(x[1] - x[0]), -np.cosh(x[1] - x[0])],
                         [-np.cosh(x[1] - x[0]), np.cosh(x[1] - x[0])]])),
]

# Residuals of a row.
RESIDUALS = [
    ("|x| [x[0] - 1.0, x[0] * x[1] - 2.0]", lambda x: np.array([x[0] - 1, x[0] * x[1] - 2]), [0.5, 0.5]),
    ("|x| [x[0] - 1.0, 10.0 * (x[1] - x[0] ** 2)]", lambda x: np.array([x[0] - 1, 10 * (x[1] - x[0] ** 2)]), [-1.2, 1.0]),
]


def add_minimisation(suite):
    for dtype in FLOATS:
        for text, gradient, second in SURFACES:
            start = np.array([0.25, -0.5], dtype)
            x = exact(start)
            for _ in range(20):
                x = x - 0.03125 * gradient(x)
            suite.expr("numerics::gradient_descent", f"std::numerics::gradient_descent({text}, {{}}, {{}}, 20)",
                       start, dtype(0.03125), want=rounded(x, dtype))
            x = exact(start)
            for _ in range(4):
                x = x - np.linalg.solve(second(x), gradient(x))
            suite.expr("numerics::newton", f"std::numerics::newton({text}, {{}}, 4)", start, want=rounded(x, dtype))
    for text, gradient, _ in SURFACES:
        root = scipy.optimize.root(gradient, [0.25, -0.5], tol=1e-14).x
        # It stops where the gradient is small enough, not at the last digit.
        found = f"std::numerics::lbfgs({text}, {{}}, 60, tol = {{}})"
        suite.expr("numerics::lbfgs", f"round(({found} + 1.0) * 1e9) / 1e9", np.array([0.25, -0.5]),
                   np.float64(1e-12), want=np.round((root + 1) * 1e9) / 1e9)
    for text, residual, start in RESIDUALS:
        fitted = scipy.optimize.least_squares(residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        suite.expr("numerics::least_squares", f"std::numerics::least_squares({text}, {{}}, 20)", np.array(start), want=fitted)
        suite.expr("numerics::levenberg_marquardt", f"std::numerics::levenberg_marquardt({text}, {{}}, 80)",
                   np.array(start), want=fitted)


def add_interpolation(suite):
    for dtype in FLOATS:
        for n in (2, 3, 6):
            xs = np.sort(uniform(f"xs{n}", n, dtype, 0, 5))
            ys = uniform(f"ys{n}", n, dtype)
            for shape in ((), (5,), (2, 3), (0,)):
                x = uniform("at", shape, dtype, -1, 6)
                suite.call("numerics::linear", x, xs, ys, want=rounded(np.interp(exact(x), exact(xs), exact(ys)), dtype))
                inside = np.clip(exact(x), exact(xs)[0], exact(xs)[-1])
                spline = scipy.interpolate.CubicSpline(exact(xs), exact(ys), bc_type="natural")
                suite.call("numerics::cubic", x, xs, ys, want=rounded(spline(inside), dtype))
            suite.call("numerics::linear", xs, xs, ys, want=ys)
        grid = uniform("grid", (3, 4), dtype)
        for shape in ((), (4,), (2, 2)):
            u, v = uniform("u", shape, dtype, 0, 2), uniform("v", shape, dtype, 0, 3)
            reference = scipy.interpolate.RegularGridInterpolator((np.arange(3), np.arange(4)), exact(grid))
            suite.call("numerics::bilinear", grid, u, v, want=rounded(reference(np.stack([exact(u), exact(v)], -1)).reshape(shape), dtype))


def pair(z, dtype):
    return rounded(z.real, dtype), rounded(z.imag, dtype)


def add_fourier(suite):
    for dtype in FLOATS:
        for n in (1, 2, 3, 4, 5, 7, 8, 12, 16):
            re, im = uniform("re", n, dtype), uniform("im", n, dtype)
            z = exact(re) + 1j * exact(im)
            suite.call("numerics::fft", re, im, want=pair(np.fft.fft(z), dtype))
            suite.call("numerics::ifft", re, im, want=pair(np.fft.ifft(z), dtype))
            suite.call("numerics::rfft", re, want=pair(np.fft.rfft(exact(re)), dtype))
    for dtype in (*FLOATS, np.int32):
        for n, m in ((1, 1), (3, 2), (2, 5), (4, 4)):
            a = integers("ca", n) if dtype == np.int32 else uniform("ca", n, dtype)
            b = integers("cb", m) if dtype == np.int32 else uniform("cb", m, dtype)
            suite.call("numerics::convolve", a, b, want=rounded(np.convolve(exact(a), exact(b)), dtype))


def add_graphs(suite):
    for dtype in FLOATS:
        for n in (1, 3, 5):
            W = uniform(f"W{n}", (n, n), dtype, 0.5, 5)
            W[uniform("none", (n, n), dtype) > 1] = np.inf
            np.fill_diagonal(W, 0)
            want = scipy.sparse.csgraph.floyd_warshall(np.ma.masked_invalid(exact(W)).filled(np.inf))
            suite.call("numerics::shortest_paths", W, want=rounded(want, dtype))
            A = np.round(uniform(f"A{n}", (n, n), dtype, 0, 2))
            A[0] = 0
            tol = 1e-7 if dtype == np.float32 else 1e-14
            suite.call("numerics::pagerank", A, want=rounded(pagerank(exact(A)), dtype), tol=dtype(tol), max_steps=2000)


def pagerank(A, d=0.85):
    n = len(A)
    total = A.sum(1)
    P = np.array([A[i] / total[i] if total[i] else np.full(n, 1 / n) for i in range(n)])
    return np.linalg.solve(np.eye(n) - d * P.T, np.full(n, (1 - d) / n))


def add_decisions(suite):
    for dtype in FLOATS:
        for actions, states in ((1, 1), (2, 3), (3, 2)):
            P = uniform(f"P{actions}", (actions, states, states), np.float64, 0.1, 1)
            P = (P / P.sum(-1, keepdims=True)).astype(dtype)
            R, V = uniform("R", (actions, states), dtype), uniform("V", states, dtype)
            wide, rewards, d = exact(P), exact(R), 0.5
            suite.call("numerics::bellman_step", P, R, dtype(d), V, want=rounded((rewards + d * wide @ exact(V)).max(0), dtype))
            best = np.zeros(states)
            for _ in range(200):
                best = (rewards + d * wide @ best).max(0)
            choice = (rewards + d * wide @ best).argmax(0).astype(np.int32)
            tol = 1e-7 if dtype == np.float32 else 1e-15
            suite.call("numerics::value_iteration", P, R, dtype(d), want=(rounded(best, dtype), choice), tol=dtype(tol))
            suite.call("numerics::policy_iteration", P, R, dtype(d), want=(rounded(best, dtype), choice))


def add_training(suite):
    for dtype in FLOATS:
        for shape in ((3,), (2, 2), (0,)):
            p, g, h = (uniform(n, shape, dtype) for n in "pgh")
            suite.call("numerics::sgd", p, g, dtype(0.1), want=rounded(exact(p) - float(dtype(0.1)) * exact(g), dtype))
            suite.expr("numerics::adam_init", "{{ let s = std::numerics::adam_init({}); (s.m, s.v, s.steps) }}", p,
                       want=(np.zeros_like(p), np.zeros_like(p), np.int32(0)))
            m = v = 0.0
            x = exact(p)
            for t, grad in enumerate((exact(g), exact(h)), 1):
                m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
                x = x - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            suite.expr("numerics::adam",
                       "{{ let (q, s) = std::numerics::adam({0}, {1}, std::numerics::adam_init({0}), lr = {3});"
                       " std::numerics::adam(q, {2}, s, lr = {3}).0 }}", p, g, h, dtype(0.1), want=rounded(x, dtype))


def add(suite):
    for part in (add_equations, add_quadrature, add_roots, add_minimisation, add_interpolation, add_fourier, add_graphs, add_decisions, add_training):
        part(suite)
