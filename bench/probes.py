"""Times the probes in `probes/` against the hand-written C of the benchmark's workloads.

    probes.py --probe BINARY --workloads DIR [--rounds 15] [--patience 20] [name ...]

BINARY is the example `probe` of the command line, and DIR the folder that holds `harness.py` and
`workloads/`. The C is compiled as that harness does it and called in this process; our kernels run in
a process of their own. Both use one thread of the same core and take turns. A time is that of one
call on inputs in memory, allocation of the output included. Needs NumPy and gcc.

Prints medians, their ratio, the ratio of the fastest calls, and how many rounds began while others
used less than a tenth of a core. Ends with 1 if a result is wrong.
"""

import argparse
import importlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

import check  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


class Ours:
    """A process that runs a program once per line."""

    def __init__(self, binary, name, inputs, folder):
        text = (HERE / f"{name}.ein").read_text()
        (folder / f"{name}.ein").write_text(text)
        (folder / "main.ein").write_text(check.program(name, text, inputs))
        command = [binary, str(folder / "main.ein"), "--schedule", str(HERE / "probes" / f"{name}.schedule")]
        for key, value in inputs.items():
            if isinstance(value, np.ndarray):
                np.save(folder / f"{key}.npy", value)
                command.append(f"{key}={key}.npy")
            else:
                command.append(f"{key}={value}")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True)

    def call(self):
        """The seconds of one call, and the sum of what it gave."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if len(words) != 2:
            raise RuntimeError("no answer")
        return float(words[0]), float(words[1])

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def total(output):
    """The sum of the elements, and of their sizes."""
    values = np.asarray(output, dtype=np.float64)
    return float(values.sum()), float(np.abs(values).sum())


def measure(options, harness, name):
    """Prints the line of a probe; whether its result is right."""
    workload = importlib.import_module(name)
    inputs = workload.make_inputs("full", 0)
    peer = workload.impls["c"](inputs)
    want, size = total(peer())
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(options.probe, name, inputs, pathlib.Path(folder))
        _, got = ours.call()
        times, peer_times, quiet, patience = [], [], 0, options.patience
        for _ in range(options.rounds):
            load, patience = harness.wait_quiet(patience)
            quiet += load <= harness.QUIET
            start = time.perf_counter()
            peer()
            peer_times.append(time.perf_counter() - start)
            times.append(ours.call()[0])
        ours.end()
    right = abs(got - want) <= max(workload.tolerance, 1e-12) * size
    a, b = statistics.median(times), statistics.median(peer_times)
    print(
        f"{name:18s} {a * 1e3:9.2f} ms   C {b * 1e3:9.2f} ms   ratio {a / b:5.2f}"
        f"   of the fastest {min(times) / min(peer_times):5.2f}   quiet {quiet}/{options.rounds}"
        + ("" if right else f"   WRONG: {got} instead of {want}"),
        flush=True,
    )
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--probe", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--patience", type=float, default=20)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    folder = pathlib.Path(options.workloads).resolve()
    sys.path[:0] = [str(folder), str(folder / "workloads")]
    harness = importlib.import_module("harness")
    names = options.names or sorted(path.stem for path in (HERE / "probes").glob("*.schedule"))
    print("one thread, one core, in turn; medians of", options.rounds, "rounds")
    right = [measure(options, harness, name) for name in names]
    return not all(right)


if __name__ == "__main__":
    sys.exit(main())
