"""Functions as operations of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._derivatives import _core
from ._module import Function


def operation(function: Function) -> Callable[..., Any]:
    """The function on arrays."""
    shapes: dict[Any, jax.ShapeDtypeStruct] = {}

    def shape_of(args: tuple[Any, ...]) -> jax.ShapeDtypeStruct:
        """What the function gives for arrays like these: it is evaluated once on zeros."""
        key = tuple((np.shape(arg), jnp.result_type(arg)) for arg in args)
        if key not in shapes:
            zeros = [np.zeros(shape, dtype) for shape, dtype in key]
            result = np.asarray(function(*zeros))
            if result.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
                raise ValueError(
                    f"{function.__name__} gives {result.dtype}, which JAX would round; "
                    "enable jax_enable_x64"
                )
            shapes[key] = jax.ShapeDtypeStruct(result.shape, result.dtype)
        return shapes[key]

    def callback(run: Callable[..., Any], result: Any, *args: Any) -> Any:
        return jax.pure_callback(run, result, *args, vmap_method="sequential")

    @jax.custom_vjp
    def call(*args: Any) -> Any:
        def run(*values: Any) -> Any:
            return np.asarray(function(*map(np.asarray, values)))

        return callback(run, shape_of(args), *args)

    def forward(*args: Any) -> tuple[Any, tuple[Any, ...]]:
        return call(*args), args

    def backward(args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        kinds = [jnp.result_type(arg) for arg in args]
        by = [at for at, kind in enumerate(kinds) if jnp.issubdtype(kind, jnp.floating)]
        like = [jax.ShapeDtypeStruct(jnp.shape(args[at]), kinds[at]) for at in by]

        def run(cotangent: Any, *values: Any) -> Any:
            core = _core(function, "cotangent", by)
            _, *parts = core.call_with(tuple(map(np.asarray, values)), None, [np.asarray(cotangent)])
            return [np.asarray(part, dtype=one.dtype) for part, one in zip(parts, like)]

        found = dict(zip(by, callback(run, like, cotangent, *args)))
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
