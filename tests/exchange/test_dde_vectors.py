"""The vectors of the DDE kernels mean what their plain twins say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numba import njit

from fastlb.accelerate import kernels

dde = kernels("dde.batches")
read, write, memory = dde._read, dde._write, dde._memory
where, least, most, any_of = dde._where, dde._least, dde._most, dde._any
converted, transpose, middle_of_few = dde._converted, dde._transpose, dde._middle_of_few
DTYPES = (np.int32, np.int64, np.float64)
jitted = cache(njit)


def combine(a: Any, b: Any, target: Any) -> bool:
    x, y, out = read(memory(a), 3), read(memory(b), 1), memory(target)
    write(out, 0, x + y * 2)
    write(out, 16, 1 - least(x, y))
    write(out, 32, most(x, 0))
    write(out, 48, where((x < y) & (y >= 0) | (x > 5), x, -1))
    return any_of(x <= y)


def turn(source: Any, target: Any) -> None:
    transpose(memory(source), 2, 20, memory(target), 1, 17)


def convert(source: Any, target: Any) -> None:
    out = memory(target)
    write(out, 0, converted(read(memory(source), 0), read(out, 0)))


def middle(rows: Any, target: Any) -> None:
    low, high = middle_of_few(memory(rows))
    write(memory(target), 0, low)
    write(memory(target), 16, high)


def equal_to_its_twin(function: Any, target: Any, *given: Any) -> bool:
    found, expected = target.copy(), target.copy()
    same = jitted(function)(*given, found) == function(*given, expected)
    return bool(same) and np.array_equal(found, expected)


@pytest.mark.parametrize("kind", DTYPES)
def test_arithmetic_and_comparisons(kind: Any) -> None:
    chance = np.random.default_rng(1)
    for _ in range(20):
        a, b = (chance.integers(-20, 20, 24).astype(kind) for _ in range(2))
        assert equal_to_its_twin(combine, np.zeros(64, kind), a, b)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("wanted", [np.uint8, np.int64, np.float32, np.float64])
def test_conversion_and_transposition(kind: Any, wanted: Any) -> None:
    rows = np.random.default_rng(2).integers(0, 200, 400).astype(kind)
    if np.dtype(wanted).kind == np.dtype(kind).kind or np.dtype(wanted).kind in "iu":
        assert equal_to_its_twin(convert, np.zeros(16, wanted), rows)
        assert equal_to_its_twin(turn, np.zeros(17 * 17, wanted), rows)


@pytest.mark.parametrize("kind", DTYPES)
def test_the_middle_of_sixteen_rows(kind: Any) -> None:
    chance = np.random.default_rng(3)
    for spread in (2, 20, 2**30):
        rows = chance.integers(-spread, spread, 256).astype(kind)
        assert equal_to_its_twin(middle, np.zeros(32, kind), rows)
