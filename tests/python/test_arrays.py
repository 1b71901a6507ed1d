"""Arrays in and out: types, layouts, ranks, libraries, and what is copied."""

import array
import ctypes

import numpy as np
import pytest

import einlang

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
LAYOUTS = {
    "contiguous": lambda x: x,
    "reversed": lambda x: x[::-1] if x.ndim else x,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "fortran": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "read-only": lambda x: _read_only(x),
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: _unaligned(x),
}


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_every_type_and_layout_comes_back_as_it_went(module, dtype, rank):
    shape = (3, 2, 4, 2)[:rank]
    plain = (np.arange(np.prod(shape)) % 5).reshape(shape).astype(dtype)
    for name, change in LAYOUTS.items():
        given = change(plain)
        got = module.same(given)
        want = change(plain)
        assert got.dtype == np.dtype(dtype), name
        np.testing.assert_array_equal(got, want, err_msg=name)
        assert got.flags.c_contiguous and got.flags.writeable, name
        assert not np.shares_memory(got, given), name


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_without_axes_are_numbers(module, dtype):
    got = module.same(np.ones((), dtype))
    assert got == 1 and np.asarray(got).dtype == np.dtype(dtype) and np.ndim(got) == 0
    assert module.same(np.zeros((0, 3), dtype)).shape == (0, 3)


def test_one_compilation_serves_all_extents():
    m = einlang.loads("pub fn f(x) { let y[i] = x[i] + x[i]; y }")
    for n in (0, 1, 7, 100):
        np.testing.assert_array_equal(m.f(np.arange(n, dtype=np.int32)), 2 * np.arange(n))
    assert m.f.n_compiled == 1
    m.f(np.zeros(3))
    assert m.f.n_compiled == 2


def test_inputs_are_not_copied():
    """What a program reads lies where the array lies; whatever is no array shares its memory with one."""
    from einlang._arrays import as_array
    from einlang._einlang import lent_address

    for dtype in DTYPES:
        x = np.zeros((3, 4), dtype)
        address = x.__array_interface__["data"][0]
        assert lent_address(x) == lent_address(_shared_view(x)) == lent_address(x[:2]) == address
        assert lent_address(x[::2]) is None and lent_address(x.T) is None
        for value in (x, memoryview(x), WithArray(x), WithDLPack(x)):
            assert lent_address(as_array(value)[0]) == address
    x.flags.writeable = False
    assert lent_address(x) == address


def _shared_view(x):
    return x.reshape(-1)


def test_truth_values_of_other_bytes_are_true(module):
    """Some libraries have other bytes than 0 and 1, which a program must not see."""
    from einlang._einlang import lent_address

    count = einlang.loads("pub fn f(b: [bool; N]) -> i32 { sum[i](1 where b[i]) }").f
    for n in (1, 5, 20_000):
        x = (np.arange(n) % 3).astype(np.uint8).view(np.bool_)
        assert count(x) == np.count_nonzero(np.arange(n) % 3)
        address = x.__array_interface__["data"][0]
        assert (lent_address(x) == address) == (n <= 2)
        np.testing.assert_array_equal(module.same(x), np.arange(n) % 3 != 0)


def test_outputs_own_their_memory(module):
    x = np.ones(1000)
    before = module.scale(x, 2.0)
    address = before.__array_interface__["data"][0]
    kept = before.copy()
    for _ in range(20):
        module.scale(x, 3.0)
    assert before.__array_interface__["data"][0] == address
    np.testing.assert_array_equal(before, kept)
    before[0] = 7.0
    assert x[0] == 1.0


def test_buffers_lists_and_numbers(module):
    np.testing.assert_array_equal(module.same(array.array("d", [1.5, 2.5])), [1.5, 2.5])
    np.testing.assert_array_equal(module.same((ctypes.c_int32 * 3)(1, 2, 3)), [1, 2, 3])
    np.testing.assert_array_equal(module.same(bytearray(b"ab")), np.array([97, 98], np.uint8))
    assert module.same([[1, 2], [3, 4]]).dtype == np.int32
    assert module.same([1.0, 2.0]).dtype == np.float32
    assert module.same([2**40]).dtype == np.int64
    assert module.same(3) == 3 and module.same(3).dtype == np.int32
    assert module.same(True) is True
    assert module.same(np.float32(1.5)).dtype == np.float32
    assert module.total([1, 2, 3]) == 6.0
    assert module.loss(range(3), (1, 1, 1)) == 3.0
    # Numbers of Python have no type of their own and follow the arrays beside them.
    assert module.scale(np.ones(2), 0.1)[0] == 0.1
    assert module.scale(np.ones(2, np.float32), 0.1)[0] == np.float32(0.1)


class WithArray:
    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x


class WithDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **kwargs):
        return self.x.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_protocols(module):
    x = np.arange(4.0)
    for wrapper in (WithArray, WithDLPack, memoryview):
        np.testing.assert_array_equal(module.same(wrapper(x)), x)


def test_small_floats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    m = einlang.loads("pub fn twice(x) { let y[i] = x[i] + x[i]; y }")
    for name in ("bfloat16", "float8_e4m3fn"):
        dtype = getattr(ml_dtypes, name)
        x = np.array([0.5, 1.0, -2.0], dtype)
        got = m.twice(x)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(np.float32), [1.0, 2.0, -4.0])


def test_small_floats_without_a_type_become_float32():
    from einlang._arrays import _widened

    ml_dtypes = pytest.importorskip("ml_dtypes")
    bits = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(_widened(bits, "f8e4m3"), bits.view(ml_dtypes.float8_e4m3fn).astype(np.float32))
    bits = np.arange(65536, dtype=np.uint16)
    np.testing.assert_array_equal(_widened(bits, "bf16"), bits.view(ml_dtypes.bfloat16).astype(np.float32))


@pytest.mark.parametrize("value", [np.array([1j]), np.array(["a"]), np.array([None]), [1, [2]], object()])
def test_what_is_no_array_of_numbers(module, value):
    with pytest.raises((TypeError, ValueError)):
        module.same(value)


def test_conversions_lose_nothing_but_precision(module):
    assert module.loss(np.arange(3), np.ones(3, np.float32)) == 3.0
    with pytest.raises(einlang.InputError, match="f64") as caught:
        einlang.run("input n: i32; let y = n + 1;", n=1.5)
    assert caught.value.code == "E0906"
    with pytest.raises(einlang.InputError, match="does not fit"):
        einlang.run("input n: i8; let y = n + 1i8;", n=1000)


def test_out_buffers(module):
    x, y = np.arange(3.0), np.empty(3)
    assert module.scale(x, 2.0, out=y) is y
    np.testing.assert_array_equal(y, [0, 2, 4])
    first, second = np.empty(3), np.empty(())
    module.pair(x, out=(first, second))
    np.testing.assert_array_equal(first, [1, 2, 3])
    assert second == 3.0
    for wrong in (np.empty(4), np.empty(3, np.float32), _read_only(np.empty(3))):
        with pytest.raises(ValueError):
            module.scale(x, 2.0, out=wrong)
    with pytest.raises(ValueError, match="like-input"):
        module.scale(x, 2.0, out="cupy")


def test_records(module):
    got = module.moved({"position": 1, "weights": [1, 2]})
    assert got.position == 2.0 and got["position"].dtype == np.float32
    np.testing.assert_array_equal(got.weights, [2, 4])
    again = module.moved(got)
    assert again.position == 3.0 and set(again) == {"position", "weights"}
    with pytest.raises(TypeError, match="weights"):
        module.moved({"position": 1})
    with pytest.raises(AttributeError, match="position"):
        got.speed


def test_strings_enums_and_lists():
    assert einlang.run('input who: str; let text = "hi {who}";', who="you").text == "hi you"
    r = einlang.run(
        """
        enum Shape { Dot, Disc(f32), Box { w: f32, h: f32 } }
        let all = [Shape::Dot, Shape::Disc(1.5), Shape::Box { w: 1.0, h: 2.0 }];
        let rows = [[k | k in 0..n] | n in 1..3];
        """
    )
    dot, disc, box = r.all
    assert (dot.name, disc.items, box.fields["h"]) == ("Dot", (1.5,), 2.0)
    assert [list(row) for row in r.rows] == [[0], [0, 1]]


def test_a_tensor_of_records_is_a_record_of_arrays():
    r = einlang.run("struct P { x: f32, y: f32 } let p[i in 0..3] = P { x: i as f32, y: 1.0 };")
    np.testing.assert_array_equal(r.p.x, [0, 1, 2])
    np.testing.assert_array_equal(r.p.y, [1, 1, 1])
