"""Registers of the processor as arrays: one text that is compiled or runs on NumPy.

A register holds some elements of one dtype, its lanes; one instruction computes in all of them:

    a               3   9   4   1   ..      a register of int32: 16 lanes where it has 64 bytes
    b               5   2   4   8   ..
    minimum(a, b)   3   2   4   1   ..      each lane by itself

Inside a ``traced`` function (see ``tracing``) a ``Vector`` stands for a register full of lanes, or
for a single number, and behaves as the NumPy array of its lanes does: operators, ``astype``,
``view``, ``dtype`` and ``size`` mean the same. Each operation adds an instruction to the kernel
that is being compiled. Without the compiler the same text gets NumPy arrays. The functions below
take either.

As in NumPy, an integer without a type such as ``a + 1`` takes the dtype of ``a``, and integers
wrap. Unlike NumPy, two vectors of different dtypes are refused instead of promoted.
"""

import numpy as np
from llvmlite import ir

from .processor import REGISTER_BYTES, features

# LLVM's type of the number of a lane.
LANE_NUMBER = ir.IntType(32)
# By operator, the methods of LLVM's builder that add it: for integers, for floats.
ARITHMETIC = {
    "add": ("add", "fadd"), "sub": ("sub", "fsub"), "mul": ("mul", "fmul"),
    "truediv": (None, "fdiv"), "and": ("and_", None), "or": ("or_", None),
    "xor": ("xor", None), "lshift": ("shl", None),
}  # fmt: skip
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def lanes(dtype):
    """Return how many elements of a dtype fill a register."""
    return REGISTER_BYTES // np.dtype(dtype).itemsize


def llvm_type(dtype, size=0):
    """Return LLVM's type of a vector of ``size`` lanes of a dtype, or with size 0 of one number."""
    if dtype.kind == "f":
        element = ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
    else:
        element = ir.IntType(1 if dtype.kind == "b" else 8 * dtype.itemsize)
    return ir.VectorType(element, size) if size else element


class Vector:
    """``size`` lanes of a NumPy dtype, or with ``size`` 0 one number.

    ``builder`` is LLVM's, which adds instructions; ``value`` is its name for the lanes. A vector
    of more lanes than a register has is several registers.
    """

    __slots__ = ("builder", "dtype", "size", "value")
    __hash__ = object.__hash__

    def __init__(self, builder, value, dtype):
        self.builder, self.value, self.dtype = builder, value, np.dtype(dtype)
        self.size = value.type.count if isinstance(value.type, ir.VectorType) else 0

    def constant(self, number):
        """Return a number in this vector's dtype, in each of its lanes."""
        number = self.dtype.type(number).item()
        type_ = llvm_type(self.dtype, self.size)
        value = ir.Constant(type_, [number] * self.size if self.size else number)
        return Vector(self.builder, value, self.dtype)

    def _match(self, other):
        """Return the other operand, a number or a vector, with as many lanes as this one has."""
        if not isinstance(other, Vector):
            return self.constant(other)
        if other.dtype != self.dtype:
            raise TypeError(f"operands have dtypes {self.dtype} and {other.dtype}: use astype")
        return other if other.size == self.size else other.spread(self.size)

    def spread(self, size):
        """Return a vector with this number in each lane."""
        empty = ir.Constant(llvm_type(self.dtype, size), ir.Undefined)
        first = self.builder.insert_element(empty, self.value, LANE_NUMBER(0))
        zeros = ir.Constant(ir.VectorType(LANE_NUMBER, size), None)
        return Vector(self.builder, self.builder.shuffle_vector(first, empty, zeros), self.dtype)

    def astype(self, dtype):
        """Return the values in another dtype: truncated, extended or converted."""
        dtype = np.dtype(dtype)
        old, new = self.dtype, dtype
        if old == new:
            return self
        unsigned = old.kind in "ub"
        if old.kind == new.kind == "f":
            name = "fpext" if new.itemsize > old.itemsize else "fptrunc"
        elif old.kind == "f":
            name = "fptosi" if new.kind == "i" else "fptoui"
        elif new.kind == "f":
            name = "uitofp" if unsigned else "sitofp"
        elif old.kind == "b" or new.itemsize > old.itemsize:
            name = "zext" if unsigned else "sext"
        elif new.itemsize < old.itemsize:
            name = "trunc"
        else:
            # Signed and unsigned integers of one width are the same to LLVM.
            return Vector(self.builder, self.value, dtype)
        value = getattr(self.builder, name)(self.value, llvm_type(dtype, self.size))
        return Vector(self.builder, value, dtype)

    def view(self, dtype):
        """Return the same bits read as another dtype, of the same width."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise TypeError(f"cannot view {self.dtype} as {dtype}")
        value = self.builder.bitcast(self.value, llvm_type(dtype, self.size))
        return Vector(self.builder, value, dtype)

    def _arithmetic(self, name, other):
        if not self.size and getattr(other, "size", 0):
            # A number and a register: the number is spread over the lanes first.
            return other._match(self)._arithmetic(name, other)
        other = self._match(other)
        method = ARITHMETIC[name][self.dtype.kind == "f"]
        return Vector(
            self.builder, getattr(self.builder, method)(self.value, other.value), self.dtype
        )

    def _compare(self, sign, other):
        other = self._match(other)
        kinds = {"f": "fcmp_ordered", "i": "icmp_signed", "u": "icmp_unsigned"}
        name = kinds.get(self.dtype.kind, "icmp_unsigned")
        if sign == "!=" and self.dtype.kind == "f":
            # NaN differs from everything; all other comparisons with it are false.
            name = "fcmp_unordered"
        return Vector(
            self.builder, getattr(self.builder, name)(sign, self.value, other.value), np.bool_
        )

    def _by_sign(self, signed, unsigned, other):
        """Return what one of two of the builder's methods makes of integers, by their dtype."""
        name = signed if self.dtype.kind == "i" else unsigned
        other = self._match(other)
        return Vector(
            self.builder, getattr(self.builder, name)(self.value, other.value), self.dtype
        )

    def __rshift__(self, other):
        return self._by_sign("ashr", "lshr", other)

    def __floordiv__(self, other):
        # Truncated: NumPy rounds down, which is the same where neither operand is negative.
        return self._by_sign("sdiv", "udiv", other)

    def __mod__(self, other):
        return self._by_sign("srem", "urem", other)

    def __neg__(self):
        negate = self.builder.fneg if self.dtype.kind == "f" else self.builder.neg
        return Vector(self.builder, negate(self.value), self.dtype)

    def __invert__(self):
        return Vector(self.builder, self.builder.not_(self.value), self.dtype)

    def __rsub__(self, other):
        return self.constant(other) - self

    def __rlshift__(self, other):
        return self.constant(other) << self

    def __rtruediv__(self, other):
        return self.constant(other) / self


def _operator(name):
    return lambda self, other: self._arithmetic(name, other)


def _comparison(sign):
    return lambda self, other: self._compare(sign, other)


for _name in ARITHMETIC:
    setattr(Vector, f"__{_name}__", _operator(_name))
for _name in ("add", "mul", "and", "or", "xor"):
    setattr(Vector, f"__r{_name}__", _operator(_name))
for _name, _sign in COMPARISONS.items():
    setattr(Vector, f"__{_name}__", _comparison(_sign))


def is_traced(*operands):
    """Tell whether any of the operands is a ``Vector``."""
    return any(isinstance(operand, Vector) for operand in operands)


def spread(number, like):
    """Return a vector with a number in each lane, of the dtype and size of another one."""
    if not isinstance(like, Vector):
        # With ``[()]`` a number gives a number, not an array without axes.
        return np.full_like(like, number)[()]
    if isinstance(number, Vector):
        number = number.astype(like.dtype)
        return number.spread(like.size) if like.size else number
    return like.constant(number)


def select(mask, a, b):
    """Return ``a`` where the mask is true and ``b`` elsewhere, as ``numpy.where`` does.

    ``a`` or ``b`` may be an integer without a type; a mask may also be one truth value.
    """
    if not is_traced(mask, a, b):
        like = a if isinstance(a, np.ndarray | np.generic) else b
        dtype = getattr(like, "dtype", None)
        # With ``[()]`` numbers give a number, not an array without axes.
        return (np.where(mask, a, b) if dtype is None else np.where(mask, a, b).astype(dtype))[()]
    a = a if isinstance(a, Vector) else b.constant(a)
    b = a._match(b)
    return Vector(a.builder, a.builder.select(mask.value, a.value, b.value), a.dtype)


def any_lane(mask):
    """Tell whether a mask is true in any lane."""
    if not isinstance(mask, Vector):
        return np.any(mask)
    if not mask.size:
        return mask
    bits = ir.IntType(mask.size)
    value = mask.builder.bitcast(mask.value, bits)
    return Vector(mask.builder, mask.builder.icmp_unsigned("!=", value, bits(0)), np.bool_)


def minimum(a, b):
    """Return the lesser of two values in each lane."""
    return select(a < b, a, b) if is_traced(a, b) else np.minimum(a, b)


def maximum(a, b):
    """Return the greater of two values in each lane."""
    return select(a > b, a, b) if is_traced(a, b) else np.maximum(a, b)


def absolute(a):
    """Return absolute values; the least integer stays as it is."""
    if is_traced(a) and a.dtype.kind == "i":
        # LLVM makes one instruction of this form.
        return select(a < 0, -a, a)
    return maximum(a, -a)


def shuffle(a, b, order):
    """Return the lanes numbered in ``order``: those of ``b`` count from ``a.size`` on."""
    if not isinstance(a, Vector):
        return np.concatenate((a, b))[list(order)]
    mask = ir.Constant(ir.VectorType(LANE_NUMBER, len(order)), list(order))
    return Vector(a.builder, a.builder.shuffle_vector(a.value, b.value, mask), a.dtype)


def permute(a, order):
    """Return the lanes of one vector that are numbered in ``order``, in that order."""
    return shuffle(a, a, order)


def lane(a, number):
    """Return the number in one lane."""
    if not isinstance(a, Vector):
        return a[number]
    return Vector(a.builder, a.builder.extract_element(a.value, LANE_NUMBER(number)), a.dtype)


def concatenate(parts):
    """Return 1, 2, 4, .. vectors of one size, joined into a wider one."""
    while len(parts) > 1:
        parts = [
            shuffle(a, b, range(2 * a.size)) for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def split(a, size):
    """Return a vector's parts of ``size`` lanes each."""
    return [permute(a, range(start, start + size)) for start in range(0, a.size, size)]


def reduce(parts, join):
    """Return one value: ``join`` takes values in pairs, and the results in pairs again.

    A chain would make each instruction wait for the one before. An odd one is paired later.
    """
    parts = list(parts)
    while len(parts) > 1:
        pairs = [join(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(parts) & ~1 :]
    return parts[0]


def reduce_lanes(a, join):
    """Return one number: ``join`` takes the lanes in pairs; their number is a power of 2."""
    while a.size > 1:
        half = a.size // 2
        a = join(permute(a, range(half)), permute(a, range(half, 2 * half)))
    return lane(a, 0)


def add(a, b):
    """Return the sum, for ``reduce`` and ``update``."""
    return a + b


def machine(name, dtype, *operands):
    """Return what LLVM's intrinsic ``name`` makes of vectors of one size, in a dtype."""
    builder, types = operands[0].builder, [operand.value.type for operand in operands]
    result = llvm_type(np.dtype(dtype), operands[0].size)
    declared = builder.module.declare_intrinsic(name, (), ir.FunctionType(result, types))
    return Vector(builder, builder.call(declared, [o.value for o in operands]), dtype)


def fused_multiply_add(a, b, c):
    """Return ``a * b + c`` of floats, rounded once, on every processor.

    One that lacks the instruction calls the C library for each lane. Without the compiler the
    result is right where ``a * b`` is exact in longdouble: 64 bits on x86.
    """
    if not isinstance(a, Vector):
        wide = [np.asarray(x, np.longdouble) for x in (a, b, c)]
        return (wide[0] * wide[1] + wide[2]).astype(a.dtype)
    b, c = a._match(b), a._match(c)
    return machine(f"llvm.fma.v{a.size}f{8 * a.dtype.itemsize}", a.dtype, a, b, c)


# The feature that a processor must have, LLVM's name of its instruction, lanes of 16 bits.
ROUNDED_PRODUCTS = (
    ("+avx512bw", "llvm.x86.avx512.pmul.hr.sw.512", 32),
    ("+avx2", "llvm.x86.avx2.pmul.hr.sw", 16),
    ("+ssse3", "llvm.x86.ssse3.pmul.hr.sw.128", 8),
)


def rounded_product(a, b):
    """Return ``a * b / 2**15`` of 16-bit integers, rounded: ``((a * b >> 14) + 1) >> 1``."""
    if isinstance(a, Vector):
        b = a._match(b)
        for feature, name, size in ROUNDED_PRODUCTS:
            if feature in features() and a.size >= size:
                pairs = zip(split(a, size), split(b, size), strict=True)
                return concatenate([machine(name, a.dtype, *pair) for pair in pairs])
    wide = a.astype(np.int32) * (b.astype(np.int32) if hasattr(b, "astype") else b)
    return (((wide >> 14) + 1) >> 1).astype(np.int16)


def lane_numbers(like):
    """Return a vector of 0, 1, 2, .. of the dtype and size of another one, of integers."""
    if not isinstance(like, Vector):
        return np.arange(like.size, dtype=like.dtype)
    value = ir.Constant(llvm_type(like.dtype, like.size), list(range(like.size)))
    return Vector(like.builder, value, like.dtype)
