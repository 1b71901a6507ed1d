"""What programs give: records, variants, and the result of a run."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 1:
        text = np.array2string(value, threshold=20, edgeitems=2, max_line_width=60, separator=", ")
        text = " ".join(text.split())
        shape = ", ".join(map(str, value.shape))
        return f"{text if len(text) <= 70 else text[:67] + '...'} ({value.dtype}[{shape}])"
    return str(value)


class Record(Mapping[str, Any]):
    """A struct: fields by name, as attributes and as items."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self._name = name
        self._fields = dict(fields)

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"the record has no field {name!r}; its fields are {', '.join(fields)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={_short(value)}" for key, value in self._fields.items())
        return f"{self._name}({fields})"

    def _map(self, change: Callable[[Any], Any]) -> Record:
        return Record(self._name, {key: change(value) for key, value in self._fields.items()})


class Variant:
    """A value of an enum: the name of the variant and what it carries."""

    def __init__(self, enum: str, name: str, fields: list[str], items: list[Any]) -> None:
        self.enum = enum
        self.name = name
        self.items = tuple(items)
        self.fields = dict(zip(fields, items)) if len(fields) == len(items) else {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        mine = (self.enum, self.name, self.items)
        return mine == (other.enum, other.name, other.items)

    def __hash__(self) -> int:
        return hash((self.enum, self.name, len(self.items)))

    def __repr__(self) -> str:
        if self.fields:
            return f"{self.name} {{ {', '.join(f'{k}: {_short(v)}' for k, v in self.fields.items())} }}"
        return f"{self.name}({', '.join(map(_short, self.items))})" if self.items else self.name

    def _map(self, change: Callable[[Any], Any]) -> Variant:
        items = [change(item) for item in self.items]
        return Variant(self.enum, self.name, list(self.fields), items)


def record(name: str, fields: list[str], items: list[Any]) -> Record:
    """A struct, for the extension module."""
    return Record(name, dict(zip(fields, items)))


def variant(enum: str, name: str, fields: list[str], items: list[Any]) -> Variant:
    """A variant, for the extension module."""
    return Variant(enum, name, fields, items)


class Result(Mapping[str, Any]):
    """What a program gave: outputs by name, as items and as attributes.

    ``storage`` says what was kept of each recurrence, ``timings`` how long compiling and running took
    and the most memory that values had in use.
    """

    def __init__(self, outputs: Mapping[str, Any], timings: Mapping[str, float], storage: Any) -> None:
        self._outputs = dict(outputs)
        self._timings = dict(timings)
        self._storage = storage

    def __getitem__(self, key: str) -> Any:
        return self._outputs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __getattr__(self, name: str) -> Any:
        outputs = self.__dict__.get("_outputs", {})
        if name in outputs:
            return outputs[name]
        raise AttributeError(f"there is no output {name!r}; the outputs are {', '.join(outputs)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._outputs]

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of ``compile`` and ``run``, and ``peak_bytes``."""
        return dict(self._timings)

    @property
    def storage(self) -> dict[str, Any]:
        """For each recurrent binding: per axis the lookback, tail and window, and the reason."""
        if not isinstance(self._storage, dict):
            self._storage = json.loads(self._storage.json())
        return dict(self._storage)

    def __repr__(self) -> str:
        lines = [f"  {name} = {_short(value)}" for name, value in self._outputs.items()]
        return "\n".join(["Result:", *lines]) if lines else "Result: no outputs"

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self._outputs.items():
            kind = type(value).__name__
            if isinstance(value, (np.ndarray, np.generic)):
                kind = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
            cells = (name, kind, _short(value))
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        head = "<tr><th>output</th><th>type</th><th>value</th></tr>"
        return f"<table>{head}{''.join(rows)}</table>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Result, (self._outputs, self._timings, self.storage))

    def _map(self, change: Callable[[Any], Any]) -> Result:
        outputs = {name: change(value) for name, value in self._outputs.items()}
        return Result(outputs, self._timings, self._storage)
