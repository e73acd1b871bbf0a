"""Sorting words by their upper halves, digit by digit (radix sort), which is stable."""

from numba import types

from .tracing import cond, either, fori, traced

# Digits of 8 bits, the lowest first.
DIGITS, RADIX = 4, 256
# Words of the workspace: how often each digit has each value.
COUNTERS = DIGITS * RADIX


@traced(returns=types.boolean)
def sort_words(words, spare, digits):
    """Sort words (n,) by their upper 32 bits, those of equal upper bits as they come.

    They are int64 from 0 on, one at least. Return whether the result is in ``spare`` (n,);
    ``digits`` (COUNTERS,) is a workspace.
    """
    n = words.shape[0]

    def clear(i):
        digits[i] = 0

    fori(digits.shape[0], clear)

    def count(i):
        word = words[i] >> 32
        for digit in range(DIGITS):
            value = digit * RADIX + (word >> 8 * digit & RADIX - 1)
            digits[value] = digits[value] + 1

    fori(n, count)

    def sort_by(digit, in_spare):
        source, target = either(in_spare, spare, words), either(in_spare, words, spare)

        def place_of(i):
            return digit * RADIX + (source[i] >> 32 + 8 * digit & RADIX - 1)

        def add(value, below):
            count = digits[digit * RADIX + value] + 0
            digits[digit * RADIX + value] = below
            return [below + count]

        def move(i):
            value = place_of(i)
            at = digits[value] + 0
            target[at] = source[i]
            digits[value] = at + 1

        def deal():
            fori(n * 0 + RADIX, add, 0)
            fori(n, move)

        # A digit that all words share changes nothing.
        differs = digits[place_of(0)] < n
        cond(differs, deal)
        return [in_spare ^ differs]

    (in_spare,) = fori(n * 0 + DIGITS, sort_by, n < 0)
    return in_spare
