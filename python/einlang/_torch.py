"""Functions as differentiable operations of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ._arrays import is_float, to_torch
from ._derivatives import pulled
from ._errors import DerivativeError
from ._module import Function


def operation(function: Function) -> Callable[..., Any]:
    """The function on tensors."""

    class Pull(torch.autograd.Function):
        """The derivative, as an operation that has none.

        `once_differentiable` is not enough: it lets second derivatives through, as if they were zero,
        where the cotangents themselves need no gradient.
        """

        @staticmethod
        def forward(ctx: Any, by: list[int], like: Any, n_cotangents: int, *given: Any) -> Any:
            cotangents, args = given[:n_cotangents], given[n_cotangents:]
            parts = pulled(function, by, args, like, cotangents[0] if like is None else cotangents)
            return tuple(_like(part, args[at]) for part, at in zip(parts, by))

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            raise DerivativeError(
                f"`torch_op` gives first derivatives only; second ones of {function.__name__} are asked for\n"
                "  help: write a function that gives the first derivative, `@y / @x`, and use `torch_op` on it"
            )

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
        def backward(ctx: Any, *cotangents: Any) -> Any:
            saved = iter(ctx.saved_tensors)
            args = [next(saved) if plain is None else plain for plain in ctx.plain]
            by = [at for at, needed in enumerate(ctx.needs_input_grad) if needed]
            parts = Pull.apply(by, ctx.like, len(cotangents), *cotangents, *args)
            found = dict(zip(by, parts))
            return tuple(found.get(at) for at in range(len(args)))

    def call(*args: Any, **kwargs: Any) -> Any:
        return Operation.apply(*function._positional(args, kwargs))

    call.__name__ = function.__name__
    call.__doc__ = function.__doc__
    call.__signature__ = function.__signature__  # type: ignore[attr-defined]
    return call


def _like(part: Any, arg: Any) -> Any:
    """A gradient in the type and shape of its argument."""
    return to_torch(part).to(arg.dtype).reshape(arg.shape)
