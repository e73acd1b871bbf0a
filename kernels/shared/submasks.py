"""The numbers whose bits all belong to a mask, in ascending order: the nodes of a subcube.

For the mask 0b0110 these are 0b0000, 0b0010, 0b0100 and 0b0110.
"""

from numba import types

from .tracing import traced


@traced(returns=types.int64)
def next_submask(number, mask):
    """Return the next such number, or 0 after the last, which is the mask itself.

    ``number - mask`` equals ``(number | ~mask) + 1``: all bits outside the mask are set there, so
    that the carry of the 1 goes past them to the next bit of the mask.
    """
    return (number - mask) & mask
