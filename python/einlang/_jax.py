"""Functions as operations of JAX.

Where all arguments are known, the function is called. Under `jit`, `grad` and `vmap` it is called back, and
JAX must know the shape of the result before: the declaration tells it, or else the function is tried on
zeros and on ones. What it really gives is compared with that. Integers that JAX does not trace keep their
values, since they may be extents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import is_float, to_jax
from ._derivatives import pulled, results
from ._errors import EinlangError
from ._module import Function
from ._shapes import declared, extents

#: For each argument the type and value of an integer that is known, or none.
Fixed = tuple[tuple[str, int] | None, ...]


def operation(function: Function) -> Callable[..., Any]:
    """The function on arrays."""
    shape_of = _Shapes(function)

    def callback(run: Callable[..., Any], result: Any, *args: Any) -> Any:
        return jax.pure_callback(run, result, *args, vmap_method="sequential")

    @partial(jax.custom_vjp, nondiff_argnums=(0, 1))
    def call(fixed: Fixed, result: Any, *args: Any) -> Any:
        def run(*values: Any) -> Any:
            return _checked(function, function(*_merged(fixed, values)), result)

        return callback(run, result, *args)

    def forward(fixed: Fixed, result: Any, *args: Any) -> tuple[Any, tuple[Any, ...]]:
        return call(fixed, result, *args), args

    def backward(fixed: Fixed, result: Any, args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        places = [at for at, one in enumerate(fixed) if one is None]
        kinds = [jnp.result_type(arg) for arg in args]
        chosen = [at for at, kind in enumerate(kinds) if jnp.issubdtype(kind, jnp.floating)]
        by = [places[at] for at in chosen]
        like = [jax.ShapeDtypeStruct(jnp.shape(args[at]), kinds[at]) for at in chosen]
        many = isinstance(result, tuple)
        # What is no float has no cotangent that could be passed on.
        floats = [is_float(part) for part in result] if many else [True]
        given = [one for one, is_one in zip(cotangent if many else [cotangent], floats) if is_one]

        def run(*values: Any) -> Any:
            arrays = [np.asarray(value) for value in values]
            cotangents, primals = iter(arrays[: len(given)]), _merged(fixed, arrays[len(given) :])
            each = [next(cotangents) if is_one else None for is_one in floats]
            parts = pulled(function, by, primals, result, each if many else each[0])
            return [np.asarray(part, dtype=one.dtype) for part, one in zip(parts, like)]

        found = dict(zip(chosen, callback(run, like, *given, *args)))
        zeros = jax.dtypes.float0
        return tuple(
            found[at] if at in found else np.zeros(jnp.shape(arg), zeros) for at, arg in enumerate(args)
        )

    call.defvjp(forward, backward)

    def operate(*args: Any, **kwargs: Any) -> Any:
        given = function._positional(args, kwargs)
        if not any(isinstance(arg, jax.core.Tracer) for arg in given):
            value = function(*(np.asarray(arg, jnp.result_type(arg)) for arg in given))
            return tuple(map(to_jax, value)) if isinstance(value, tuple) else to_jax(value)
        fixed = tuple(map(_fixed, given))
        traced = [arg for arg, one in zip(given, fixed) if one is None]
        return call(fixed, shape_of(fixed, given), *traced)

    operate.__name__ = function.__name__
    operate.__doc__ = function.__doc__
    operate.__signature__ = function.__signature__  # type: ignore[attr-defined]
    return operate


def _fixed(arg: Any) -> tuple[str, int] | None:
    """The type and value of an integer that is known."""
    if isinstance(arg, jax.core.Tracer) or np.ndim(arg) != 0:
        return None
    kind = jnp.result_type(arg)
    return (kind.name, int(arg)) if jnp.issubdtype(kind, jnp.integer) else None


def _merged(fixed: Fixed, values: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """All arguments: integers that are known, and the others in their places."""
    left = iter(values)
    return [np.asarray(next(left)) if one is None else np.array(one[1], one[0]) for one in fixed]


class _Shapes:
    """What a function gives, as structs of JAX, for arguments like some others."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.found: dict[Any, Any] = {}

    def __call__(self, fixed: Fixed, args: Sequence[Any]) -> Any:
        kinds = [(np.shape(arg), jnp.result_type(arg)) for arg in args]
        key = tuple(zip(fixed, kinds))
        if key not in self.found:
            result = self.declared(fixed, [shape for shape, _ in kinds])
            self.found[key] = self.tried(fixed, kinds) if result is None else result
        return self.found[key]

    def declared(self, fixed: Fixed, shapes: Sequence[tuple[int, ...]]) -> Any:
        info = self.function._info
        known = {at: one[1] for at, one in enumerate(fixed) if one is not None}
        sizes = extents(info["params"], shapes, known)
        if sizes is None:
            return None
        parts = results(self.function)
        types = [info["result"] or ""] if parts is None else parts
        told = [declared(ty, sizes) for ty in types]
        structs = tuple(self.struct(*one) for one in told if one is not None)
        if len(structs) != len(types):
            return None
        return structs[0] if parts is None else structs

    def tried(self, fixed: Fixed, kinds: Sequence[tuple[tuple[int, ...], Any]]) -> Any:
        """What it gives for zeros and for ones, which must be alike; one of them may fail."""
        left_open = [kind for kind, one in zip(kinds, fixed) if one is None]
        found, errors = [], []
        for fill in (np.zeros, np.ones):
            try:
                value = self.function(*_merged(fixed, [fill(*kind) for kind in left_open]))
                found.append(self.structs(value))
            except EinlangError as error:
                errors.append(error)
        if not found:
            raise _untried(self.function, errors[-1]) from errors[-1]
        # JAX does not call for what is empty, so that nothing could be compared later.
        empty = _is_empty(found[0]) and not any(0 in shape for shape, _ in kinds)
        if empty or found[0] != found[-1]:
            raise _depends(self.function, f"on zeros and ones it is {_text(found)}")
        return found[0]

    def structs(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self.structs, value))
        array = np.asarray(value)
        return self.struct(array.shape, array.dtype.name)

    def struct(self, shape: tuple[int, ...], dtype: str) -> jax.ShapeDtypeStruct:
        kind = jnp.dtype(dtype)
        if kind.itemsize == 8 and not jax.config.jax_enable_x64:
            raise ValueError(
                f"{self.function.__name__} gives {kind}, which JAX would round; enable jax_enable_x64"
            )
        return jax.ShapeDtypeStruct(shape, kind)


def _is_empty(result: Any) -> bool:
    return any(0 in one.shape for one in (result if isinstance(result, tuple) else [result]))


def _checked(function: Function, value: Any, result: Any) -> Any:
    """What the function gives, as arrays of the shapes that JAX was told."""
    if isinstance(value, tuple):
        return tuple(_checked(function, part, one) for part, one in zip(value, result))
    array = np.asarray(value)
    if (array.shape, array.dtype) != (result.shape, result.dtype):
        got = jax.ShapeDtypeStruct(array.shape, array.dtype)
        raise _depends(function, f"it is {_text([got])}, and JAX was told {_text([result])}")
    return array


def _text(results: Sequence[Any]) -> str:
    """Shapes and types for people."""
    shown = []
    for result in results:
        parts = result if isinstance(result, tuple) else [result]
        shown.append(", ".join(f"{one.dtype.name}{list(one.shape)}" for one in parts))
    return " and ".join(shown)


def _depends(function: Function, why: str) -> ValueError:
    return ValueError(
        f"the shape of what {function.__name__} gives depends on values: {why}\n"
        "  help: give integers that are extents as numbers that JAX does not trace (`static_argnums` of `jit`)"
    )


def _untried(function: Function, error: EinlangError) -> EinlangError:
    """An error that no argument of the caller made."""
    return type(error)(
        f"{error}\n  note: `jax_op` tried {function.__name__} on zeros and on ones to know the shape of its "
        "result, and this is what came of it\n  help: declare a result whose extents are those of parameters",
        error.diagnostics,
    )
