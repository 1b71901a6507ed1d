"""What the workloads beside this file have in common: compiling C, outputs by name, and comparing them."""

import ctypes
import hashlib
import os
import pathlib
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp", "-ffast-math", "-fPIC"]


def c_library(name):
    """The library made of `c/name.c`; it is made once for each state of the source. It is linked without
    `-ffast-math`, which would make all arithmetic of this process, ours too, flush small numbers to zero."""
    source = HERE / "c" / f"{name}.c"
    state = hashlib.sha256(source.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:12]
    folder = pathlib.Path(tempfile.gettempdir()) / f"einlang_more_{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{name}-{state}.so"
    if not library.exists():
        fresh, part = (library.with_suffix(f".{os.getpid()}.{end}") for end in ("so", "o"))
        subprocess.run(["gcc", *FLAGS, "-c", str(source), "-o", str(part)], check=True)
        subprocess.run(["gcc", "-shared", "-fopenmp", str(part), "-o", str(fresh), "-lmvec", "-lm"], check=True)
        part.unlink()
        fresh.replace(library)
    return ctypes.CDLL(str(library))


def c_function(name):
    """The function `run` of `c/name.c`: arrays are passed as pointers, integers as `long`, floats as `double`."""
    function = c_library(name).run
    function.restype = None

    def passed(value):
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError("an array for C is not contiguous")
            return ctypes.c_void_p(value.ctypes.data)
        return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_long(value)

    return lambda *values: function(*map(passed, values))


def c_impl(name, keys, outputs):
    """The implementation in C, called with the inputs named by `keys` and then the arrays that
    `outputs` makes for the inputs and then the extents and numbers it gives."""

    def prepare(inputs):
        function = c_function(name)

        def call():
            arrays, numbers = outputs(inputs)
            function(*[inputs[key] for key in keys], *arrays, *numbers)
            return tuple(arrays)

        return call

    return prepare


def by_name(workload, outputs):
    """The outputs of an implementation as arrays by name."""
    if not isinstance(outputs, dict):
        parts = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        outputs = dict(zip(workload.OUTPUTS, parts, strict=True))
    return {key: np.asarray(value) for key, value in outputs.items()}


def error(workload, got, want):
    """The largest error of an output relative to the largest value of that output, and what is wrong,
    if anything is."""
    worst = 0.0
    for key in workload.OUTPUTS:
        have, right = np.asarray(got[key], dtype=float), np.asarray(want[key], dtype=float)
        if have.shape != right.shape:
            return np.inf, f"{key} has shape {have.shape} instead of {right.shape}"
        if not np.all(np.isfinite(have)):
            return np.inf, f"{key} is not finite"
        size = max(float(np.max(np.abs(right), initial=0.0)), 1e-300)
        worst = max(worst, float(np.max(np.abs(have - right), initial=0.0)) / size)
    return worst, "" if worst <= workload.tolerance else f"off by {worst:.1e}"
