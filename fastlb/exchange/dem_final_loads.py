"""Final loads of DEM alone, bits in ascending order: the choice of a kernel.

All kernels give the same results, bit for bit.

==========================  ============================================
up to ``SMALL`` nodes       ``dem.small``, in the loads' own dtype
more integers               ``dem.integers``, in the narrowest lanes
more real loads             ``dem.real``
==========================  ============================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copied
from .casting import INT16, as_signed, copy_back, row_dtype
from .loads import check_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Loads up to which specialised kernels are not worth compiling.
SMALL = 2**11
# Loads from which on it pays to look at a sample of them first.
SAMPLED = 2**16
# Float lanes as wide as integers: for loads that fit their significand without its leading bit.
FLOAT_LANES: dict[np.dtype[Any], Any] = {
    np.dtype(np.int32): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.float64),
}
# Empty arrays whose dtype tells a kernel its lanes: 16 bits for wider loads, 32 for 16-bit loads.
NARROW_LANES: NDArray[np.int16] = np.empty(0, np.int16)
WIDE_LANES: NDArray[np.int32] = np.empty(0, np.int32)


def kernel_name(dtype: np.dtype[Any], size: int, n: int) -> str:
    """Return the module of the kernel for final loads, ``size`` of them in cubes of n bits."""
    if size <= SMALL or (dtype.kind == "f" and n < kernels("dem.real").ROW_BITS):
        return "dem.small"
    return "dem.real" if dtype.kind == "f" else "dem.integers"


def largest_legal(dtype: np.dtype[Any], n: int) -> float:
    """Return the largest float load of which ``2**n`` have a finite total; 0 for integers.

    Kernels check integers without it.
    """
    return float(np.finfo(dtype).max) / 2.0**n if dtype.kind == "f" else 0.0


def final_loads(source: NDArray[Any], rows: NDArray[Any], n: int) -> None:
    """Balance rows of loads (B, N) along bits 0 .. n-1 into other rows, or the same.

    Raises
    ------
    ValueError, OverflowError
        If a load is not legal, or a total of real loads is not finite; nothing is written.
    """
    T = source.dtype
    work: NDArray[Any]
    if T.kind != "f":
        if T.itemsize == 1 and source.size > SMALL:
            work = copied(source, INT16)
            if _balance_flat(work, work, n, 0.0):
                check_values(source)
            copy_back(work, rows)
        elif _balance_flat(source, rows, n, 0.0):
            check_values(source)
        return
    if _balance_flat(source, rows, n, largest_legal(T, n)):
        # Loads beyond this bound may still have a finite total.
        check_values(source)
        work = copied(source, row_dtype(source))
        _balance_flat(work, work, n, float(np.finfo(work.dtype).max))
        copy_back(work, rows)


def _balance_flat(source: NDArray[Any], rows: NDArray[Any], n: int, largest: float) -> int:
    """Balance rows of loads; return 0, or another status after writing nothing."""
    source, target = source.reshape(-1), rows.reshape(-1)
    name = kernel_name(source.dtype, source.size, n)
    if name != "dem.integers":
        status: int = kernels(name).balance(source, target, n, largest)
        return status
    status = balance_integers(source, target, n)
    if status < 0 and source.dtype.kind == "u":
        # Beyond the signed dtype.
        status = _run_lanes(source, target, _own_lanes(target), n, 0)
    return status


def balance_integers(source: NDArray[Any], target: NDArray[Any], n: int) -> int:
    """Balance integers (B * N,) in the narrowest lanes that hold them; return 0.

    A status below 0 means that nothing was written: a load is negative in the signed view, or
    the arrays overlap.
    """
    kernel, size = kernels("dem.integers"), source.size
    source, target = as_signed(source), as_signed(target)
    # A sample of the loads rules out lanes that are too narrow, for which no kernel is compiled
    # then.
    status = int(np.bitwise_or.reduce(source[:: size // 64])) if size >= SAMPLED else 0
    if status <= kernel.SMALL_TOP:
        lanes = target if target.dtype == INT16 else NARROW_LANES
        status = _run_lanes(source, target, lanes, n, kernel.SMALL_TOP)
        if status <= 0:
            return status
    floats = FLOAT_LANES.get(target.dtype)
    if floats is not None and kernel.FUSED:
        largest = 2 ** np.finfo(floats).nmant - 1
        if 0 < status <= largest:
            status = _run_lanes(source, target, target.view(floats), n, largest)
    if status > 0:
        largest = int(np.iinfo(target.dtype).max)
        status = _run_lanes(source, target, _own_lanes(target), n, largest)
    return status


def _own_lanes(target: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a dtype that holds all loads; 16-bit lanes hold only small loads."""
    return WIDE_LANES if target.itemsize == 2 else target


def _run_lanes(
    source: NDArray[Any], target: NDArray[Any], lanes: NDArray[Any], n: int, largest: int
) -> int:
    """Run the kernel for cubes of n bits in lanes of a dtype; see ``dem.integers.balance``."""
    kernel = kernels("dem.integers")
    in_block = 1 << n <= kernel.BLOCK_NODES[lanes.itemsize]
    balance = kernel.balance if in_block else kernel.balance_in_bytes
    status: int = balance(source, target, lanes, n, largest)
    return status
