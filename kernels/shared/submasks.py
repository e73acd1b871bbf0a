"""The numbers whose bits all belong to a mask, in ascending order: the nodes of a subcube.

For the mask 0b0110 these are 0b0000, 0b0010, 0b0100 and 0b0110.
"""

from numba import types

from .tracing import traced


@traced(returns=types.int64)
def next_submask(number, mask):
    """Return the next such number, or 0 after the last, which is the mask itself.

    As ``number - mask`` is ``(number | ~mask) + 1``, a carry passes the bits outside the mask.
    """
    return (number - mask) & mask
