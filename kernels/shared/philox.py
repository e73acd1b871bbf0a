"""The cipher Philox4x64-10 (Salmon et al. 2011) on registers, bit for bit ``numpy.random.Philox``.

A block is four words a, b, c, d. A round multiplies a and c by constants to 128 bits and mixes
what comes out with the other two words and with the round's two keys:

    a, b, c, d  ->  high(M1 c) ^ b ^ key 0,  low(M1 c),  high(M0 a) ^ d ^ key 1,  low(M0 a)

Lanes are blocks. Several registers of each word go through the rounds at once, as a product has to
wait for the one before it.
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
# Registers of each word at once: with 2 words take 1.4 times as long, with 8 1.06.
TOGETHER = 4
# Blocks at once.
GROUP = TOGETHER * LANES


def round_keys(seed):
    """Return the key schedule, (10, 2) uint64, of a seed below 2**128."""
    low, high = seed & (2**64 - 1), seed >> 64
    schedule = [[(low + r * WEYL_0) % 2**64, (high + r * WEYL_1) % 2**64] for r in range(ROUNDS)]
    return np.array(schedule, dtype=np.uint64)


def _round(block, key_0, key_1):
    a, b, c, d = block
    high_0, low_0 = wide_product(a, MULTIPLIER_0)
    high_1, low_1 = wide_product(c, MULTIPLIER_1)
    return [high_1 ^ b ^ key_0, low_1, high_0 ^ d ^ key_1, low_0]


def _rounds(blocks, keys, first):
    """Do the rounds from ``first`` on on a list of blocks."""

    def body(r, *words):
        parts = [words[i : i + 4] for i in range(0, len(words), 4)]
        return [word for part in parts for word in _round(part, keys[r, 0], keys[r, 1])]

    words = fori(ROUNDS, body, *[word for block in blocks for word in block], start=first)
    return [words[i : i + 4] for i in range(0, len(words), 4)]


@traced()
def draw_blocks(keys, numbers, trials, count, words):
    """Write the blocks of ``numbers`` and ``trials`` (n,) one after the other to ``words`` (4 n,).

    The first ``count`` are drawn, rounded up to a multiple of ``GROUP``.
    """
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
def trial_rounds(keys, trial, place, high, low):
    """Set ``high`` and ``low`` at a place to what two rounds make of a trial's number.

    The third and fourth counter word are zero, so that c and d have a part of the block, one of
    the trial, and no more than these, for all blocks of a trial.
    """
    high[place], low[place] = wide_product(trial ^ keys[0, 0], MULTIPLIER_0)


@traced()
def draw_side_by_side(keys, number, high, low, words):
    """Write block ``number`` of the trials that ``trial_rounds`` knows to ``words`` (4 W,).

    Its first words are at ``w``, the second ones at ``W + w`` and so on; W, at least ``GROUP``,
    is the size of ``high`` and ``low``.
    """
    W = high.shape[0]
    high_0, low_0 = wide_product(number, MULTIPLIER_0)
    high_1, b = wide_product(high_0 ^ keys[0, 1], MULTIPLIER_1)
    a, c = high_1 ^ keys[1, 0], low_0 ^ keys[1, 1]

    def group(w):
        # The last group begins where it ends with the last trial.
        w = minimum(w, W - GROUP)
        starts = [w + LANES * i for i in range(TOGETHER)]
        blocks = []
        for at in starts:
            d = low.load(at)
            blocks.append([spread(a, d), spread(b, d), high.load(at) ^ c, d])
        for at, block in zip(starts, _rounds(blocks, keys, 2), strict=True):
            for i, word in enumerate(block):
                words.store(i * W + at, word)

    fori(W, group, step=GROUP)
