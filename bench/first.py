"""How long the first call of each workload takes, from the text of the program on.

    python bench/first.py [--set a,b] [--rounds 5] [--json FILE]

A first call reads, checks, plans and compiles the program, and computes its result; that the package is imported and
that the inputs are made is not part of it. Each has a process of its own: a cold one finds nothing of earlier runs, a
warm one what the cold one before it kept. The rounds go through all workloads, since a machine may be busy for some
minutes; the least time counts, and the median says how busy it was. Needs the package `einlang` and the benchmark
beside the project (`../shared/bench`).
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHMARK = ROOT.parent / "shared" / "bench"
LIMIT = 0.2


def call(name: str) -> float:
    """Body of a process: the seconds of one first call, after which everything is there for the next process."""
    import einlang
    import harness

    inputs = harness.load_workloads(str(BENCHMARK / "workloads"), [name])[name].make_inputs("full", 0)
    start = time.perf_counter()
    module = einlang.load(str(ROOT / "bench" / f"{name}.ein"))
    module.run(**inputs)
    seconds = time.perf_counter() - start
    einlang.settle()
    return seconds


def measured(name: str, cache: str) -> float:
    """The seconds of a first call in a process that keeps code in a folder."""
    command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--call", name]
    done = subprocess.run(
        command, env={**os.environ, "EINLANG_CACHE_DIR": cache}, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stderr.strip() or 'it failed'}")
    return float(done.stdout)


def main() -> int:
    """Measures, and prints a table."""
    options = argparse.ArgumentParser(description="How long the first call of each workload takes.")
    options.add_argument("--set", default="")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json")
    options.add_argument("--call", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.rounds < 1:
        options.error("--rounds must be at least 1")
    sys.path.insert(0, str(BENCHMARK))
    if given.call:
        print(call(given.call))
        return 0
    known = sorted(path.stem for path in (ROOT / "bench").glob("*.ein"))
    names = [name for name in given.set.split(",") if name] or known
    if unknown := [name for name in names if name not in known]:
        options.error(f"no workload is called {', '.join(unknown)}")
    table: dict[str, dict[str, list[float]]] = {name: {"cold": [], "warm": []} for name in names}
    for _ in range(given.rounds):
        for name in names:
            with tempfile.TemporaryDirectory() as cache:
                for kind in ("cold", "warm"):
                    table[name][kind].append(measured(name, cache))
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(table, indent=1), encoding="utf-8")
    print("| workload | cold ms | median | warm ms | median |\n" + "|---" * 5 + "|")
    for name, found in table.items():
        cold, warm = ((min(times), statistics.median(times)) for times in found.values())
        over = " OVER" if cold[0] > LIMIT else ""
        print(f"| {name} | " + " | ".join(f"{1e3 * seconds:.0f}" for seconds in (*cold, *warm)) + f" |{over}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
