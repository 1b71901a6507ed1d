"""The lock of the interpreter, threads, interruption, progress."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import einlang

LONG = 10**9


def test_other_threads_run_meanwhile(module):
    module.slow(10)
    counted = 0
    done = threading.Event()

    def work():
        module.slow(20_000_000)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.0001)
    worker.join()
    assert counted > 10


def test_threads_share_functions(module):
    m = einlang.loads("pub fn f(x: [f64; N], k: f64) -> [f64; N] { let y[i] = x[i] * k; y }")
    wrong = []

    def work(k):
        x = np.arange(100.0)
        for _ in range(200):
            if not np.array_equal(m.f(x, k), x * k):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(float(k),)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interruption_ends_a_run(warm):
    program = f"""
        import einlang, threading, os, signal, time
        m = einlang.loads('''pub fn slow(n: i64) -> f64 {{
            let x[0] = 0.5f64;
            let x[t in 1..n] = 3.7 * x[t - 1] * (1.0 - x[t - 1]);
            x[last]
        }}''')
        # Whoever runs the tests in the background may have them ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if {warm}:
            m.slow(10)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        try:
            m.slow(10**12)
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - start < 8)
        print(m.slow(3))
    """
    run = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[0] == "interrupted True", done
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_threads_of_its_own():
    program = """
        import os, numpy as np, einlang
        m = einlang.loads("pub fn f(a: [f64; N, N]) -> [f64; N, N] { let c[i, j] = sum[k](a[i, k] * a[k, j]); c }",
                          options=einlang.Options(threads=2))
        a = np.random.default_rng(0).standard_normal((400, 400))
        want = m.f(a)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(m.f(a), want) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), np.array_equal(m.f(a), want))
    """
    run = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.stdout == "0 True\n", done


def test_a_timeout_ends_a_run():
    m = einlang.loads(
        "pub fn slow(n: i64) -> f64 { let x[0] = 0.5f64; let x[t in 1..n] = 3.7 * x[t - 1] * (1.0 - x[t - 1]); x[last] }",
        options=einlang.Options(timeout=0.2),
    )
    with pytest.raises(einlang.LimitError) as caught:
        m.slow(10**12)
    assert caught.value.code == "E0803"


def test_progress_is_told_and_may_stop():
    text = "let x[0] = 0.5f64; let x[t in 1..n] = 3.7 * x[t - 1] * (1.0 - x[t - 1]); let y = x[last];"
    seen = []

    class Enough(Exception):
        pass

    def progress(seconds):
        seen.append(seconds)
        if len(seen) == 3:
            raise Enough

    p = einlang.compile(text, outputs=["y"])
    with pytest.raises(Enough):
        p(n=np.int64(10**12), progress=progress)
    assert seen == sorted(seen) and len(seen) == 3


def test_deep_recursion_is_an_error_and_no_crash():
    text = "fn f(n: i32) -> i32 { if n == 0 { 0 } else { 1 + f(n - 1) } } let y = f(5000);"
    assert einlang.run(text).y == 5000
    with pytest.raises(einlang.LimitError):
        einlang.run(text.replace("5000", "50000"))


def test_other_sizes_than_those_of_the_first_call():
    """Code is made for the small sizes of a first call; other sizes give what they give in a first call."""
    text = """
        pub fn steps(a: [f64; S, S], first: [f64; S]) -> [f64; S] {
            let x[0, i in 0..S] = first[i];
            let x[t in 1..50, i in 0..S] = sum[j](a[i, j] * x[t - 1, j]) / 2.0;
            x[49]
        }
        pub fn moments(x: [f64; N, D], centre: [f64; K, D]) -> ([f64; K, D], [f64; K, D]) {
            let weight[n, k, d] = 1.0 / (1.0 + (x[n, d] - centre[k, d]) ** 2);
            let total[k, d] = sum[n](weight[n, k, d]);
            let first[k, d] = sum[n](weight[n, k, d] * exp(-weight[n, k, d]) * x[n, d]);
            (total, first)
        }
    """
    rng = np.random.default_rng(1)
    m = einlang.loads(text)
    for size in (3, 5, 3, 1, 16, 17, 40, 5):
        a, first = rng.uniform(0, 2 / size, (size, size)), rng.standard_normal(size)
        want = first
        for _ in range(49):
            want = a @ want / 2
        got = m.steps(a, first)
        np.testing.assert_allclose(got, want, rtol=1e-12)
        assert np.array_equal(got, einlang.loads(text).steps(a, first))
        x, centre = rng.standard_normal((1000, size)), rng.standard_normal((4, size))
        weight = 1 / (1 + (x[:, None] - centre) ** 2)
        both = m.moments(x, centre)
        np.testing.assert_allclose(both[0], weight.sum(0), rtol=1e-12)
        np.testing.assert_allclose(both[1], (weight * np.exp(-weight) * x[:, None]).sum(0), rtol=1e-9, atol=1e-12)
        assert all(np.array_equal(got, again) for got, again in zip(both, einlang.loads(text).moments(x, centre)))


def test_results_do_not_depend_on_the_sizes_of_the_first_call():
    source = """
    pub fn run(x: [f32; N, C, P, Q], w: [f32; O, C, R, S]) -> [f32; N, O, P - R + 1, Q - S + 1] {
        let y[n, o, p, q] = sum[c, r, s](x[n, c, p + r, q + s] * w[o, c, r, s]);
        y
    }
    pub fn product(a: [f32; N, J], b: [f32; J, K]) -> [f32; N, K] {
        let y[n, k] = sum[j](a[n, j] * b[j, k]);
        y
    }
    """
    rng = np.random.default_rng(7)

    def random(*shape):
        return rng.standard_normal(shape, np.float32)

    images = [
        (random(2, 5, 9, 16), random(64, 5, 3, 3)),
        (random(1, 3, 6, 40), random(2, 3, 2, 1)),
        (random(2, 4, 5, 35), random(33, 4, 5, 2)),
        (random(0, 4, 5, 7), random(3, 4, 1, 2)),
    ]
    matrices = [
        (random(70, 300), random(300, 10)),
        (random(3, 11), random(11, 90)),
        (random(54, 40), random(40, 64)),
        (random(1, 5), random(5, 1)),
    ]
    for name, inputs in (("run", images), ("product", matrices)):
        alone = []
        for given in inputs:
            function = getattr(einlang.loads(source), name)
            alone.append(np.asarray(function(*given)))
        for first in range(len(inputs)):
            function = getattr(einlang.loads(source), name)
            function(*inputs[first])
            for given, expected in zip(inputs, alone):
                got = np.asarray(function(*given))
                assert got.tobytes() == expected.tobytes()
    x, w = images[0]
    shifted = [x[:, :, r : r + 7, s : s + 14] for r in range(3) for s in range(3)]
    each = [np.einsum("ncpq,oc->nopq", at, w[:, :, k // 3, k % 3]) for k, at in enumerate(shifted)]
    got = np.asarray(einlang.loads(source).run(x, w))
    np.testing.assert_allclose(got, sum(each), rtol=1e-4, atol=1e-4)
