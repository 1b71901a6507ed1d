"""Our programs as implementations: through the Python package, through the command line, or as a library
that `einlang build` makes."""

import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np

import check

HERE = pathlib.Path(__file__).resolve().parent
ELEMENTS = {"bool": 0, "int32": 3, "int64": 4, "float32": 12, "float64": 13}
NUMBERS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64}


class Tensor(ctypes.Structure):
    """A tensor as the header of a library declares it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("elem", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("extents", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8),
    ]


def tensor(array):
    """The description of an array, which must outlive it."""
    strides = [stride // array.itemsize for stride in array.strides]
    return Tensor(
        array.ctypes.data,
        ELEMENTS[array.dtype.name],
        array.ndim,
        (ctypes.c_int64 * 8)(*array.shape),
        (ctypes.c_int64 * 8)(*strides),
    )


def array(result):
    """A copy of a tensor that a library gave."""
    kind = np.dtype({number: name for name, number in ELEMENTS.items()}[result.elem])
    shape = tuple(result.extents[: result.rank])
    memory = (ctypes.c_char * (kind.itemsize * int(np.prod(shape)))).from_address(result.data or 0)
    return np.frombuffer(memory, kind).reshape(shape).copy()


def package(name):
    """The program through the Python package."""
    import einlang

    def prepare(inputs):
        module = einlang.load(str(HERE / f"{name}.ein"))
        return lambda: module.run(**inputs)

    return prepare


class Library:
    """The program as a library, called in this process; it runs on one thread."""

    def __init__(self, binary, name):
        self.name, self.text = name, (HERE / f"{name}.ein").read_text()
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / f"lib{name}.so"
        command = [binary, "build", str(HERE / f"{name}.ein"), "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[0])
        library = ctypes.CDLL(str(path))
        self.run = getattr(library, f"{name}_run")
        self.release = getattr(library, f"{name}_release")

    def __call__(self, inputs):
        types, places = check.parameter_types(self.text), outputs_of(self.text)
        passed, kept = [], []
        for key, kind in types.items():
            value = inputs[key]
            if isinstance(value, np.ndarray):
                kept += [value, tensor(value)]
                passed.append(ctypes.byref(kept[-1]))
            else:
                passed.append(NUMBERS[kind](value))
        message = ctypes.create_string_buffer(1000)

        def call(keep=kept):
            results = [make() for make in places]
            if self.run(*passed, *map(ctypes.byref, results), message, ctypes.c_size_t(1000)):
                raise RuntimeError(message.value.decode())
            return results

        return call

    def values(self, results):
        """The results of a call as arrays."""
        return tuple(array(r) if isinstance(r, Tensor) else np.asarray(r.value) for r in results)

    def drop(self, results):
        """Gives the memory of the results of a call back."""
        for result in results:
            if isinstance(result, Tensor):
                self.release(ctypes.byref(result))


def outputs_of(text):
    """What makes a place for each result of `run`."""
    head = text[text.index("pub fn run(") :]
    declared = re.search(r"->\s*(.*?)\s*\{\s*\n?", head[head.index("->") :], re.S).group(1)
    parts = re.findall(r"\[[^\]]*\]|\b(?:f32|f64|i32|i64)\b", declared)
    return [Tensor if part.startswith("[") else NUMBERS[part] for part in parts]


class Command:
    """The program through the command line, with its inputs in files."""

    def __init__(self, binary, name, inputs, threads):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        source = HERE / f"{name}.ein"
        shutil.copy(source, folder)
        (folder / "main.ein").write_text(check.program(name, source.read_text(), inputs))
        self.binary = binary
        self.options = ["main.ein", "--outputs", "out", "--threads", str(threads)]
        for key, value in inputs.items():
            if isinstance(value, np.ndarray):
                np.save(folder / f"{key}.npy", value)
                value = f"{key}.npy"
            self.options += ["--input", f"{key}={value}"]

    def told(self, *words):
        """What the command writes."""
        done = subprocess.run([self.binary, *words], cwd=self.folder.name, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError((done.stderr.strip() or "failed").splitlines()[0])
        return done.stdout

    def outputs(self, *options):
        """The outputs of a run."""
        said = self.told("run", *self.options, "--json", *options)
        return tuple(check.values(json.loads(said)["outputs"]["out"]))

    def seconds(self, runs):
        """The times of the fastest and of the median run, without the first one."""
        said = self.told("bench", *self.options, "--runs", str(runs))
        units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
        found = re.search(r"later:\s+([\d.]+) (\S+) at least, ([\d.]+) (\S+) in the median", said)
        return float(found[1]) * units[found[2]], float(found[3]) * units[found[4]]
