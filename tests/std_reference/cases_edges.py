"""Further element types, NaN, ties and empty batches, across areas."""

import numpy as np

from values import FLOATS, integers, uniform

WHOLE = (np.int64, np.uint8, np.int8, np.uint32)
SHAPES = ((4,), (1,), (0,), (2, 3), (2, 1, 3))


def values(name, shape, dtype):
    return integers(name, shape, 0, 9, dtype)


def add_types(suite):
    """What moves elements around takes every type of them."""
    for dtype in (*WHOLE, np.bool_):
        for shape in SHAPES:
            x = values("types", shape, np.int32).astype(dtype)
            suite.call("array::flatten", x, want=x.reshape(-1))
            suite.call("array::transpose", x, want=x.T)
            suite.call("array::flip", x, want=np.flip(x, 0), axis=0)
            suite.call("array::roll", x, 2, want=np.roll(x, 2, -1), axis=-1)
            suite.call("array::concatenate", x, x, want=np.concatenate([x, x], -1), axis=-1)
            suite.call("array::repeat", x, 2, want=np.repeat(x, 2, 0), axis=0)
            index = np.array([0, 0, shape[0] - 1] if shape[0] else [], np.int32)
            suite.call("array::take", x, index, want=np.take(x, index, 0), axis=0)
            if len(shape) > 1:
                suite.call("array::swap_axes", x, want=np.swapaxes(x, -1, -2))
            if dtype == np.bool_:
                continue
            suite.call("array::zeros_like", x, want=np.zeros_like(x))
            suite.call("array::sort", x, want=np.sort(x, -1))
            suite.call("array::argsort", x, want=np.argsort(x, -1, kind="stable").astype(np.int32))
            suite.call("array::cummax", x, want=np.maximum.accumulate(x, -1))
            suite.call("array::cumsum", x, want=np.cumsum(x, -1, dtype=dtype))
            suite.call("array::cumprod", x, want=np.cumprod(x, -1, dtype=dtype))
            if shape[-1]:
                suite.call("array::argmax", x, want=np.argmax(x, -1).astype(np.int32))
                suite.call("array::argmin", x, want=np.argmin(x, -1).astype(np.int32))
            suite.call("math::min", x, np.flip(x), want=np.minimum(x, np.flip(x)))
            suite.call("math::max", x, np.flip(x), want=np.maximum(x, np.flip(x)))
            if np.issubdtype(dtype, np.signedinteger):
                suite.call("math::abs", x - 4, want=np.abs(x - 4).astype(dtype))
                suite.call("math::sign", x - 4, want=np.sign(x - 4).astype(dtype))
        if dtype == np.bool_:
            continue
        for n in (0, 1, 7):
            x = values("unique", (n,), dtype) % 3
            found, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
            want = (found, inverse.astype(np.int32), counts.astype(np.int32))
            suite.call("array::unique", x, want=want)
            suite.call("linalg::dot", x, x, want=np.dot(x, x).astype(dtype))
            suite.call("linalg::outer", x, x, want=np.outer(x, x).astype(dtype))


def add_nan(suite):
    nan = np.nan
    rows = ([nan], [nan, nan, nan], [1.0, nan, 3.0, 2.0], [nan, 5.0, -1.0], [2.0, 2.0, nan, 2.0])
    for dtype in FLOATS:
        for row in rows:
            x = np.array(row, dtype)
            # NaN is passed over; before the first number stands what the reduction of nothing gives.
            suite.call("array::cummax", x, want=np.maximum.accumulate(np.where(np.isnan(x), -np.inf, x)).astype(dtype))
            suite.call("array::cummin", x, want=np.minimum.accumulate(np.where(np.isnan(x), np.inf, x)).astype(dtype))
            suite.call("array::cumsum", x, want=np.cumsum(x))
            suite.call("array::cumprod", x, want=np.cumprod(x))
            suite.call("array::diff", x, want=np.diff(x))
            suite.call("array::flip", x, want=np.flip(x))
            suite.call("array::roll", x, 1, want=np.roll(x, 1))
            suite.call("array::sort", x, want=np.sort(x))
            suite.call("array::argsort", x, want=np.argsort(x, kind="stable").astype(np.int32))
            suite.call("array::std", x, want=dtype(nan))
            suite.call("array::mean", x, want=dtype(nan))
            suite.call("linalg::dot", x, x, want=dtype(nan))
            suite.call("ml::relu", x, want=np.where(x > 0, x, np.where(np.isnan(x), x, 0)).astype(dtype))
            suite.call("ml::softmax", x, want=np.full_like(x, nan))
            suite.call("ml::logsumexp", x, want=dtype(nan))
            suite.call("ml::mse", x, x, want=dtype(nan))
            suite.call("ml::layer_norm", x, np.ones_like(x), np.zeros_like(x), want=np.full_like(x, nan))
            suite.call("math::saturate", np.flip(x), want=np.flip(np.where(np.isnan(x), nan, np.clip(x, 0, 1))).astype(dtype))
        a = np.array([[1.0, nan], [2.0, 3.0]], dtype)
        b = np.array([[1.0, 2.0], [0.5, 1.0]], dtype)
        suite.call("linalg::matmul", a, b, want=np.matmul(a, b))
        suite.call("linalg::trace", a, want=np.trace(a))
        suite.call("linalg::det", a, want=dtype(nan))
        suite.call("linalg::outer", a[0], b[0], want=np.outer(a[0], b[0]))
        suite.call("linalg::kron", a, b, want=np.kron(a, b))
        low = np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, 2.0]], dtype)
        e = np.exp(low.astype(np.float64) - low.max(-1, keepdims=True))
        suite.call("ml::softmax", low, want=(e / e.sum(-1, keepdims=True)).astype(dtype))


def add_batches(suite):
    """A batch may be empty, and may consist of one."""
    for dtype in FLOATS:
        for n in (0, 1, 3):
            a = uniform("batch", (n, 2, 2), dtype) + 3 * np.eye(2, dtype=dtype)
            b = uniform("right", (n, 2, 3), dtype)
            suite.call("linalg::matmul", a, b, want=np.matmul(a, b))
            suite.call("linalg::trace", a, want=np.trace(a, axis1=-2, axis2=-1).astype(dtype))
            suite.call("linalg::det", a, want=np.linalg.det(a.astype(np.float64)).astype(dtype))
            suite.call("linalg::inv", a, want=np.linalg.inv(a.astype(np.float64)).astype(dtype))
            x = uniform("rows", (n, 4), dtype)
            e = np.exp(x.astype(np.float64))
            suite.call("ml::softmax", x, want=(e / e.sum(-1, keepdims=True)).astype(dtype))
            w, bias = uniform("weights", (3, 4), dtype), uniform("bias", (3,), dtype)
            want = x.astype(np.float64) @ w.astype(np.float64).T + bias
            suite.call("ml::linear", x, w, bias, want=want.astype(dtype))
            suite.call("ml::relu", x, want=np.maximum(x, 0))
            signal, kernel = uniform("signal", (n, 2, 5), dtype), uniform("kernel", (3, 2, 2), dtype)
            want = np.zeros((n, 3, 4))
            for p in range(4):
                want[..., p] = np.einsum("ncr,ocr->no", signal[..., p: p + 2].astype(np.float64), kernel)
            suite.call("ml::conv1d", signal, kernel, want=want.astype(dtype))
            suite.call("ml::global_avg_pool", signal, want=signal.astype(np.float64).mean(-1).astype(dtype))
        for shape in ((), (3,), (0,), (2, 2), (1, 2, 2)):
            a, b, t = (uniform(k, shape, dtype) for k in ("from", "to", "part"))
            want = a.astype(np.float64) + t.astype(np.float64) * (b.astype(np.float64) - a)
            suite.call("math::lerp", a, b, t, want=want.astype(dtype))


def add(suite):
    add_types(suite)
    add_nan(suite)
    add_batches(suite)
