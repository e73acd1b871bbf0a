"""Rows of a bundle: as many lines of numbers side by side as a register has lanes.

               lane 0  lane 1  lane 2  lane 3
    row 0         a0      b0      c0      d0        A row is a register with one number of each of
    row 1         a1      b1      c1      d1        the lines a, b, c, d. What is done with a line,
    row 2         a2      b2      c2      d2        from row to row, is done with all of them.

Where lines lie side by side in an array, a0 b0 c0 d0 .. a1 b1 c1 d1 .., rows are read where they
lie, ``step`` elements apart. Where they follow each other, a0 a1 a2 .. b0 b1 b2 .., they are copied
to rows and back, in squares that are transposed in registers.
"""

from numba import types

from .tracing import cond, fori, traced
from .transposition import transpose
from .vectors import lanes, maximum, minimum, split, spread


def store(memory, at, vector, stream=None):
    """Store a vector from index ``at`` on, past the caches if ``stream`` holds.

    ``stream`` is a truth value, or None: then nothing is compiled for it. If it holds, the address
    is a multiple of a register's bytes.
    """
    if stream is None:
        memory.store(at, vector)
        return

    def past_the_caches():
        size = min(vector.size, lanes(memory.dtype))
        for i, part in enumerate(split(vector.astype(memory.dtype), size)):
            memory.store(at + i * size, part, stream=True)

    cond(stream, past_the_caches, lambda: memory.store(at, vector))


class Rows:
    """Row i of a bundle: the ``size`` elements of an array ``memory`` from ``at + i * step`` on.

    ``rows[i]`` loads a row and ``rows[i] = row`` stores it. With ``size`` 1, a single line, it is a
    number, not a vector. ``stream`` : see ``store``.
    """

    def __init__(self, memory, at, step, size, stream=None):
        self.memory, self.at, self.step, self.size = memory, at, step, size
        self.stream = stream if size > 1 else None

    def __getitem__(self, i):
        at = self.at + i * self.step
        return self.memory[at] if self.size == 1 else self.memory.load(at, self.size)

    def __setitem__(self, i, row):
        at = self.at + i * self.step
        if self.size == 1:
            self.memory[at] = row
        else:
            store(self.memory, at, row, self.stream)


def sum_and_extremes(added, ranked, count):
    """Return the sum of the ``count`` rows of ``added``, in order, least and largest of ``ranked``.

    All are rows, a number for each line; ``added`` and ``ranked`` may be the same.
    """

    def join(i, total, least, most):
        value = ranked[i]
        return [total + added[i], minimum(least, value), maximum(most, value)]

    return fori(count, join, added[0], ranked[0], ranked[0], start=1)


@traced(returns=types.boolean)
def within(source, count, top):
    """Tell whether all elements lie between 0 and ``top``."""

    def widen(i, least, most):
        return [minimum(least, source[i]), maximum(most, source[i])]

    least, most = fori(count, widen, source[0], source[0])
    return (least >= 0) & (most <= spread(top, most))


def lines_to_rows(source, first, step, last, count, rows):
    """Copy lines of ``count`` elements, one a lane, to ``count`` rows.

    Line u, for lane u, begins at ``source[first + u * step]``. Where there are fewer lines than
    lanes, the last of them, number ``last``, fills the lanes after its own, too.
    """
    starts = [first + minimum(u, last) * step for u in range(rows.size)]

    def square(number):
        i = number * rows.size
        lines = [source.load(at + i, rows.size).astype(rows.memory.dtype) for at in starts]
        for j, row in enumerate(transpose(lines)):
            rows[i + j] = row

    def single(i):
        for u, at in enumerate(starts):
            rows.memory[rows.at + i * rows.step + u] = source[at + i]

    fori(count // rows.size, square)
    fori(count, single, start=count - count % rows.size)


def rows_to_lines(rows, count, targets, step, last):
    """Copy ``count`` rows back to lines, which lie as ``lines_to_rows`` has them.

    ``targets`` : (array, first, stream) of each array that receives them; see ``store``. Lanes
    after ``last`` are written where that lane is, and hold the same.
    """
    begins = [minimum(u, last) * step for u in range(rows.size)]

    def square(number):
        i = number * rows.size
        lines = transpose([rows[i + j] for j in range(rows.size)])
        for target, first, stream in targets:
            for begin, line in zip(begins, lines, strict=True):
                store(target, first + begin + i, line, stream)

    def single(i):
        for target, first, _ in targets:
            for u, begin in enumerate(begins):
                target[first + begin + i] = rows.memory[rows.at + i * rows.step + u]

    fori(count // rows.size, square)
    fori(count, single, start=count - count % rows.size)
