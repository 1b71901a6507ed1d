"""Programs outside the benchmark's table, in `more/`, beside references and peers.

    more.py --check [--bin einlang] [--set gru,ridge]            every implementation is right
    more.py [--bin einlang] [--threads 1] [--rounds 5] [--json F]   how long each takes

`--check` compares each implementation with the reference, on small inputs of two seeds and on larger ones
whose extents no vector divides. Otherwise the implementations take turns on the full inputs, and a table
shows the fastest and the median call in milliseconds and the ratio of ours to the best of the others; what
does not agree with C is marked.

Ours runs through the Python package where that can be imported. Otherwise `--bin` names the command: on one
thread a library that it builds is called, on more the command measures itself (`einlang bench`, which
includes what surrounds the kernels). Needs NumPy and gcc; a peer that is not installed is left out.
"""

import argparse
import importlib
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def options():
    """The words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the references only")
    parser.add_argument("--set", default="", help="names of workloads, separated by commas (all)")
    parser.add_argument("--bin", type=lambda path: str(pathlib.Path(path).resolve()), help="the command `einlang`")
    parser.add_argument("--threads", type=int, default=1, help="threads of every implementation (1)")
    parser.add_argument("--rounds", type=int, default=5, help="how often the implementations take turns (5)")
    parser.add_argument("--scale", choices=["small", "odd", "full"], default="full", help="the inputs that are timed (full)")
    parser.add_argument("--json", metavar="FILE", help="write all times to this file")
    return parser.parse_args()


def limit_threads(count):
    """Limits every library to so many threads and processors; has to happen before they are loaded."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = str(count)
    os.environ["EINLANG_THREADS"] = str(count)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def importable(module):
    """Whether a module can be imported."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def checked(opts, workload, ours, shared):
    """Prints a line per scale and seed; the number of implementations that are wrong."""
    wrong = 0
    for scale, seed in (("small", 0), ("small", 1), ("odd", 2)):
        inputs = workload.make_inputs(scale, seed)
        want = shared.by_name(workload, workload.reference(inputs))
        calls = {peer: (lambda impl=impl: impl(inputs)()) for peer, impl in workload.impls.items()}
        if importable("einlang"):
            calls["ours"] = lambda: ours.package(workload.NAME)(inputs)()
        if opts.bin:
            calls["run"] = lambda: ours.Command(opts.bin, workload.NAME, inputs, opts.threads).outputs()
            calls["library"] = lambda: from_library(ours.Library(opts.bin, workload.NAME), inputs)
        line = []
        for peer, call in calls.items():
            try:
                off, why = shared.error(workload, shared.by_name(workload, call()), want)
            except ImportError:
                line.append(f"{peer} -")
                continue
            except (RuntimeError, ValueError, OSError) as failure:
                off, why = None, str(failure)
            wrong += bool(why)
            line.append(f"{peer} WRONG: {why}" if why else f"{peer} {off:.0e}")
        print(f"{workload.NAME:16s} {scale:5s} seed {seed}   " + "   ".join(line), flush=True)
    return wrong


def from_library(library, inputs):
    """What a library gives for the inputs."""
    results = library(inputs)()
    values = library.values(results)
    library.drop(results)
    return values


def timer(call, drop=lambda results: None):
    """What takes a number of calls and gives their times; results are dropped outside of them."""

    def take(count):
        times = []
        for _ in range(count):
            start = time.perf_counter()
            results = call()
            times.append(time.perf_counter() - start)
            drop(results)
        return times

    return take


def ours_timer(opts, workload, inputs, ours):
    """What takes a number of calls and gives their times, and what gives the outputs of one."""
    if importable("einlang"):
        call = ours.package(workload.NAME)(inputs)
        return timer(call), call
    elif opts.bin and opts.threads == 1:
        library = ours.Library(opts.bin, workload.NAME)
        return timer(library(inputs), library.drop), lambda: from_library(library, inputs)
    command = ours.Command(opts.bin, workload.NAME, inputs, opts.threads)
    return (lambda count: [*command.seconds(max(count, 3))]), None


def implementations(opts, workload, inputs, ours):
    """For each implementation what takes times, and what gives its outputs."""
    found = {}
    for peer, impl in workload.impls.items():
        try:
            call = impl(inputs)
        except ImportError:
            continue
        found[peer] = timer(call), call
    if opts.bin or importable("einlang"):
        found["ours"] = ours_timer(opts, workload, inputs, ours)
    return found


def measured(opts, workload, ours, shared):
    """The times of each implementation, from rounds in which they take turns, and what does not agree."""
    inputs = workload.make_inputs(opts.scale, 0)
    found = implementations(opts, workload, inputs, ours)
    outputs = {peer: shared.by_name(workload, give()) for peer, (_, give) in found.items() if give}
    wrong = []
    for peer, have in outputs.items():
        why = shared.error(workload, have, outputs.get("c", have))[1]
        if why:
            wrong.append(f"{peer}: {why}")
    del outputs
    counts = {peer: max(1, min(20, int(0.05 / max(*take(1), 1e-6)))) for peer, (take, _) in found.items()}
    times = {peer: [] for peer in found}
    for _ in range(opts.rounds):
        for peer, (take, _) in found.items():
            times[peer] += take(counts[peer])
    return times, wrong


def row(name, times):
    """The line of a workload: fastest and median call in milliseconds, and the ratio to the best."""
    least = {peer: min(taken) for peer, taken in times.items()}
    others = {peer: seconds for peer, seconds in least.items() if peer != "ours"}
    best = min(others, key=others.get) if others else None
    ratio = f"{least['ours'] / others[best]:6.2f} of {best}" if best and "ours" in least else ""
    cells = "  ".join(
        f"{peer} {least[peer] * 1e3:9.3f} ({statistics.median(taken) * 1e3:9.3f})" for peer, taken in times.items()
    )
    return f"{name:16s} {cells}   {ratio}"


def main():
    opts = options()
    limit_threads(opts.threads)
    sys.path[:0] = [str(HERE), str(HERE / "more")]
    import ours
    import shared

    names = [name for name in opts.set.split(",") if name]
    names = names or sorted(path.stem for path in (HERE / "more").glob("*.ein"))
    workloads = [importlib.import_module(name) for name in names]
    if opts.check:
        wrong = sum(checked(opts, workload, ours, shared) for workload in workloads)
        print(f"{wrong} wrong")
        return int(wrong > 0)
    report, failed = {}, 0
    print(f"milliseconds, fastest (median), {opts.threads} thread(s)")
    for workload in workloads:
        times, wrong = measured(opts, workload, ours, shared)
        report[workload.NAME] = times
        failed += bool(wrong)
        print(row(workload.NAME, times), *[f"  WRONG {why}" for why in wrong], flush=True)
        if opts.json:
            pathlib.Path(opts.json).write_text(json.dumps({"threads": opts.threads, "seconds": report}, indent=1))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
