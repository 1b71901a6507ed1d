"""Cases, the programs made of them, and the comparison of what comes back.

A case calls one function of the library on given values and knows what must come out. Many cases
become one program, so that the binary starts rarely; when a program does not run, it is cut into
halves until the case that spoils it stands alone.
"""

import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from tolerances import tolerance

# Cases in one program; fewer where a call is long, for a program takes the time of its slowest part.
BATCH = 40
BATCHES = {"linalg::svd": 1, "linalg::pinv": 1, "linalg::matrix_power": 4, "linalg::inv": 4}
TIMEOUT_S = 60
NAMES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool",
         "uint8": "u8", "int8": "i8", "uint32": "u32"}


@dataclass
class Case:
    """A call of a function: its program text, and the leaves of its result in order."""

    function: str
    setup: list
    expression: str
    wants: list
    label: str
    # Files that are there before, and files that are there afterwards: path, reader, expected value.
    files: dict = field(default_factory=dict)
    made: list = field(default_factory=list)


class Suite:
    """All cases, in the order in which they were added."""

    def __init__(self):
        self.cases = []

    def call(self, function, *args, want, **options):
        """A plain call `std::area::name(args…, option = value…)`."""
        named = "".join(f", {name} = {{{name}}}" for name in options)
        holes = ", ".join("{}" for _ in args)
        self.expr(function, f"std::{function}({holes}{named})", *args, want=want, **options)

    def expr(self, function, template, *args, want, **options):
        """An expression with a hole for each argument; `want` is a tuple for several leaves."""
        number = len(self.cases)
        setup, texts = [], []
        for place, value in enumerate([*args, *options.values()]):
            text, lines = bind(f"a{number}_{place}", value)
            setup += lines
            texts.append(text)
        named = dict(zip(options, texts[len(args):]))
        expression = template.format(*texts[: len(args)], **named)
        wants = list(want) if isinstance(want, tuple) else [want]
        shapes = [f"{a.dtype}{list(a.shape)}" for a in args if isinstance(a, (np.ndarray, np.generic))]
        extra = [f"{name}={value}" for name, value in options.items()]
        label = f"{function} #{number} on {' '.join(shapes + extra)}"
        self.cases.append(Case(function, setup, expression, [np.asarray(w) for w in wants], label))

    def text(self, function, source, wants, setup=()):
        """An expression as it is written, with what it gives."""
        label = f"{function} #{len(self.cases)}: {source}"
        wants = list(wants) if isinstance(wants, tuple) else [wants]
        self.cases.append(Case(function, list(setup), source, [np.asarray(w) for w in wants], label))

    def loads(self, function, name, data, template, want):
        """An expression about a file with this content, whose path is the hole."""
        path = f"f{len(self.cases)}/{name}"
        text = template.replace("{folder}", json.dumps(os.path.dirname(path))).replace("{}", json.dumps(path))
        self.text(function, text, want)
        self.cases[-1].files[path] = data

    def saves(self, function, name, template, value, read, want):
        """A call that writes a file; `read` takes its bytes and must give `want`."""
        number = len(self.cases)
        path = f"f{number}/{name}"
        text, setup = bind(f"a{number}_0", value) if value is not None else ("", [])
        call = template.replace("{file}", json.dumps(path)).replace("{0}", text)
        self.text(function, f"{{ {call}; true }}", np.bool_(True), setup)
        self.cases[-1].files[f"f{number}/there"] = b""
        self.cases[-1].made.append((path, read, np.asarray(want)))


def bind(name, value):
    """The text of an argument, and the definitions that it needs before it."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        kind = NAMES[str(value.dtype)]
        if value.size == 0:
            slots = ", ".join(f"i{k} in 0..{n}" for k, n in enumerate(value.shape))
            zero = {"f32": "0.0f32", "f64": "0.0f64", "bool": "false"}.get(kind, f"0{kind}")
            return name, [f"let {name}[{slots}] = {zero};"]
        extents = "".join(f"{', ' if k else '; '}{n}" for k, n in enumerate(value.shape))
        shape = f"[{kind}{extents}]" if value.ndim else kind
        return name, [f"let {name}: {shape} = {literal(value)};"]
    if isinstance(value, bool):
        return str(value).lower(), []
    if isinstance(value, str):
        return json.dumps(value), []
    return str(value), []


def literal(value):
    if value.ndim:
        return "[" + ", ".join(literal(part) for part in value) + "]"
    if value.dtype == bool:
        return str(bool(value)).lower()
    if value.dtype.kind in "iu":
        return str(int(value))
    if np.isnan(value):
        return "std::math::NAN"
    if np.isinf(value):
        return "std::math::INF" if value > 0 else "-std::math::INF"
    return np.format_float_scientific(value, unique=True, trim="0")


def program(cases):
    """The text of a program for these cases, and the names of their leaves."""
    lines, leaves = [], []
    for number, case in enumerate(cases):
        names = [f"r{number}_{leaf}" for leaf in range(len(case.wants))]
        left = names[0] if len(names) == 1 else f"({', '.join(names)})"
        lines += [*case.setup, f"let {left} = {case.expression};"]
        leaves.append(names)
    return "\n".join(lines) + "\n", leaves


def run(binary, cases):
    """For each case the leaves that came out, or a message."""
    source, leaves = program(cases)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.ein")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        for name, data in (item for case in cases for item in case.files.items()):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        observed = ",".join(name for names in leaves for name in names)
        command = [binary, "run", path, "--json", "--outputs", observed]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder)
            answer, code = done.stdout, done.returncode
            problem = next((line for line in done.stderr.splitlines() if line.startswith("error")), "")
            problem = problem or done.stderr.strip()[:200] or f"exit code {code}"
        except subprocess.TimeoutExpired:
            code, problem = -1, f"no answer within {TIMEOUT_S} s"
        if code == 0:
            outputs = json.loads(answer)["outputs"]
            found = [[outputs[name] for name in names] for names in leaves]
            return [wrong_file(case, folder) or leaf for case, leaf in zip(cases, found)]
    if len(cases) == 1:
        return [problem]
    half = len(cases) // 2
    return run(binary, cases[:half]) + run(binary, cases[half:])


def wrong_file(case, folder):
    """What is wrong with the files that a case wrote, or nothing."""
    for path, read, want in case.made:
        with open(os.path.join(folder, path), "rb") as file:
            got = np.asarray(read(file.read()))
        same = got.dtype == want.dtype or want.dtype.kind == "U"
        if not same or got.shape != want.shape or not np.array_equal(got, want):
            return f"{path} holds {got.dtype}{list(got.shape)} {got.tolist()!r:.80}, expected {want.tolist()!r:.80}"
    return None


def numbers(data):
    """The data of an output as an array of floats (strings stay strings)."""
    special = {"NaN": np.nan, "inf": np.inf, "-inf": -np.inf}

    def walk(item):
        return [walk(part) for part in item] if isinstance(item, list) else special.get(item, item)

    return np.asarray(walk(data))


def difference(case, want, output):
    """What is wrong with a leaf, or nothing."""
    if list(want.shape) != output["shape"]:
        return f"has shape {output['shape']}, expected {list(want.shape)}"
    if want.dtype.kind in "UO":
        got = np.asarray(output["data"])
        return None if (got == want).all() else f"is {output['data']}, expected {want.tolist()}"
    kind = re.match(r"\[?(\w+)", output["type"]).group(1)
    expected = NAMES[str(want.dtype)]
    if kind != expected:
        return f"has type {output['type']}, expected elements of {expected}"
    if want.size == 0:
        return None
    got = numbers(output["data"]).reshape(want.shape)
    if want.dtype.kind in "iub":
        wrong = got != want
    else:
        wrong = ~close(case.function, got.astype(np.float64), want)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"is {got[at]!r} at {list(at)}, expected {want[at]!r}"


def close(function, got, want):
    """Where two floats agree: equal, both NaN, or within the tolerance of the function."""
    bound = tolerance(function)
    info = np.finfo(want.dtype)
    exact = want.astype(np.float64)
    with np.errstate(all="ignore"):
        allowed = float(info.eps) * (bound.relative * np.abs(exact) + bound.absolute)
        near = np.abs(got - exact) <= allowed + 2 * float(info.tiny)
        near &= np.isfinite(exact)
    return (got == exact) | (np.isnan(got) & np.isnan(exact)) | near


def compare(binary, cases, workers):
    """The number of leaves that agree, and a line for each that does not."""
    # Neighbours of one function share its specialisations, which keeps compilation short.
    ordered = sorted(cases, key=lambda case: (BATCHES.get(case.function, BATCH), case.function))
    batches = []
    for case in ordered:
        size = BATCHES.get(case.function, BATCH)
        if not batches or len(batches[-1]) >= min(size, BATCHES.get(batches[-1][0].function, BATCH)):
            batches.append([])
        batches[-1].append(case)
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda batch: run(binary, batch), batches))
    n_passed, failures = 0, []
    for case, result in zip(ordered, [r for batch in results for r in batch]):
        if isinstance(result, str):
            failures += [f"{case.label}: {result}"] * len(case.wants)
            continue
        for leaf, (want, output) in enumerate(zip(case.wants, result)):
            problem = difference(case, want, output)
            if problem is None:
                n_passed += 1
            else:
                failures.append(f"{case.label}: result {leaf} {problem}")
    return n_passed, failures
