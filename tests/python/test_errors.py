"""Every class of error, with its code and place."""

import pathlib
import pickle

import numpy as np
import pytest

import einlang

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMPILE = [
    (einlang.SyntaxError, "E0101", "let x = ;"),
    (einlang.SyntaxError, "E0102", 'let x = "abc;'),
    (einlang.NameError, "E0110", "let x = nothing;"),
    (einlang.NameError, "E0111", "use nowhere::f; let x = 1;"),
    (einlang.CoordinateError, "E0201", "input x: [f32; time]; let y = sum[k](x[k]);"),
    (einlang.ShapeError, "E0301", "let a = [1, 2]; let b = [1, 2, 3]; let c[i] = a[i] + b[i];"),
    (einlang.TypeError, "E0401", "let a = 1; let b = 2.0; let c = a + b;"),
    (einlang.RecurrenceError, "E0502", "let x[t in 1..5] = x[t - 1] + 1;"),
    (einlang.DerivativeError, "E0601", "let n = 3; let y = n * 2; let d = @y / @n;"),
    (einlang.NotSupportedError, "E0999", "let numbers = 3..; print(numbers);"),
    (
        einlang.DerivativeError,
        "E0602",
        "let w[0] = 1.0; let w[1] = 2.0; let w[t in 2..6] = w[t - 1] - 0.1 * (@(w[t - 1] * w[t - 2]) / @w[t - 2]);",
    ),
]

RUN = [
    (einlang.RunTimeError, "E0701", "input n: i32; let y = 1 / n;", {"n": 0}),
    (einlang.ShapeError, "E0702", "input n: i32; let x = [1, 2]; let y = x[n];", {"n": 5}),
    (einlang.RunTimeError, "E0703", "input n: i32; assert(n > 0);", {"n": 0}),
    (einlang.ShapeError, "E0705", "input a: [f32; N]; input b: [f32; N]; let c[i] = a[i] + b[i];", {"a": [1.0], "b": [1.0, 2.0]}),
    (einlang.LimitError, "E0802", "fn f(n: i32) -> i32 { f(n + 1) } let y = f(0);", {}),
    (einlang.FileError, "E0901", 'use std::io::read_text; let t = read_text("none.txt");', {}),
    (einlang.FileError, "E0902", 'use std::io::read_text; let t = read_text("/etc/hostname");', {}),
    (einlang.FileError, "E0904", "let y = python::numpy::ones(2) as [f64; 3];", {}),
    (einlang.PythonError, "E0907", "let y = python::math::sqrt(-1.0) as f64;", {}),
    (einlang.InputError, "E0905", "input n: i32; let y = n;", {}),
    (einlang.InputError, "E0906", "input n: i32; let y = n;", {"n": [1, 2]}),
]


@pytest.mark.parametrize("cls, code, text", COMPILE, ids=[c[1] for c in COMPILE])
def test_errors_of_compilation(cls, code, text):
    inputs = {"x": [1.0]} if "input x" in text else {}
    with pytest.raises(cls) as caught:
        einlang.run(text, **inputs)
    error = caught.value
    assert error.code == code and isinstance(error, einlang.EinlangError)
    assert error.span.file == "<source>" and error.span.line == 1
    assert f"error[{code}]" in str(error) and "<source>:1:" in str(error)
    assert error.diagnostics[0].help, "an error says what to do"


@pytest.mark.parametrize("cls, code, text, inputs", RUN, ids=[c[1] for c in RUN])
def test_errors_of_running(cls, code, text, inputs):
    with pytest.raises(cls) as caught:
        einlang.run(text, **inputs)
    assert caught.value.code == code, caught.value
    assert f"error[{code}]" in str(caught.value)


def test_every_class_has_its_codes():
    """Every code of the compiler has a class, and every class that codes can have is tried here."""
    from einlang._errors import class_of

    codes = [path.stem for path in (ROOT / "docs" / "errors").glob("E*.md")]
    assert len(codes) > 50 and all(class_of(code) is not einlang.EinlangError for code in codes)
    tried = {cls for cls, *_ in [*COMPILE, *RUN]}
    assert {class_of(code) for code in codes} == tried
    others = {einlang.UsageError, einlang.InternalError, einlang.EinlangError}
    classes = [getattr(einlang, name) for name in einlang.__all__]
    classes = {one for one in classes if isinstance(one, type) and issubclass(one, einlang.EinlangError)}
    assert classes == tried | others


def test_bugs_are_told_apart():
    from einlang._errors import from_bug

    error = from_bug("something")
    assert isinstance(error, einlang.InternalError) and isinstance(error, RuntimeError) and error.code is None


def test_errors_of_functions_are_shown_in_their_file(tmp_path):
    path = tmp_path / "m.ein"
    path.write_text("pub fn pick(x: [f32; N], i: i32) -> f32 {\n    x[i]\n}\n")
    m = einlang.load(path)
    with pytest.raises(einlang.ShapeError) as caught:
        m.pick([1.0, 2.0], 7)
    assert caught.value.span.file == str(path) and caught.value.span.line == 2
    with pytest.raises(einlang.ShapeError, match="E0705") as caught:
        einlang.loads("pub fn f(a: [f32; N], b: [f32; N]) -> f32 { sum[i](a[i] * b[i]) }").f([1.0], [1.0, 2.0])
    path.write_text("pub fn f(x) { y }")
    with pytest.raises(einlang.NameError):
        einlang.load(path)


def test_python_classes_catch_them():
    for builtin, text in [(ValueError, "let a = [1]; let b = [1, 2]; let c[i] = a[i] + b[i];"), (NameError, "let x = y;")]:
        with pytest.raises(builtin):
            einlang.run(text)


def test_errors_are_pickled():
    with pytest.raises(einlang.EinlangError) as caught:
        einlang.run("let x = y;")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is einlang.NameError and again.code == "E0110" and str(again) == str(caught.value)


def test_all_errors_are_told_at_once():
    with pytest.raises(einlang.NameError) as caught:
        einlang.run("let a = x;\nlet b = y;")
    assert [d.span.line for d in caught.value.diagnostics] == [1, 2]


def test_questions_that_make_no_sense():
    with pytest.raises(einlang.UsageError, match="no output `z`"):
        einlang.run("let x = 1;", outputs=["z"])
    with pytest.raises(einlang.DerivativeError, match="jacobian"):
        einlang.grad(einlang.loads("pub fn f(x: [f32; N]) -> [f32; N] { x }").f)
    with pytest.raises(ValueError, match="no parameter 'q'"):
        einlang.grad(einlang.loads("pub fn f(x: f32) -> f32 { x }").f, wrt="q")
    with pytest.raises(TypeError, match="Einlang module"):
        einlang.grad(np.sin)


def test_errors_of_a_call_name_its_parameters(tmp_path):
    path = tmp_path / "pair.ein"
    path.write_text("pub fn pair(x: [f64; N], y: [f64; N]) -> [f64; N] {\n    let z[i] = x[i] + y[i];\n    z\n}\n")
    pair = einlang.load(path).pair
    with pytest.raises(einlang.ShapeError) as caught:
        pair(np.ones(3), y=np.ones(4))
    error = caught.value
    assert error.diagnostics[0].message == "the size `N` is 3 in `x` (axis 0) and 4 in `y` (axis 0)"
    assert error.span.line == 1 and "pair.ein:1:26" in str(error)
    assert "einlang_" not in str(error)
