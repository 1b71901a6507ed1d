"""Arrays of any library in, arrays of a chosen library out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: Floats that NumPy has no type for: their bits, and the name that `ml_dtypes` gives them.
_SMALL = {"bf16": (np.uint16, "bfloat16"), "f8e4m3": (np.uint8, "float8_e4m3fn")}
_BY_DTYPE = {name: elem for elem, (_, name) in _SMALL.items()}


def as_array(value: Any) -> tuple[np.ndarray[Any, Any], str | None]:
    """A contiguous, aligned NumPy array in native byte order, and the element type if NumPy has none.

    The array shares the memory of the value where that is possible.
    """
    array, elem = _shared(value)
    if elem is None:
        elem = _BY_DTYPE.get(array.dtype.name)
        if elem is not None:
            array = array.view(_SMALL[elem][0])
    if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and array.itemsize not in (2, 4, 8)):
        raise TypeError(
            f"an array of numbers is wanted, not {_describe(value)} of {array.dtype}; "
            "convert it to a type such as float32 or int64"
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    # `require` copies only what is not as it is asked for.
    return np.require(array, requirements=["C", "A"]), elem


def _shared(value: Any) -> tuple[np.ndarray[Any, Any], str | None]:
    if isinstance(value, np.ndarray):
        return np.asarray(value), None
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        return _of_torch(value)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return np.asarray(value), None
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value), None
    if isinstance(value, (list, tuple)):
        return _of_list(value), None
    try:
        return np.asarray(memoryview(value)), None
    except TypeError:
        return np.asarray(value), None


def _of_list(value: Sequence[Any]) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"the rows of the list have different lengths: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a list of numbers is wanted, not of {array.dtype}")
    # An empty list says nothing about its elements; they are floats until something else is wanted.
    return array


def _of_torch(value: Any) -> tuple[np.ndarray[Any, Any], str | None]:
    torch = sys.modules["torch"]
    tensor = value.detach()
    if tensor.device.type != "cpu":
        raise TypeError(f"the tensor lies on {tensor.device}; move it with `.cpu()`")
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(np.uint16), "bf16"
    if tensor.dtype == getattr(torch, "float8_e4m3fn", None):
        return tensor.contiguous().view(torch.uint8).numpy(), "f8e4m3"
    return tensor.numpy(), None


def is_float(value: Any) -> bool:
    """Whether something that a program gave is a float or an array of floats."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and (dtype.kind == "f" or dtype.name in _BY_DTYPE)


def _describe(value: Any) -> str:
    return f"`{type(value).__name__}`"


def from_bits(bits: np.ndarray[Any, Any], elem: str) -> np.ndarray[Any, Any]:
    """An array of small floats from their bits.

    Without the package `ml_dtypes`, NumPy has only `float16`; the others then become `float32`, which
    holds each of their values.
    """
    if elem == "f16":
        return bits.view(np.float16)
    try:
        import ml_dtypes
    except ImportError:
        return _widened(bits, elem)
    return bits.view(getattr(ml_dtypes, _SMALL[elem][1]))


def _widened(bits: np.ndarray[Any, Any], elem: str) -> np.ndarray[Any, Any]:
    if elem == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    wide = bits.astype(np.int32)
    sign = np.where(wide & 0x80, -1.0, 1.0)
    exponent, fraction = (wide >> 3) & 0xF, wide & 0x7
    normal = np.ldexp(1.0 + fraction / 8.0, exponent - 7)
    value = np.where(exponent == 0, np.ldexp(fraction / 8.0, -6), normal)
    value = np.where((wide & 0x7F) == 0x7F, np.nan, value)
    return (sign * value).astype(np.float32)


def to_torch(array: Any) -> Any:
    """A tensor of PyTorch over the same memory."""
    import torch

    if isinstance(array, np.ndarray):
        elem = _BY_DTYPE.get(array.dtype.name)
        if elem == "bf16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        if elem == "f8e4m3":
            return torch.from_numpy(array.view(np.uint8)).view(torch.float8_e4m3fn)
        return torch.from_numpy(array)
    return torch.tensor(array)


def to_jax(array: Any) -> Any:
    """An array of JAX. In its usual mode JAX has no 64-bit types and would round silently."""
    import jax
    import jax.numpy as jnp

    if getattr(array, "itemsize", 0) == 8 and not jax.config.jax_enable_x64:
        kind = np.asarray(array).dtype
        raise ValueError(f"JAX would round {kind}; enable jax_enable_x64, or ask for NumPy arrays")
    return jnp.asarray(array)


def _converted(value: Any, convert: Any) -> Any:
    from ._values import Record, Variant

    if isinstance(value, (np.ndarray, np.generic)):
        return convert(value)
    if isinstance(value, (Record, Variant)):
        return value._map(lambda part: _converted(part, convert))
    if isinstance(value, (tuple, list)):
        return type(value)(_converted(part, convert) for part in value)
    return value


def library_of(values: Sequence[Any]) -> str:
    """The library that the first array among some values belongs to."""
    for value in values:
        module = type(value).__module__.partition(".")[0]
        if module in ("torch", "jax", "jaxlib"):
            return "jax" if module.startswith("jax") else "torch"
        if isinstance(value, np.ndarray):
            return "numpy"
    return "numpy"


def deliver(result: Any, out: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> Any:
    """A result in the library, or in the buffers, that a caller asks for."""
    if isinstance(out, str):
        if out == "like-input":
            out = library_of([*args, *(kwargs or {}).values()])
        if out == "numpy":
            return result
        if out == "torch":
            return _converted(result, to_torch)
        if out == "jax":
            return _converted(result, to_jax)
        raise ValueError(f'out is "numpy", "torch", "jax", "like-input" or a buffer, not {out!r}')
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            raise ValueError(f"out must be a tuple of {len(result)} buffers, one for each result")
        for part, buffer in zip(result, out):
            _store(part, buffer)
        return out
    _store(result, out)
    return out


def _store(result: Any, buffer: Any) -> None:
    array = np.asarray(result)
    target = buffer if isinstance(buffer, np.ndarray) else np.from_dlpack(buffer)
    if target.shape != array.shape:
        raise ValueError(f"the buffer has shape {target.shape}, the result {array.shape}")
    if target.dtype != array.dtype:
        raise ValueError(f"the buffer holds {target.dtype}, the result is {array.dtype}")
    if not target.flags.writeable:
        raise ValueError("the buffer is read-only")
    target[...] = array
