"""Functions as operations of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import is_float
from ._derivatives import pulled
from ._module import Function


def operation(function: Function) -> Callable[..., Any]:
    """The function on arrays."""
    shapes: dict[Any, Any] = {}

    def shape_of(args: tuple[Any, ...]) -> Any:
        """What the function gives for arrays like these: it is evaluated once on zeros."""
        key = tuple((np.shape(arg), jnp.result_type(arg)) for arg in args)
        if key not in shapes:
            result = function(*(np.zeros(shape, dtype) for shape, dtype in key))
            many = isinstance(result, tuple)
            shapes[key] = tuple(map(_shape, result)) if many else _shape(result)
        return shapes[key]

    def _shape(result: Any) -> jax.ShapeDtypeStruct:
        array = np.asarray(result)
        if array.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
            raise ValueError(
                f"{function.__name__} gives {array.dtype}, which JAX would round; enable jax_enable_x64"
            )
        return jax.ShapeDtypeStruct(array.shape, array.dtype)

    def callback(run: Callable[..., Any], result: Any, *args: Any) -> Any:
        return jax.pure_callback(run, result, *args, vmap_method="sequential")

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        def run(*values: Any) -> Any:
            result = function(*map(np.asarray, values))
            return tuple(map(np.asarray, result)) if isinstance(result, tuple) else np.asarray(result)

        return callback(run, shape_of(args), *args)

    def forward(*args: Any) -> tuple[Any, tuple[Any, ...]]:
        return call(*args), args

    def backward(args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        kinds = [jnp.result_type(arg) for arg in args]
        by = [at for at, kind in enumerate(kinds) if jnp.issubdtype(kind, jnp.floating)]
        like = [jax.ShapeDtypeStruct(jnp.shape(args[at]), kinds[at]) for at in by]
        result = shape_of(args)
        many = isinstance(result, tuple)
        # What is no float has no cotangent that could be passed on.
        floats = [is_float(part) for part in result] if many else [True]
        given = [one for one, is_one in zip(cotangent if many else [cotangent], floats) if is_one]

        def run(*values: Any) -> Any:
            arrays = [np.asarray(value) for value in values]
            cotangents, primals = iter(arrays[: len(given)]), arrays[len(given) :]
            each = [next(cotangents) if is_one else None for is_one in floats]
            parts = pulled(function, by, primals, result, each if many else each[0])
            return [np.asarray(part, dtype=one.dtype) for part, one in zip(parts, like)]

        found = dict(zip(by, callback(run, like, *given, *args)))
        zeros = jax.dtypes.float0
        return tuple(
            found[at] if at in found else np.zeros(jnp.shape(arg), zeros) for at, arg in enumerate(args)
        )

    call.defvjp(forward, backward)
    signature = function.__signature__

    def operate(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        return call(*bound.args)

    operate.__name__ = function.__name__
    operate.__doc__ = function.__doc__
    operate.__signature__ = signature  # type: ignore[attr-defined]
    return operate
