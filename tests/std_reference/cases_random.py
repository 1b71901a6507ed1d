"""`std::random`: exact words of the generator, reproducibility, ranges and moments."""

import numpy as np

MASK = 0xFFFFFFFF
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key, counter):
    """Threefry-2x32 with 20 rounds, from the paper of Salmon and others."""
    k = (key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1])
    a, b = (counter[0] + k[0]) & MASK, (counter[1] + k[1]) & MASK
    for block in range(5):
        for r in ROTATIONS[block % 2]:
            a = (a + b) & MASK
            b = ((b << r | b >> (32 - r)) & MASK) ^ a
        a = (a + k[(block + 1) % 3]) & MASK
        b = (b + k[(block + 2) % 3] + block + 1) & MASK
    return a, b


def key_of(seed):
    return (seed >> 32) & MASK, seed & MASK


def words(seed, n, upper=0, part=0):
    return np.array([threefry(key_of(seed), (upper, i))[part] for i in range(n)], np.uint32)


def units(seed, n):
    return (words(seed, n) >> 8).astype(np.float64) * 2.0**-24


def exact_cases(suite):
    for seed in (0, 1, 7, 123456789, -1):
        key = f"std::random::key({seed})"
        suite.text("random::key", key, np.array(key_of(seed), np.uint32))
        for n in (0, 1, 5):
            suite.text("random::bits", f"std::random::bits({key}, {n})", words(seed, n))
            pairs = [threefry(key_of(seed), (MASK, i)) for i in range(n)]
            suite.text("random::split", f"std::random::split({key}, {n})", np.array(pairs, np.uint32).reshape(n, 2))
        for number in (0, 3):
            want = np.array(threefry(key_of(seed), (MASK - 1, number)), np.uint32)
            suite.text("random::fold_in", f"std::random::fold_in({key}, {number})", want)
        for shape in ((4,), (2, 3), (0,), (), (2, 1, 2)):
            n = int(np.prod(shape, dtype=int))
            u = units(seed, n).reshape(shape)
            extents = str(list(shape))
            suite.text("random::uniform", f"std::random::uniform({key}, {extents})", u.astype(np.float32))
            suite.text("random::uniform", f"std::random::uniform({key}, {extents}, lo = -1.0, hi = 3.0)", (4 * u - 1).astype(np.float32))
            v = (words(seed, n, part=1) >> 8).astype(np.float64) * 2.0**-24
            z = np.sqrt(-2 * np.log(units(seed, n) + 2.0**-24)) * np.cos(2 * np.pi * v)
            suite.text("random::normal", f"std::random::normal({key}, {extents})", z.reshape(shape).astype(np.float32))
            e = -np.log(u + 2.0**-24) / 2
            suite.text("random::exponential", f"std::random::exponential({key}, {extents}, rate = 2.0)", e.astype(np.float32))
            suite.text("random::bernoulli", f"std::random::bernoulli({key}, 0.5, {extents})", u < 0.5)
            for lo, hi in ((0, 6), (-3, 7), (5, 6)):
                want = lo + (words(seed, n).astype(np.uint64) * np.uint64(hi - lo) >> np.uint64(32)).astype(np.int64)
                suite.text("random::randint", f"std::random::randint({key}, {extents}, {lo}, {hi})", want.reshape(shape).astype(np.int32))
        for n in (0, 1, 6):
            order = np.argsort(words(seed, n), kind="stable").astype(np.int32)
            suite.text("random::permutation", f"std::random::permutation({key}, {n})", order)
        suite.text("random::choice", f"std::random::choice({key}, [10, 20, 30], 2)",
                   np.array([10, 20, 30], np.int32)[np.argsort(words(seed, 3), kind="stable")[:2]])
        suite.text("random::choice", f"std::random::choice({key}, [10, 20], 3, replace = true)",
                   np.array([10, 20], np.int32)[(words(seed, 3).astype(np.uint64) * np.uint64(2) >> np.uint64(32)).astype(int)])


# Function, a call that gives many numbers, and their mean, variance and smallest possible value.
MOMENTS = [
    ("uniform", "uniform({}, [4000])", 0.5, 1 / 12, 0.0),
    ("normal", "normal({}, [4000], mean = 2.0, deviation = 3.0)", 2.0, 9.0, -np.inf),
    ("exponential", "exponential({}, [4000])", 1.0, 1.0, 0.0),
    ("gamma", "gamma({}, 2.5, [3000])", 2.5, 2.5, 0.0),
    ("gamma", "gamma({}, 0.5, [3000])", 0.5, 0.5, 0.0),
    ("gamma", "gamma({}, 30.0, [3000])", 30.0, 30.0, 0.0),
    ("poisson", "poisson({}, 3.0, [3000]) as f32", 3.0, 3.0, 0.0),
    ("poisson", "poisson({}, 0.1, [3000]) as f32", 0.1, 0.1, 0.0),
    ("poisson", "poisson({}, 12.0, [3000]) as f32", 12.0, 12.0, 0.0),
    ("poisson", "poisson({}, 40.0, [3000]) as f32", 40.0, 40.0, 0.0),
    ("bernoulli", "randint({}, [4000], 0, 2) as f32", 0.5, 0.25, 0.0),
]


def moment_cases(suite):
    """Mean within five standard errors, variance within a tenth plus the same of itself."""
    for seed in (2, 3):
        for name, call, mean, variance, least in MOMENTS:
            drawn = f"std::random::{call.format(f'std::random::key({seed})')}"
            error = 5 * np.sqrt(variance / 3000)
            floor = "-std::math::INF" if least == -np.inf else f"{least}"
            test = (f"{{ let x = {drawn}; let m = std::array::mean(x); let v = std::array::var(x);"
                    f" (abs(m - {mean}) < {error:.6f}, abs(v - {variance:.6f}) < {variance * 0.3:.6f}, all[i](x[i] >= {floor})) }}")
            suite.text(f"random::{name}", test, (np.bool_(True), np.bool_(True), np.bool_(True)))
    twice = "{ let a = std::random::gamma(std::random::key(9), 1.5, [20]); let b = std::random::gamma(std::random::key(9), 1.5, [20]); all[i](a[i] == b[i]) }"
    suite.text("random::gamma", twice, np.bool_(True))
    suite.text("random::categorical", "std::random::categorical(std::random::key(1), [[0.0, 100.0, 0.0], [100.0, 0.0, 0.0]])", np.array([1, 0], np.int32))
    share = ("{ let c = std::random::categorical(std::random::key(6), [[0.0, 0.6931472] | i in 0..3000]);"
             " abs(std::array::mean(c as f32) - 0.6667) < 0.05 }")
    suite.text("random::categorical", share, np.bool_(True))


def add(suite):
    exact_cases(suite)
    moment_cases(suite)
