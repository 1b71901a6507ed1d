"""Programs: text with inputs and outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _einlang
from ._arrays import _converted, library_of, to_jax, to_torch
from ._errors import Diagnostic
from ._options import Options, settings_of
from ._values import Result


def _unit(source: str | None, file: str | os.PathLike[str] | None, options: Options | None) -> _einlang.Unit:
    if (source is None) == (file is None):
        raise TypeError("give a source, or file=, and not both")
    if file is not None:
        path = Path(file)
        return _einlang.Unit(path.read_text(encoding="utf-8"), str(path), settings_of(options))
    assert source is not None
    return _einlang.Unit(source, "<source>", settings_of(options))


class Program(_einlang.Program):
    """A program that runs as often as it is called, each time with other inputs."""

    def __new__(cls, unit: _einlang.Unit, outputs: Sequence[str] | None = None) -> Program:
        chosen = None if outputs is None else list(outputs)
        return super().__new__(cls, unit, chosen, unit.inputs())

    def __init__(self, unit: _einlang.Unit, outputs: Sequence[str] | None = None) -> None:
        self._unit = unit
        self._outputs = None if outputs is None else tuple(outputs)

    def __call__(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        out: str | None = None,
        progress: Callable[[float], object] | None = None,
        **more: Any,
    ) -> Result:
        """Runs the program with these inputs.

        ``out`` is the library of the outputs; ``progress`` is called with the seconds so far, some times
        a second, and may raise to stop the run. Inputs whose names are taken go into the mapping.
        """
        given = {**(inputs or {}), **more}
        names, values, measured, storage = self.evaluate(given, progress)
        result = Result(dict(zip(names, values)), measured, storage)
        if out == "like-input":
            out = library_of(list(given.values()))
        if out in (None, "numpy"):
            return result
        if out not in ("torch", "jax"):
            raise ValueError(f'out is "numpy", "torch", "jax" or "like-input", not {out!r}')
        convert = to_torch if out == "torch" else to_jax
        return result._map(lambda value: _converted(value, convert))

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs that the source declares."""
        return list(self._unit.inputs())

    def __repr__(self) -> str:
        return f"<einlang program {self._unit.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        unit = (self._unit.text, self._unit.name, self._unit.settings)
        return (_restored, (*unit, self._outputs))


def _restored(text: str, name: str, settings: dict[str, Any], outputs: Sequence[str] | None) -> Program:
    return Program(_einlang.Unit(text, name, settings), outputs)


def compile(
    source: str | None = None,
    /,
    *,
    file: str | os.PathLike[str] | None = None,
    outputs: Sequence[str] | None = None,
    options: Options | None = None,
) -> Program:
    """A program from a source or a file, checked, to be called with its inputs.

    ``outputs`` names the bindings that are wanted; the others are computed only where those need them,
    and recurrences keep only what is read. Inputs that the source does not declare are typed by the
    values of the call.
    """
    program = Program(_unit(source, file, options), outputs)
    if not _undeclared(program):
        program.prepare({})
    return program


def _undeclared(program: Program) -> list[str]:
    """Names that nothing defines and that may be inputs."""
    found = [d for d in program._unit.check() if d.severity == "error"]
    return [d.code for d in found if d.code == "E0110"]


def run(
    source: str | None = None,
    /,
    *,
    file: str | os.PathLike[str] | None = None,
    outputs: Sequence[str] | None = None,
    options: Options | None = None,
    out: str | None = None,
    progress: Callable[[float], object] | None = None,
    inputs: Mapping[str, Any] | None = None,
    **more: Any,
) -> Result:
    """Runs a program once and gives its outputs.

    >>> einlang.run("let y[i] = 2.0 * x[i];", x=[1.0, 2.0]).y
    array([2., 4.], dtype=float32)
    """
    program = Program(_unit(source, file, options), outputs)
    return program({**(inputs or {}), **more}, out=out, progress=progress)


def check(
    source: str | None = None,
    /,
    *,
    file: str | os.PathLike[str] | None = None,
    options: Options | None = None,
) -> list[Diagnostic]:
    """Everything that is wrong with a program, errors and warnings; nothing is run."""
    return list(_unit(source, file, options).check())
