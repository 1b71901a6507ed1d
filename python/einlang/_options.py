"""Limits and modes of programs, with the names that the command line has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Options:
    """How programs are checked and run. Everything has its usual value unless it is given.

    ``backend`` is ``"native"`` (machine code), ``"bytecode"`` (loops) or ``"interp"`` (point by point);
    ``checked`` makes integer overflow and NaN that appears errors; ``strict`` makes gaps errors;
    ``threads`` is how many machine code may run on (usually ``EINLANG_THREADS``, or all processors);
    ``compile`` is ``"thorough"``, ``"quick"`` (code that is made in a fifth of the time and runs a few times
    slower) or ``"tiered"`` (quick where thorough takes long, and thorough in the background), which is usual
    unless ``EINLANG_COMPILE`` says otherwise; results do not depend on it;
    ``timeout`` is in seconds, ``max_memory`` in bytes; ``allow_read`` and ``allow_write`` are files or
    folders that a program may touch besides its own folder; without ``python`` it may not call functions of
    Python, which is wise for programs of others.
    """

    backend: Literal["native", "bytecode", "interp"] | None = None
    checked: bool = False
    strict: bool = False
    zero_fill: bool = False
    python: bool = True
    timeout: float | None = None
    max_memory: int | None = None
    max_depth: int | None = None
    max_steps: int | None = None
    threads: int | None = None
    compile: Literal["quick", "thorough", "tiered"] | None = None
    allow_read: Sequence[str | os.PathLike[str]] = ()
    allow_write: Sequence[str | os.PathLike[str]] = ()

    def _dict(self) -> dict[str, Any]:
        settings = asdict(self)
        for key in ("allow_read", "allow_write"):
            settings[key] = [os.fspath(path) for path in settings[key]]
        return settings


def settings_of(options: Options | None) -> dict[str, Any]:
    """The options as the extension module takes them."""
    return (options or Options())._dict()
