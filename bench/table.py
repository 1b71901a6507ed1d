"""The page of the benchmark: runs it, and writes the table and the picture of `docs/performance.md`.

    python bench/table.py [--from RESULTS.json] [--peaks FILE] [--scaling FILE] [--first FILE] [options of run.py]

Without `--from`, the benchmark that lies beside the project (`../shared/bench/run.py`) is run with the programs
of this folder; further options go to it. Every number of the page comes from its JSON, and from what `peaks.py`,
`scaling.py` and `first.py` wrote; parts of the page for which nothing is given stay as they are.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
from typing import Any

import chart
import report as reports

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCHMARK = ROOT.parent / "shared" / "bench" / "run.py"

# Threads of OpenBLAS look for more work for 2^28 ticks of the clock, a tenth of a second and more, after each call. The
# peers take turns, so that whoever comes next would have one and a half processors. With this they look for 2^22 ticks,
# some two milliseconds, which is longer than what lies between two calls of a program, and shorter than what the
# benchmark waits between two peers.
PATIENCE = {"OPENBLAS_THREAD_TIMEOUT": "22"}


def milliseconds(row: reports.Row, peer: str) -> str:
    """The least time of a peer; `!` for a wrong answer, `?` for one that was never measured in quiet."""
    time = row.time(peer)
    if time is None:
        return "–"
    found = row.peers[peer]
    shown = f"{1e3 * time:.3g}" if time < 1 else f"{1e3 * time:.0f}"
    wrong = "" if found.get("status") == "ok" else " !"
    return f"{shown}{wrong}" + ("" if found.get("quiet_reps", 1) else " ?")


def ratio(value: float | None) -> str:
    """A ratio, if there is one."""
    return "–" if value is None else f"{value:.2f}"


def share(found: dict[str, Any], key: str, digits: int) -> str:
    """A number of our measurement, if there is one."""
    value = found.get(key)
    return "–" if value is None else f"{value:.{digits}f}"


def mean(found: tuple[float, int] | None) -> str:
    """A geometric mean and the number of workloads behind it."""
    return "–" if found is None else f"{found[0]:.2f} ({found[1]})"


def row_of(row: reports.Row, peers: list[str]) -> str:
    """The line of a workload."""
    ours = row.peers.get("ours", {})
    cells = [row.name, *(milliseconds(row, peer) for peer in ["ours", *peers])]
    cells += [ratio(row.over_best("ours")), ratio(row.over_c("ours")), share(ours, "roofline_fraction", 3)]
    cells += [share(ours, "first_s", 3), share(ours, "compile_s", 3), f"{row.quiet[0]}/{row.quiet[1]}"]
    return "| " + " | ".join(cells) + " |"


def section(report: reports.Report, measured: str) -> str:
    """The generated part of the page."""
    peers, about = report.peers, report.about
    versions = {name: version for name, version in (about.get("versions") or {}).items() if version}
    peaks = {name: value for name, value in (about.get("roofline") or {}).items() if value}
    heads = ["workload", *(f"{reports.NAMES[peer]} ms" for peer in ["ours", *peers])]
    heads += ["ours / best", "ours / C", "fraction of peak", "first call s", "of it compiling s", "quiet rounds"]
    means = ["geometric mean (n), to the best", *(mean(report.mean_over_best(peer)) for peer in ["ours", *peers])]
    means += [mean(report.mean_over_best("ours")), mean(report.mean_over_c("ours")), "", "", "", ""]
    lines = [
        f"Measured on {measured}. Scale {about.get('scale')}, {about.get('threads')} thread(s), seed {about.get('seed')}, "
        f"{about.get('reps')} rounds. Peaks: {', '.join(f'{k} {v:.0f}' for k, v in peaks.items()) or '–'}. "
        f"Versions: {', '.join(f'{k} {v}' for k, v in versions.items()) or '–'}.",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
        *(row_of(row, peers) for row in report.rows),
        "| " + " | ".join(means) + " |",
    ]
    return "\n".join(lines)


def day(path: str) -> str:
    """The day on which a file was written."""
    return datetime.date.fromtimestamp(os.path.getmtime(path)).isoformat()


def memory(path: str) -> str:
    """What `peaks.py` found: mebibytes of one call."""
    table: dict[str, dict[str, int | str]] = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    peers = [peer for peer in ["ours", *reports.PEERS] if any(peer in row for row in table.values())]
    lines = [f"Measured on {day(path)} by `python bench/peaks.py`, in MiB.", ""]
    lines += ["| workload | " + " | ".join(reports.NAMES[peer] for peer in peers) + " |", "|---" * (len(peers) + 1) + "|"]
    for name, row in table.items():
        found = [row.get(peer) for peer in peers]
        cells = [f"{bytes_ / 2**20:.1f}" if isinstance(bytes_, int) else "–" for bytes_ in found]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines)


def scaling(path: str) -> str:
    """What `scaling.py` found: the cost of twice the work, the gain of a second thread."""
    table: dict[str, dict[str, float]] = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    lines = [f"Measured on {day(path)} by `python bench/scaling.py`.", ""]
    lines += ["| workload | half the work ms | all of it ms | ratio | on one thread ms | gain of the second |", "|---" * 6 + "|"]
    for name, row in table.items():
        half, full, alone = (1e3 * row[case] for case in ("half", "full", "one thread"))
        lines.append(f"| {name} | {half:.1f} | {full:.1f} | {full / half:.2f} | {alone:.1f} | {alone / full:.2f} |")
    return "\n".join(lines)


def first(path: str) -> str:
    """What `first.py` found: first calls that find nothing of earlier runs, and such that do."""
    table: dict[str, dict[str, list[float]]] = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    rounds = min(len(times) for row in table.values() for times in row.values())
    lines = [f"Measured on {day(path)} by `python bench/first.py`, {rounds} rounds.", ""]
    lines += ["| workload | cold ms | median | warm ms | median |", "|---" * 5 + "|"]
    for name, row in table.items():
        cells = [1e3 * of(row[kind]) for kind in ("cold", "warm") for of in (min, statistics.median)]
        lines.append("| " + " | ".join([name, *(f"{cell:.0f}" for cell in cells)]) + " |")
    return "\n".join(lines)


def replaced(page: str, part: str, new: str) -> str:
    """The page with another generated part."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"the page has no lines `{begin}` and `{end}`")
    return f"{before}{begin}\n\n{new}\n\n{end}{after}"


def main() -> int:
    """Runs the benchmark, if it is asked to, and writes the page."""
    options = argparse.ArgumentParser(description="The page of the benchmark.")
    options.add_argument("--from", dest="results", help="a JSON that run.py wrote before")
    options.add_argument("--peaks", help="a JSON that peaks.py wrote")
    options.add_argument("--scaling", help="a JSON that scaling.py wrote")
    options.add_argument("--first", help="a JSON that first.py wrote")
    options.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs")
    given, further = options.parse_known_args()
    results = given.results
    if results is None:
        if not BENCHMARK.exists():
            raise SystemExit(f"there is no benchmark at {BENCHMARK}; give its results with --from")
        results = str(ROOT / "target" / "performance.json")
        pathlib.Path(results).parent.mkdir(exist_ok=True)
        run = [sys.executable, str(BENCHMARK), "--ours", str(ROOT / "bench"), "--json", results, *further]
        if code := subprocess.run(run, env={**PATIENCE, **os.environ}, check=False).returncode:
            return code
    elif further:
        options.error(f"nothing is run with --from, so these have no meaning: {' '.join(further)}")
    report = reports.read(results)
    page = given.docs / "performance.md"
    text = replaced(page.read_text(encoding="utf-8"), "table", section(report, day(results)))
    if given.peaks:
        text = replaced(text, "memory", memory(given.peaks))
    if given.scaling:
        text = replaced(text, "scaling", scaling(given.scaling))
    if given.first:
        text = replaced(text, "first", first(given.first))
    page.write_text(text, encoding="utf-8")
    (given.docs / "performance.svg").write_text(chart.draw(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
