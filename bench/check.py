"""Runs the programs beside this file on small inputs and compares them with the references of the
benchmark's workloads.

    check.py --bin einlang --workloads DIR [--backend interp] [--schedules DIR] [--seeds 2] [name ...]

The first DIR is the folder that holds `harness.py` and `workloads/`; a program runs by
`name.schedule` of the other one, if that is there. Needs NumPy. Prints one line per program
that fails, then `N passed, N failed`.
"""

import argparse
import importlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}


def parameter_types(text):
    """The declared types of the parameters of `run`, by name."""
    head = text[text.index("pub fn run(") + len("pub fn run("):]
    types, depth, start = {}, 0, 0
    for at, char in enumerate(head):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        if (char == "," and depth == 0) or depth < 0:
            name, _, ty = head[start:at].partition(":")
            if name.strip():
                types[name.strip()] = ty.strip()
            start = at + 1
            if depth < 0:
                return types
    raise ValueError("the parameters of `run` do not end")


def program(name, text, inputs):
    """A program that reads the inputs and calls `run`."""
    lines = [f"mod {name};"]
    declared = parameter_types(text)
    for key, value in inputs.items():
        if isinstance(value, np.ndarray):
            ty = f"[{TYPES[value.dtype.name]}; {', '.join('?' * value.ndim)}]"
        else:
            ty = declared[key]
        lines.append(f"input {key}: {ty};")
    arguments = ", ".join(f"{key} = {key}" for key in inputs)
    lines.append(f"let out = {name}::run({arguments});")
    return "\n".join(lines) + "\n"


def values(output):
    """The arrays of one output as the command prints it: those of a tuple, or the one it is."""
    parts = output["data"] if output["type"].startswith("(") else [output["data"]]
    return [np.array(part, dtype=float) for part in parts]


def run(options, name, inputs, folder):
    """What the program gives for the inputs."""
    text = (HERE / f"{name}.ein").read_text()
    shutil.copy(HERE / f"{name}.ein", folder)
    (folder / "main.ein").write_text(program(name, text, inputs))
    command = [options.bin, "run", "main.ein", "--json", "--outputs", "out", "--backend", options.backend]
    schedule = pathlib.Path(options.schedules or HERE / "none").resolve() / f"{name}.schedule"
    if schedule.exists():
        command += ["--schedule", str(schedule), "--explain"]
    for key, value in inputs.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{key}.npy", value)
            command += ["--input", f"{key}={key}.npy"]
        else:
            command += ["--input", f"{key}={value}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=options.patience)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr else f"exit code {done.returncode}")
    if "not legal" in done.stderr or "no machine code" in done.stderr:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    return json.loads(done.stdout)


def compare(workload, inputs, answer):
    """Raises unless the answer is what the reference gives, to the workload's tolerance."""
    want = workload.reference(inputs)
    got = values(answer["outputs"]["out"])
    if len(got) != len(workload.OUTPUTS):
        raise RuntimeError(f"{len(got)} outputs instead of {len(workload.OUTPUTS)}")
    for key, have in zip(workload.OUTPUTS, got):
        right = np.asarray(want[key], dtype=float)
        if have.shape != right.shape:
            raise RuntimeError(f"{key} has shape {have.shape} instead of {right.shape}")
        off = np.max(np.abs(have - right), initial=0) / max(np.max(np.abs(right), initial=0), 1e-300)
        if not off <= workload.tolerance:
            raise RuntimeError(f"{key} is off by {off:.2g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--backend", default="interp")
    parser.add_argument("--schedules")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--patience", type=float, default=300)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = pathlib.Path(options.workloads).resolve()
    sys.path[:0] = [str(folder), str(folder / "workloads")]
    names = options.names or sorted(path.stem for path in HERE.glob("*.ein"))
    passed = failed = 0
    for name in names:
        workload = importlib.import_module(name)
        try:
            for seed in range(options.seeds):
                inputs = workload.make_inputs("small", seed)
                with tempfile.TemporaryDirectory() as scratch:
                    compare(workload, inputs, run(options, name, inputs, pathlib.Path(scratch)))
            passed += 1
        except (RuntimeError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
            print(f"{name}: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
