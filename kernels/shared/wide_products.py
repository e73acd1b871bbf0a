"""Full products of unsigned 64-bit numbers: 128 bits, as a high and a low word."""

from llvmlite import ir

from .vectors import Vector, is_traced

LOW_HALF = 0xFFFFFFFF


def wide_product(a, b):
    """Return the high and the low word of ``a * b``, uint64; ``b`` may be a Python integer.

    Registers multiply halves of words by long multiplication, as no instruction multiplies whole
    words side by side; ``middle`` and ``crossed`` are the mixed products and carries:

        a_high a_low * b_high b_low = low + 2**32 (middle + crossed) + 2**64 high
    """
    if is_traced(a) and not a.size:
        return _of_numbers(a, a._match(b))
    a_low, a_high = a & LOW_HALF, a >> 32
    b_low, b_high = b & LOW_HALF, b >> 32
    low = a_low * b_low
    middle = a_high * b_low + (low >> 32)
    crossed = a_low * b_high + (middle & LOW_HALF)
    high = a_high * b_high + (middle >> 32) + (crossed >> 32)
    return high, crossed << 32 | low & LOW_HALF


def _of_numbers(a, b):
    """Return (high, low) of two numbers, for which processors have an instruction."""
    builder, double = a.builder, ir.IntType(128)
    product = builder.mul(builder.zext(a.value, double), builder.zext(b.value, double))
    high = builder.lshr(product, ir.Constant(double, 64))
    return tuple(Vector(builder, builder.trunc(x, a.value.type), a.dtype) for x in (high, product))
