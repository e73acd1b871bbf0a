"""The cipher Philox4x64-10 (Salmon et al. 2011) on registers, bit for bit ``numpy.random.Philox``.

A block is four words a, b, c, d. A round multiplies a and c by constants to 128 bits and mixes
what comes out with the other two words and with the round's two keys:

    a, b, c, d  ->  high(M1 c) ^ b ^ key 0,  low(M1 c),  high(M0 a) ^ d ^ key 1,  low(M0 a)

Each lane of a register is a block, and a, b, c, d are a register each. Several such blocks of
registers go through the rounds at once, so that no product has to wait for the one before it.
"""

import numpy as np

from .tracing import fori, traced
from .vectors import lanes, minimum, shuffle, spread
from .wide_products import wide_product

MULTIPLIER_0 = 0xD2E7470EE14C6C93
MULTIPLIER_1 = 0xCA5A826395121157
WEYL_0 = 0x9E3779B97F4A7C15
WEYL_1 = 0xBB67AE8584CAA73B
ROUNDS = 10

LANES = lanes(np.uint64)
# Registers of each word at once. With 2, drawing takes 1.4 times as long; with 8, 1.06 times.
TOGETHER = 4
# Blocks drawn at once.
GROUP = TOGETHER * LANES


def round_keys(seed):
    """Return the key schedule, (10, 2) uint64, of a seed below 2**128."""
    low, high = seed & (2**64 - 1), seed >> 64
    schedule = [[(low + r * WEYL_0) % 2**64, (high + r * WEYL_1) % 2**64] for r in range(ROUNDS)]
    return np.array(schedule, dtype=np.uint64)


def _round(block, key_0, key_1):
    """Return the four registers of a block after one round."""
    a, b, c, d = block
    high_0, low_0 = wide_product(a, MULTIPLIER_0)
    high_1, low_1 = wide_product(c, MULTIPLIER_1)
    return [high_1 ^ b ^ key_0, low_1, high_0 ^ d ^ key_1, low_0]


def _rounds(blocks, keys, first):
    """Return a list of blocks after the rounds ``first .. 9``."""

    def body(r, *words):
        parts = [words[i : i + 4] for i in range(0, len(words), 4)]
        return [word for part in parts for word in _round(part, keys[r, 0], keys[r, 1])]

    words = fori(ROUNDS, body, *[word for block in blocks for word in block], start=first)
    return [words[i : i + 4] for i in range(0, len(words), 4)]


@traced()
def draw_blocks(keys, numbers, trials, count, words):
    """Write the blocks of ``numbers`` and ``trials`` (n,) uint64 to ``words`` (4 n,), a b c d each.

    The counter of block i is ``(numbers[i], trials[i], 0, 0)``. The first ``count`` blocks are
    drawn, rounded up to a multiple of ``GROUP``.
    """
    # Interleave registers: a with b and c with d, then pairs of these: a0 b0 c0 d0 a1 b1 ..
    both = [n for lane in range(LANES) for n in (lane, LANES + lane)]
    fours = [n for pair in both for n in (2 * pair, 2 * pair + 1)]

    def group(first):
        starts = [first + LANES * i for i in range(TOGETHER)]
        blocks = []
        for at in starts:
            a, b = numbers.load(at), trials.load(at)
            zero = spread(0, a)
            blocks.append(_round([a, b, zero, zero], keys[0, 0], keys[0, 1]))
        for at, (a, b, c, d) in zip(starts, _rounds(blocks, keys, 1), strict=True):
            words.store(4 * at, shuffle(shuffle(a, b, both), shuffle(c, d, both), fours))

    fori(count, group, step=GROUP)


@traced()
def draw_side_by_side(keys, number, trials, words):
    """Write block ``number`` of W ``trials`` to ``words`` (4 W,): all their words a, then b, c, d.

    W is at least ``GROUP``.
    """
    W = trials.shape[0]

    def group(w):
        # The last group ends with the last trial, and may draw some trials once more.
        w = minimum(w, W - GROUP)
        starts = [w + LANES * i for i in range(TOGETHER)]
        blocks = []
        for at in starts:
            b = trials.load(at)
            blocks.append([spread(number, b), b, spread(0, b), spread(0, b)])
        for at, block in zip(starts, _rounds(blocks, keys, 0), strict=True):
            for i, word in enumerate(block):
                words.store(i * W + at, word)

    fori(W, group, step=GROUP)
