"""The truth values of 64 lanes as one uint64, a word: bit i is the value of lane i.

The 64 lanes are the patterns of the last six variables of a 0-1 program.
"""

import numpy as np
from llvmlite import ir
from numba import types

from .tracing import traced
from .vectors import Vector

LOW_BITS = 6
LANES = 2**LOW_BITS
# The word of no lane.
NONE = np.uint64(0)


def to_word(mask):
    """Return a mask of 64 lanes as a word."""
    if not isinstance(mask, Vector):
        return np.packbits(mask, bitorder="little").view(np.uint64)[0]
    return Vector(mask.builder, mask.builder.bitcast(mask.value, ir.IntType(64)), np.uint64)


@traced(returns=types.uint64)
def at_most(sums, row, most):
    """Return a word: which of the 64 numbers ``sums[row]`` are at most ``most``, of their dtype."""
    return to_word(sums.load((row, 0), LANES) <= most)


@traced(returns=types.int64)
def lowest_bit(word):
    """Return the lowest lane whose bit is set, in a word that is not 0."""
    if not isinstance(word, Vector):
        return (int(word) & -int(word)).bit_length() - 1
    is_never_0 = ir.Constant(ir.IntType(1), 1)
    return Vector(word.builder, word.builder.cttz(word.value, is_never_0), np.int64)
