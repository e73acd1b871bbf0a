"""Arrays lent to kernels: all that a call costs is to read what they are from NumPy's own struct.

numba makes an owner on the heap of every array that it is given, and looks at axes and itemsize
alone, so that Python has to look at dtypes and flags before: of the 0.7 us for a 6-cube that took
0.3. Here numba's struct is filled from NumPy's, while the interpreter's lock is held, and an array
that is not as the kernel takes it arrives empty: a kernel for lent arrays refuses those.

As lent arrays have no owner, such kernels return numbers, never arrays.
"""

from __future__ import annotations

import ctypes
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.datamodel.models import ArrayModel
from numba.extending import NativeValue, register_model, unbox
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# NumPy's ``PyArrayObject_fields``, which its headers compile into every extension: a word each,
# after what all objects begin with. The number of axes and the flags are C's int.
HEAD, WORD = object.__basicsize__, ctypes.sizeof(ctypes.c_void_p)
DATA, AXES, SHAPE, DTYPE, FLAGS = (HEAD + WORD * place for place in (0, 1, 2, 5, 6))
# Of its ``PyArray_Descr`` since NumPy 2: two characters, and a word.
KIND, BYTE_ORDER, ITEMSIZE = HEAD + WORD, HEAD + WORD + 2, HEAD + WORD + 16
SWAPPED = np.dtype(np.int16).newbyteorder("S").byteorder.encode()
# In C order, aligned, and may be written: what ``flags.carray`` tells.
PLAIN = 0x0001 | 0x0100 | 0x0400
# Part of a lent array's type, so that numba's cache, which looks at a kernel's file alone, holds
# nothing that was made by another version of this one.
_loader: Any = __spec__.loader  # finds it in a zip file, too
VERSION = hashlib.sha256(_loader.get_data(__file__)).hexdigest()


def lent(kernel: Callable[..., Any], likes: tuple[Any, ...], *, flat: bool) -> Callable[..., Any]:
    """Return a kernel that takes plain arrays as they are lent; see ``accelerate.compiled``."""
    if not hasattr(kernel, "get_overload") or not _structs_are_known():
        return _looked_at(kernel, likes, flat)
    signature = tuple(
        Lent(like, flat=flat) if isinstance(like, np.ndarray) else typeof(like) for like in likes
    )
    kernel.compile(signature)  # type: ignore[attr-defined]
    found: Callable[..., Any] = kernel.get_overload(signature)
    return found


def _looked_at(
    kernel: Callable[..., Any], likes: tuple[Any, ...], flat: bool
) -> Callable[..., Any]:
    """Return a kernel before which Python looks at the arrays: the same, whatever the structs."""

    def seen(like: Any, given: Any) -> Any:
        if not isinstance(like, np.ndarray):
            return given
        T, wanted = given.dtype, like.dtype
        same = T.kind == wanted.kind and T.itemsize == wanted.itemsize and T.isnative
        if not same or not given.flags.carray or not (flat or given.ndim == like.ndim):
            return np.empty((0,) * like.ndim, wanted)
        return given.reshape(-1) if flat else given

    return lambda *given: kernel(*map(seen, likes, given))


def _structs_are_known() -> bool:
    """Tell whether NumPy's structs are laid out as this file has it."""
    array = np.zeros((2, 3), np.int16)
    word, integer, character = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_char
    struct, dtype = id(array), id(array.dtype)
    if word.from_address(struct + DTYPE).value != dtype:
        # Then what stands before it may be no address either.
        return False
    lengths = word.from_address(struct + SHAPE).value
    return (
        word.from_address(struct + DATA).value == array.ctypes.data
        and integer.from_address(struct + AXES).value == 2
        and word.from_address(lengths).value == 2
        and word.from_address(lengths + WORD).value == 3
        and integer.from_address(struct + FLAGS).value & PLAIN == PLAIN
        and word.from_address(dtype + ITEMSIZE).value == 2
        and character.from_address(dtype + KIND).value == b"i"
        and character.from_address(dtype + BYTE_ORDER).value == b"="
    )


class Lent(types.Array):
    """An array as plain as one that it is like, for as long as a call takes.

    ``flat`` : of any number of axes, and seen as one.
    """

    def __init__(self, like: NDArray[Any], *, flat: bool) -> None:
        self.flat, self.version = flat, VERSION
        dtype = from_dtype(like.dtype)
        axes = "flat" if flat else f"{like.ndim}d"
        super().__init__(dtype, like.ndim, "C", name=f"lent({dtype}, {axes})")

    @property
    def key(self) -> tuple[Any, ...]:
        return *super().key, self.flat, self.version

    @property
    def mangling_args(self) -> tuple[str, tuple[object, ...]]:
        name, arguments = super().mangling_args
        return name, (*arguments, "flat" if self.flat else "whole")


register_model(Lent)(ArrayModel)


@unbox(Lent)
def _read(lent: Lent, array: Any, c: Any) -> NativeValue:
    """Build what makes numba's struct of an array from NumPy's, without an owner."""
    builder, word = c.builder, ir.IntType(8 * WORD)
    integer, character = ir.IntType(32), ir.IntType(8)

    def at(struct: Any, offset: int, kind: Any) -> Any:
        place = builder.inttoptr(builder.add(struct, word(offset)), kind.as_pointer())
        return builder.load(place)

    struct = builder.ptrtoint(array, word)
    dtype, axes = at(struct, DTYPE, word), at(struct, AXES, integer)
    T = np.dtype(str(lent.dtype))
    same = [
        ("==", builder.and_(at(struct, FLAGS, integer), integer(PLAIN)), PLAIN),
        ("==", at(dtype, KIND, character), ord(T.kind)),
        ("==", at(dtype, ITEMSIZE, word), T.itemsize),
        ("!=", at(dtype, BYTE_ORDER, character), ord(SWAPPED)),
    ]
    if not lent.flat:
        same.append(("==", axes, lent.ndim))
    plain = cgutils.true_bit
    for relation, got, wanted in same:
        plain = builder.and_(plain, builder.icmp_unsigned(relation, got, got.type(wanted)))

    lengths = [cgutils.alloca_once_value(builder, word(0)) for _ in range(lent.ndim)]
    with builder.if_then(plain, likely=True):
        given = at(struct, SHAPE, word)
        if lent.flat:
            builder.store(word(1), lengths[0])
            with cgutils.for_range(builder, builder.zext(axes, word)) as axis:
                place = builder.add(given, builder.mul(axis.index, word(WORD)))
                nodes = builder.mul(builder.load(lengths[0]), at(place, 0, word))
                builder.store(nodes, lengths[0])
        else:
            for axis, length in enumerate(lengths):
                builder.store(at(given, WORD * axis, word), length)
    shape = [builder.load(length) for length in lengths]
    strides = [word(T.itemsize)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))

    made = c.context.make_array(lent)(c.context, builder)
    data = builder.inttoptr(at(struct, DATA, word), made.data.type)
    populate_array(made, data, shape, strides, strides[-1], meminfo=None)
    return NativeValue(made._getvalue())
