"""Large arrays are made and copied in parts, so that a signal is heard between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fastlb import pages


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the copies made; parts are of 4 KiB."""
    sizes: list[int] = []
    copyto = np.copyto

    def counted(target: Any, source: Any, **options: Any) -> None:
        sizes.append(target.nbytes)
        copyto(target, source, **options)

    monkeypatch.setattr(pages, "PART", pages.PAGE)
    monkeypatch.setattr(pages, "LARGE", pages.PAGE)
    monkeypatch.setattr(pages.np, "copyto", counted)
    return sizes


@pytest.mark.parametrize("dtype", [None, np.int16, np.float64])
@pytest.mark.parametrize("shape", [(0,), (1,), (512,), (3, 1000), (1, 4096)])
def test_copies_are_copies_in_parts(parts: list[int], dtype: Any, shape: tuple[int, ...]) -> None:
    source = np.arange(np.prod(shape)).reshape(shape)
    copy = pages.copied(source, dtype)
    assert copy.dtype == (source.dtype if dtype is None else dtype)
    assert np.array_equal(copy, source)
    assert not np.shares_memory(copy, source)
    assert max(parts, default=0) <= pages.PAGE
    assert sum(parts) == (copy.nbytes if source.nbytes > pages.PAGE else 0)


def test_other_layouts_are_copied_whole(parts: list[int]) -> None:
    source = np.arange(10_000).reshape(100, 100).T
    target = np.empty((100, 100), np.int32)
    pages.copy_into(target, source)
    assert np.array_equal(target, source)
    assert parts == [target.nbytes]


@pytest.mark.parametrize("shape", [0, 1, 10_000, (3, 5000)])
def test_empty_arrays_can_be_written(parts: list[int], shape: Any) -> None:
    array = pages.empty(shape, np.int32)
    assert (array.shape, array.dtype) == (np.empty(shape).shape, np.dtype(np.int32))
    array[...] = 7
    like = pages.empty_like(array)
    assert (like.shape, like.dtype, like.flags.c_contiguous) == (array.shape, array.dtype, True)
