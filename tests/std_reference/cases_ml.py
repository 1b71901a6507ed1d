"""`std::ml`, against formulas in NumPy."""

import numpy as np
from scipy import special

import reference_ml as ref
from values import FLOATS, SHAPES, exact, generator, integers, rounded, uniform

ACTIVATIONS = {
    "relu": lambda x: np.where(x <= 0, 0, x),
    "leaky_relu": lambda x: np.where(x <= 0, 0.01 * x, x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "elu": lambda x: np.where(x <= 0, np.expm1(x), x),
    "selu": lambda x: 1.0507009873554805 * np.where(x <= 0, 1.6732632423543772 * np.expm1(x), x),
    "celu": lambda x: np.where(x <= 0, np.expm1(x), x),
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * special.expit(x),
    "softplus": lambda x: np.logaddexp(0, x),
    "log_sigmoid": special.log_expit,
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0),
}


def add_activations(suite):
    for name, reference in ACTIVATIONS.items():
        for dtype in FLOATS:
            arguments = [uniform(f"{name}{shape}", shape, dtype, -6, 6) for shape in SHAPES]
            arguments.append(np.array([np.nan, 0.0, 30.0, -30.0], dtype))
            for x in arguments:
                suite.call(f"ml::{name}", x, want=rounded(reference(exact(x)), dtype))
    for dtype in FLOATS:
        for shape in ((4,), (0,), (2, 6), (2, 1, 2)):
            x = uniform("glu", shape, dtype)
            a, b = np.split(exact(x), 2, -1)
            suite.call("ml::glu", x, want=rounded(a * special.expit(b), dtype))
        for shape in ((3,), (2, 3), (2, 2, 3), (0, 3)):
            x, slope = uniform("prelu", shape, dtype), uniform("slope", 3, dtype)
            suite.call("ml::prelu", x, slope, want=rounded(np.where(x <= 0, exact(slope) * exact(x), exact(x)), dtype))


def add_softmax(suite):
    for dtype in FLOATS:
        arguments = [uniform("soft", shape, dtype) for shape in ((1,), (5,), (2, 3), (3, 1), (0, 3), (2, 1, 3), (2, 2, 1, 2))]
        arguments += [np.array(v, dtype) for v in ([1000.0, 1000.0], [-1000.0, 0.0], [np.nan, 1.0], [-np.inf, 1.0, 2.0])]
        for x in arguments:
            wide = exact(x)
            suite.call("ml::softmax", x, want=rounded(special.softmax(wide, -1), dtype))
            suite.call("ml::log_softmax", x, want=rounded(special.log_softmax(wide, -1), dtype))
            suite.call("ml::logsumexp", x, want=rounded(special.logsumexp(wide, -1), dtype))
        suite.call("ml::logsumexp", np.zeros(0, dtype), want=dtype(-np.inf))
        suite.call("ml::logsumexp", np.full(2, -np.inf, dtype), want=dtype(-np.inf))
        x = uniform("axis", (3, 4), dtype)
        for name, function in (("softmax", special.softmax), ("log_softmax", special.log_softmax)):
            template = f"{{{{ let x = {{}} as [{'f32' if dtype == np.float32 else 'f64'}; row, column]; std::ml::{name}[row](x) }}}}"
            suite.expr(f"ml::{name}", template, x, want=rounded(function(exact(x), 0), dtype))


def add_losses(suite):
    for dtype in FLOATS:
        for shape in ((1,), (4,), (2, 3), (2, 1, 2), (0,)):
            a, b = uniform("la", shape, dtype), uniform("lb", shape, dtype)
            p, y = uniform("lp", shape, dtype, 0.05, 0.95), uniform("ly", shape, dtype, 0, 1)
            side = np.where(b > 0, dtype(1), dtype(-1)).astype(dtype)
            A, B, P, Y = map(exact, (a, b, p, y))
            d = np.abs(A - B)
            for name, left, right, terms in (
                ("mse", a, b, d**2),
                ("mae", a, b, d),
                ("huber", a, b, np.where(d <= 1, d * d / 2, d - 0.5)),
                ("bce", p, y, -special.xlogy(Y, P) - special.xlogy(1 - Y, 1 - P)),
                ("bce_with_logits", a, y, np.logaddexp(0, A) - A * Y),
                ("hinge", a, side, np.maximum(1 - A * exact(side), 0)),
            ):
                want = np.mean(terms) if terms.size else np.nan
                suite.call(f"ml::{name}", left, right, want=rounded(want, dtype))
        for shape in ((3,), (2, 4), (2, 2, 3), (1, 1)):
            x = uniform("ce", shape, dtype)
            ids = integers("ids", shape[:-1], 0, shape[-1])
            logp = special.log_softmax(exact(x), -1)
            want = -np.mean(np.take_along_axis(logp, np.asarray(ids)[..., None], -1))
            suite.call("ml::cross_entropy", x, ids, want=rounded(want, dtype))
            want = -np.mean(np.take_along_axis(exact(x), np.asarray(ids)[..., None], -1))
            suite.call("ml::nll", x, ids, want=rounded(want, dtype))
            p, q = (special.softmax(exact(uniform(n, shape, dtype)), -1).astype(dtype) for n in "pq")
            want = np.mean(special.rel_entr(exact(p), exact(q)).sum(-1))
            suite.call("ml::kl", p, q, want=rounded(want, dtype))
        nan = np.array([np.nan, 1.0], dtype)
        for name in ("mse", "mae", "huber", "hinge"):
            suite.call(f"ml::{name}", nan, np.ones(2, dtype), want=dtype(np.nan))
        for t, labels in ((3, [1, 2]), (4, [1, 1]), (2, []), (1, [1, 2]), (5, [2, 1, 2])):
            logp = special.log_softmax(exact(uniform("ctc", (t, 3), dtype)), -1).astype(dtype)
            want = ref.ctc(exact(logp), labels)
            suite.call("ml::ctc", logp, np.array(labels, np.int32), want=rounded(want, dtype))


def add_convolutions(suite):
    options = (dict(), dict(stride=2), dict(pad=1), dict(dilation=2), dict(stride=2, pad=2), dict(groups=2))
    for dtype in FLOATS:
        for rank, name, extents, kernel in ((1, "conv1d", (7,), (3,)), (2, "conv2d", (5, 4), (3, 2)), (3, "conv3d", (3, 4, 3), (2, 2, 1))):
            x = uniform(name, (2, 2, *extents), dtype)
            for option in options:
                w = uniform("w", (2, 2 // option.get("groups", 1), *kernel), dtype)
                suite.call(f"ml::{name}", x, w, want=rounded(ref.conv(exact(x), exact(w), **option), dtype), **option)
            v = uniform("v", (2, 3, *kernel), dtype)
            for option in (dict(), dict(stride=2), dict(pad=1), dict(stride=2, pad=1)):
                want = ref.conv_transpose(exact(x), exact(v), **option)
                suite.call(f"ml::conv_transpose{rank}d", x, v, want=rounded(want, dtype), **option)
        small = uniform("small", (1, 1, 2), dtype)
        for stride in (1, 2, 3):
            w = np.ones((1, 1, 3), dtype)
            suite.call("ml::conv1d", small, w, want=np.zeros((1, 1, 0), dtype), stride=stride)
        x, w = uniform("depth", (2, 3, 4, 5), dtype), uniform("dw", (3, 2, 2), dtype)
        for option in (dict(), dict(stride=2, pad=1), dict(dilation=2)):
            want = ref.conv(exact(x), exact(w)[:, None], groups=3, **option)
            suite.call("ml::depthwise_conv2d", x, w, want=rounded(want, dtype), **option)
        for option in (dict(), dict(stride=2), dict(pad=1), dict(dilation=2)):
            want = ref.im2col(x, 2, 2, **option)
            suite.call("ml::im2col", x, 2, 2, want=want, **option)


def add_pooling(suite):
    for dtype in FLOATS:
        x1, x2 = uniform("pool", (2, 2, 7), dtype), uniform("pool", (1, 2, 4, 5), dtype)
        for size, option in ((2, dict()), (3, dict(stride=1)), (3, dict(stride=2, pad=1)), (1, dict())):
            for rank, x in ((1, x1), (2, x2)):
                for kind, function in (("max", np.max), ("avg", np.mean)):
                    want = ref.pool(exact(x), size, function, rank, **option)
                    suite.call(f"ml::{kind}_pool{rank}d", x, size, want=rounded(want, dtype), **option)
        for p in (1.0, 2.0, 3.0):
            want = ref.pool(exact(x2), 2, lambda v: (np.abs(v) ** p).sum() ** (1 / p), 2)
            suite.call("ml::lp_pool2d", x2, dtype(p), 2, want=rounded(want, dtype))
        for shape in ((2, 3, 4), (1, 2, 2, 3), (1, 1, 1)):
            x = uniform("global", shape, dtype)
            places = tuple(range(2, len(shape)))
            suite.call("ml::global_avg_pool", x, want=rounded(exact(x).mean(places), dtype))
            suite.call("ml::global_max_pool", x, want=x.max(places))
        for m, n in ((1, 1), (2, 3), (4, 5), (3, 2)):
            suite.call("ml::adaptive_avg_pool2d", x2, m, n, want=rounded(ref.adaptive(exact(x2), m, n), dtype))


def add_norms(suite):
    for dtype in FLOATS:
        for shape in ((4,), (2, 4), (2, 1, 4), (0, 4)):
            x, scale, shift = uniform("ln", shape, dtype), uniform("sc", 4, dtype), uniform("sh", 4, dtype)
            wide = exact(x)
            m, v = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
            want = (wide - m) / np.sqrt(v + 1e-5) * exact(scale) + exact(shift)
            suite.call("ml::layer_norm", x, scale, shift, want=rounded(want, dtype))
            want = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * exact(scale)
            suite.call("ml::rms_norm", x, scale, want=rounded(want, dtype))
        for shape in ((3, 4, 2), (2, 4, 2, 3), (1, 4, 1), (3, 4)):
            x, scale, shift = uniform("bn", shape, dtype), uniform("sc", 4, dtype), uniform("sh", 4, dtype)
            wide = exact(x)
            over = (0, *range(2, len(shape)))
            m, v = wide.mean(over), wide.var(over)
            suite.call("ml::batch_stats", x, want=(rounded(m, dtype), rounded(v, dtype)))
            m32, v32 = rounded(m, dtype), rounded(v, dtype)
            channel = (1, 4, *[1] * (len(shape) - 2))
            bm, bv, bs, bh = (exact(t).reshape(channel) for t in (m32, v32, scale, shift))
            want = (wide - bm) / np.sqrt(bv + 1e-5) * bs + bh
            suite.call("ml::batch_norm", x, m32, v32, scale, shift, want=rounded(want, dtype))
            for groups in (1, 2, 4):
                parts = wide.reshape(shape[0], groups, -1)
                normal = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-5)
                want = normal.reshape(shape) * bs + bh
                suite.call("ml::group_norm", x, groups, scale, shift, want=rounded(want, dtype))
            parts = wide.reshape(shape[0], 4, -1)
            normal = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + 1e-5)
            suite.call("ml::instance_norm", x, want=rounded(normal.reshape(shape), dtype))


def add_sequences(suite):
    for dtype in FLOATS:
        for batch, t, s in (((), 3, 4), ((2,), 2, 2), ((2, 2), 1, 3)):
            q, k = uniform("q", (*batch, t, 2), dtype), uniform("k", (*batch, s, 2), dtype)
            v = uniform("v", (*batch, s, 3), dtype)
            mask = generator("mask").integers(0, 2, (t, s)).astype(bool)
            mask[0] = True
            want = ref.attention(exact(q), exact(k), exact(v), mask)
            suite.call("ml::attention", q, k, v, mask, want=rounded(want, dtype))
            mask[-1] = False
            want = ref.attention(exact(q), exact(k), exact(v), mask)
            suite.call("ml::attention", q, k, v, mask, want=rounded(want, dtype))
        x = uniform("mha", (3, 4), dtype)
        w = [uniform(f"w{i}", (4, 4), dtype) for i in range(4)]
        mask = np.tril(np.ones((3, 3), bool))
        for heads in (1, 2, 4):
            want = ref.multi_head(exact(x), *map(exact, w), mask, heads)
            suite.call("ml::multi_head_attention", x, *w, mask, heads, want=rounded(want, dtype))
        for steps in (0, 1, 3):
            x, h0, c0 = (uniform(n, s, dtype) for n, s in (("x", (steps, 2, 3)), ("h", (2, 2)), ("c", (2, 2))))
            for name, gates in (("rnn", 1), ("gru", 3), ("lstm", 4)):
                wx, wh, b = (uniform(n, s, dtype) for n, s in (("wx", (3, 2 * gates)), ("wh", (2, 2 * gates)), ("b", 2 * gates)))
                state = (h0, c0) if name == "lstm" else (h0,)
                want = getattr(ref, name)(*map(exact, (x, wx, wh, b, *state)))
                suite.call(f"ml::{name}", x, wx, wh, b, *state, want=tuple(rounded(v, dtype) for v in want))
    for n, m in ((1, 1), (2, 2), (2, 4), (0, 3)):
        suite.call("ml::causal_mask", n, m, want=np.tri(n, m, m - n, dtype=bool))


def add_rest(suite):
    for dtype in FLOATS:
        for shape in ((3,), (2, 3), (2, 1, 3), (0, 3)):
            x, W, b = uniform("lin", shape, dtype), uniform("W", (2, 3), dtype), uniform("b", 2, dtype)
            suite.call("ml::linear", x, W, b, want=rounded(exact(x) @ exact(W).T + exact(b), dtype))
        table = uniform("table", (5, 2), dtype)
        for shape in ((), (3,), (2, 2), (0,)):
            ids = integers("ids", shape, 0, 5)
            suite.call("ml::embedding", table, ids, want=table[ids])
        for shape, m, n in (((2, 3), 4, 6), ((2, 3), 1, 1), ((2, 4, 4), 2, 3), ((1, 1), 3, 2)):
            x = uniform("resize", shape, dtype)
            suite.call("ml::resize_nearest", x, m, n, want=ref.nearest(x, m, n))
            suite.call("ml::resize_bilinear", x, m, n, want=rounded(ref.bilinear(exact(x), m, n), dtype))
        x = np.array([0.26, -0.26, 100.0, -100.0, np.nan, 0.0], dtype)
        suite.call("ml::quantise", x, dtype(0.1), want=np.array([3, -3, 127, -128, 0, 0], np.int8))
        suite.call("ml::quantise", x[:2], dtype(0.1), want=np.array([13, 7], np.int8), zero=10)
        q = np.array([3, -128, 127, 0], np.int8)
        suite.call("ml::dequantise", q, dtype(0.5), want=((q.astype(np.float64) - 1) * 0.5).astype(dtype), zero=1)
    for shape in ((), (4,), (2, 2), (0,)):
        ids = integers("hot", shape, -1, 5)
        suite.call("ml::one_hot", ids, 4, want=(np.asarray(ids)[..., None] == np.arange(4)).astype(np.float32))
    x = uniform("drop", (4, 5), np.float32)
    suite.expr("ml::dropout", "std::ml::dropout(std::random::key(1), {}, 0.0)", x, want=x)
    suite.expr("ml::dropout", "std::ml::dropout(std::random::key(1), {}, 1.0)", x, want=np.zeros_like(x))
    kept = "{{ let y = std::ml::dropout(std::random::key(3), {}, 0.5); all[i, j](y[i, j] == 0.0 || y[i, j] == 2.0 * {}[i, j]) }}"
    suite.expr("ml::dropout", kept, x, x, want=np.bool_(True))


def add(suite):
    for part in (add_activations, add_softmax, add_losses, add_convolutions, add_pooling, add_norms, add_sequences, add_rest):
        part(suite)
