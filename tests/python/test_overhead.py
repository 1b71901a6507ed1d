"""The benchmark of calls on tiny arrays measures what it says; how fast they are is no test."""

import math
import pathlib
import runpy

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_call_is_measured():
    bench = runpy.run_path(str(ROOT / "bench" / "call_overhead.py"), run_name="bench")
    times = bench["measure"]()
    assert {"ufunc", "add"} <= set(times)
    assert all(math.isfinite(time) and time > 0.0 for time in times.values())
