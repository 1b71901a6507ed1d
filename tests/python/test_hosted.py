"""Functions of Python that programs call: values, errors, threads, and what forbids them."""

import pickle
import subprocess
import sys
import threading
import traceback
import types

import numpy as np
import pytest

import einlang


@pytest.fixture
def helpers(monkeypatch):
    """A module that programs can import."""
    module = types.ModuleType("ein_helpers")
    module.seen = []
    monkeypatch.setitem(sys.modules, "ein_helpers", module)
    return module


def test_arrays_go_there_and_back(helpers):
    helpers.twice = lambda x: 2 * x
    r = einlang.run(
        "use python::ein_helpers::twice; let y: [f64; N] = twice(x); let s = sum[i](y[i]); let n = N;",
        x=np.arange(4.0),
    )
    np.testing.assert_array_equal(r.y, [0, 2, 4, 6])
    assert r.s == 12.0 and r.n == 4


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32", "float64"])
def test_every_type_arrives_as_it_is(helpers, dtype):
    helpers.note = lambda *args: helpers.seen.extend(args)
    m = einlang.loads("use python::ein_helpers as h; pub fn f(x) { h::note(x); x }")
    x = np.ones((2, 3), dtype)
    m.f(x)
    (seen,) = helpers.seen
    assert seen.dtype == x.dtype and seen.shape == (2, 3) and not np.shares_memory(seen, x)
    seen[...] = 0
    assert x.all(), "what the function got belongs to it"


def test_names_numbers_text_and_records(helpers):
    def f(*args, **kwargs):
        helpers.seen.append((args, kwargs))

    helpers.f = f
    einlang.run(
        """
        use python::ein_helpers::f;
        struct P { x: f32, w: [i32; 2] }
        f(1, 2.5, true, "text", axis = 3);
        f(P { x: 1.0, w: [1, 2] }, (1, 2.0));
        """
    )
    (first, named), (second, _) = helpers.seen
    assert first == (1, 2.5, True, "text") and named == {"axis": 3}
    assert second[0].x == 1.0 and second[0].w.tolist() == [1, 2] and second[1] == (1, 2.0)


def test_records_and_tuples_come_back(helpers):
    helpers.stats = lambda x, *, axis: (x.mean(axis=axis), x.size)
    helpers.make = lambda: {"x": 1, "w": [3, 4]}
    helpers.words = lambda: "some words"
    r = einlang.run(
        """
        use python::ein_helpers as h;
        struct P { x: f32, w: [f64; 2] }
        let (mean, n) = h::stats(x, axis = 0) as ([f64; M], i64);
        let p = h::make() as P;
        let t: str = h::words();
        """,
        x=np.arange(6.0).reshape(2, 3),
    )
    np.testing.assert_array_equal(r.mean, [1.5, 2.5, 3.5])
    assert r.n == 6 and r.p.x == 1.0 and r.p.w.tolist() == [3, 4] and r.t == "some words"


def test_conversions_lose_nothing(helpers):
    helpers.half = lambda: 1.5
    helpers.large = lambda: 300
    helpers.nothing = lambda: None
    helpers.pair = lambda: (1.5, 2)
    for call in ("half() as i32", "large() as i8", "nothing() as f64", "half() as [f64; N]", "pair() as (i32, i32)"):
        with pytest.raises(einlang.FileError, match="does not serve") as caught:
            einlang.run(f"let y = python::ein_helpers::{call};")
        assert caught.value.code == "E0904"
    with pytest.raises(einlang.EinlangError, match="E0904") as caught:
        einlang.run("let y = python::numpy::zeros(3) as [f64; 4];")


def test_both_tracebacks_are_there(helpers):
    source = "def broken(x):\n    raise ValueError(f'no {x.shape}\\nmore')\n"
    exec(compile(source, "helpers_of_the_test.py", "exec"), helpers.__dict__)
    m = einlang.loads("pub fn f(x: [f64; n]) -> f64 {\n    python::ein_helpers::broken(x) as f64\n}")
    for _ in range(2):
        with pytest.raises(einlang.PythonError) as caught:
            m.f(np.ones(3))
        error = caught.value
        assert error.code == "E0907" and error.span.line == 2 and "python::ein_helpers::broken(x)" in str(error)
        assert "raised ValueError: no (3,)" in str(error)
        assert isinstance(error.__cause__, ValueError)
        told = "".join(traceback.format_exception(error))
        assert "helpers_of_the_test.py" in told and "line 2, in broken" in told and "direct cause" in told
        assert pickle.loads(pickle.dumps(error)).code == "E0907"


def test_what_is_caught_is_no_cause_of_something_else(helpers):
    def broken():
        raise ValueError("once")

    helpers.broken = broken
    text = "let t = match try (python::ein_helpers::broken() as f64) { Ok(_) => \"fine\", Err(e) => e };"
    assert "raised ValueError: once" in einlang.run(text).t
    with pytest.raises(einlang.RunTimeError) as caught:
        einlang.run(text + " assert(false);")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_not_caught(helpers, end):
    def leave():
        raise end

    helpers.leave = leave
    with pytest.raises(end):
        einlang.run("let t = match try (python::ein_helpers::leave() as f64) { Ok(_) => 1, Err(_) => 2 };")


def test_calls_run_on_the_thread_that_runs_the_program(helpers):
    helpers.here = threading.get_ident
    m = einlang.loads("pub fn f() -> i64 { python::ein_helpers::here() as i64 }")
    assert [int(m.f()) for _ in range(3)] == [threading.get_ident()] * 3
    found = []
    worker = threading.Thread(target=lambda: found.append((int(m.f()), threading.get_ident())))
    worker.start()
    worker.join()
    assert found[0][0] == found[0][1]


def test_programs_call_programs(helpers):
    inner = einlang.loads("pub fn square(x: f64) -> f64 { x * x }")
    helpers.square = inner.square
    assert einlang.run("let y = python::ein_helpers::square(3.0) as f64;").y == 9.0


def test_function_values(helpers):
    helpers.twice = lambda x: 2 * x
    text = "fn apply(f: (f64) -> f64, x: f64) -> f64 { f(x) } let y = apply(python::ein_helpers::twice, 2.0);"
    assert einlang.run(text).y == 4.0


def test_wrong_programs(helpers):
    helpers.f = lambda x: x
    helpers.number = 3
    for code, text in [
        ("E0111", "let y = python::no_such_module::f(1) as i32;"),
        ("E0112", "use python::ein_helpers::missing; let y = missing(1) as i32;"),
        ("E0112", "let y = python::ein_helpers::number() as i32;"),
        ("E0111", "use python::ein_helpers::*; let y = 1;"),
        ("E0402", "let y = python::ein_helpers::f(1);"),
        ("E0402", "let g = |x| x; let y = python::ein_helpers::f(g) as f64;"),
        ("E0410", "let y[i in 0..3] = python::ein_helpers::f(i) as i32;"),
        ("E0602", "let x = 2.0; let y = python::ein_helpers::f(x) as f32; let d = @y / @x;"),
    ]:
        with pytest.raises(einlang.EinlangError) as caught:
            einlang.run(text)
        assert caught.value.code == code, (text, caught.value)
        assert caught.value.diagnostics[0].help


def test_what_is_detached_needs_no_derivative(helpers):
    helpers.f = lambda x: 3 * x
    m = einlang.loads("pub fn g(x: f64) -> f64 { x * (python::ein_helpers::f(detach(x)) as f64) }")
    assert einlang.grad(m.g)(2.0) == 6.0
    for text in [
        "let x = 2.0; let y = x * (python::ein_helpers::f(detach(x)) as f32); let d = @y / @x;",
        "let x = 2.0; let z = detach(x * x); let y = x * (python::ein_helpers::f(z / 2.0) as f32); let d = @y / @x;",
        "fn main() { let x = 2.0; let z = python::ein_helpers::f(detach(x)) as f32; let y = x * z; @y / @x }",
    ]:
        found = einlang.run(text)
        assert (found.main if "main" in text else found.d) == 6.0, text


def test_checking_imports_nothing():
    assert einlang.check("use python::no_such_module::f; let y = f(1) as i32;") == []


def test_python_can_be_forbidden(helpers):
    helpers.f = lambda: helpers.seen.append(1)
    with pytest.raises(einlang.NameError) as caught:
        einlang.run("python::ein_helpers::f();", options=einlang.Options(python=False))
    assert caught.value.code == "E0111" and not helpers.seen


def test_the_command_line_has_python_on_request():
    run = [sys.executable, "-m", "einlang"]
    text = "use python::math::sqrt; let y = sqrt(2.25) as f64; print(y);"
    done = subprocess.run([*run, "run", "-c", text], capture_output=True, text=True)
    assert done.returncode == 1 and "E0111" in done.stderr and "einlang.run" in done.stderr
    done = subprocess.run([*run, "run", "--allow-python", "-c", text], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1.5\n"), done.stderr
    text = "let y = python::math::sqrt(-1.0) as f64; print(y);"
    done = subprocess.run([*run, "run", "--allow-python", "-c", text], capture_output=True, text=True)
    assert done.returncode == 1 and "E0907" in done.stderr and "ValueError" in done.stderr
    text = "use python::math::sqrt; let y = sqrt(2.0) as f64;"
    done = subprocess.run([*run, "check", "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and "no errors" in done.stderr
