"""Arguments: the same ones in every run."""

import zlib

import numpy as np

FLOATS = (np.float32, np.float64)
SHAPES = ((), (1,), (5,), (0,), (2, 3), (3, 1), (2, 1, 3), (2, 2, 1, 2))


def generator(name):
    """Random numbers that depend on a name only."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def uniform(name, shape, dtype, lo=-3.0, hi=3.0):
    return np.asarray(generator(name).uniform(lo, hi, shape)).astype(dtype)


def integers(name, shape, lo=-5, hi=6, dtype=np.int32):
    return np.asarray(generator(name).integers(lo, hi, shape)).astype(dtype)


def exact(x):
    """The argument as the reference sees it: `f32` widened, so that its own rounding is small."""
    return x.astype(np.float64) if x.dtype == np.float32 else x


def rounded(want, dtype):
    """The reference in the type of the result; what is too large becomes infinite."""
    return np.asarray(want).astype(dtype)
