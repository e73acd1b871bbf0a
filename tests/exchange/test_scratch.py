"""Arrays that a thread uses again and again."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fastlb.exchange.scratch import LINE, scratch


def test_the_same_again_is_the_same_array():
    first = scratch("test", (3, 5), np.int64)
    assert scratch("test", (3, 5), np.int64) is first
    assert first.shape == (3, 5)
    assert first.dtype == np.int64
    assert first.ctypes.data % LINE == 0


def test_another_shape_or_dtype_takes_the_same_memory():
    first = scratch("test", (4, 6), np.int64)
    for shape, dtype in (((24,), np.int64), ((4, 6), np.float64), ((2, 3), np.int16)):
        other = scratch("test", shape, dtype)
        assert other.shape == shape
        assert other.dtype == dtype
        assert np.shares_memory(other, first)
    assert scratch("test", (4, 6), np.int64).dtype == np.int64


def test_more_memory_than_before_is_fresh_and_kept():
    small = scratch("test of growth", (8,), np.int32)
    large = scratch("test of growth", (4096,), np.int32)
    assert large.size == 4096
    assert not np.shares_memory(small, large)
    assert np.shares_memory(scratch("test of growth", (8,), np.int32), large)


def test_names_and_threads_have_memory_of_their_own():
    mine = scratch("test", (16,), np.int64)
    assert not np.shares_memory(mine, scratch("another test", (16,), np.int64))
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(scratch, "test", (16,), np.int64).result()
    assert not np.shares_memory(mine, theirs)
