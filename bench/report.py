"""What a run of the benchmark says, read from its JSON: times, ratios, means. Nothing is made up here."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

OURS = "ours"
PEERS = ["c", "numpy", "jax", "torch", "torch_compile", "numba"]
NAMES = {OURS: "Einlang", "c": "C", "numpy": "NumPy", "jax": "JAX", "torch": "PyTorch", "numba": "Numba"}
NAMES["torch_compile"] = "torch.compile"


@dataclass(frozen=True)
class Row:
    """One workload: the measurements of each peer that ran, by name."""

    name: str
    peers: dict[str, dict[str, Any]]
    quiet: tuple[int, int]

    def time(self, peer: str) -> float | None:
        """The least time of one call, in seconds; none if the peer did not run."""
        found: float | None = self.peers.get(peer, {}).get("min_s")
        return found

    def is_right(self, peer: str) -> bool:
        """Whether it ran and gave what the others gave."""
        return self.time(peer) is not None and self.peers[peer].get("status") == "ok"

    @property
    def best(self) -> float | None:
        """The least time of a peer other than us whose answer is right."""
        times = [self.peers[peer]["min_s"] for peer in PEERS if self.is_right(peer)]
        return min(times, default=None)

    def over_best(self, peer: str) -> float | None:
        """The time of a peer in times of the best."""
        return _ratio(self.time(peer) if self.is_right(peer) else None, self.best)

    def over_c(self, peer: str) -> float | None:
        """The time of a peer in times of C."""
        return _ratio(self.time(peer) if self.is_right(peer) else None, self.time("c"))


@dataclass(frozen=True)
class Report:
    """A whole run."""

    rows: list[Row]
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def peers(self) -> list[str]:
        """The peers that were measured at least once, in a fixed order."""
        return [peer for peer in PEERS if any(row.time(peer) is not None for row in self.rows)]

    def mean_over_best(self, peer: str) -> tuple[float, int] | None:
        """The geometric mean of the ratios to the best, and of how many."""
        return geomean(row.over_best(peer) for row in self.rows)

    def mean_over_c(self, peer: str) -> tuple[float, int] | None:
        """The geometric mean of the ratios to C, and of how many."""
        return geomean(row.over_c(peer) for row in self.rows)


def _ratio(time: float | None, to: float | None) -> float | None:
    return time / to if time and to else None


def geomean(ratios: Iterable[float | None]) -> tuple[float, int] | None:
    """The geometric mean of those that are there, and their number."""
    known = [ratio for ratio in ratios if ratio]
    if not known:
        return None
    return math.exp(sum(map(math.log, known)) / len(known)), len(known)


def read(path: str | os.PathLike[str]) -> Report:
    """The report in a file that `run.py --json` wrote."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    rows = []
    for name, found in data.get("workloads", {}).items():
        loads = found.get("foreign_load", [])
        rows.append(Row(name, found["peers"], (found.get("quiet_rounds", 0), len(loads))))
    about = {key: data.get(key) for key in ("scale", "threads", "seed", "reps", "versions", "roofline")}
    return Report(rows, about)
