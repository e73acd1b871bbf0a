"""Dimension exchange (Wu-Shu Fig. 1, More-Wu 2.1) of few or small cubes: final loads, any dtype.

The general kernel: short, so that a first call compiles in about a second. Cubes lie one after
another, node 0 first. A register holds nodes next to each other; it is balanced along the bits of
its lanes. After that all cubes are passed once more for every three or four bits above those:

    node     0   1   2   3 | 4   5   6   7 | 8  ..    here 4 lanes: bits 0 and 1 in a register,
    register       0       |       1       | 2  ..    bits 2, 3, 4 between registers 0 to 7

Small problems stay in the L1 cache from pass to pass. Larger ones go to ``integers.py`` and
``real.py``, which compute in narrower lanes and pass memory less often.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.cubes import balance_registers, balance_rows
from ..shared.processor import REGISTERS
from ..shared.tracing import cond, fori, stack, traced
from ..shared.vectors import lanes, maximum, reduce_lanes, select, spread
from ..shared.views import overlap

# Bits that one pass balances: its rows fill half of the registers.
BITS_A_PASS = 4 if REGISTERS == 32 else 3


@traced(returns=types.int64)
def _balance(source, target, n, largest):
    """Balance cubes (B * N,) and return 0; with an illegal load return 1 and write nothing."""
    size, width = source.shape[0], lanes(source.dtype)
    whole = size // width * width
    # Loads that do not fill a register are balanced in one on the stack.
    rest = stack(source, source.dtype, width)
    for lane in range(width):
        rest[lane] = 0

    def copy_in(i):
        rest[i] = source[whole + i]

    def copy_out(i):
        target[whole + i] = rest[i]

    fori(size - whole, copy_in)
    illegal = _find_illegal(source, whole, rest, largest)

    def balance_all():
        def in_register(i):
            target.store(i, *balance_registers([source.load(i)], n))

        fori(whole, in_register, step=width)
        rest.store(0, *balance_registers([rest.load(0)], n))
        fori(size - whole, copy_out)
        _balance_between(target, n)

    cond(illegal == 0, balance_all)
    return illegal


def _find_illegal(source, whole, rest, largest):
    """Return 1 if a load is negative, above ``largest`` or NaN, else 0.

    Loads are the first ``whole`` of ``source`` and the register ``rest``. Integers have no largest.
    """

    def check(i, illegal, memory=source):
        load = memory.load(i)
        legal = load >= 0
        if load.dtype.kind == "f":
            legal = legal & (load <= spread(largest, load))
        return [maximum(illegal, select(legal, spread(0, load), spread(1, load)))]

    if source.dtype.kind == "u":
        # 0, as a number of the kernel.
        return whole * 0
    (illegal,) = check(0, spread(0, rest.load(0)), rest)
    (illegal,) = fori(whole, check, illegal, step=lanes(source.dtype))
    return reduce_lanes(illegal, maximum).astype(np.int64)


def _balance_between(loads, n):
    """Balance all cubes along the bits above those of a register's lanes.

    Pass p goes along the next bits, between nodes that are ``apart`` loads from each other.
    """
    size, width = loads.shape[0], lanes(loads.dtype)
    bits = n - (width.bit_length() - 1)

    def one_pass(p):
        apart, remaining_bits = width << BITS_A_PASS * p, bits - BITS_A_PASS * p

        def along(count):
            """Return what balances ``count`` bits: group after group, column after column."""

            def balance_group(g):
                def balance_columns(column):
                    base = g * (apart << count) + column
                    places = [base + r * apart for r in range(1 << count)]
                    rows = balance_rows([loads.load(place) for place in places])
                    for place, row in zip(places, rows, strict=True):
                        loads.store(place, row)

                fori(apart, balance_columns, step=width)

            return lambda: fori(size // (apart << count), balance_group)

        # The last pass has 1 to BITS_A_PASS bits; each number of bits is a branch of its own.
        balance_pass = along(1)
        for count in range(2, BITS_A_PASS + 1):
            balance_pass = _at_least(remaining_bits, count, along(count), balance_pass)
        balance_pass()

    fori((bits + BITS_A_PASS - 1) // BITS_A_PASS, one_pass)


def _at_least(number, least, then, otherwise):
    """Return a function that runs ``then`` if ``number >= least``, else ``otherwise``."""
    return lambda: cond(number >= least, then, otherwise)


@kernel
def balance(source, target, n, largest):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``. ``largest`` is the largest legal load. Returns 0, or without
    writing anything 1 if a load is negative, above that or NaN, and -1 if the arrays overlap.
    """
    if overlap(source, target):
        return -1
    return _balance(source, target, n, largest)
