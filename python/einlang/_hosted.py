"""Functions of Python that programs call (``python::module::function``)."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


def resolve(path: str) -> Any:
    """The object at a dotted path. Modules are imported on the way, where they are needed."""
    first, *rest = path.split(".")
    found: Any = importlib.import_module(first)
    sofar = first
    for word in rest:
        sofar = f"{sofar}.{word}"
        if isinstance(found, ModuleType) and not hasattr(found, word) and hasattr(found, "__path__"):
            found = importlib.import_module(sofar)
        else:
            found = getattr(found, word)
    if not callable(found):
        raise TypeError(f"{path} is no function, it is {type(found).__name__}")
    return found
