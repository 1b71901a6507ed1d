"""Programs and modules: running, checking, signatures, pickling."""

import inspect
import logging
import pickle
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import einlang


def test_a_program_runs_with_arrays(rng):
    a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
    r = einlang.run("let c[i, j] = sum[k](a[i, k] * b[k, j]); let n = 3;", a=a, b=b)
    np.testing.assert_allclose(r.c, a @ b)
    assert r["n"] == 3 and set(r) == {"c", "n"} and len(r) == 2
    assert r.timings["run"] > 0 and "c" in dir(r)
    assert "c = " in repr(r) and "<table>" in r._repr_html_()
    with pytest.raises(AttributeError, match="c, n"):
        r.d
    again = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(again.c, r.c)


def test_storage_says_what_was_kept():
    text = "let x[0] = 1.0; let x[t in 1..100] = x[t - 1] * 0.5; let y = x[last];"
    assert einlang.run(text, outputs=["y"]).storage["x"]["axes"][0]["window"] == 2
    assert einlang.run(text).storage["x"]["axes"][0]["window"] == "full"


def test_a_compiled_program_runs_often():
    p = einlang.compile("input n: i32; input k: f64 = 2.0; let y[i in 0..n] = k * (i as f64);")
    assert p.inputs == ["n", "k"]
    np.testing.assert_array_equal(p(n=3).y, [0, 2, 4])
    np.testing.assert_array_equal(p({"n": 2}, k=1).y, [0, 1])
    again = pickle.loads(pickle.dumps(p))
    np.testing.assert_array_equal(again(n=3).y, [0, 2, 4])


def test_inputs_that_are_not_declared_have_the_types_of_the_arrays():
    p = einlang.compile("let y[i] = x[i] + x[i];")
    assert p(x=np.array([1, 2], np.int16)).y.dtype == np.int16
    assert p(x=np.array([1.5])).y.dtype == np.float64
    with pytest.raises(einlang.UsageError, match="no input `z`"):
        p(x=[1.0], z=1)
    with pytest.raises(einlang.NameError):
        p()


def test_files_and_modules_beside_them(tmp_path):
    (tmp_path / "helper.ein").write_text("pub fn twice(x: f32) -> f32 { 2.0 * x }")
    main = tmp_path / "my model.ein"
    main.write_text("mod helper; use helper::twice; pub fn f(x: f32) -> f32 { twice(x) + 1.0 }\nlet y = f(1.0);")
    assert einlang.run(file=main).y == 3.0
    assert einlang.load(main).f(2.0) == 5.0
    with pytest.raises(FileNotFoundError):
        einlang.load(tmp_path / "none.ein")
    with pytest.raises(TypeError):
        einlang.run()


def test_functions_look_like_functions(module):
    f = module.loss
    assert str(inspect.signature(f)) == "(x: '[f64; n]', w: '[f64; n]', k: 'f64' = 1.0) -> 'f64'"
    assert f.__name__ == "loss" and "loss" in repr(f)
    text = pydoc.render_doc(f)
    assert "x: [f64; n]" in text and "Weights may be negative." in text
    assert "pub fn loss" in pydoc.render_doc(module)
    assert set(module.__all__) >= {"loss", "scale"}
    with pytest.raises(AttributeError, match="loss"):
        module.los


def test_arguments_are_bound_as_python_does(module):
    x = np.ones(2)
    assert module.loss(x, w=x) == module.loss(w=x, x=x) == 2.0
    assert module.loss(x, x, k=3) == module.loss(x, x, 3.0) == 6.0
    for args, kwargs, text in [
        ((x,), {}, "missing required argument: 'w'"),
        ((x, x, 1.0, 1.0), {}, "takes 3 arguments"),
        ((x, x), {"q": 1}, "unexpected keyword argument 'q'"),
        ((x, x), {"x": x}, "multiple values"),
    ]:
        with pytest.raises(TypeError, match=text):
            module.loss(*args, **kwargs)


def test_functions_of_a_program_with_effects():
    m = einlang.loads('print("never");\npub fn f(x: f32) -> f32 { x + c }\nconst c = 1.0;\nfn main() { 3 }')
    assert m.f(1.0) == 2.0
    assert m.__all__ == ["f"]


def test_functions_and_modules_are_pickled(module):
    f = pickle.loads(pickle.dumps(module.loss))
    assert f(np.ones(2), np.ones(2)) == 2.0
    m = pickle.loads(pickle.dumps(module))
    assert m.total([1.0, 2.0]) == 3.0
    g = pickle.loads(pickle.dumps(einlang.grad(module.loss, "w")))
    np.testing.assert_array_equal(g(np.ones(2), np.ones(2)), [2, 2])


def test_printing_goes_to_the_output_of_python(capsys):
    einlang.run('print("one", 2); print([1.0, 2.0]);')
    assert capsys.readouterr().out == "one 2\n[1.0, 2.0]\n"


def test_check_gives_diagnostics():
    assert einlang.check("let x = 1;") == []
    (found,) = einlang.check("let x = 1;\nlet y = x + zz;")
    assert (found.code, found.severity, found.span.line, found.span.column) == ("E0110", "error", 2, 13)
    assert "zz" in found.message and "let y = x + zz;" in str(found)
    assert "E0110" in einlang.explain("E0110") and einlang.explain("nothing") is None


def test_compilations_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="einlang"):
        einlang.run("let x = 1;")
    assert "compiled <source> in" in caplog.text


def test_warnings_go_to_the_log(caplog):
    with caplog.at_level(logging.WARNING, logger="einlang"):
        einlang.run("let x[0] = 1.0; let x[2] = 3.0; let y[i] = x[i];")
    assert "W0305" in caplog.text


def test_options():
    loop = "let x[0] = 1; let x[t in 1..100] = x[t - 1] * 3; let y = x[last];"
    for backend in ("native", "bytecode", "interp"):
        run = einlang.run(loop, outputs=["y"], options=einlang.Options(backend=backend))
        assert run.y == np.array(3**99 % 2**32, np.uint32).astype(np.int32)
        threaded = einlang.run(loop, outputs=["y"], options=einlang.Options(backend=backend, threads=2))
        assert threaded.y == run.y
    with pytest.raises(ValueError, match="threads"):
        einlang.run(loop, options=einlang.Options(threads=0))
    with pytest.raises(einlang.RunTimeError, match="E0704"):
        einlang.run(loop, options=einlang.Options(checked=True))
    with pytest.raises(einlang.LimitError, match="E0803"):
        einlang.run(loop, options=einlang.Options(max_steps=5, backend="interp"))
    with pytest.raises(ValueError, match="backend"):
        einlang.run(loop, options=einlang.Options(backend="gpu"))


def test_variables_that_make_no_sense_are_refused(monkeypatch):
    for name, value, why in (
        ("EINLANG_THREADS", "many", "is `many`, but threads is a number from 1 to 256"),
        ("EINLANG_NUM_THREADS", "0", "is `0`, but threads is a number from 1 to 256"),
        ("EINLANG_COMPILE", "fast", "is `fast`, but compile is quick, thorough or tiered, not `fast`"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(ValueError, match=f"the variable {name} {why}"):
                einlang.run("let x = 1;")
            given = einlang.Options(threads=1, compile="quick")
            assert einlang.run("let x = 1;", outputs=["x"], options=given).x == 1
            patch.setenv(name, "")
            assert einlang.run("let x = 1;", outputs=["x"]).x == 1


def test_files_are_confined(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    inside = tmp_path / "project"
    inside.mkdir()
    program = inside / "p.ein"
    program.write_text('use std::io::read_text; let t = read_text("../outside.txt");')
    with pytest.raises(einlang.FileError) as caught:
        einlang.run(file=program)
    assert caught.value.code == "E0902"
    assert einlang.run(file=program, options=einlang.Options(allow_read=[outside])).t == "secret"


def test_the_command_line_is_there(tmp_path):
    run = [sys.executable, "-m", "einlang"]
    done = subprocess.run([*run, "run", "-c", "print(1 + 2);"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "3\n")
    bad = subprocess.run([*run, "check", "-c", "let x = ;"], capture_output=True, text=True)
    assert bad.returncode == 1 and "E0101" in bad.stderr


def test_the_cell_magic():
    from einlang._magic import ein

    namespace = {"x": np.arange(3.0), "unused": object()}
    result = ein("", "let y[i] = 2.0 * x[i];", namespace)
    np.testing.assert_array_equal(result.y, [0, 2, 4])
    ein("-o s", "let s = sum[i](x[i]); let z = 1;", namespace)
    assert namespace["s"] == 3.0 and "z" not in namespace
    with pytest.raises(ValueError, match="usage"):
        ein("--what", "let s = 1;", namespace)


# The ways in which loops become something that runs.
MADE = [
    einlang.Options(compile="thorough"),
    einlang.Options(compile="quick"),
    einlang.Options(backend="bytecode"),
]


@pytest.mark.parametrize("elem", ["f32", "f64", "i64"])
def test_long_products(tmp_path, elem):
    """Plans for rows of more than 1,024 lanes, with empty extents, extents of one, and tiles that are not full."""
    path = tmp_path / "product.ein"
    path.write_text(
        f"pub fn run(a: [{elem}; M, K], b: [{elem}; K, N]) -> [{elem}; M, N] {{\n"
        "    let c[i, j] = sum[k](a[i, k] * b[k, j]);\n    c\n}\n"
    )
    kinds = {"f32": np.float32, "f64": np.float64, "i64": np.int64}
    rng = np.random.default_rng(1)
    extents = [(0, 5, 1031), (1, 1, 1024), (1, 0, 1031), (13, 300, 1031), (74, 40, 1030), (50, 9, 0)]
    # Blocks of terms that are full, or one term more or less.
    extents += [(80, 400, 1031), (73, 256, 40), (97, 769, 33), (75, 383, 70), (150, 385, 31)]
    for options in MADE:
        product = einlang.load(path, options=options).run
        for m, k, n in extents:
            # Sums of small integers are exact.
            a, b = (rng.integers(-3, 4, shape).astype(kinds[elem]) for shape in ((m, k), (k, n)))
            np.testing.assert_array_equal(product(a=a, b=b), a @ b, strict=True)


@pytest.mark.parametrize("elem", ["f32", "f64"])
@pytest.mark.parametrize(
    "term, reference",
    [
        ("sum[k](abs(a[i, k] - b[k, j]))", lambda row, b: np.abs(row - b).sum(axis=0)),
        ("sum[k]((a[i, k] - b[k, j]) ** 2)", lambda row, b: ((row - b) ** 2).sum(axis=0)),
        ("sum[k]((b[k, j] - a[i, k]) * (b[k, j] - a[i, k]))", lambda row, b: ((row - b) ** 2).sum(axis=0)),
        ("min[k](a[i, k] + b[k, j])", lambda row, b: (row + b).min(axis=0)),
        ("max[k](b[k, j] + a[i, k])", lambda row, b: (row + b).max(axis=0)),
        ("max[k](b[k, j] * a[i, k])", lambda row, b: (row * b).max(axis=0)),
    ],
)
def test_long_sums_of_other_operations(tmp_path, elem, term, reference):
    """Tiles of distances and extremes, most of which quick code calls: right, and the same bits in all code."""
    path = tmp_path / "distance.ein"
    path.write_text(
        f"pub fn run(a: [{elem}; M, K], b: [{elem}; K, N]) -> [{elem}; M, N] {{\n"
        f"    let c[i, j] = {term};\n    c\n}}\n"
    )
    kind = {"f32": np.float32, "f64": np.float64}[elem]
    rng = np.random.default_rng(5)
    made = [einlang.load(path, options=options).run for options in MADE]
    extents = [(0, 5, 1031), (1, 1, 1), (13, 301, 1031), (25, 770, 1030), (80, 387, 1033), (97, 769, 33), (5, 7, 0)]
    for m, k, n in extents:
        a, b = (rng.standard_normal(shape).astype(kind) for shape in ((m, k), (k, n)))
        expected = np.empty((m, n))
        for i, row in enumerate(a.astype(np.float64)[:, :, None]):
            expected[i] = reference(row, b)
        thorough, quick, bytecode = (run(a=a, b=b) for run in made)
        assert thorough.shape == (m, n) and thorough.dtype == kind
        assert thorough.tobytes() == quick.tobytes()
        for got in (thorough, bytecode):
            np.testing.assert_allclose(got, expected, rtol=100 * np.finfo(kind).eps)


@pytest.mark.parametrize("elem", ["f32", "f64", "i64"])
@pytest.mark.parametrize("rows, lanes", [(64, 64), (13, 40), (25, 7), (12, 64), (50, 130), (1, 33)])
def test_small_products_of_known_sizes(tmp_path, elem, rows, lanes):
    """Results whose sizes are numbers of the program, of sums that are empty, short, long, and a block or one more."""
    path = tmp_path / "product.ein"
    path.write_text(
        f"pub fn run(a: [{elem}; T, {rows}], b: [{elem}; T, {lanes}]) -> [{elem}; {rows}, {lanes}] {{\n"
        "    let c[i, j] = sum[t](a[t, i] * b[t, j]);\n    c\n}\n"
    )
    kind = {"f32": np.float32, "f64": np.float64, "i64": np.int64}[elem]
    rng = np.random.default_rng(3)
    for options in MADE:
        product = einlang.load(path, options=options).run
        for terms in (0, 1, 256, 257, 384, 385, 1500):
            # Sums of small integers are exact.
            a, b = (rng.integers(-3, 4, (terms, n)).astype(kind) for n in (rows, lanes))
            np.testing.assert_array_equal(product(a=a, b=b), a.T @ b, strict=True)


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_ensembles(tmp_path, elem):
    """Independent recurrences with and without functions, of as many as one vector has, two have, and others."""
    path = tmp_path / "ensemble.ein"
    path.write_text(
        f"pub fn run(start: [{elem}; N], steps: i32) -> [{elem}; N, 2] {{\n"
        "    let x[0, n] = start[n];\n"
        "    let x[t in 1..steps + 1, n in 0..N] = 0.5 * x[t - 1, n] + 1.0;\n"
        "    let y[0, n] = start[n];\n"
        "    let y[t in 1..steps + 1, n in 0..N] = exp(-abs(y[t - 1, n])) - 0.5;\n"
        "    let end[n in 0..N, 0] = x[steps, n];\n"
        "    let end[n in 0..N, 1] = y[steps, n];\n"
        "    end\n}\n"
    )
    kind = {"f32": np.float32, "f64": np.float64}[elem]
    rng = np.random.default_rng(4)
    for options in MADE:
        run = einlang.load(path, options=options).run
        for n in (0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100):
            start = rng.standard_normal(n).astype(kind)
            x, y = start.astype(np.float64), start.astype(np.float64)
            for _ in range(20):
                x, y = 0.5 * x + 1.0, np.exp(-np.abs(y)) - 0.5
            got = run(start=start, steps=20)
            assert got.shape == (n, 2) and got.dtype == kind
            np.testing.assert_allclose(got, np.stack([x, y], axis=1), atol=20 * np.finfo(kind).eps)


@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_convolutions(tmp_path, elem):
    """Plans along rows and along channels, for kernels that are written out and others, and for other sizes later."""
    path = tmp_path / "convolution.ein"
    path.write_text(
        f"pub fn run(x: [{elem}; N, C, P, Q], w: [{elem}; O, C, R, S], b: [{elem}; O])\n"
        f"    -> [{elem}; N, O, P - R + 1, Q - S + 1] {{\n"
        "    let y[n, o, p, q] = sum[c, r, s](x[n, c, p + r, q + s] * w[o, c, r, s]) + b[o];\n    y\n}\n"
    )
    kind = {"f32": np.float32, "f64": np.float64}[elem]
    rng = np.random.default_rng(2)
    # Batch, channels, rows, columns, channels of the result, rows and columns of the kernel.
    sizes = [
        (2, 3, 11, 56, 64, 3, 3),
        (1, 2, 7, 23, 33, 3, 3),
        (1, 2, 9, 13, 40, 5, 1),
        (1, 1, 20, 25, 16, 17, 3),
        (2, 2, 4, 61, 65, 1, 1),
        (1, 3, 5, 70, 64, 2, 20),
        (0, 3, 8, 56, 64, 3, 3),
        (1, 0, 8, 56, 64, 3, 3),
        (1, 2, 3, 3, 64, 3, 3),
    ]
    for options in MADE:
        run = einlang.load(path, options=options).run
        for n, c, p, q, o, r, s in sizes:
            shapes = (n, c, p, q), (o, c, r, s), (o,)
            x, w, b = (rng.integers(-3, 4, shape).astype(kind) for shape in shapes)
            windows = np.lib.stride_tricks.sliding_window_view(x, (r, s), axis=(2, 3))
            expected = np.einsum("ncpqrs,ocrs->nopq", windows, w) + b[:, None, None]
            np.testing.assert_array_equal(run(x=x, w=w, b=b), expected, strict=True)
