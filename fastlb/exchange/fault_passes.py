"""The plan of fault-tolerant DEM as few passes over tiles.

A pass balances up to three dimensions: that of a subcube, and the next one of its parts, with
faults or without, if it is the same for all of them. On the 10-cube with 9 faults there are 120
passes instead of 208, which take two thirds of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .fault_schedule import REPAIR, WHOLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule

# First column of the passes.
EXCHANGE, LEVEL = 0, 1
# Dimensions balanced in one pass at most.
GROUPED = 3
# Bits of a block: its 2**8 nodes stay in cache while all its own dimensions are balanced.
BLOCK = 8
# Bits of nested blocks, outermost first, if a pass balances a single dimension.
SINGLE_BLOCKS = 12, 5


@dataclass(frozen=True)
class _Part:
    """A subcube before its next dimension is balanced.

    ``bits`` are balanced next: all remaining ones of a fault-free subcube, else the one along
    which it is split into ``halves``. ``others`` are bits that vary and are already balanced.
    """

    base: int
    others: int
    bits: tuple[int, ...]
    halves: tuple[_Part, ...] = ()

    def after(self) -> tuple[_Part, ...]:
        """Return the parts that remain once the first of the bits is balanced."""
        first, *rest = self.bits
        return self.halves or (_Part(self.base, self.others | 1 << first, tuple(rest)),)


class _Passes:
    """Builds the rows of passes.

    ``order`` has all bits in the order in which fault-free subcubes balance them; ``singly``
    balances one bit a pass.
    """

    def __init__(self, program: NDArray[np.int64], order: tuple[int, ...], singly: bool) -> None:
        self.order = order
        self.is_ascending = list(order) == sorted(order)
        self.grouped = 1 if singly else GROUPED
        self.singly = singly
        self.rows: list[tuple[int, ...]] = []
        remaining = [row for row in program.tolist() if row[0] != REPAIR][::-1]
        if remaining:
            self._balance(self._part(remaining, 0, (1 << len(order)) - 1))
        for kind, base, free, bit in program.tolist():
            if kind == REPAIR:
                self.rows.append((LEVEL, base, free, bit, -1, -1))

    def _part(self, remaining: list[list[int]], base: int, free: int) -> _Part:
        """Pop the rows of a subcube and all its parts, which are in depth-first order."""
        if not remaining or remaining[-1][1:3] != [base, free]:
            # A stuck subcube has no row.
            return _Part(base, free, ())
        kind, _, _, bit = remaining.pop()
        if kind == WHOLE:
            return _Part(base, 0, tuple(b for b in self.order if free >> b & 1))
        rest = free & ~(1 << bit)
        low = self._part(remaining, base, rest)
        return _Part(base, rest, (bit,), (low, self._part(remaining, base | 1 << bit, rest)))

    def _balance(self, part: _Part) -> None:
        if not part.halves:
            self._whole(part.base, part.others, part.bits)
            return
        bits: tuple[int, ...] = ()
        parts: tuple[_Part, ...] = (part,)
        while len(bits) < self.grouped and len({p.bits[:1] for p in parts}) == 1 and parts[0].bits:
            bits += parts[0].bits[:1]
            parts = tuple(child for p in parts for child in p.after())
        self._exchange(part.base, part.others, bits)
        for child in parts:
            self._balance(child)

    def _whole(self, base: int, others: int, bits: tuple[int, ...]) -> None:
        nodes = others | _mask(bits)
        block_bits: tuple[int, ...] = (BLOCK,) if nodes.bit_count() > BLOCK else ()
        if self.singly:
            # The outermost blocks are the bits below the first that does not vary.
            first_gap = (~nodes & nodes + 1).bit_length() - 1
            block_bits = (first_gap, *SINGLE_BLOCKS)
        self._blocks(base, nodes, bits, block_bits)

    def _blocks(
        self, base: int, nodes: int, bits: tuple[int, ...], block_bits: tuple[int, ...]
    ) -> None:
        """Balance bits: those below the first of ``block_bits`` in a block after the other."""
        block_mask = (1 << block_bits[0]) - 1 if block_bits else 0
        near = tuple(b for b in bits if block_mask >> b & 1)
        far = tuple(b for b in bits if b not in near)
        if not self.is_ascending:
            self._groups(base, nodes, far)
        if near:
            for block in _subsets(nodes & ~block_mask):
                self._blocks(base | block, nodes & block_mask, near, block_bits[1:])
        if self.is_ascending:
            self._groups(base, nodes, far)

    def _groups(self, base: int, nodes: int, bits: tuple[int, ...]) -> None:
        """Balance bits in groups of about the same size."""
        count = -(-len(bits) // self.grouped)
        for g in range(count):
            self._exchange(base, nodes, bits[len(bits) * g // count : len(bits) * (g + 1) // count])

    def _exchange(self, base: int, nodes: int, bits: tuple[int, ...]) -> None:
        missing = (-1,) * (GROUPED - len(bits))
        self.rows.append((EXCHANGE, base, nodes & ~_mask(bits), *bits, *missing))


@lru_cache(maxsize=64)
def plan_passes(
    plan: FaultSchedule, *, in_positions: bool, singly: bool = False
) -> NDArray[np.int64]:
    """Return a plan as passes over nodes, or over positions (``kernels/faults/positions.py``).

    ``singly`` balances one dimension a pass, in a fixed order on which sums of floats depend.

    Returns
    -------
    (P, 6) int64
        Rows ``EXCHANGE, base, others`` and three bits, -1 for none: all nodes that agree with
        ``base`` outside ``others`` and the bits balance these; or ``LEVEL, base, free, bit``, the
        repair of a stuck subcube.
    """
    program = plan.positions if in_positions else plan.program
    order = tuple(range(plan.topology.n))
    if in_positions or plan.order == "highest":
        order = order[::-1]
    rows = _Passes(program, order, singly).rows
    passes = np.array(rows, dtype=np.int64).reshape(-1, 3 + GROUPED)
    passes.flags.writeable = False
    return passes


def _mask(bits: tuple[int, ...]) -> int:
    return sum(1 << bit for bit in bits)


def _subsets(mask: int) -> Iterator[int]:
    """Yield all numbers whose bits are in a mask, ascending."""
    sub = 0
    while True:
        yield sub
        if sub == mask:
            return
        sub = (sub - mask) & mask
