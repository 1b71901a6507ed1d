"""The cell magic ``%%ein`` of IPython and Jupyter: ``%load_ext einlang`` brings it."""

from __future__ import annotations

import shlex
from typing import Any

from . import _einlang
from ._options import settings_of
from ._program import Program
from ._values import Result


def _wanted(source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """The inputs of a cell: what it declares, and names that only the notebook knows."""
    unit = _einlang.Unit(source, "<cell>", settings_of(None))
    names = [name for name in unit.inputs() if name in namespace]
    encoded = source.encode()
    for diagnostic in unit.check():
        if diagnostic.code == "E0110":
            name = encoded[diagnostic.span.start : diagnostic.span.end].decode()
            if name in namespace and name not in names:
                names.append(name)
    return {name: namespace[name] for name in names}


def ein(line: str, cell: str, namespace: dict[str, Any]) -> Result:
    """Runs a cell. ``-o a,b`` asks for these outputs only, and binds them in the notebook."""
    words = shlex.split(line)
    outputs = None
    if words:
        if words[0] not in ("-o", "--outputs") or len(words) != 2:
            raise ValueError("usage: %%ein [-o name,name]")
        outputs = [name for name in words[1].split(",") if name]
    unit = _einlang.Unit(cell, "<cell>", settings_of(None))
    result = Program(unit, outputs)(_wanted(cell, namespace))
    for name in outputs or []:
        namespace[name] = result[name]
    return result


def load_ipython_extension(shell: Any) -> None:
    """Registers the magic, for ``%load_ext einlang``."""

    def magic(line: str, cell: str) -> Result:
        return ein(line, cell, shell.user_ns)

    shell.register_magic_function(magic, "cell", "ein")
