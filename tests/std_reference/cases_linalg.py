"""`std::linalg`. Factorisations are compared by their products, for their signs are free."""

import numpy as np
import scipy.linalg

from values import FLOATS, exact, integers, rounded, uniform

SIZES = (1, 2, 3)


def square(name, n, dtype, batch=()):
    """A matrix far from singular."""
    return (uniform(name, (*batch, n, n), dtype) + 4 * np.eye(n)).astype(dtype)


def symmetric(name, n, dtype):
    a = uniform(name, (n, n), dtype)
    return ((a + a.T) / 2).astype(dtype)


def positive(name, n, dtype, batch=()):
    a = uniform(name, (*batch, n, n), np.float64)
    return (a @ np.swapaxes(a, -1, -2) + np.eye(n)).astype(dtype)


def add_products(suite):
    pairs = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((1, 1), (1, 1)), ((0, 2), (2, 3)),
             ((2, 0), (0, 3)), ((2, 2, 3), (2, 3, 1)), ((2, 1, 2, 3), (2, 1, 3, 2)), ((2, 2, 3), (3,))]
    for dtype in (*FLOATS, np.int32):
        make = (lambda n, s: integers(n, s)) if dtype == np.int32 else (lambda n, s: uniform(n, s, dtype))
        for left, right in pairs:
            a, b = make("left", left), make("right", right)
            suite.call("linalg::matmul", a, b, want=rounded(np.matmul(exact(a), exact(b)), dtype))
        for n in (0, 1, 4):
            a, b = make("da", n), make("db", n)
            suite.call("linalg::dot", a, b, want=rounded(np.dot(exact(a), exact(b)), dtype))
            c = make("oc", 3)
            suite.call("linalg::outer", a, c, want=rounded(np.outer(exact(a), exact(c)), dtype))
        for s, t in (((2, 2), (1, 3)), ((1, 1), (2, 2)), ((3, 1), (1, 2)), ((0, 2), (2, 2))):
            a, b = make("ka", s), make("kb", t)
            suite.call("linalg::kron", a, b, want=rounded(np.kron(exact(a), exact(b)), dtype))
        for shape in ((1, 1), (3, 3), (0, 0), (2, 3, 3), (2, 1, 2, 2)):
            a = make("tr", shape)
            suite.call("linalg::trace", a, want=rounded(np.trace(exact(a), axis1=-2, axis2=-1), dtype))


def add_norms(suite):
    for dtype in FLOATS:
        for shape in ((), (1,), (5,), (0,), (2, 3), (2, 1, 3), (2, 2, 1, 2)):
            x = uniform("norm", shape, dtype)
            flat = exact(x).reshape(-1)
            suite.call("linalg::norm", x, want=rounded(np.linalg.norm(flat), dtype))
            for order in (1.0, 2.0, 3.0, np.inf):
                want = np.linalg.norm(flat, order) if flat.size else 0.0
                suite.call("linalg::norm", x, want=rounded(want, dtype), ord=dtype(order))
        for values in ([np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [1e-30, 1e-30], [1e30, 1e30]):
            x = np.array(values, dtype)
            for order in (1.0, 2.0, np.inf):
                suite.call("linalg::norm", x, want=rounded(np.linalg.norm(exact(x), order), dtype), ord=dtype(order))


def add_systems(suite):
    for dtype in FLOATS:
        for n in (0, *SIZES):
            A = square(f"A{n}", n, dtype)
            wide = exact(A)
            b, B = uniform("b", n, dtype), uniform("B", (n, 2), dtype)
            suite.call("linalg::det", A, want=rounded(np.linalg.det(wide), dtype))
            suite.call("linalg::logdet", A, want=rounded(np.linalg.slogdet(wide)[1], dtype))
            suite.call("linalg::inv", A, want=rounded(np.linalg.inv(wide), dtype))
            suite.expr("linalg::inv", "std::linalg::matmul({0}, std::linalg::inv({0}))", A, want=np.eye(n, dtype=dtype))
            suite.call("linalg::solve", A, b, want=rounded(np.linalg.solve(wide, exact(b)), dtype))
            suite.call("linalg::solve", A, B, want=rounded(np.linalg.solve(wide, exact(B)), dtype))
            for lower in (True, False):
                for transposed in (True, False):
                    if n:
                        part = np.tril(wide) if lower else np.triu(wide)
                        want = scipy.linalg.solve_triangular(part, exact(B), lower=lower, trans=int(transposed))
                        suite.call("linalg::solve_triangular", A, B, want=rounded(want, dtype), lower=lower,
                                   transposed=transposed)
            P = positive(f"P{n}", n, dtype)
            L = np.linalg.cholesky(exact(P))
            suite.call("linalg::cholesky", P, want=rounded(L, dtype))
            suite.expr("linalg::cho_solve", "std::linalg::cho_solve(std::linalg::cholesky({}), {})", P, B,
                       want=rounded(np.linalg.solve(exact(P), exact(B)), dtype))
        for batch in ((2,), (2, 2)):
            A, b = square("batch", 3, dtype, batch), uniform("bb", (*batch, 3), dtype)
            B = uniform("BB", (*batch, 3, 2), dtype)
            wide = exact(A)
            suite.call("linalg::det", A, want=rounded(np.linalg.det(wide), dtype))
            suite.call("linalg::logdet", A, want=rounded(np.linalg.slogdet(wide)[1], dtype))
            suite.call("linalg::inv", A, want=rounded(np.linalg.inv(wide), dtype))
            suite.call("linalg::solve", A, b, want=rounded(np.linalg.solve(wide, exact(b)[..., None])[..., 0], dtype))
            suite.call("linalg::solve", A, B, want=rounded(np.linalg.solve(wide, exact(B)), dtype))
            P = positive("batch", 3, dtype, batch)
            suite.call("linalg::cholesky", P, want=rounded(np.linalg.cholesky(exact(P)), dtype))
        swap = np.array([[0.0, 1.0], [1.0, 0.0]], dtype)
        suite.call("linalg::det", swap, want=dtype(-1))
        suite.call("linalg::inv", swap, want=swap)
        singular = np.array([[1.0, 2.0], [2.0, 4.0]], dtype)
        suite.call("linalg::det", singular, want=dtype(0))
        suite.call("linalg::logdet", singular, want=dtype(-np.inf))


def add_factors(suite):
    for dtype in FLOATS:
        for n in (0, *SIZES):
            A = square(f"lu{n}", n, dtype)[::-1].copy()
            p, L, U = scipy.linalg.lu(exact(A), p_indices=True) if n else (np.zeros(0, int), A, A)
            order = np.argsort(p) if n else p
            suite.call("linalg::lu", A, want=(order.astype(np.int32), rounded(L, dtype), rounded(U, dtype)))
        for n in (0, 1, 2, 3):
            S = symmetric(f"eigh{n}", n, dtype)
            w = np.linalg.eigvalsh(exact(S))
            suite.call("linalg::eigvalsh", S, want=rounded(w, dtype))
            suite.expr("linalg::eigh",
                       "{{ let (w, V) = std::linalg::eigh({0}); let Y[i, j] = sum[k](V[i, k] * w[k] * V[j, k]);"
                       " let I[i, j] = sum[k](V[k, i] * V[k, j]); (Y, I) }}", S, want=(S, np.eye(n, dtype=dtype)))
        for shape in ((1, 1), (2, 2), (3, 2), (2, 3), (4, 1), (1, 4)):
            A = uniform(f"qr{shape}", shape, dtype)
            k = min(shape)
            unit = np.eye(k, dtype=dtype)
            suite.expr("linalg::qr",
                       "{{ let (Q, R) = std::linalg::qr({0}); let I[i, j] = sum[k](Q[k, i] * Q[k, j]);"
                       " (std::linalg::matmul(Q, R), I, std::array::tril(R, k = -1)) }}",
                       A, want=(A, unit, np.zeros((k, shape[1]), dtype)))
            s = np.linalg.svd(exact(A), compute_uv=False)
            suite.expr("linalg::svd",
                       "{{ let (U, s, V) = std::linalg::svd({0}); let Y[i, j] = sum[k](U[i, k] * s[k] * V[k, j]);"
                       " let I[i, j] = sum[k](U[k, i] * U[k, j]); let J[i, j] = sum[k](V[i, k] * V[j, k]);"
                       " (s, Y, I, J) }}", A, want=(rounded(s, dtype), A, unit, unit))
            suite.call("linalg::pinv", A, want=rounded(np.linalg.pinv(exact(A)), dtype))
            b, B = uniform("lb", shape[0], dtype), uniform("lB", (shape[0], 2), dtype)
            for right in (b, B):
                want = np.linalg.lstsq(exact(A), exact(right), rcond=None)[0]
                suite.call("linalg::lstsq", A, right, want=rounded(want, dtype))
        low = np.outer([1.0, 2.0, 3.0], [1.0, -1.0]).astype(dtype)
        suite.call("linalg::pinv", low, want=rounded(np.linalg.pinv(exact(low)), dtype))
        tiny = (uniform("tiny", (2, 2), dtype) * dtype(1e-25)).astype(dtype)
        both = ((tiny + tiny.T) / 2).astype(dtype)
        for name, x, want in (("svd", tiny, np.linalg.svd(exact(tiny), compute_uv=False)),
                              ("eigvalsh", both, np.linalg.eigvalsh(exact(both)))):
            part = ".1" if name == "svd" else ""
            size = dtype(1e25)
            suite.expr(f"linalg::{name}", f"std::linalg::{name}({{}}){part} * {{}}", x, size,
                       want=rounded(want * 1e25, dtype))


def add_functions(suite):
    for dtype in FLOATS:
        for n in (0, *SIZES):
            A = uniform(f"expm{n}", (n, n), dtype, -1.0, 1.0)
            suite.call("linalg::expm", A, want=rounded(scipy.linalg.expm(exact(A)) if n else A, dtype))
            B = square(f"power{n}", n, dtype)
            for p in (0, 1, 2, 5, -1, -2):
                suite.call("linalg::matrix_power", B, p, want=rounded(np.linalg.matrix_power(exact(B), p), dtype))
        big = (uniform("big", (3, 3), dtype) * dtype(3)).astype(dtype)
        suite.call("linalg::expm", big, want=rounded(scipy.linalg.expm(exact(big)), dtype))


def add(suite):
    add_products(suite)
    add_norms(suite)
    add_systems(suite)
    add_factors(suite)
    add_functions(suite)
