"""Shapes and types of results, as far as declarations tell them.

A result whose extents are those of parameters, numbers, or integers that are known has a shape that
follows from the arguments; nothing is run to find it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_DTYPES = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "bool": "bool",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_TENSOR = re.compile(r"\[\s*(\w+)\s*;([\w\s,]+)\]")

Params = Sequence[tuple[str | None, str | None, str | None]]
Known = Mapping[int, int]


def declared(ty: str, extents: Mapping[str, int]) -> tuple[tuple[int, ...], str] | None:
    """The shape and the NumPy name of the element type, if the declared type tells them."""
    elem, dims = _parts(ty)
    shape = [int(dim) if dim.isdecimal() else extents.get(dim) for dim in dims]
    if elem not in _DTYPES or any(size is None for size in shape):
        return None
    return tuple(size for size in shape if size is not None), _DTYPES[elem]


def extents(params: Params, shapes: Sequence[tuple[int, ...]], known: Known) -> dict[str, int] | None:
    """The sizes that names stand for: those of axes, and integers that are known, by position.

    There are none if the arguments do not fit the parameters, as far as this can tell.
    """
    pairs: list[tuple[str, int]] = []
    for at, ((name, ty, _), shape) in enumerate(zip(params, shapes)):
        elem, dims = _parts(ty or "")
        if elem in _DTYPES and len(dims) != len(shape):
            return None
        pairs += zip(dims, shape)
        if name is not None and known.get(at, -1) >= 0:
            pairs.append((name, known[at]))
    sizes = dict(pairs)
    fits = all(size == (int(dim) if dim.isdecimal() else sizes[dim]) for dim, size in pairs)
    return sizes if fits else None


def _parts(ty: str) -> tuple[str, list[str]]:
    """The element type and the extents of a tensor; a number has no extents."""
    found = _TENSOR.fullmatch(ty.strip())
    if found is None:
        return ty.strip(), []
    return found[1], [dim.strip() for dim in found[2].split(",")]
