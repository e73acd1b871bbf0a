"""Sorting inside kernels, in few instructions: ``np.argsort`` compiles for a second."""

from .compiling import inlined


@inlined
def sort_by(keys, order, size):
    """Set ``order[:size]`` to the numbers of ``keys[:size]`` in ascending order of the keys.

    Equal keys stay in the order of their numbers, as with ``np.argsort(keys, kind="stable")``.
    This is Shell's sort with Knuth's gaps; the number breaks ties, so that no two are equal.
    """
    for i in range(size):
        order[i] = i
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            moved = order[i]
            key = keys[moved]
            j = i
            while j >= gap:
                other = order[j - gap]
                if keys[other] < key or (keys[other] == key and other < moved):
                    break
                order[j] = other
                j -= gap
            order[j] = moved
        gap //= 3
