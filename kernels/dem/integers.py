"""Dimension exchange (Wu-Shu Fig. 1) of many or large integers, in the narrowest lanes they fit.

No load grows past the largest, so what fits at first fits throughout. Loads are computed in

    below 2**14               16-bit integers: half of a difference is one rounded product
    below 2**23 (32 bits)     floats: an exchange is three operations (``_exchange_floats``)
    below 2**52 (64 bits)     the same
    others                    their own dtype, 16-bit loads in 32 bits

Cubes are balanced block by block in the L1 cache: low bits in registers, the others up to a block
between rows of them (``balance``). In larger cubes (``balance_in_bytes``) the loads of a block now
differ by its bits at most. They become bytes: by how much they exceed a base, the block's first.

    block     0        1        2        3      ..      each: base, and a byte a node
    link        base 0 - base 1   base 2 - base 3       bit 0 between blocks
                   base 01     -      base 23           bit 1

Two blocks meet about the mean of their bases, which becomes the base of both: an exchange of bytes
needs only the difference of both bases, their link. So a register holds 64 nodes and memory an
eighth: chunks are balanced in the L2 cache, then the rest between chunks, in one pass for every
three bits, and bytes become loads again.
"""

import numpy as np
from numba import config, types

from ..shared.compiling import inlined, kernel
from ..shared.cubes import balance_registers, balance_rows
from ..shared.exchange import exchange, links
from ..shared.processor import REGISTER_BYTES, REGISTERS, features
from ..shared.tracing import fori, traced
from ..shared.vectors import (
    concatenate,
    fused_multiply_add,
    lane,
    lanes,
    maximum,
    minimum,
    rounded_product,
    split,
    spread,
)  # fmt: skip
from ..shared.views import overlap

# The status of arrays that overlap without being the same.
OVERLAP = -(2**63)
# Loads up to here fit 16-bit lanes.
SMALL_TOP = 2**14 - 1
# A float lane holds a load with this added: floats from there on are one apart up to twice as much.
BIAS = {4: 2**23, 8: 2**52}
# Bytes of the lanes of a block, which is balanced in the L1 cache.
BLOCK_BYTES = 2**14
# Nodes whose bytes are balanced while they are in the L2 cache.
CHUNK = 2**19
# What a byte holds for a load that equals its base. After k bits the loads of 2**k nodes differ by
# k at most, so that bytes are 1 at least in blocks of up to 15 bits, and grow by one a bit at most.
RAISED = 16
# More than two bytes of a cube that fits a memory differ by. Bases further apart than that are as
# good as FAR apart, or FAR + 1 if their difference is odd.
FAR = 64
# Bytes of a register, which holds as many nodes of a block.
BYTES = REGISTER_BYTES
# Float lanes need a fused multiply-add: elsewhere it is a call of the C library for every lane.
FUSED = not config.DISABLE_JIT and not {"+fma", "+neon"}.isdisjoint(features())
# Bits balanced between registers at a time.
PASS_BITS = 4 if REGISTERS == 32 else 3


def _exchange_small(a, b):
    """Exchange 16-bit loads up to SMALL_TOP: half of d is ``((d * SMALL_TOP >> 14) + 1) >> 1``."""
    sent = rounded_product(a - b, SMALL_TOP)
    return a - sent, b + sent


def _exchange_floats(a, b):
    """Exchange floats ``2**p + load``, p = 23 or 52, with two fused multiply-adds.

    ``d = a - b`` is exact; h is the float below 1/2, ``1/2 - 2**-(p+2)``. So ``a - h d`` is the
    mean and ``d / 2**(p+2)``, less than 1/4, rounded once, to an integer: an even d gives the mean,
    an odd one half a unit more if a is the larger, else less; ``b + h d`` the reverse.
    """
    half = np.nextafter(a.dtype.type(0.5), 0, dtype=a.dtype).item()
    d = a - b
    return fused_multiply_add(d, -half, a), fused_multiply_add(d, half, b)


def _rule(dtype):
    """Return the exchange of lanes of a dtype."""
    if dtype.kind == "f":
        return _exchange_floats
    return _exchange_small if dtype.itemsize == 2 else exchange


def _to_lanes(loads, dtype):
    """Return loads in the dtype of lanes."""
    if dtype.kind != "f":
        return loads.astype(dtype)
    bias = np.array(BIAS[dtype.itemsize], dtype).view(loads.dtype).item()
    return (loads | bias).view(dtype)


def _to_loads(values, dtype):
    """Return lanes in the dtype of loads."""
    if values.dtype.kind != "f" or dtype.kind == "f":
        return values.astype(dtype)
    bias = np.array(BIAS[dtype.itemsize], values.dtype).view(dtype).item()
    return values.view(dtype) ^ bias


def _registers(dtype):
    """Return how many registers are balanced at a time: more do not fit, fewer wait."""
    return 8 if dtype.itemsize == 2 else REGISTERS // 2


@traced()
def _low(source, base, target, place, like, n):
    """Balance the low n bits of some registers' nodes, in lanes of the dtype of ``like``.

    They are loads of ``source`` from ``base`` on, and loads or lanes of ``target`` from ``place``
    on.
    """
    width = lanes(like.dtype)
    starts = range(0, width * _registers(like.dtype), width)
    rows = [_to_lanes(source.load(base + start, width), like.dtype) for start in starts]
    rows = balance_registers(rows, n, _rule(like.dtype))
    for start, row in zip(starts, rows, strict=True):
        target.store(place + start, _to_loads(row, target.dtype))


@traced("bits")
def _across(scratch, start, first, target, place, size, bits):
    """Exchange along ``bits`` bits of lanes, from bit ``first`` on, between rows in registers.

    ``size`` lanes of ``scratch`` become lanes or loads of ``target`` from ``place`` on.
    """
    rule, width = _rule(scratch.dtype), lanes(scratch.dtype)

    def columns(i):
        base = ((i >> first) << (first + bits)) | (i & ((1 << first) - 1))
        places = [base + (r << first) for r in range(1 << bits)]
        rows = balance_rows([scratch.load(start + at, width) for at in places], rule)
        for at, row in zip(places, rows, strict=True):
            if target.dtype != scratch.dtype:
                # The place of the next block's row.
                target.prefetch(place + at + 4 * width, width, to_write=True)
            target.store(place + at, _to_loads(row, target.dtype))

    fori(size >> bits, columns, step=width)


@traced()
def _pack(scratch, octets, place, bases, block):
    """Turn a block of lanes into bytes from ``place`` on, and set its base."""
    width, size = lanes(scratch.dtype), scratch.shape[0]
    dtype = bases.dtype if scratch.dtype.kind == "f" else scratch.dtype
    first = lane(_to_loads(scratch.load(0), dtype), 0)
    bases[block] = first

    def pack(i):
        rows = [_to_loads(scratch.load(i + at), dtype) for at in range(0, BYTES, width)]
        parts = [(row - spread(first, row) + RAISED).astype(np.uint8) for row in rows]
        octets.store(place + i, concatenate(parts))

    fori(size, pack, step=BYTES)


@traced()
def _unpack(octets, place, target, start, base, nodes):
    """Turn bytes from ``place`` on into loads, the highest first: they overwrite bytes."""
    width = lanes(target.dtype)

    def unpack(i):
        low = nodes - BYTES - i
        parts = split(octets.load(place + low), width)
        for at, part in zip(range(0, BYTES, width), parts, strict=True):
            load = part.astype(target.dtype)
            target.prefetch(start + low + at - 512, width, to_write=True)
            target.store(start + low + at, load + spread(base, load) - RAISED)

    fori(nodes, unpack, step=BYTES)


@traced("bits")
def _across_bytes(octets, base, stride, table, bits):
    """Exchange along ``bits`` bits between rows of ``stride`` bytes from ``base`` on.

    ``table`` holds the links of the first bit, then those of the next.
    """

    def raises(number):
        """Return what a link adds to both bytes before an exchange, and what is taken off after."""
        link = spread(table[number], octets.load(base).view(np.int8))
        ahead = maximum(link, spread(0, link)).view(np.uint8)
        behind = maximum(-link, spread(0, link)).view(np.uint8)
        return ahead, behind, (ahead + behind) >> 1

    pairs = [(r, s, bit) for bit in range(bits) for r, s in links(bits, bit)]
    numbers = [(1 << bits) - (1 << bits - bit) + (r >> bit + 1) for r, _, bit in pairs]
    raised = {number: raises(number) for number in sorted(set(numbers))}

    def columns(i):
        rows = [octets.load(base + r * stride + i) for r in range(1 << bits)]
        for (r, s, _), number in zip(pairs, numbers, strict=True):
            rows[r], rows[s] = _exchange_bytes(rows[r], rows[s], *raised[number])
        for r, row in enumerate(rows):
            octets.store(base + r * stride + i, row)

    fori(stride, columns, step=BYTES)


def _exchange_bytes(a, b, ahead, behind, half):
    """Exchange bytes of two blocks; both then count from the mean of the blocks' bases.

    The larger keeps an odd unit: half the sum, rounded up, after b has lost one where it is larger.
    """
    a, b = a + ahead, b + behind
    lower = maximum(minimum(a, b), b - 1)
    first = ((a.astype(np.uint16) + lower.astype(np.uint16) + 1) >> 1).astype(np.uint8)
    return first - half, a + b - first - half


@inlined
def _survey(source, target, largest):
    """Return 0 if loads may be balanced: legal, up to ``largest``, and not overlapping the target.

    Otherwise the bitwise or of all loads, as wide as the largest and negative if any load is, or
    ``OVERLAP``.
    """
    result = source.dtype.type(0)
    for i in range(source.size):
        result |= source[i]
    if overlap(source, target):
        return np.int64(OVERLAP)
    return np.int64(0) if 0 <= result <= largest else np.int64(result)


@inlined
def _between_rows(scratch, start, low, n, target, place, nodes):
    """Balance the bits from ``low`` to below n of lanes; the last three of them into ``target``."""
    bit = low
    while bit + PASS_BITS < n:
        _across(scratch, start, bit, scratch, start, nodes, PASS_BITS)
        bit += PASS_BITS
    if n - bit == 4:
        _across(scratch, start, bit, target, place, nodes, 4)
    elif n - bit == 3:
        _across(scratch, start, bit, target, place, nodes, 3)
    elif n - bit == 2:
        _across(scratch, start, bit, target, place, nodes, 2)
    else:
        _across(scratch, start, bit, target, place, nodes, 1)


@kernel
def balance(source, target, like, n, largest):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``. Lanes are of the dtype of ``like``, which is the target seen as
    that if they are as wide as loads. A cube is no larger than a block, ``2**n * like.itemsize <=
    BLOCK_BYTES``. Returns what ``_survey`` tells of loads up to ``largest``, which lanes must hold;
    writes nothing unless that is 0. With ``largest`` 0 loads are not looked at.
    """
    status = _survey(source, target, largest) if largest > 0 else np.int64(0)
    if status != 0:
        return status
    low_bits = register_bits(like)
    low, size = 1 << low_bits, source.size
    block = BLOCK_BYTES // like.itemsize
    if n > low_bits:
        inside = like.size == size
        scratch = like if inside else np.empty(block, like.dtype)
        for start in range(0, size, block):
            at = start if inside else 0
            nodes = min(block, size - start)
            for base in range(0, nodes, low):
                _low(source, start + base, scratch, at + base, like, low_bits)
            _between_rows(scratch, at, low_bits, n, target, start, nodes)
        return status
    whole = size // low * low
    for base in range(0, whole, low):
        _low(source, base, target, base, like, n)
    if whole < size:
        rest = np.zeros(low, source.dtype)
        for i in range(whole, size):
            rest[i - whole] = source[i]
        _low(rest, 0, rest, 0, like, n)
        for i in range(whole, size):
            target[i] = rest[i - whole]
    return status


@kernel
def balance_in_bytes(source, target, like, n, largest):
    """Do the same with cubes larger than a block. Their bytes lie in front of their loads."""
    status = _survey(source, target, largest) if largest > 0 else np.int64(0)
    if status != 0:
        return status
    octets = target.view(np.uint8)
    low_bits = register_bits(like)
    block = BLOCK_BYTES // like.itemsize
    block_bits = low_bits
    while 1 << block_bits < block:
        block_bits += 1
    nodes = 1 << n
    chunk = min(nodes, CHUNK)
    scratch = np.empty(block, like.dtype)
    bases = np.empty(chunk // block, target.dtype)
    roots = np.empty(nodes // chunk, target.dtype)
    table = np.empty(7, np.int8)
    for start in range(0, source.size, nodes):
        place = start * target.itemsize
        for c in range(roots.size):
            for b in range(bases.size):
                at = c * chunk + b * block
                for base in range(0, block, 1 << low_bits):
                    _low(source, start + at + base, scratch, base, like, low_bits)
                _between_rows(scratch, 0, low_bits, block_bits, scratch, 0, block)
                _pack(scratch, octets, place + at, bases, b)
            _between_blocks(octets, place + c * chunk, block, bases, table)
            roots[c] = bases[0]
        _between_blocks(octets, place, chunk, roots, table)
        _unpack(octets, place, target, start, roots[0], nodes)
    return status


@kernel
def _between_blocks(octets, place, stride, bases, table):
    """Balance bytes between blocks of ``stride`` nodes; the first base becomes that of all."""
    count = bases.size
    while count > 1:
        bits = 3 if count >= 8 else 2 if count == 4 else 1
        for s in range(count >> bits):
            _set_links(bases, s, bits, table)
            base = place + s * (stride << bits)
            if bits == 3:
                _across_bytes(octets, base, stride, table, 3)
            elif bits == 2:
                _across_bytes(octets, base, stride, table, 2)
            else:
                _across_bytes(octets, base, stride, table, 1)
        stride <<= bits
        count >>= bits


@inlined
def _set_links(bases, group, bits, table):
    """Set the links of ``2**bits`` blocks, bit by bit, and the base of their group.

    A link is by how much the first base is the larger, or as far and as odd as that.
    """
    one, far = bases.dtype.type(1), bases.dtype.type(FAR)
    first, number, half = group << bits, 0, 1 << bits - 1
    while half > 0:
        for m in range(half):
            a, b = bases[first + 2 * m], bases[first + 2 * m + 1]
            lower = min(a, b)
            apart = max(a, b) - lower
            bases[first + m] = lower + (apart >> one)
            link = np.int8(apart if apart < far else far + (apart & one))
            table[number + m] = link if a > b else -link
        number += half
        half >>= 1
    bases[group] = bases[first]


@traced(returns=types.int64)
def register_bits(like):
    """Return the bits of as many nodes as are balanced in registers at a time."""
    return (lanes(like.dtype) * _registers(like.dtype)).bit_length() - 1
