"""Derivatives of functions, built on the requests of the language (``@y / @x``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._errors import DerivativeError
from ._module import Function

Wrt = str | int | Sequence[str | int] | None


def _params(function: Function, wrt: Wrt) -> tuple[list[int], bool]:
    """The numbers of parameters, and whether it was one by itself."""
    if not isinstance(function, Function):
        raise TypeError(f"a function of an Einlang module is wanted, not {function!r}")
    names = [name for name, _, _ in function._info["params"]]
    if wrt is None:
        wrt = 0
    single = isinstance(wrt, (str, int))
    chosen = [wrt] if isinstance(wrt, (str, int)) else list(wrt)
    found = []
    for one in chosen:
        if isinstance(one, int) and -len(names) <= one < len(names):
            found.append(one % len(names))
        elif one in names:
            found.append(names.index(one))
        else:
            shown = ", ".join(name for name in names if name)
            raise ValueError(f"{function.__name__} has no parameter {one!r}; it has {shown}")
    if not found:
        raise ValueError("name at least one parameter")
    return found, single


class _Derived:
    """A function of the same parameters."""

    def __init__(self, function: Function, wrt: Wrt) -> None:
        self.function, self.wrt = function, wrt
        self._by, self._single = _params(function, wrt)
        self.__name__ = f"{type(self).__name__.strip('_').lower()}_{function.__name__}"
        self.__signature__ = function.__signature__
        self.__doc__ = f"{self.__name__}: derivative of\n\n{function.__doc__}"

    def _answer(self, parts: Sequence[Any]) -> Any:
        return parts[0] if self._single else tuple(parts)

    def __repr__(self) -> str:
        return f"<einlang {self.__name__}>"


class _Grad(_Derived):
    def __init__(self, function: Function, wrt: Wrt, with_value: bool) -> None:
        super().__init__(function, wrt)
        result = function._info["result"]
        if result is not None and result.startswith("["):
            raise _no_number(function, result)
        self._with_value = with_value
        self._core = function._derived("derivatives", self._by)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, *parts = self._core.call_with(args, kwargs, [])
        if not isinstance(value, np.generic):
            raise _no_number(self.function, "something else")
        answer = self._answer(parts)
        return (value, answer) if self._with_value else answer

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Grad, (self.function, self.wrt, self._with_value))


def _no_number(function: Function, result: str) -> DerivativeError:
    return DerivativeError(
        f"the gradient is that of a function that gives a number; {function.__name__} gives {result}\n"
        "  help: use `jacobian`, `jvp` or `vjp`"
    )


def grad(function: Function, wrt: Wrt = None) -> Callable[..., Any]:
    """The gradient of a function that gives a number, by one parameter or by several.

    ``wrt`` is a name, a position, or a sequence of those (then a tuple comes back); without it the first
    parameter.

    >>> einlang.grad(m.loss, wrt="w")(x, w)
    """
    return _Grad(function, wrt, with_value=False)


def value_and_grad(function: Function, wrt: Wrt = None) -> Callable[..., Any]:
    """Like `grad`, giving the value and the gradient."""
    return _Grad(function, wrt, with_value=True)


class _Jacobian(_Derived):
    def __init__(self, function: Function, wrt: Wrt, rows: Any) -> None:
        super().__init__(function, wrt)
        self.rows = rows
        self._many = isinstance(rows, list)
        points = rows if self._many else [rows]
        self._points = [point if isinstance(point, tuple) else (point,) for point in points]
        if rows is None:
            self._core = function._derived("derivatives", self._by)
        else:
            lengths = {len(point) for point in self._points}
            if len(lengths) != 1:
                raise ValueError("rows must be points with equally many indices")
            self._core = function._derived("rows", self._by, lengths.pop())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rows is None:
            return self._answer(self._core.call_with(args, kwargs, [])[1:])
        found = [self._core.call_with(args, kwargs, list(map(int, p))) for p in self._points]
        if not self._many:
            return self._answer(found[0])
        return self._answer([np.stack(parts) for parts in zip(*found)])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Jacobian, (self.function, self.wrt, self.rows))


def jacobian(function: Function, wrt: Wrt = None, *, rows: Any = None) -> Callable[..., Any]:
    """The derivative of every element of the result by every element of a parameter.

    Its shape is that of the result followed by that of the parameter. ``rows`` asks for a part: an index
    of the result's first axis, a tuple of indices, or a list of those (stacked); only that much is
    computed.
    """
    return _Jacobian(function, wrt, rows)


def jvp(function: Function, primals: Sequence[Any], tangents: Any, wrt: Wrt = None) -> tuple[Any, Any]:
    """The value, and its change along tangents of parameters (all of them, unless ``wrt`` says which)."""
    if wrt is None:
        wrt = list(range(len(primals)))
    by, single = _params(function, wrt)
    changes = [tangents] if single else list(tangents)
    if len(changes) != len(by):
        raise ValueError(f"{len(by)} tangents are wanted, not {len(changes)}")
    core = _core(function, "tangent", by)
    value, change = core.call_with(tuple(primals), None, changes)
    return value, change


def vjp(function: Function, *primals: Any, wrt: Wrt = None) -> tuple[Any, Callable[[Any], Any]]:
    """The value, and a function from cotangents of it to cotangents of parameters (all, unless ``wrt``)."""
    if wrt is None:
        wrt = list(range(len(primals)))
    by, single = _params(function, wrt)
    core = _core(function, "cotangent", by)

    def pull(cotangent: Any) -> Any:
        _, *parts = core.call_with(primals, None, [cotangent])
        return parts[0] if single else tuple(parts)

    return function(*primals), pull


def _core(function: Function, kind: str, by: Sequence[int]) -> Function:
    """A derived function, made once."""
    known: dict[Any, Function] = function.__dict__.setdefault("_cores", {})
    key = (kind, tuple(by))
    if key not in known:
        known[key] = function._derived(kind, by)
    return known[key]
