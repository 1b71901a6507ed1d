"""Functions as differentiable operations of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from ._arrays import to_torch
from ._derivatives import _core
from ._module import Function


def operation(function: Function) -> Callable[..., Any]:
    """The function on tensors."""

    class Operation(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.plain = [arg if not isinstance(arg, torch.Tensor) else None for arg in args]
            ctx.save_for_backward(*(arg for arg in args if isinstance(arg, torch.Tensor)))
            return to_torch(function(*args))

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, cotangent: Any) -> Any:
            saved = iter(ctx.saved_tensors)
            args = [next(saved) if plain is None else plain for plain in ctx.plain]
            by = [at for at, needed in enumerate(ctx.needs_input_grad) if needed]
            core = _core(function, "cotangent", by)
            _, *parts = core.call_with(tuple(args), None, [cotangent])
            found = dict(zip(by, parts))
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
