"""What a call of a compiled function costs beside a ufunc of NumPy, on tiny arrays.

    python bench/call_overhead.py [--limit MICROSECONDS]

Prints the least time of one call of each, in microseconds, and fails if ours is more than the limit above
that of NumPy. Needs the package `einlang`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import einlang

TEXT = """
pub fn add(x: [f64; N], y: [f64; N]) -> [f64; N] { let z[i] = x[i] + y[i]; z }
pub fn total(x: [f64; N]) -> f64 { sum[i](x[i]) }
pub fn pair(x: [f64; N], k: f64) -> ([f64; N], f64) { let z[i] = x[i] * k; (z, sum[i](x[i])) }
"""


def least(call: Callable[[], object], n: int = 100, rounds: int = 300) -> float:
    """The least time of one call, in microseconds. Rounds are short, so that some are undisturbed."""
    call()
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(n):
            call()
        best = min(best, (time.perf_counter() - start) / n)
    return 1e6 * best


def measure() -> dict[str, float]:
    """The times by name; `ufunc` is NumPy's own addition."""
    module = einlang.loads(TEXT)
    x, y = np.arange(4.0), np.ones(4)
    return {
        "ufunc": least(lambda: np.add(x, y)),
        "add": least(lambda: module.add(x, y)),
        "total": least(lambda: module.total(x)),
        "pair": least(lambda: module.pair(x, 2.0)),
    }


def main() -> int:
    """Prints the times; 1 if a call costs too much."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--limit", type=float, default=5.0)
    limit: float = options.parse_args().limit
    times = measure()
    for name, one in times.items():
        print(f"{name:8s} {one:6.2f} us  (+{one - times['ufunc']:.2f})")
    return int(times["add"] - times["ufunc"] > limit)


if __name__ == "__main__":
    raise SystemExit(main())
