"""PyTorch and JAX: arrays in and out, operations."""

import numpy as np
import pytest

import einlang

TEXT = """
pub fn f(w: [f64; K], x: [f64; N, K]) -> [f64; N] { let y[i] = tanh(sum[k](x[i, k] * w[k])); y }
pub fn g(w: [f32; K]) -> f32 { sum[k](w[k] ** 3) }
pub fn same(x) { x }
pub fn both(w: [f64; K], x: [f64; N, K]) -> (f64, [f64; N], i32) {
    let y[i] = tanh(sum[k](x[i, k] * w[k]));
    (sum[i](y[i] ** 2), y, N)
}
"""


@pytest.fixture(scope="module")
def m():
    return einlang.loads(TEXT)


def test_torch_arrays(m):
    torch = pytest.importorskip("torch")
    w, x = torch.arange(3.0, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    got = m.f(w, x)
    assert isinstance(got, np.ndarray)
    got = m.f(w, x, out="torch")
    torch.testing.assert_close(got, torch.tanh(x @ w))
    assert isinstance(m.f(w, x, out="like-input"), torch.Tensor)
    assert isinstance(m.f(w.numpy(), x.numpy(), out="like-input"), np.ndarray)
    bf16 = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    back = m.same(bf16, out="torch")
    assert back.dtype == torch.bfloat16 and torch.equal(back, bf16)
    transposed = torch.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(m.same(transposed), transposed.numpy())
    grown = torch.ones(3, requires_grad=True)
    assert m.g(grown) == 3.0


def test_torch_memory_is_shared():
    torch = pytest.importorskip("torch")
    from einlang._arrays import as_array

    x = torch.arange(4.0)
    shared, _ = as_array(x)
    assert shared.__array_interface__["data"][0] == x.data_ptr()
    assert einlang._einlang.lent_address(shared) == x.data_ptr()


def test_torch_operation(m):
    torch = pytest.importorskip("torch")
    f = einlang.torch_op(m.f)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (w, x))
    f(w, x=x).sum().backward()
    want = torch.autograd.grad(torch.tanh(x @ w).sum(), (w, x))
    torch.testing.assert_close(w.grad, want[0])
    torch.testing.assert_close(x.grad, want[1])
    g = einlang.torch_op(m.g)
    v = torch.ones(2, requires_grad=True)
    g(v).backward()
    torch.testing.assert_close(v.grad, torch.full((2,), 3.0))


def test_jax_arrays(m):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    w, x = jax.numpy.arange(3.0), jax.numpy.ones((2, 3))
    got = m.f(w, x, out="like-input")
    assert isinstance(got, jax.Array)
    np.testing.assert_allclose(got, jax.numpy.tanh(x @ w))
    bf16 = jax.numpy.array([1.5, -2.0], jax.numpy.bfloat16)
    assert m.same(bf16, out="jax").dtype == jax.numpy.bfloat16


def test_jax_memory_is_shared():
    jax = pytest.importorskip("jax")
    from einlang._arrays import as_array

    x = jax.numpy.arange(16.0)
    assert einlang._einlang.lent_address(as_array(x)[0]) == x.unsafe_buffer_pointer()


def test_jax_operation(m):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    f = einlang.jax_op(m.f)
    reference = lambda w, x: jax.numpy.tanh(x @ w)  # noqa: E731
    w, x = jax.numpy.array([0.1, -0.2, 0.3]), jax.numpy.ones((2, 3))
    np.testing.assert_allclose(f(w, x), reference(w, x))
    np.testing.assert_allclose(jax.jit(f)(w, x), reference(w, x))
    for transform in (lambda h: h, jax.jit):
        got = transform(jax.grad(lambda w, x: f(w, x).sum(), argnums=(0, 1)))(w, x)
        want = jax.grad(lambda w, x: reference(w, x).sum(), argnums=(0, 1))(w, x)
        for mine, other in zip(got, want):
            np.testing.assert_allclose(mine, other, rtol=1e-12)
    many = jax.numpy.stack([w, 2 * w])
    np.testing.assert_allclose(jax.vmap(f, in_axes=(0, None))(many, x), jax.vmap(reference, in_axes=(0, None))(many, x))


def test_torch_operation_with_several_results(m):
    torch = pytest.importorskip("torch")
    both = einlang.torch_op(m.both)
    w = torch.randn(3, dtype=torch.float64, requires_grad=True)
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    number, vector, n = both(w, x)
    assert int(n) == 2 and not n.requires_grad and vector.requires_grad
    assert torch.autograd.gradcheck(lambda w, x: both(w, x)[:2], (w, x))
    (number + (vector**3).sum()).backward()
    y = torch.tanh(x @ w)
    want = torch.autograd.grad((y**2).sum() + (y**3).sum(), (w, x))
    torch.testing.assert_close(w.grad, want[0])
    torch.testing.assert_close(x.grad, want[1])
    (alone,) = torch.autograd.grad(both(w, x)[1].sum(), (w,))
    torch.testing.assert_close(alone, torch.autograd.grad(torch.tanh(x @ w).sum(), (w,))[0])


def test_jax_operation_with_several_results(m):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    both = einlang.jax_op(m.both)
    w, x = jax.numpy.array([0.1, -0.2, 0.3]), jax.numpy.ones((2, 3))

    def ours(w, x):
        number, vector, _ = both(w, x)
        return number + (vector**3).sum()

    def theirs(w, x):
        y = jax.numpy.tanh(x @ w)
        return (y**2).sum() + (y**3).sum()

    number, vector, n = jax.jit(both)(w, x)
    assert int(n) == 2
    np.testing.assert_allclose(vector, jax.numpy.tanh(x @ w))
    for transform in (lambda h: h, jax.jit):
        for mine, other in zip(
            transform(jax.grad(ours, argnums=(0, 1)))(w, x), jax.grad(theirs, argnums=(0, 1))(w, x)
        ):
            np.testing.assert_allclose(mine, other, rtol=1e-12)
    many = jax.numpy.stack([w, 2 * w])
    np.testing.assert_allclose(jax.vmap(ours, in_axes=(0, None))(many, x), jax.vmap(theirs, in_axes=(0, None))(many, x))


def test_torch_refuses_second_derivatives():
    torch = pytest.importorskip("torch")
    m = einlang.loads(
        """
        pub fn l(x: [f64; N]) -> f64 { sum[i](x[i] ** 3) }
        pub fn slope(x: [f64; N]) -> [f64; N] { let y = sum[i](x[i] ** 3); @y / @x }
        """
    )
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(einlang.torch_op(m.l)(x), x, create_graph=True)
    torch.testing.assert_close(slope, 3 * x**2)
    with pytest.raises(einlang.DerivativeError, match="first derivatives only"):
        torch.autograd.grad((slope * x).sum(), x)
    penalty = (einlang.torch_op(m.slope)(x) * x).sum()
    torch.testing.assert_close(torch.autograd.grad(penalty, x)[0], 9 * x**2)


SHAPES = """
pub fn ones(n: i32) -> [f32; n] { let y[i in 0..n] = 1.0; y }
pub fn rows(x: [f32; N], n: i32) { let y[j in 0..n, i] = x[i] ** 2; y }
pub fn grown(x: [i32; N]) { let y[i in 0..max(x[0] + 1, 2)] = 1.0; y }
pub fn parts(x: [i32; N]) { let y[i] = 6 / x[i]; y }
pub fn never(x: [i32; N]) { let y[i] = 6 / (x[i] * (x[i] - 1)); y }
pub fn declared(x: [i32; N]) -> ([i32; N], i32) { let y[i] = 6 / (x[i] * (x[i] - 1)); (y, N) }
pub fn add(x: [f32; N], y: [f32; N]) -> [f32; N] { let z[i] = x[i] + y[i]; z }
"""


@pytest.fixture(scope="module")
def shapes():
    return einlang.loads(SHAPES)


def test_jax_knows_extents_that_it_does_not_trace(shapes):
    jax = pytest.importorskip("jax")
    ones, rows = einlang.jax_op(shapes.ones), einlang.jax_op(shapes.rows)
    x = jax.numpy.array([1.0, 2.0], jax.numpy.float32)
    assert ones(3).shape == jax.jit(lambda: ones(3))().shape == (3,)
    assert rows(x, 3).shape == jax.jit(rows, static_argnums=1)(x, 3).shape == (3, 2)
    np.testing.assert_array_equal(jax.grad(lambda x: rows(x, n=3).sum())(x), 6 * x)
    assert jax.vmap(lambda x: rows(x, 3))(jax.numpy.stack([x, x])).shape == (2, 3, 2)


def test_jax_refuses_shapes_that_depend_on_values(shapes):
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match="depends on values"):
        jax.jit(einlang.jax_op(shapes.ones))(3)
    grown = einlang.jax_op(shapes.grown)
    assert grown(np.array([3], np.int32)).shape == (4,)
    assert jax.jit(grown)(np.array([1], np.int32)).shape == (2,)
    with pytest.raises(Exception, match=r"depends on values: it is float32\[4\], and JAX was told float32\[2\]"):
        jax.block_until_ready(jax.jit(grown)(np.array([3], np.int32)))


def test_jax_tries_a_function_on_values_that_it_accepts(shapes):
    jax = pytest.importorskip("jax")
    x = np.array([2, 3], np.int32)
    for transform in (lambda f: f, jax.jit):
        np.testing.assert_array_equal(transform(einlang.jax_op(shapes.parts))(x), [3, 2])
        np.testing.assert_array_equal(transform(einlang.jax_op(shapes.declared))(x)[0], [3, 1])
    np.testing.assert_array_equal(einlang.jax_op(shapes.never)(x), [3, 1])
    with pytest.raises(einlang.RunTimeError, match="tried never on zeros and on ones") as caught:
        jax.jit(einlang.jax_op(shapes.never))(x)
    assert caught.value.code == "E0701"
    with pytest.raises(einlang.ShapeError, match="E0705"):
        jax.jit(einlang.jax_op(shapes.add))(np.ones(2, np.float32), np.ones(3, np.float32))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_operations_drop_no_argument(library):
    pytest.importorskip(library)
    m = einlang.loads("pub fn f(x: f32, b: f32 = 2.0, c: f32 = 3.0) -> f32 { x * b * c }")
    operation = getattr(einlang, f"{library}_op")(m.f)
    assert float(operation(1.0)) == 6.0 and float(operation(1.0, c=5.0, b=1.0)) == 5.0
    with pytest.raises(TypeError, match="give `b` a value too, for `c` comes after it"):
        operation(1.0, c=5.0)
