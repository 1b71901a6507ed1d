"""Plain formulas for what NumPy and SciPy do not have, written for clarity, not speed."""

import itertools

import numpy as np
from scipy import special


def windows(extents, kernel, stride, dilation):
    """For each place of the result, the index of its window in the padded tensor."""
    room = [n - dilation * (k - 1) - 1 for n, k in zip(extents, kernel)]
    counts = [max(r // stride + 1, 0) if r >= 0 else 0 for r in room]
    for place in itertools.product(*map(range, counts)):
        yield place, tuple(slice(p * stride, p * stride + dilation * (k - 1) + 1, dilation) for p, k in zip(place, kernel))


def result_extents(extents, kernel, stride, dilation):
    return [max((n - dilation * (k - 1) - 1) // stride + 1, 0) for n, k in zip(extents, kernel)]


def padded(x, pad, rank, value=0.0):
    return np.pad(x, [(0, 0)] * (x.ndim - rank) + [(pad, pad)] * rank, constant_values=value)


def conv(x, w, stride=1, pad=0, dilation=1, groups=1):
    rank = x.ndim - 2
    x = padded(x, pad, rank)
    kernel = w.shape[2:]
    y = np.zeros((x.shape[0], w.shape[0], *result_extents(x.shape[2:], kernel, stride, dilation)))
    n_in, n_out = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        g = o // n_out
        part = x[:, g * n_in : (g + 1) * n_in]
        for place, window in windows(x.shape[2:], kernel, stride, dilation):
            y[(slice(None), o, *place)] = (part[(slice(None), slice(None), *window)] * w[o]).reshape(len(x), -1).sum(-1)
    return y


def conv_transpose(x, w, stride=1, pad=0):
    extents = [(n - 1) * stride + k for n, k in zip(x.shape[2:], w.shape[2:])]
    y = np.zeros((x.shape[0], w.shape[1], *extents))
    for place in itertools.product(*map(range, x.shape[2:])):
        window = tuple(slice(p * stride, p * stride + k) for p, k in zip(place, w.shape[2:]))
        y[(slice(None), slice(None), *window)] += np.einsum("bc,co...->bo...", x[(slice(None), slice(None), *place)], w)
    inner = tuple(slice(pad, n - pad) for n in extents)
    return y[(slice(None), slice(None), *inner)]


def im2col(x, k, l, stride=1, pad=0, dilation=1):
    x = padded(x, pad, 2)
    columns = [x[(slice(None), slice(None), *window)].reshape(len(x), -1) for _, window in windows(x.shape[2:], (k, l), stride, dilation)]
    return np.stack(columns, -1)


def pool(x, size, function, rank, stride=None, pad=0):
    stride = stride or size
    kernel = (size,) * rank
    x = padded(x, pad, rank, np.nan)
    y = np.zeros((*x.shape[:2], *result_extents(x.shape[2:], kernel, stride, 1)))
    for place, window in windows(x.shape[2:], kernel, stride, 1):
        for b, c in np.ndindex(*x.shape[:2]):
            part = x[(b, c, *window)]
            y[(b, c, *place)] = function(part[~np.isnan(part)])
    return y


def adaptive(x, m, n):
    h, w = x.shape[2:]
    y = np.zeros((*x.shape[:2], m, n))
    for p, q in np.ndindex(m, n):
        rows = slice(p * h // m, -(-(p + 1) * h // m))
        columns = slice(q * w // n, -(-(q + 1) * w // n))
        y[:, :, p, q] = x[:, :, rows, columns].mean((2, 3))
    return y


def attention(q, k, v, mask):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    top = np.max(s, -1, keepdims=True)
    w = np.where(mask, np.exp(s - top), 0.0)
    z = w.sum(-1, keepdims=True)
    return w @ v / np.where(z == 0, 1.0, z)


def multi_head(x, wq, wk, wv, wo, mask, heads):
    def split(w):
        return np.moveaxis((x @ w).reshape(len(x), heads, -1), 1, 0)

    y = attention(split(wq), split(wk), split(wv), mask)
    return np.moveaxis(y, 0, 1).reshape(x.shape) @ wo


def scan(step, x, state):
    outs = []
    for row in x:
        state = step(row, *state)
        outs.append(state[0])
    return np.array(outs).reshape(len(x), *state[0].shape), *state


def rnn(x, wx, wh, b, h0):
    return scan(lambda u, h: (np.tanh(u @ wx + b + h @ wh),), x, (h0,))


def gru(x, wx, wh, b, h0):
    def step(u, h):
        (a, c, d), (e, f, g) = np.split(u @ wx + b, 3, -1), np.split(h @ wh, 3, -1)
        r, z = special.expit(a + e), special.expit(c + f)
        return ((1 - z) * np.tanh(d + r * g) + z * h,)

    return scan(step, x, (h0,))


def lstm(x, wx, wh, b, h0, c0):
    def step(u, h, c):
        i, f, g, o = np.split(u @ wx + b + h @ wh, 4, -1)
        cell = special.expit(f) * c + special.expit(i) * np.tanh(g)
        return special.expit(o) * np.tanh(cell), cell

    return scan(step, x, (h0, c0))


def ctc(logp, labels, blank=0):
    """The sum over all paths, one by one."""
    total = -np.inf
    for path in itertools.product(range(logp.shape[1]), repeat=len(logp)):
        collapsed = [s for s, _ in itertools.groupby(path) if s != blank]
        if collapsed == list(labels):
            total = np.logaddexp(total, sum(logp[t, s] for t, s in enumerate(path)))
    return -total


def nearest(x, m, n):
    h, w = x.shape[-2:]
    rows, columns = (2 * np.arange(m) + 1) * h // (2 * m), (2 * np.arange(n) + 1) * w // (2 * n)
    return x[..., rows[:, None], columns]


def bilinear(x, m, n):
    def along(x, count, axis):
        size = x.shape[axis]
        at = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, size - 1)
        t = (at - low).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
        return np.take(x, low, axis) * (1 - t) + np.take(x, high, axis) * t

    return along(along(x, m, -2), n, -1)
