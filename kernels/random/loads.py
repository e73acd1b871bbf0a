"""Random loads: words of Philox, and the laws that make loads of them.

Block ``j`` of trial ``t`` is the cipher (``shared/philox.py``), keyed by a seed, of the counter
``(1 + j, t, 0, 0)``, which is what NumPy yields from ``Philox(key=seed, counter=[0, t, 0, 0])``,
since it counts up before it draws. A block is four 64-bit words or eight 32-bit numbers, the low
half of each word first. So a load depends on the seed, the trial and the node alone.

Loads in rows, (B, N), are drawn from strips of blocks, one trial after the other; loads in tiles,
(K, N, W), from one block of W trials side by side:

    rows   strip   t0 block 0 | t0 block 1 | t1 block 0 | ..      lanes are blocks
    tiles  words   word 0 of t0 t1 t2 .. | word 1 of t0 t1 ..     lanes are trials

``B`` trials, ``N`` nodes, ``K`` tiles of ``W`` trials, ``C`` cells of a table.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from ..shared.compiling import inlined, kernel
from ..shared.philox import GROUP, draw_blocks, draw_side_by_side, round_keys, trial_rounds
from ..shared.tracing import traced
from ..shared.views import flat, row
from ..shared.wide_products import wide_product

# Blocks of a strip, 2 KiB: with 32 a word takes 1.2 times as long, with 128 0.98.
STRIP = 64


class Law(NamedTuple):
    """What a load is made of; one of the spans, or neither: then a load is a word.

    - ``half_span``: node i takes number i, ``u``; its load is ``u * half_span >> 32``.
    - ``span``: node i takes word i, ``u``; its load is ``u * span >> 64``,
    - or with ``values`` what has that number among them.
    """

    half_span: object  # uint64, at most 2**32, or None
    span: object  # uint64 or None
    values: object  # unsigned integers, or None: the fewer bits, the more a cache holds


class Table(NamedTuple):
    """Cells of neighbouring loads. Node i takes word i, ``u``.

    ``c`` of the thresholds are at most ``u``; the load is ``first[c] + (u & mask[c])``.
    """

    thresholds: np.ndarray  # (C - 1,) uint64
    first: np.ndarray  # (C,) int64
    mask: np.ndarray  # (C,) uint64
    guide: np.ndarray  # int32: guide[u >> shift] thresholds are at most the least such u
    shift: np.uint64


@traced(returns=types.int64)
def _block_loads(law):
    """Return how many loads a block makes."""
    return 4 if law[0] is None else 8


@traced(returns=types.uint64)
def _number(words, halves, law, place):
    """Return number ``place`` of those that a law takes; ``halves`` are those of the words."""
    return words[place] if law[0] is None else halves[place]


@traced(returns=types.uint64)
def _part(law, word, i):
    """Return what load i of a block is made of: its word, or the half of it where i says so."""
    return word if law[0] is None else word >> 32 * (i & 1) & 0xFFFFFFFF


@traced(returns=types.int64)
def _load(law, u):
    """Return the load that a law makes of a number or word."""
    half_span, span, values = law
    if half_span is not None:
        return u.astype(np.uint64) * half_span >> 32
    if span is None:
        return u.view(np.int64)
    place = wide_product(u, span)[0]
    return place if values is None else values[place]


@inlined
def _cell(table, word):
    """Return how many thresholds are at most the word.

    Most words need no search if beginnings are many. Searching without branches, in vectors or
    not, takes 5 ns a load where this takes 2 to 3.
    """
    thresholds, _, _, guide, shift = table
    beginning = word >> shift
    low = guide[beginning]
    high = guide[beginning + np.uint64(1)]
    while low < high:
        middle = (low + high) >> 1
        if thresholds[middle] <= word:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def draw_rows(keys, start, law, table, out):
    """Fill ``out`` (B, N) with the loads of the trials ``start ..``, by a law or a table."""
    B, N = out.shape
    block_loads = _block_loads(law)
    blocks = (N + block_loads - 1) // block_loads
    numbers = np.empty(STRIP, np.uint64)
    trials = np.empty(STRIP, np.uint64)
    words = np.empty(4 * STRIP, np.uint64)
    halves = words.view(np.uint32)
    loads = flat(out)
    trial = np.int64(0)
    block = np.int64(0)
    for first in range(0, B * blocks, STRIP):
        count = min(STRIP, B * blocks - first)
        # A strip is drawn in runs of blocks of one trial.
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
            # Places without a sign: numba then does not ask whether they count from the end.
            place = np.uint64(N * trial + node)
            given = np.uint64(block_loads * begin)
            some = np.uint64(min(block_loads * (end - begin), N - node))
            if table is None:
                for i in range(some):
                    loads[place + i] = _load(law, _number(words, halves, law, given + i))
            else:
                for i in range(some):
                    word = words[given + i]
                    c = _cell(table, word)
                    loads[place + i] = table.first[c] + np.int64(word & table.mask[c])
            block += end - begin
            begin = end
            if block == blocks:
                block = np.int64(0)
                trial += 1
    # The view above does not keep the array.
    return out.size


@kernel
def draw_tiles(keys, start, law, table, out):
    """Fill tiles (K, N, W) of integers that every load fits: trial ``k * W + w`` in lane w."""
    K, N, W = out.shape
    T = out.dtype.type
    block_loads = _block_loads(law)
    V = max(W, GROUP)
    high = np.empty(V, np.uint64)
    low = np.empty(V, np.uint64)
    words = np.empty(4 * V, np.uint64)
    for k in range(K):
        loads = row(out, k)
        for w in range(V):
            trial_rounds(keys, np.uint64(start + k * W + w), w, high, low)
        for node in range(N):
            i = node % block_loads
            if i == 0:
                draw_side_by_side(keys, np.uint64(node // block_loads + 1), high, low, words)
            place = np.uint64(node * W)
            given = np.uint64(4 * i // block_loads * V)
            if table is None:
                for w in range(np.uint64(W)):
                    loads[place + w] = T(_load(law, _part(law, words[given + w], np.uint64(i))))
            else:
                for w in range(np.uint64(W)):
                    word = words[given + w]
                    c = _cell(table, word)
                    loads[place + w] = T(table.first[c] + np.int64(word & table.mask[c]))
    return out.size


def words(keys, start, out):
    """Fill ``out`` (B, n) uint64 with the first ``n`` words of the trials ``start ..``."""
    draw_rows(keys, start, Law(None, None, None), None, out)


__all__ = ["Law", "Table", "draw_rows", "draw_tiles", "round_keys", "words"]
