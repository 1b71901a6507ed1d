"""Functions as operations of other libraries. Neither is imported before it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._module import Function


def torch_op(function: Function) -> Callable[..., Any]:
    """The function on tensors of PyTorch, differentiable by `torch.autograd`.

    The function gives tensors or numbers, one or a tuple of them; gradients are computed for the arguments
    that require them, through all results that are floats. These are first derivatives; asking for second
    ones is an error.
    """
    from ._torch import operation

    return operation(function)


def jax_op(function: Function) -> Callable[..., Any]:
    """The function on arrays of JAX; `jit`, `grad` and `vmap` work, through callbacks.

    The function gives tensors or numbers, one or a tuple of them. Under those the shape of the result must
    not depend on values that JAX traces.
    """
    from ._jax import operation

    return operation(function)
