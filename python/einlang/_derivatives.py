"""Derivatives of functions, built on the requests of the language (``@y / @x``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import as_array, is_float
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


def results(function: Function) -> list[str] | None:
    """The declared types of the parts of a tuple that the function gives; none if it declares no tuple."""
    result: str | None = function._info["result"]
    if result is None or not result.startswith("("):
        return None
    parts, depth = [""], 0
    for letter in result[1:-1]:
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _part(function: Function, of: int | None) -> int | None:
    """The number of a part of the result."""
    parts = results(function)
    if of is None or parts is None:
        return of
    if not -len(parts) <= of < len(parts):
        raise ValueError(f"{function.__name__} gives {len(parts)} values; there is no value {of}")
    return of % len(parts)


class _Derived:
    """A function of the same parameters."""

    def __init__(self, function: Function, wrt: Wrt, of: int | None) -> None:
        self.function, self.wrt = function, wrt
        self._by, self._single = _params(function, wrt)
        self.of = _part(function, of)
        self.__name__ = f"{type(self).__name__.strip('_').lower()}_{function.__name__}"
        self.__signature__ = function.__signature__
        self.__doc__ = f"{self.__name__}: derivative of\n\n{function.__doc__}"

    def _answer(self, parts: Sequence[Any]) -> Any:
        return parts[0] if self._single else tuple(parts)

    def __repr__(self) -> str:
        return f"<einlang {self.__name__}>"


class _Grad(_Derived):
    def __init__(self, function: Function, wrt: Wrt, of: int | None, with_value: bool) -> None:
        super().__init__(function, wrt, of)
        parts = results(function)
        if parts is not None and self.of is None:
            raise _no_number(function, "a tuple", "choose one of its values with `of=`")
        result = function._info["result"] if parts is None else parts[self.of or 0]
        if result is not None and result.startswith("["):
            raise _no_number(function, result)
        self._with_value = with_value
        self._core = function._derived("derivatives", self._by, of=self.of)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, *parts = self._core.call_with(args, kwargs, [])
        target = value if self.of is None else value[self.of]
        if not isinstance(target, np.generic):
            raise _no_number(self.function, "something else")
        answer = self._answer(parts)
        return (value, answer) if self._with_value else answer

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Grad, (self.function, self.wrt, self.of, self._with_value))


def _no_number(
    function: Function, result: str, help: str = "use `jacobian`, `jvp` or `vjp`"
) -> DerivativeError:
    return DerivativeError(
        f"the gradient is that of a function that gives a number; {function.__name__} gives {result}\n"
        f"  help: {help}"
    )


def grad(function: Function, wrt: Wrt = None, *, of: int | None = None) -> Callable[..., Any]:
    """The gradient of a function that gives a number, by one parameter or by several.

    ``wrt`` is a name, a position, or a sequence of those (then a tuple comes back); without it the first
    parameter. Of a function that gives a tuple, ``of`` is the position of the number.

    >>> einlang.grad(m.loss, wrt="w")(x, w)
    """
    return _Grad(function, wrt, of, with_value=False)


def value_and_grad(function: Function, wrt: Wrt = None, *, of: int | None = None) -> Callable[..., Any]:
    """Like `grad`, giving what the function gives and the gradient."""
    return _Grad(function, wrt, of, with_value=True)


class _Jacobian(_Derived):
    def __init__(self, function: Function, wrt: Wrt, rows: Any, of: int | None) -> None:
        super().__init__(function, wrt, of)
        parts = results(function)
        if parts is not None and self.of is None:
            raise ValueError(f"{function.__name__} gives {len(parts)} values; choose one with `of=`")
        self.rows = rows
        self._many = isinstance(rows, list)
        points = rows if self._many else [rows]
        self._points = [point if isinstance(point, tuple) else (point,) for point in points]
        if rows is None:
            self._core = function._derived("derivatives", self._by, of=self.of)
        else:
            lengths = {len(point) for point in self._points}
            if len(lengths) != 1:
                raise ValueError("rows must be points with equally many indices")
            self._core = function._derived("rows", self._by, lengths.pop(), of=self.of)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rows is None:
            return self._answer(self._core.call_with(args, kwargs, [])[1:])
        found = [self._core.call_with(args, kwargs, list(map(int, p))) for p in self._points]
        if not self._many:
            return self._answer(found[0])
        return self._answer([np.stack(parts) for parts in zip(*found)])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Jacobian, (self.function, self.wrt, self.rows, self.of))


def jacobian(
    function: Function, wrt: Wrt = None, *, rows: Any = None, of: int | None = None
) -> Callable[..., Any]:
    """The derivative of every element of the result by every element of a parameter.

    Its shape is that of the result followed by that of the parameter. ``rows`` asks for a part: an index
    of the result's first axis, a tuple of indices, or a list of those (stacked); only that much is
    computed. Of a function that gives a tuple, ``of`` is the position of the value that is meant.
    """
    return _Jacobian(function, wrt, rows, of)


def jvp(function: Function, primals: Sequence[Any], tangents: Any, wrt: Wrt = None) -> tuple[Any, Any]:
    """The value, and its change along tangents of parameters (all of them, unless ``wrt`` says which).

    Where the function gives a tuple, so is the change; it is none for values that are no floats.
    """
    if wrt is None:
        wrt = list(range(len(primals)))
    by, single = _params(function, wrt)
    given = [tangents] if single else list(tangents)
    if len(given) != len(by):
        raise ValueError(f"{len(by)} tangents are wanted, not {len(given)}")
    for at, tangent in zip(by, given):
        if at < len(primals) and not isinstance(primals[at], Mapping):
            name = function._info["params"][at][0]
            _same_shape(f"the tangent of `{name}`", tangent, "the parameter", primals[at])
    core = _core(function, "tangent", by)
    value, *changes = core.call_with(tuple(primals), None, given)
    if not isinstance(value, tuple):
        return value, changes[0]
    left = iter(changes)
    return value, tuple(next(left) if is_float(part) else None for part in value)


def vjp(function: Function, *primals: Any, wrt: Wrt = None) -> tuple[Any, Callable[[Any], Any]]:
    """The value, and a function from cotangents of it to cotangents of parameters (all, unless ``wrt``).

    Where the function gives a tuple, its cotangent is one too; those of values that are no floats do not
    matter, and none stands for zero.
    """
    if wrt is None:
        wrt = list(range(len(primals)))
    by, single = _params(function, wrt)
    value = function(*primals)

    def pull(cotangent: Any) -> Any:
        parts = pulled(function, by, primals, value, cotangent)
        return parts[0] if single else tuple(parts)

    return value, pull


def pulled(function: Function, by: Sequence[int], args: Sequence[Any], value: Any, cotangent: Any) -> list[Any]:
    """The cotangents of some parameters for one of the result, which is like this value."""
    given = [cotangent]
    if isinstance(value, tuple):
        given = list(cotangent)
        if len(given) != len(value):
            raise ValueError(f"{len(value)} cotangents are wanted, not {len(given)}")
        floats = [at for at, part in enumerate(value) if is_float(part)]
        for at in floats:
            if given[at] is None:
                given[at] = np.zeros(value[at].shape, value[at].dtype)
            _same_shape(f"the cotangent of value {at}", given[at], "the value", value[at])
        given = [given[at] for at in floats]
    elif is_float(value):
        _same_shape("the cotangent", cotangent, "the result", value)
    _, *parts = _core(function, "cotangent", by).call_with(tuple(args), None, given)
    return parts


def _same_shape(what: str, one: Any, other_is: str, other: Any) -> None:
    shape, wanted = _shape(one), _shape(other)
    if shape != wanted:
        raise ValueError(f"{what} has shape {shape}, {other_is} {wanted}")


def _shape(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", None)
    return tuple(as_array(value)[0].shape if shape is None else shape)


def _core(function: Function, kind: str, by: Sequence[int]) -> Function:
    """A derived function, made once."""
    known: dict[Any, Function] = function.__dict__.setdefault("_cores", {})
    key = (kind, tuple(by))
    if key not in known:
        known[key] = function._derived(kind, by)
    return known[key]
