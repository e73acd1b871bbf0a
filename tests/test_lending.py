"""Lent arrays: what arrives in a kernel is the array, or an empty one if it is not as plain."""

import gc
import sys
import threading

import numpy as np
import pytest
from numba import config, njit

from fastlb import lending
from fastlb.accelerate import compiled

DTYPES = ["int16", "int32", "int64", "uint32", "float32", "float64"]


@njit(nogil=True)
def vectors(loads, out, factor):
    """Return lengths and a weighted sum, which all elements at their places make."""
    total = 0.0
    for i in range(loads.size):
        total += (i + 1) * loads[i]
    return loads.size, loads.shape[0], out.size, factor * total


@njit
def matrices(loads, out, factor):
    total = 0.0
    for i in range(loads.shape[0]):
        for j in range(loads.shape[1]):
            total += (i + 1) * (j + 7) * loads[i, j]
    return loads.size, loads.shape[0], loads.shape[1], out.size, factor * total


@njit
def swapped(loads, out):
    if loads.size != out.size:
        return False
    for i in range(loads.size):
        loads[i], out[i] = out[i], loads[i]
    return True


def python(kernel):
    return kernel if config.DISABLE_JIT else kernel.py_func


def plain(shape, dtype):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).astype(dtype).reshape(shape)


def read_only(array):
    array.flags.writeable = False
    return array


def arrays(dtype):
    """Return arrays of all kinds, most of them not plain or of other dtypes."""
    T = np.dtype(dtype)
    shapes = [(8,), (2, 4), (4, 2), (2, 2, 2), (1, 8), (8, 1), (), (1,), (1, 1), (3,), (1,) * 12]
    return [
        *(plain(shape, T) for shape in [*shapes, (0,), (0, 4), (4, 0), (0, 2**40), (2, 0, 3)]),
        *(plain((8,), other) for other in [*DTYPES, "longlong", "intc", "float16", "bool", "c8"]),
        *(np.zeros(8, other) for other in ["m8[s]", "M8[s]", object, "S4", "U1", [("a", T)]]),
        plain((8,), T).astype(T.newbyteorder("S")),
        plain((8,), T).astype(T.newbyteorder("<" if sys.byteorder == "little" else ">")),
        np.ones(8, np.dtype(T, metadata={"of": "loads"})),
        np.zeros(8 * T.itemsize + 1, np.uint8)[1:].view(T),
        read_only(plain((8,), T)),
        read_only(plain((2, 4), T)),
        plain((16,), T)[::2],
        plain((8,), T)[::-1],
        plain((4, 2), T).T,
        plain((1, 8), T).T,
        plain((2, 8), T)[:, :4],
        plain((3, 4), T)[1:],
        plain((8, 3), T)[:, :1],
        np.broadcast_to(plain((4,), T), (2, 4)),
        np.lib.stride_tricks.as_strided(plain((8,), T), (1, 8), (3, T.itemsize)),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("kernel", "axes", "flat"), [(vectors, 1, False), (vectors, 1, True), (matrices, 2, False)]
)
def test_what_arrives_is_what_python_would_have_looked_at(dtype, kernel, axes, flat):
    like = np.empty((1,) * axes, dtype)
    lent = compiled(kernel, like, like, 1, flat=flat)
    looked_at = lending._looked_at(python(kernel), (like, like, 1), flat)
    whole = empty = 0
    for given in arrays(dtype):
        for other in arrays(dtype):
            found = lent(given, other, 3)
            assert found == looked_at(given, other, 3)
            if found[0]:
                whole += 1
                assert found[0] == given.size
                assert given.flags.carray
                assert given.dtype == like.dtype
                assert flat or given.ndim == axes
            else:
                empty += 1
    assert whole > 250
    assert empty > 250


def test_kernels_write_to_the_arrays_themselves():
    loads, out = plain((2, 3), "int32"), plain((6,), "int32")[::-1].copy()
    expected = out.reshape(2, 3).copy(), loads.reshape(-1).copy()
    lent = compiled(swapped, loads[0], out, flat=True)
    assert lent(loads, out)
    assert np.array_equal(loads, expected[0])
    assert np.array_equal(out, expected[1])
    assert not lent(loads, read_only(out))
    assert np.array_equal(loads, expected[0])
    assert lent(loads, loads)


def test_nobody_holds_an_array_after_the_call():
    loads, out = plain((8,), "int64"), plain((8,), "int64")
    lent = compiled(swapped, loads, out)
    gc.collect()
    before = sys.getrefcount(loads), sys.getrefcount(out)
    dtype_before = sys.getrefcount(loads.dtype)
    for _ in range(1000):
        lent(loads, out)
        lent(loads, out[::2])
    assert (sys.getrefcount(loads), sys.getrefcount(out)) == before
    # All arrays of the process hold their dtype.
    assert abs(sys.getrefcount(loads.dtype) - dtype_before) < 100


def test_the_number_of_arguments_is_checked():
    loads = plain((8,), "int64")
    with pytest.raises(TypeError):
        compiled(swapped, loads, loads)(loads)


def test_several_threads_lend_at_a_time():
    loads = [plain((8,), "int64") + thread for thread in range(4)]
    lent = compiled(vectors, loads[0], loads[0], 1)
    expected = [lent(load, load, 1) for load in loads]
    wrong = set()

    def work(thread):
        load = loads[thread]
        for _ in range(2000):
            if lent(load, load, 1) != expected[thread]:
                wrong.add(thread)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_knowing_the_structs_python_looks(monkeypatch):
    loads = plain((8,), "int64")
    monkeypatch.setattr(lending, "DTYPE", lending.FLAGS)
    assert not lending._structs_are_known()
    lent = compiled(vectors, loads, loads, 1)
    assert lent(loads, loads, 2) == python(vectors)(loads, loads, 2)
    assert lent(loads[::2], loads, 2)[0] == 0


@pytest.mark.skipif(config.DISABLE_JIT, reason="there are no types without the compiler")
def test_another_version_is_another_type(monkeypatch):
    like = np.empty(1)
    this = lending.Lent(like, flat=False)
    assert this == lending.Lent(np.empty(5), flat=False)
    assert this != lending.Lent(like, flat=True)
    assert lending._structs_are_known()
    monkeypatch.setattr(lending, "VERSION", "another")
    assert this != lending.Lent(like, flat=False)
