"""`std::array`."""

import numpy as np

from values import FLOATS, SHAPES, exact, generator, integers, rounded, uniform

KINDS = (np.float32, np.float64, np.int32)
RANKED = ((1,), (5,), (0,), (2, 3), (3, 1), (0, 2), (2, 0), (2, 1, 3), (2, 2, 1, 2))


def values(name, shape, dtype):
    if dtype == np.int32:
        return integers(name, shape)
    return uniform(name, shape, dtype)


def ties(name, shape, dtype):
    """Few different numbers, so that many are equal."""
    return integers(name, shape, -2, 3).astype(dtype)


def axes(shape):
    return sorted({0, len(shape) - 1, -1})


def add_creation(suite):
    for shape in ((3,), (2, 3), (0,), (2, 0), (2, 1, 3), (1, 2, 2, 2)):
        extents = str(list(shape))
        suite.text("array::zeros", f"std::array::zeros({extents})", np.zeros(shape, np.float32))
        suite.text("array::ones", f"std::array::ones({extents})", np.ones(shape, np.float32))
        for dtype in KINDS:
            value = dtype(7)
            suite.expr("array::full", f"std::array::full({extents}, {{}})", value, want=np.full(shape, value))
            x = values("like", shape, dtype)
            suite.call("array::zeros_like", x, want=np.zeros_like(x))
            suite.call("array::ones_like", x, want=np.ones_like(x))
    for stop, start, step in ((5, 0, 1), (0, 0, 1), (10, 1, 3), (0, 5, -1), (0, 5, -2), (5, 9, 1), (-3, -9, 2)):
        want = np.arange(start, stop, step, dtype=np.int32)
        suite.call("array::arange", stop, want=want, start=start, step=step)
    for dtype in FLOATS:
        for a, b, n in ((0.0, 1.0, 5), (-2.0, 3.0, 1), (1.0, 1.0, 3), (2.0, -1.0, 7), (0.0, 1.0, 0), (0.1, 0.7, 4)):
            want = rounded(np.linspace(exact(np.asarray(dtype(a))), exact(np.asarray(dtype(b))), n), dtype)
            suite.call("array::linspace", dtype(a), dtype(b), n, want=want)
    for dtype in KINDS:
        for m, n in ((3, 2), (1, 4), (0, 2)):
            x, y = values("gx", m, dtype), values("gy", n, dtype)
            suite.call("array::meshgrid", x, y, want=tuple(np.meshgrid(x, y)))
    for n in (0, 1, 4):
        suite.call("array::eye", n, want=np.eye(n, dtype=np.float32))
        suite.call("array::eye", n, want=np.eye(n, 3, dtype=np.float32), columns=3)


def add_shapes(suite):
    for dtype in KINDS:
        for shape in (*SHAPES, (2, 0), (0, 2)):
            x = values("flat", shape, dtype)
            suite.call("array::flatten", x, want=x.reshape(-1))
            suite.call("array::transpose", x, want=x.T)
            if len(shape) >= 2:
                suite.call("array::swap_axes", x, want=np.swapaxes(x, -1, -2))
                for k in (-1, 0, 1):
                    suite.call("array::tril", x, want=np.tril(x, k), k=k)
                    suite.call("array::triu", x, want=np.triu(x, k), k=k)
        for shape in ((3,), (0,), (1,), (2, 3), (3, 2), (2, 2), (1, 0)):
            x = values("diag", shape, dtype)
            suite.call("array::diag", x, want=np.diag(x))
        for old, new in (((6,), (2, 3)), ((2, 3), (6,)), ((2, 3), (3, 2)), ((2, 3, 2), (4, 3)), ((0,), (0, 4)),
                         ((1,), ()), ((), (1, 1)), ((2, 3, 2, 1), (3, 2, 2)), ((24,), (2, 3, 2, 2)), ((8,), (2, 1, 2, 2, 1))):
            x = values("reshape", old, dtype)
            suite.expr("array::reshape", f"std::array::reshape({{}}, {list(new)})", x, want=x.reshape(new))
        for shape, order in (((3,), (0,)), ((2, 3), (1, 0)), ((2, 3), (0, 1)), ((2, 1, 3), (2, 0, 1)),
                             ((2, 0, 3), (1, 2, 0)), ((2, 3, 1, 2), (3, 1, 0, 2))):
            x = values("permute", shape, dtype)
            suite.expr("array::permute", f"std::array::permute({{}}, {list(order)})", x, want=x.transpose(order))


def add_moving(suite):
    for dtype in KINDS:
        for shape in RANKED:
            x = values("move", shape, dtype)
            for axis in axes(shape):
                n = shape[axis]
                suite.call("array::flip", x, want=np.flip(x, axis), axis=axis)
                suite.call("array::roll", x, 2, want=np.roll(x, 2, axis), axis=axis)
                suite.call("array::tile", x, 2, want=np.concatenate([x, x], axis), axis=axis)
                suite.call("array::repeat", x, 2, want=np.repeat(x, 2, axis), axis=axis)
                widths = [(0, 0)] * len(shape)
                widths[axis] = (1, 2)
                suite.call("array::pad", x, 1, 2, want=np.pad(x, widths), axis=axis)
                y = values("other", shape, dtype)
                suite.call("array::concatenate", x, y, want=np.concatenate([x, y], axis), axis=axis)
                part = np.take(x, range(n // 2, n), axis)
                suite.call("array::slice", x, n // 2, n, want=part, axis=axis)
            suite.call("array::roll", x, -7, want=np.roll(x, -7, 0))
            suite.call("array::stack", x, y, want=np.stack([x, y]))
            suite.call("array::pad", x, 0, 1, want=np.pad(x, [(0, 0)] * (len(shape) - 1) + [(0, 1)], constant_values=9),
                       value=dtype(9))
        x = values("split", (4, 6), dtype)
        suite.call("array::split", x, 2, want=np.stack(np.split(x, 2, 0)))
        suite.call("array::split", x, 3, want=np.stack(np.split(x, 3, 1)), axis=1)
        suite.call("array::split", x, 6, want=np.stack(np.split(x, 6, 1)), axis=-1)
        suite.call("array::split", values("split", 0, dtype), 2, want=np.zeros((2, 0), dtype))


def add_ordering(suite):
    for dtype in KINDS:
        for shape in RANKED:
            for make in (values, ties):
                x = make("sort", shape, dtype)
                for axis in axes(shape):
                    suite.call("array::sort", x, want=np.sort(x, axis), axis=axis)
                    suite.call("array::argsort", x, want=np.argsort(x, axis, kind="stable").astype(np.int32), axis=axis)
                down = np.argsort(-x, -1, kind="stable").astype(np.int32)
                suite.call("array::argsort", x, want=down, descending=True)
                k = min(2, shape[-1])
                suite.call("array::topk", x, k, want=(np.take_along_axis(x, down, -1)[..., :k], down[..., :k]))
        for n in (1, 2, 7, 33):
            x = ties("long", n, dtype)
            suite.call("array::sort", x, want=np.sort(x))
            suite.call("array::unique", x, want=unique(x))
        suite.call("array::unique", values("none", 0, dtype), want=unique(np.zeros(0, dtype)))
    for dtype in FLOATS:
        x = np.array([3.0, np.nan, -np.inf, 1.0, np.nan, np.inf, -0.0, 0.0], dtype)
        suite.call("array::sort", x, want=np.sort(x))
        suite.call("array::argsort", x, want=np.argsort(x, kind="stable").astype(np.int32))
        for shape in ((1,), (2,), (5,), (6,), (2, 3), (2, 1, 4), (2, 2, 2, 3)):
            x = uniform("quantile", shape, dtype)
            suite.call("array::median", x, want=rounded(np.median(exact(x), -1), dtype))
            for q in (0.0, 0.25, 0.37, 1.0):
                want = np.quantile(exact(x), float(dtype(q)), axis=-1)
                suite.call("array::quantile", x, dtype(q), want=rounded(want, dtype))
        x = np.array([[1.0, np.nan, 2.0], [1.0, 5.0, 2.0]], dtype)
        suite.call("array::median", x, want=np.median(x, -1))
        suite.call("array::quantile", x, dtype(0.25), want=np.quantile(x, 0.25, axis=-1).astype(dtype))


def unique(x):
    found, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return found, inverse.astype(np.int32), counts.astype(np.int32)


def add_searching(suite):
    for dtype in KINDS:
        for n in (0, 1, 4, 9):
            x = np.sort(ties("sorted", n, dtype))
            for shape in ((), (5,), (0,), (2, 3)):
                v = ties("wanted", shape, dtype)
                for right in (False, True):
                    want = np.searchsorted(x, v, "right" if right else "left").astype(np.int32)
                    suite.call("array::searchsorted", x, v, want=want, right=right)
    for dtype in FLOATS:
        row, keys = np.array([1.0, 2.0, 3.0], dtype), np.array([np.nan, np.inf, -np.inf], dtype)
        suite.call("array::searchsorted", row, keys, want=np.searchsorted(row, keys).astype(np.int32))
        for n in (0, 1, 50):
            x = uniform("hist", n, dtype, -0.2, 1.2)
            for bins in (1, 4, 10):
                want = np.histogram(exact(x), bins, (0.0, 1.0))[0].astype(np.int32)
                suite.call("array::histogram", x, bins, dtype(0), dtype(1), want=want)
        edges = np.array([0.0, 0.25, 0.5, 0.75, 1.0, np.nan, np.inf], dtype)
        want = np.histogram(edges[:5], 4, (0.0, 1.0))[0].astype(np.int32)
        suite.call("array::histogram", edges, 4, dtype(0), dtype(1), want=want)
    tenths = np.arange(11) / 10
    want = np.histogram(tenths, tenths)[0].astype(np.int32)
    suite.call("array::histogram", tenths, 10, np.float64(0), np.float64(1), want=want)
    for n in (0, 1, 20):
        x = integers("count", n, 0, 5)
        suite.call("array::bincount", x, 5, want=np.bincount(x, minlength=5).astype(np.int32))
    suite.call("array::bincount", np.array([0, -1, 7, 2], np.int32), 3, want=np.array([1, 0, 1], np.int32))


def add_segments(suite):
    for dtype in KINDS:
        for shape in ((6,), (1,), (0,), (6, 2), (4, 1, 3), (3, 2, 2, 2)):
            x = values("segment", shape, dtype)
            key = integers("key", shape[0], -1, 4)
            lowest = -np.inf if dtype != np.int32 else np.iinfo(dtype).min
            highest = np.inf if dtype != np.int32 else np.iinfo(dtype).max
            total = np.zeros((3, *shape[1:]), np.float64)
            top = np.full((3, *shape[1:]), lowest, np.float64)
            bottom = np.full((3, *shape[1:]), highest, np.float64)
            n = np.zeros(3)
            for row, k in zip(exact(x), key):
                if 0 <= k < 3:
                    total[k] += row
                    top[k] = np.maximum(top[k], row)
                    bottom[k] = np.minimum(bottom[k], row)
                    n[k] += 1
            suite.call("array::segment_sum", x, key, 3, want=rounded(total, dtype))
            suite.call("array::segment_max", x, key, 3, want=rounded(top, dtype))
            suite.call("array::segment_min", x, key, 3, want=rounded(bottom, dtype))
            if dtype != np.int32:
                means = total / n.reshape(-1, *[1] * (len(shape) - 1))
                suite.call("array::segment_mean", x, key, 3, want=rounded(means, dtype))


def add_selection(suite):
    for dtype in KINDS:
        for shape in RANKED:
            x, y = values("yes", shape, dtype), values("no", shape, dtype)
            mask = np.asarray(generator("mask").integers(0, 2, shape)).astype(bool)
            suite.call("array::select", mask, x, y, want=np.where(mask, x, y))
            for axis in axes(shape):
                if shape[axis]:
                    ids = integers("ids", 4, 0, shape[axis])
                    suite.call("array::take", x, ids, want=np.take(x, ids, axis), axis=axis)
            none = np.zeros(0, np.int32)
            suite.call("array::take", x, none, want=np.take(x, none, 0))
            if shape[-1] and 0 not in shape:
                ids = integers("along", (*shape[:-1], 2), 0, shape[-1])
                suite.call("array::gather", x, ids, want=np.take_along_axis(x, ids, -1))
            if shape[0]:
                ids = integers("rows", 3, 0, shape[0])
                rows = values("new", (3, *shape[1:]), dtype)
                put, added = x.copy(), exact(x).copy()
                for i, row in zip(ids, rows):
                    put[i] = row
                np.add.at(added, ids, exact(rows))
                suite.call("array::scatter", x, ids, rows, want=put)
                suite.call("array::scatter_add", x, ids, rows, want=rounded(added, dtype))
    for bits in ([False, True, True], [], [False], [True]):
        mask = np.array(bits, bool)
        suite.call("array::nonzero", mask, want=np.nonzero(mask)[0].astype(np.int32))
    for shape in ((2, 3), (0, 2), (3, 0), (1, 1), (3, 4)):
        mask = np.asarray(generator(f"w{shape}").integers(0, 2, shape)).astype(bool)
        suite.call("array::argwhere", mask, want=tuple(p.astype(np.int32) for p in np.nonzero(mask)))
    for n in (0, 1, 2, 7):
        p = generator("perm").permutation(n).astype(np.int32)
        suite.call("array::inverse_permutation", p, want=np.argsort(p).astype(np.int32))


def add_summaries(suite):
    for dtype in KINDS:
        for shape in RANKED:
            x, y = values("sum", shape, dtype), ties("tie", shape, dtype)
            wide = exact(x)
            for axis in axes(shape):
                suite.call("array::cumsum", x, want=rounded(np.cumsum(wide, axis), dtype), axis=axis)
                suite.call("array::cumprod", x, want=rounded(np.cumprod(wide, axis), dtype), axis=axis)
                suite.call("array::cummax", x, want=np.maximum.accumulate(x, axis), axis=axis)
                suite.call("array::cummin", x, want=np.minimum.accumulate(x, axis), axis=axis)
                suite.call("array::diff", x, want=rounded(np.diff(wide, axis=axis), dtype), axis=axis)
            if shape[-1]:
                for v in (x, y):
                    suite.call("array::argmax", v, want=np.argmax(v, -1).astype(np.int32))
                    suite.call("array::argmin", v, want=np.argmin(v, -1).astype(np.int32))
            if dtype != np.int32:
                add_moments(suite, x, dtype)
    for dtype in FLOATS:
        for shape in ((2, 5), (1, 4), (3, 2)):
            x = uniform("cov", shape, dtype)
            suite.call("array::cov", x, want=rounded(np.cov(exact(x)).reshape(shape[0], shape[0]), dtype))
            suite.call("array::cov", x, want=rounded(np.cov(exact(x), ddof=0).reshape(shape[0], shape[0]), dtype), ddof=0)
            suite.call("array::corrcoef", x, want=rounded(np.corrcoef(exact(x)).reshape(shape[0], shape[0]), dtype))
        far = (uniform("far", 20, dtype) + dtype(1000)).astype(dtype)
        suite.call("array::var", far, want=rounded(np.var(exact(far)), dtype))
        gap = np.array([1.0, np.nan, 2.0], dtype)
        suite.call("array::mean", gap, want=dtype(np.nan))
        suite.call("array::var", gap, want=dtype(np.nan))


def add_moments(suite, x, dtype):
    wide = exact(x)
    suite.call("array::mean", x, want=rounded(np.mean(wide, -1), dtype))
    for ddof in (0, 1):
        suite.call("array::var", x, want=rounded(np.var(wide, -1, ddof=ddof), dtype), ddof=ddof)
        suite.call("array::std", x, want=rounded(np.std(wide, -1, ddof=ddof), dtype), ddof=ddof)


def add(suite):
    add_creation(suite)
    add_shapes(suite)
    add_moving(suite)
    add_ordering(suite)
    add_searching(suite)
    add_segments(suite)
    add_selection(suite)
    add_summaries(suite)
