"""The truth values of 64 lanes as one uint64, a word: bit i is the value of lane i."""

import numpy as np
from llvmlite import ir

from .compiling import inlined
from .vectors import Vector


def to_word(mask):
    """Return a mask of 64 lanes as a word."""
    if not isinstance(mask, Vector):
        return np.packbits(mask, bitorder="little").view(np.uint64)[0]
    return Vector(mask.builder, mask.builder.bitcast(mask.value, ir.IntType(64)), np.uint64)


@inlined
def lowest_bit(word):
    """Return the lowest lane whose bit is set, in a word that is not 0; for kernels."""
    bit = 0
    while not word >> np.uint64(bit) & np.uint64(1):
        bit += 1
    return bit
