"""Exchanges between lanes and between registers against NumPy, compiled and not."""

import numpy as np
import pytest
from numba import config, njit

from fastlb.kernels.shared.cubes import balance_registers, balance_rows
from fastlb.kernels.shared.tracing import traced
from tests.oracles.dem import averaged


def drawn(dtype, size):
    if np.dtype(dtype).kind == "f":
        return np.random.default_rng(size).random(size).astype(dtype)
    return np.random.default_rng(size).integers(0, np.iinfo(dtype).max, size, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint16, np.uint64, np.float32])
@pytest.mark.parametrize("size", [2, 8, 32])
def test_low_bits_of_some_registers(dtype, size):
    @traced()
    def balance(loads, out, n):
        rows = balance_registers([loads.load(r * size, size) for r in range(4)], n)
        for r, row in enumerate(rows):
            out.store(r * size, row)

    loads, bits = drawn(dtype, 4 * size), (4 * size).bit_length() - 1
    run = None if config.DISABLE_JIT else njit(lambda loads, out, n: balance(loads, out, n))
    for call in (run, getattr(balance, "plain", balance)):
        # More bits than there are change nothing.
        for n in range(bits + 2) if call else ():
            out = np.zeros_like(loads)
            call(loads, out, n)
            np.testing.assert_array_equal(out, averaged(loads, range(min(n, bits))))


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float64])
def test_bits_between_registers(dtype):
    @traced()
    def balance(loads, out):
        for r, row in enumerate(balance_rows([loads.load(r * 4, 4) for r in range(8)])):
            out.store(r * 4, row)

    loads = drawn(dtype, 32)
    calls = [] if config.DISABLE_JIT else [njit(lambda loads, out: balance(loads, out))]
    for call in [*calls, getattr(balance, "plain", balance)]:
        out = np.zeros_like(loads)
        call(loads, out)
        np.testing.assert_array_equal(out, averaged(loads, (2, 3, 4)))
