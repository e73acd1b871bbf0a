"""Random loads: words of Philox, and the laws or tables that turn words into loads.

Block ``j`` of trial ``t`` is what the cipher (``shared/philox.py``) with a seed as its key makes of
the counter ``(1 + j, t, 0, 0)``. These are the words of NumPy's
``Philox(key=seed, counter=[0, t, 0, 0])``, which increments its counter before it draws. A block
has four 64-bit words, or eight 32-bit numbers, the low half of each word first. Node i uses word i
or number i of its trial, so that a load depends on the seed, the trial and the node alone.

Rows (B, N) are drawn in strips of blocks, one trial after the other, and tiles (K, N, W) one block
of W trials at a time:

    rows   words   t0 block 0 | t0 block 1 | t1 block 0 | ..      lanes of the cipher are blocks
    tiles  words   word 0 of t0 t1 t2 .. | word 1 of t0 t1 ..     lanes of the cipher are trials

Legend: ``B`` trials, ``N`` nodes, ``K`` tiles of ``W`` trials, ``C`` cells of a table.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.philox import GROUP, draw_blocks, draw_side_by_side
from ..shared.tracing import traced
from ..shared.views import flat
from ..shared.wide_products import wide_product

# Blocks of a strip, 2 KiB of words. With 32 blocks a word takes 1.2 times as long, with 128 0.98.
STRIP_BLOCKS = 64


class Law(NamedTuple):
    """A function from the word or number ``u`` of a node to its load.

    - With ``half_span``, ``u`` is a number, and the load is ``u * half_span >> 32``.
    - With ``span``, ``u`` is a word, and the load is ``u * span >> 64``.
    - With ``span`` and ``values``, ``u`` is a word, and the load is ``values[u * span >> 64]``.
    - With neither span, ``u`` is a word, and the load is ``u``.
    """

    half_span: object  # uint64, at most 2**32, or None
    span: object  # uint64 or None
    values: object  # (span,) unsigned integers, narrow so that they fit a cache, or None


class Table(NamedTuple):
    """Cells of adjacent loads, one of which a word ``u`` selects.

    If c thresholds are at most ``u``, the load is ``first[c] + (u & mask[c])``.
    """

    thresholds: np.ndarray  # (C - 1,) uint64
    first: np.ndarray  # (C,) int64
    mask: np.ndarray  # (C,) uint64
    guide: np.ndarray  # int32: for each prefix p, the number of thresholds at most p << shift
    shift: np.uint64  # number of bits of a word below its prefix


@traced(returns=types.int64)
def _block_loads(law):
    """Return the number of loads that a block has words or numbers for."""
    return 4 if law[0] is None else 8


@traced(returns=types.uint64)
def _number(words, halves, law, place):
    """Return the word or number that a law uses: ``halves`` are the same ``words`` as uint32."""
    return words[place] if law[0] is None else halves[place]


@traced(returns=types.uint64)
def _word_or_half(law, word, i):
    """Return a word or, if the law uses numbers, the half of it that is number i of its block."""
    return word if law[0] is None else word >> 32 * (i & 1) & 0xFFFFFFFF


@traced(returns=types.int64)
def _load(law, u):
    """Return the load of a number or word by a law."""
    half_span, span, values = law
    if half_span is not None:
        return u.astype(np.uint64) * half_span >> 32
    if span is None:
        return u.view(np.int64)
    index = wide_product(u, span)[0]
    return index if values is None else values[index]


@inlined
def _cell(table, word):
    """Return how many thresholds are at most the word.

    The guide limits the search to the thresholds with the word's prefix, often none. A search
    without branches, in vectors or not, takes 5 ns per load; this one takes 2 to 3.
    """
    thresholds, _, _, guide, shift = table
    prefix = word >> shift
    low = guide[prefix]
    high = guide[prefix + np.uint64(1)]
    while low < high:
        middle = (low + high) >> 1
        if thresholds[middle] <= word:
            low = middle + 1
        else:
            high = middle
    return low


@long_kernel
def draw_rows(keys, start, law, table, out):
    """Fill ``out`` (B, N) with the loads of the trials ``start, start + 1, ..``.

    ``keys`` (10, 2) uint64 are the keys of the cipher's rounds (``round_keys``). The loads follow
    from the table or, if that is None, from the law.
    """
    B, N = out.shape
    block_loads = _block_loads(law)
    blocks = (N + block_loads - 1) // block_loads
    numbers = np.empty(STRIP_BLOCKS, np.uint64)
    trials = np.empty(STRIP_BLOCKS, np.uint64)
    words = np.empty(4 * STRIP_BLOCKS, np.uint64)
    halves = words.view(np.uint32)
    loads = flat(out)
    trial = np.int64(0)
    block = np.int64(0)
    meter = new_meter()
    for first in range(0, B * blocks, STRIP_BLOCKS):
        count = min(STRIP_BLOCKS, B * blocks - first)
        if interrupted(meter, 16 * count):
            break
        # A strip has runs of blocks of one trial each. All are drawn before any is used.
        begin = np.int64(0)
        t, j = trial, block
        while begin < count:
            end = min(begin + blocks - j, count)
            for u in range(begin, end):
                numbers[u] = j + 1 + u - begin
                trials[u] = start + t
            begin = end
            t, j = t + 1, np.int64(0)
        draw_blocks(keys, numbers, trials, count, words)
        begin = np.int64(0)
        while begin < count:
            end = min(begin + blocks - block, count)
            node = block_loads * block
            # Unsigned indices, so that numba skips its check for negative ones.
            place = np.uint64(N * trial + node)
            source = np.uint64(block_loads * begin)
            run = np.uint64(min(block_loads * (end - begin), N - node))
            if table is None:
                for i in range(run):
                    loads[place + i] = _load(law, _number(words, halves, law, source + i))
            else:
                for i in range(run):
                    word = words[source + i]
                    c = _cell(table, word)
                    loads[place + i] = table.first[c] + np.int64(word & table.mask[c])
            block += end - begin
            begin = end
            if block == blocks:
                block = np.int64(0)
                trial += 1
    # Use ``out`` once more: flat views do not keep their array alive.
    return out.size


@long_kernel
def draw_tiles(keys, start, law, table, out):
    """Fill ``out`` (K, N, W): lane w of tile k is the trial ``start + k * W + w``.

    Every load must fit the integers of ``out``. The other arguments are those of ``draw_rows``.
    """
    K, N, W = out.shape
    T = out.dtype.type
    block_loads = _block_loads(law)
    # The cipher draws GROUP trials or more at once, those of several narrow tiles if necessary.
    together = max(1, GROUP // W)
    V = max(together * W, GROUP)
    loads = flat(out)
    trials = np.empty(V, np.uint64)
    words = np.empty(4 * V, np.uint64)
    meter = new_meter()
    for first in range(0, K, together):
        for v in range(V):
            trials[v] = start + first * W + v
        for node in range(N):
            i = node % block_loads
            if i == 0 and not interrupted(meter, 16 * V):
                draw_side_by_side(keys, np.uint64(node // block_loads + 1), trials, words)
            for k in range(first, min(first + together, K)):
                place = np.uint64((k * N + node) * W)
                # Where the trials' word i begins, or the word that number i is a half of.
                source = np.uint64(4 * i // block_loads * V + (k - first) * W)
                if table is None:
                    for w in range(np.uint64(W)):
                        u = _word_or_half(law, words[source + w], np.uint64(i))
                        loads[place + w] = T(_load(law, u))
                else:
                    for w in range(np.uint64(W)):
                        word = words[source + w]
                        c = _cell(table, word)
                        loads[place + w] = T(table.first[c] + np.int64(word & table.mask[c]))
    return out.size
