"""What twice the work costs, and what a second thread gains, for each workload of the benchmark.

    python bench/scaling.py [--set a,b] [--rounds 7] [--json FILE]

Half the work is the full input with one of its axes (or its number of steps) halved. Each measurement has a
process of its own; the rounds take turns, and the least time counts. Needs the package `einlang` and the
benchmark beside the project (`../shared/bench`).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pathlib
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHMARK = ROOT.parent / "shared" / "bench"

# The inputs whose first axis, or whose value, is halved.
HALVED = {
    "attention": ["q", "k", "v"], "conv2d": ["x"], "edit_distance": ["a"], "gat": ["x", "adj"], "gmm_grad": ["x"],
    "hotspot2d": ["steps"], "iir10": ["x"], "jacobian_row": ["x"], "kalman": ["z"], "layernorm_gelu": ["x"],
    "logsumexp_hmm": ["obs"], "lorenz_ensemble": ["s0"], "lorenz_sensitivity": ["steps"], "lstm_forward": ["x"],
    "lstm_grad": ["x"], "matmul_f32": ["a"], "matmul_f64": ["a"], "minplus_matmul": ["a"],
    "mlp_train_step": ["x", "labels"], "mriq": ["x", "y", "z"], "pairwise_l1": ["x"], "pathfinder": ["wall"],
    "stencil3d": ["steps"],
}
CASES = {"half": (0.5, 2), "full": (1.0, 2), "one thread": (1.0, 1)}


def part(name: str, inputs: dict[str, Any], work: float) -> dict[str, Any]:
    """The inputs for so much of the work."""
    if work == 1.0:
        return inputs
    if name == "floyd_warshall":
        n = round(len(inputs["w"]) * work ** (1 / 3))
        return {"w": inputs["w"][:n, :n].copy()}

    def less(value: Any) -> Any:
        return int(value * work) if isinstance(value, int) else value[: round(len(value) * work)].copy()

    return {key: less(value) if key in HALVED[name] else value for key, value in inputs.items()}


def timed(answer: Any, name: str, case: str) -> None:
    """Body of a process: one case, timed on request."""
    import einlang
    import harness

    work, threads = CASES[case]
    workload = harness.load_workloads(str(BENCHMARK / "workloads"), [name])[name]
    inputs = part(name, workload.make_inputs("full", 0), work)
    module = einlang.load(str(ROOT / "bench" / f"{name}.ein"), options=einlang.Options(threads=threads))
    module.run(**inputs)
    answer.send(None)
    while answer.recv():
        start = time.perf_counter()
        module.run(**inputs)
        answer.send(time.perf_counter() - start)


def least(name: str, rounds: int) -> dict[str, float]:
    """The least time of each case."""
    context = multiprocessing.get_context("spawn")
    ends, processes = {}, []
    for case in CASES:
        here, there = context.Pipe()
        processes.append(context.Process(target=timed, args=(there, name, case), daemon=True))
        processes[-1].start()
        there.close()
        here.recv()
        ends[case] = here
    times: dict[str, float] = {}
    for _ in range(rounds):
        for case, end in ends.items():
            end.send(True)
            times[case] = min(times.get(case, float("inf")), end.recv())
    for end in ends.values():
        end.send(False)
    for process in processes:
        process.join()
    return times


def main() -> int:
    """Measures, and prints a table."""
    options = argparse.ArgumentParser(description="What twice the work costs, and what a second thread gains.")
    options.add_argument("--set", default="")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json")
    given = options.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(BENCHMARK), os.environ.get("PYTHONPATH", "")])
    sys.path.insert(0, str(BENCHMARK))
    names = sorted([*HALVED, "floyd_warshall"])
    table = {}
    print("| workload | half the work ms | all of it ms | ratio | on one thread ms | gain of the second |\n" + "|---" * 6 + "|")
    for name in (name for name in names if not given.set or name in given.set.split(",")):
        found = table[name] = least(name, given.rounds)
        half, full, alone = (1e3 * found[case] for case in CASES)
        print(f"| {name} | {half:.1f} | {full:.1f} | {full / half:.2f} | {alone:.1f} | {alone / full:.2f} |", flush=True)
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
