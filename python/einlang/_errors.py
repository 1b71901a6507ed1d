"""Diagnostics as objects, and the exceptions that carry them."""

from __future__ import annotations

import builtins
import logging
from dataclasses import dataclass

__all__ = [
    "CoordinateError",
    "DerivativeError",
    "Diagnostic",
    "EinlangError",
    "FileError",
    "InputError",
    "InternalError",
    "LimitError",
    "NameError",
    "NotSupportedError",
    "PythonError",
    "RecurrenceError",
    "RunTimeError",
    "ShapeError",
    "Span",
    "SyntaxError",
    "TypeError",
    "UsageError",
]

log = logging.getLogger("einlang")


@dataclass(frozen=True)
class Span:
    """A place in a source: bytes for programs, lines and columns (from 1) for people."""

    file: str
    start: int
    end: int
    begin: tuple[int, int]
    finish: tuple[int, int]

    @property
    def line(self) -> int:
        """The line where it begins."""
        return self.begin[0]

    @property
    def column(self) -> int:
        """The column where it begins."""
        return self.begin[1]

    def __str__(self) -> str:
        return f"{self.file}:{self.begin[0]}:{self.begin[1]}"


@dataclass(frozen=True)
class Diagnostic:
    """One message about a program. ``str`` gives it with the lines of the source."""

    code: str
    severity: str
    message: str
    label: str
    span: Span
    help: list[str]
    notes: list[str]
    rendered: str

    def __str__(self) -> str:
        return self.rendered


class EinlangError(Exception):
    """An error of an Einlang program. ``str`` shows the places in the source.

    ``code`` and ``span`` are those of the first error, ``diagnostics`` are all messages.
    """

    diagnostics: list[Diagnostic]

    def __init__(self, message: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics or []

    @property
    def code(self) -> str | None:
        """The code of the first error, such as ``"E0301"``."""
        first = self._first()
        return first.code if first else None

    @property
    def span(self) -> Span | None:
        """The place of the first error."""
        first = self._first()
        return first.span if first else None

    def _first(self) -> Diagnostic | None:
        errors = [d for d in self.diagnostics if d.severity == "error"]
        return next(iter(errors or self.diagnostics), None)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.args[0], self.diagnostics))


class SyntaxError(EinlangError):
    """The text is no Einlang (E0101 to E0103)."""


class NameError(EinlangError, builtins.NameError):
    """A name, module or import that does not resolve (E011x)."""


class CoordinateError(EinlangError, builtins.ValueError):
    """One of the rules of named axes is broken (E02xx)."""


class ShapeError(EinlangError, builtins.ValueError):
    """Ranges, ranks or extents that do not fit (E03xx, E0702, E0705)."""


class TypeError(EinlangError, builtins.TypeError):
    """Types that do not fit (E04xx)."""


class RecurrenceError(EinlangError, builtins.ValueError):
    """A recurrence without an order or a base (E05xx)."""


class DerivativeError(EinlangError, builtins.ValueError):
    """A derivative that does not exist (E06xx)."""


class RunTimeError(EinlangError, builtins.ArithmeticError):
    """Something went wrong while the program ran (E07xx)."""


class LimitError(EinlangError):
    """Too much memory, recursion or time (E08xx)."""


class FileError(EinlangError):
    """A file that cannot be read or may not be touched (E0901 to E0904)."""


class InputError(EinlangError, builtins.ValueError):
    """An input that is missing or has another type (E0905, E0906)."""


class PythonError(EinlangError):
    """A function of Python that the program called raised an exception (E0907), which is the cause."""


class NotSupportedError(EinlangError, builtins.NotImplementedError):
    """Valid, and not yet supported by this version (E0999)."""


class UsageError(EinlangError, builtins.TypeError):
    """A program was asked for something that it does not have."""


class InternalError(EinlangError, builtins.RuntimeError):
    """A bug of Einlang itself; please report it."""


_EXACT: dict[str, type[EinlangError]] = {
    "E0204": CoordinateError,
    "E0702": ShapeError,
    "E0705": ShapeError,
    "E0905": InputError,
    "E0906": InputError,
    "E0907": PythonError,
    "E0999": NotSupportedError,
}

_BY_PREFIX: list[tuple[str, type[EinlangError]]] = [
    ("E010", SyntaxError),
    ("E01", NameError),
    ("E02", CoordinateError),
    ("E03", ShapeError),
    ("E04", TypeError),
    ("E05", RecurrenceError),
    ("E06", DerivativeError),
    ("E07", RunTimeError),
    ("E08", LimitError),
    ("E09", FileError),
]


def class_of(code: str) -> type[EinlangError]:
    """The exception of a code."""
    if code in _EXACT:
        return _EXACT[code]
    return next((cls for prefix, cls in _BY_PREFIX if code.startswith(prefix)), EinlangError)


def from_diagnostics(diagnostics: list[Diagnostic]) -> EinlangError:
    """The exception of a program with errors; warnings come along."""
    errors = [d for d in diagnostics if d.severity == "error"]
    shown = "\n\n".join(d.rendered for d in errors or diagnostics)
    cls = class_of(errors[0].code) if errors else EinlangError
    return cls(shown, list(diagnostics))


def from_usage(message: str, help: str) -> EinlangError:
    """The exception of a question that makes no sense."""
    return UsageError(f"{message}\n  help: {help}")


def from_bug(what: str) -> EinlangError:
    """The exception of a bug."""
    return InternalError(f"einlang has failed; this is a bug in einlang: {what}")


def log_compiled(name: str, seconds: float) -> None:
    """Writes down that something was compiled."""
    log.debug("compiled %s in %.1f ms", name, 1e3 * seconds)


def log_warnings(diagnostics: list[Diagnostic]) -> None:
    """Writes warnings to the log of the package."""
    for diagnostic in diagnostics:
        log.warning("%s", diagnostic.rendered)
