"""Modules of Einlang whose public functions are callables."""

from __future__ import annotations

import inspect
import keyword
import os
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _einlang
from ._options import Options, settings_of


class _Default:
    """A default as the source writes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _signature(info: dict[str, Any]) -> inspect.Signature:
    params = []
    for at, (name, ty, default) in enumerate(info["params"]):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if name is None or keyword.iskeyword(name) or not name.isidentifier():
            name = f"{name or 'arg'}_{at}"
        shown = inspect.Parameter.empty if default is None else _Default(default)
        annotation = inspect.Parameter.empty if ty is None else ty
        params.append(inspect.Parameter(name, kind, default=shown, annotation=annotation))
    result = info["result"]
    if result is None:
        return inspect.Signature(params)
    return inspect.Signature(params, return_annotation=result)


class Function(_einlang.Function):
    """A public function of an Einlang module. Call it with arrays and numbers.

    ``out`` chooses the library of the result (``"numpy"``, ``"torch"``, ``"jax"``, ``"like-input"``) or is
    an array, or a tuple of arrays, that receives it.
    """

    def __new__(
        cls,
        unit: _einlang.Unit,
        info: dict[str, Any],
        kind: str = "value",
        by: Sequence[int] = (),
        n_rows: int = 0,
        of: int | None = None,
    ) -> Function:
        return super().__new__(cls, unit, info["name"], kind, list(by), n_rows, of)

    def __init__(
        self,
        unit: _einlang.Unit,
        info: dict[str, Any],
        kind: str = "value",
        by: Sequence[int] = (),
        n_rows: int = 0,
        of: int | None = None,
    ) -> None:
        self._unit, self._info = unit, info
        self._kind, self._by, self._n_rows, self._of = kind, tuple(by), n_rows, of
        self.__name__ = self.__qualname__ = info["name"]
        self.__module__ = unit.name
        self.__signature__ = _signature(info)
        self.__doc__ = f"{info['text']}\n\n{info['doc']}".rstrip()

    @property
    def declaration(self) -> str:
        """The declaration as the source writes it."""
        return str(self._info["text"])

    def _derived(self, kind: str, by: Sequence[int], n_rows: int = 0, of: int | None = None) -> Function:
        """The same function with derivatives, of one of its values if it gives a tuple."""
        return Function(self._unit, self._info, kind, by, n_rows, of)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments by position, for operations of libraries that know no names."""
        bound = self.__signature__.bind(*args, **kwargs)
        if bound.kwargs:
            left_out = next(name for name in self.__signature__.parameters if name not in bound.arguments)
            later = ", ".join(f"`{name}`" for name in bound.kwargs)
            raise TypeError(f"give `{left_out}` a value too, for {later} comes after it")
        return bound.args

    def __repr__(self) -> str:
        return f"<einlang {self.declaration}>"

    def __reduce__(self) -> tuple[Any, ...]:
        unit = (self._unit.text, self._unit.name, self._unit.settings)
        return (_restored, (*unit, self._info["name"], self._kind, self._by, self._n_rows, self._of))


def _restored(
    text: str,
    name: str,
    settings: dict[str, Any],
    function: str,
    kind: str,
    by: Sequence[int],
    n_rows: int,
    of: int | None,
) -> Function:
    unit = _einlang.Unit(text, name, settings)
    info = next(info for info in unit.signatures() if info["name"] == function)
    return Function(unit, info, kind, by, n_rows, of)


class Module(types.ModuleType):
    """An Einlang module: each ``pub fn`` is an attribute."""

    def __init__(self, unit: _einlang.Unit) -> None:
        path = Path(unit.name)
        super().__init__(path.stem, None)
        self.__file__ = unit.name
        self._unit = unit
        lines = []
        for info in unit.signatures():
            setattr(self, info["name"], Function(unit, info))
            lines.append(info["text"])
        self.__all__ = [info["name"] for info in unit.signatures()]
        self.__doc__ = "\n".join([f"The Einlang module {unit.name}.", "", *lines])

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(self.__dict__.get("__all__", [])) or "none"
        raise AttributeError(f"{self.__file__} has no public function {name!r}; there are: {known}")

    def __repr__(self) -> str:
        return f"<einlang module {self.__file__!r}: {', '.join(self.__all__)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_loaded, (self._unit.text, self._unit.name, self._unit.settings))


def _loaded(text: str, name: str, settings: dict[str, Any]) -> Module:
    return Module(_einlang.Unit(text, name, settings))


def load(file: str | os.PathLike[str], *, options: Options | None = None) -> Module:
    """The module in a file: its public functions are callables on arrays.

    >>> m = einlang.load("model.ein")
    >>> m.predict(x, w)
    """
    path = Path(file)
    return _loaded(path.read_text(encoding="utf-8"), str(path), settings_of(options))


def loads(source: str, *, name: str = "<source>", options: Options | None = None) -> Module:
    """The module in a text. Modules that it names are read from the current directory."""
    return _loaded(source, name, settings_of(options))
