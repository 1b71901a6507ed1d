"""Functions as differentiable operations of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ._arrays import is_float, to_torch
from ._derivatives import pulled
from ._module import Function


def operation(function: Function) -> Callable[..., Any]:
    """The function on tensors."""

    class Operation(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.plain = [arg if not isinstance(arg, torch.Tensor) else None for arg in args]
            ctx.save_for_backward(*(arg for arg in args if isinstance(arg, torch.Tensor)))
            value = function(*args)
            ctx.like = None
            if not isinstance(value, tuple):
                return to_torch(value)
            # Shapes and types are all that is needed of it later, and these take no memory.
            zero = [np.zeros((), np.asarray(part).dtype) for part in value]
            ctx.like = tuple(np.broadcast_to(one, np.shape(part)) for one, part in zip(zero, value))
            made = tuple(to_torch(part) for part in value)
            ctx.mark_non_differentiable(*(one for one, part in zip(made, value) if not is_float(part)))
            return made

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *cotangents: Any) -> Any:
            saved = iter(ctx.saved_tensors)
            args = [next(saved) if plain is None else plain for plain in ctx.plain]
            by = [at for at, needed in enumerate(ctx.needs_input_grad) if needed]
            given = cotangents[0] if ctx.like is None else cotangents
            found = dict(zip(by, pulled(function, by, args, ctx.like, given)))
            return tuple(_like(found.get(at), arg) for at, arg in enumerate(args))

    signature = function.__signature__

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        return Operation.apply(*bound.args)

    call.__name__ = function.__name__
    call.__doc__ = function.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _like(part: Any, arg: Any) -> Any:
    """A gradient in the type and shape of its argument."""
    if part is None:
        return None
    return to_torch(part).to(arg.dtype).reshape(arg.shape)
