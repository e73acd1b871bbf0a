"""Counts of float64 values, in a hash table or in a row of bins.

A value's key is an integer: its 64 bits, mapped so that keys have the order of the values, and
shifted right by ``dropped`` bits. Each bin counts the values of one key:

    table    a hash table with open addressing: the bin of a key is the slot that it hashes to, or
             the next free one after that; a slot is free while its count is 0; 1.4 to 2 ns a value
    row      bin i counts the values of the key ``first + i``; 0.4 ns a value
"""

import numpy as np

from ..shared.compiling import inlined, kernel

MAGNITUDE = (1 << 63) - 1


@inlined
def _ordered(bits):
    """Return the int64 bits of a float as an integer in the order of floats; its own inverse."""
    return bits ^ ((bits >> 63) & MAGNITUDE)


@kernel
def count(bits, dropped, weights, table, first, counts, used, limit):
    """Count values; return how many were counted and how many bins are in use.

    ``bits`` (n,) int64 are the bits of the values, and ``weights`` (n,) int64 their weights, or
    (1,) one for all. ``table`` (2**k,) int64 has the keys of a hash table and ``counts`` (2**k,)
    int64 their counts, of which ``used`` are above 0; or it is None, and ``counts`` are a row of
    bins from the key ``first`` on. Counting stops before a new key if ``limit`` bins are in use,
    and before a key outside the row.
    """
    # Unsigned slots, so that numba skips its check for negative indices, a quarter of the time.
    size, one = np.uint64(counts.size), np.uint64(1)
    for i in range(bits.size):
        key = _ordered(bits[i]) >> dropped
        if table is None:
            slot = np.uint64(key - first)
            if slot >= size:
                return i, used
        else:
            # Fibonacci hashing; the product of 31 and 32 bits does not overflow.
            hashed = ((key ^ (key >> 32)) & 0x7FFFFFFF) * 0x9E3779B1
            slot = np.uint64(hashed >> 20) & (size - one)
            while table[slot] != key and counts[slot] > 0:
                slot = (slot + one) & (size - one)
        before = counts[slot]
        if before == 0:
            if used == limit:
                return i, used
            used += 1
            if table is not None:
                table[slot] = key
        counts[slot] = before + weights[i if weights.size > 1 else 0]
    return bits.size, used


@kernel
def entries(table, first, counts, keys, key_counts):
    """Set ``keys`` and ``key_counts`` (used + 1,) to those of the bins; the last is scratch.

    Free bins are written too, and overwritten by the next: without a branch, which would be taken
    for half of them, this takes a third of the time.
    """
    last = keys.size - 1
    j = np.int64(0)
    for slot in range(counts.size):
        place = min(j, last)
        keys[place] = first + slot if table is None else table[slot]
        key_counts[place] = counts[slot]
        j += np.int64(counts[slot] > 0)
