"""How much memory one call of each workload takes, ours and the peers'.

    python bench/peaks.py [--set a,b] [--peers c,numpy] [--threads 2] [--json FILE]

Each implementation runs in a process of its own: it is called once, so that everything is compiled and loaded,
then the process's peak of resident memory is reset and it is called again. What is shown is that peak less what
the process had before the first call, with its libraries and inputs: results, what is kept between calls, and
code. Needs Linux, and the benchmark beside the project (`../shared/bench`).
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHMARK = ROOT.parent / "shared" / "bench"
PEERS = ["c", "numpy", "jax", "torch", "torch_compile", "numba"]
LIMIT = 300


def resident(key: str) -> int:
    """A line of the process's own account of its memory, in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(key + ":"):
                return 1024 * int(line.split()[1])
    raise RuntimeError(f"the system says nothing of {key}")


def peak(call: Any) -> int:
    """The peak during a call."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")
    result = call()
    found = resident("VmHWM")
    del result
    return found


def measured(answer: Any, name: str, peer: str) -> None:
    """Body of a process: one implementation, called twice."""
    import harness

    workload = harness.load_workloads(str(BENCHMARK / "workloads"), [name])[name]
    found = harness.candidates(workload, [] if peer == "ours" else [peer], str(ROOT / "bench"), "full")[peer]
    if isinstance(found, str):
        answer.send(found)
        return
    inputs = workload.make_inputs("full", 0)
    importlib.import_module({"torch_compile": "torch", "c": "ctypes", "ours": "einlang"}.get(peer, peer))
    before = resident("VmRSS")
    call = found(inputs)
    call()
    answer.send(max(0, peak(call) - before))


def of(name: str, peer: str) -> int | str:
    """The bytes of one call, or why there are none."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=measured, args=(there, name, peer), daemon=True)
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(LIMIT) else "it took too long"
    except EOFError:
        return "it failed"
    finally:
        process.kill()
        process.join()


def main() -> int:
    """Measures, and prints a table in MiB."""
    options = argparse.ArgumentParser(description="The memory that one call of each workload takes.")
    options.add_argument("--set", default="")
    options.add_argument("--peers", default=",".join(PEERS))
    options.add_argument("--threads", default="2")
    options.add_argument("--json")
    given = options.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "EINLANG_THREADS"):
        os.environ[variable] = given.threads
    os.environ["PYTHONPATH"] = os.pathsep.join([str(BENCHMARK), os.environ.get("PYTHONPATH", "")])
    sys.path.insert(0, str(BENCHMARK))
    names = [path.stem for path in sorted((ROOT / "bench").glob("*.ein"))]
    peers = ["ours", *given.peers.split(",")]
    table: dict[str, dict[str, int | str]] = {}
    print("| workload, MiB | " + " | ".join(peers) + " |\n" + "|---" * (len(peers) + 1) + "|")
    for name in (name for name in names if not given.set or name in given.set.split(",")):
        table[name] = {peer: of(name, peer) for peer in peers}
        cells = [f"{found / 2**20:.1f}" if isinstance(found, int) else "–" for found in table[name].values()]
        print("| " + " | ".join([name, *cells]) + " |", flush=True)
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
