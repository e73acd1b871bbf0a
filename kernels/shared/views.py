"""Views of arrays whose references numba does not count.

numba counts references to an array's memory at every view and on every way out of a function: 10
ns an array and call, a tenth of the time of the shortest kernels. A view made here, by ``carray``
from a pointer, is not counted, so it does not keep the array alive: use the array itself once more
after the last use of its view.

Each function stands here twice: for NumPy, and, under ``overload``, as numba compiles it.
"""

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

# Bytes that memory hands over at once.
CACHE_LINE = 64


@intrinsic
def _first(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def flat(array, number=None):
    """Return a C-ordered array, or ``array[number]``, as (n,), without reference counts.

    None stays None.
    """
    part = array if array is None or number is None else array[number]
    return None if part is None else part.reshape(-1)


@overload(flat)
def _compiled_flat(array, number=None):
    def whole(array, number=None):
        return carray(_first(array), array.size)  # type: ignore[call-arg]

    def row(array, number=None):
        width = array.size // max(1, array.shape[0])
        return carray(_first(array), array.size)[number * width : (number + 1) * width]  # type: ignore[call-arg]

    if array == types.none:
        return lambda array, number=None: None
    return row if isinstance(number, types.Integer) else whole


def overlap(a, b):
    """Tell whether two C-ordered arrays of one size share memory without being the same."""
    return 0 < abs(a.ctypes.data - b.ctypes.data) < a.nbytes


@overload(overlap)
def _compiled_overlap(a, b):
    def compiled(a, b):
        distance = abs(np.int64(a.ctypes.data) - np.int64(b.ctypes.data))
        # Not by ``and``: with its branches numba would count references to both arrays.
        return (distance > 0) & (distance < a.nbytes)

    return compiled


@intrinsic
def _first_of_line(_typing, array):
    """Return the pointer to the first cache line that begins in an array."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(array)(context, builder, arguments[0]).data
        word = context.get_value_type(types.intp)
        # The address, rounded up to a multiple of a line.
        beyond = builder.add(builder.ptrtoint(data, word), word(CACHE_LINE - 1))
        return builder.inttoptr(builder.and_(beyond, word(-CACHE_LINE)), data.type)

    return types.CPointer(array.dtype)(array), generate


def aligned(array):
    """Return a workspace (n,) from its first whole cache line on, without reference counts.

    The view has as many elements less as a cache line holds, wherever the workspace begins, so that
    its size does not depend on that. Registers of 64 bytes that cross cache lines take twice as
    long to load and store. Without the compiler the view begins where the workspace does.
    """
    return array[: array.size - CACHE_LINE // array.itemsize]


@overload(aligned)
def _compiled_aligned(array):
    elements_of_line = CACHE_LINE // (array.dtype.bitwidth // 8)
    return lambda array: carray(_first_of_line(array), array.size - elements_of_line)  # type: ignore[call-arg]
