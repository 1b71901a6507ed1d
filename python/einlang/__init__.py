"""Einlang: a small tensor language, compiled, on arrays of Python.

    >>> import einlang
    >>> einlang.run("let c[i, j] = sum[k](a[i, k] * b[k, j]);", a=a, b=b).c

`run` runs a text or a file once, `compile` makes a program to be run often, `load` gives the public
functions of a file as callables, and `check` says what is wrong with a text. `grad`, `value_and_grad`,
`jacobian`, `jvp` and `vjp` differentiate functions; `torch_op` and `jax_op` make them operations of those
libraries. Errors are subclasses of `EinlangError`.
"""

import atexit
import os

from ._derivatives import grad, jacobian, jvp, value_and_grad, vjp
from ._einlang import __version__, explain, finish, has_native, settle
from ._errors import (
    CoordinateError,
    DerivativeError,
    Diagnostic,
    EinlangError,
    FileError,
    InputError,
    InternalError,
    LimitError,
    NameError,
    NotSupportedError,
    PythonError,
    RecurrenceError,
    RunTimeError,
    ShapeError,
    Span,
    SyntaxError,
    TypeError,
    UsageError,
)
from ._libraries import jax_op, torch_op
from ._magic import load_ipython_extension
from ._module import Function, Module, load, loads
from ._options import Options
from ._program import Program, check, compile, run
from ._values import Record, Result, Variant

# Machine code is made in the background, which must not go on while the process ends or is copied.
atexit.register(finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=settle)

__all__ = [
    "CoordinateError",
    "DerivativeError",
    "Diagnostic",
    "EinlangError",
    "FileError",
    "Function",
    "InputError",
    "InternalError",
    "LimitError",
    "Module",
    "NameError",
    "NotSupportedError",
    "Options",
    "Program",
    "PythonError",
    "Record",
    "RecurrenceError",
    "Result",
    "RunTimeError",
    "ShapeError",
    "Span",
    "SyntaxError",
    "TypeError",
    "UsageError",
    "Variant",
    "__version__",
    "check",
    "compile",
    "explain",
    "grad",
    "has_native",
    "jacobian",
    "jax_op",
    "jvp",
    "load",
    "load_ipython_extension",
    "loads",
    "run",
    "torch_op",
    "value_and_grad",
    "vjp",
]
