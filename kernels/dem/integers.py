"""Dimension exchange (Wu-Shu Fig. 1) of many or large integers, in the narrowest lanes they fit.

No load grows past the largest, so what fits at first fits throughout. Loads are computed in

    below 2**14                        16-bit integers: half of a difference is a rounded product
    below 2**23, of 32-bit loads       float32: an exchange is three operations (_exchange_floats)
    below 2**52, of 64-bit loads       float64, likewise
    others                             their own dtype, 16-bit loads in 32 bits

Cubes lie one after another, node 0 first. They are balanced block by block in the L1 cache: low
bits in registers, the others up to a block between rows of registers (``balance``). In larger cubes
(``balance_in_bytes``) the loads of a block then differ by the number of its bits at most. They
become bytes: by how much a load exceeds the block's base, which is its first load.

    block      0        1        2        3     ..      each has a base, and a byte a node
    offset      base 0 - base 1   base 2 - base 3       along bit 0 of the blocks' numbers
    offset         base 01     -      base 23           along bit 1

Two blocks that exchange get the mean of their bases as the base of both, so that an exchange of
bytes needs only the difference of both bases, their offset. A register of 64 bytes holds 64 nodes,
and memory passes an eighth: chunks of blocks are balanced in the L2 cache, then the bits between
chunks, in one pass for every three bits, and bytes become loads again.
"""

import numpy as np
from numba import config, types

from ..shared.compiling import inlined, kernel
from ..shared.cubes import balance_registers, balance_rows
from ..shared.exchange import exchange, links
from ..shared.interrupts import interrupted, long_kernel, new_meter
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

# The status for arrays that overlap without being the same.
OVERLAP = -(2**63)
# Loads up to here fit 16-bit lanes.
SMALL_TOP = 2**14 - 1
# A float lane of so many bytes holds a load plus this. Between it and twice as much neighbouring
# floats are 1 apart: the bits of such a float are those of the bias, with the load or'ed to them.
BIAS = {4: 2**23, 8: 2**52}
# Nodes of a block, which is balanced in the L1 cache, by the bytes of a lane.
BLOCK_NODES = {2: 2**14, 4: 2**12, 8: 2**11}
# Nodes of a chunk: their bytes are balanced while they are in the L2 cache.
CHUNK_NODES = 2**19
# The byte of a load that equals its base. After k bits the loads of 2**k nodes differ by k at most,
# so that bytes are 1 at least in blocks of up to 15 bits, and grow by one a bit at most.
BYTE_OF_BASE = 16
# Two bytes of one cube differ by less than this. An exchange between bases further apart moves
# bytes as between bases FAR apart, or FAR + 1 if the difference is odd.
FAR = 64
# Bytes of a register, which holds as many nodes of a block: one byte each.
BYTES = REGISTER_BYTES
# Float lanes need a fused multiply-add: elsewhere it is a call of the C library for every lane.
FUSED = not config.DISABLE_JIT and not {"+fma", "+neon"}.isdisjoint(features())
# Bits balanced between registers at a time.
BITS_A_PASS = 4 if REGISTERS == 32 else 3


def _exchange_small(a, b):
    """Exchange 16-bit loads up to SMALL_TOP.

    Half of d = a - b towards 0 is ``((d * SMALL_TOP >> 14) + 1) >> 1``, one instruction.
    """
    sent = rounded_product(a - b, SMALL_TOP)
    return a - sent, b + sent


def _exchange_floats(a, b):
    """Exchange floats ``2**p + load``, p = 23 or 52, with two fused multiply-adds.

    ``d = a - b`` is exact; h is the float below 1/2, ``1/2 - 2**-(p+2)``. So ``a - h d`` is the
    mean plus ``d / 2**(p+2)``, which is less than 1/4, rounded once, to an integer: for an even d
    the mean, for an odd one half a unit more if a is the larger, else half a unit less. ``b + h d``
    is the reverse.
    """
    half = np.nextafter(a.dtype.type(0.5), 0, dtype=a.dtype).item()
    d = a - b
    return fused_multiply_add(d, -half, a), fused_multiply_add(d, half, b)


def _rule(dtype):
    """Return the rule of exchange for lanes of a dtype; see ``cubes``."""
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
    """Return how many registers are balanced at a time; fewer would wait for each other."""
    return 8 if dtype.itemsize == 2 else REGISTERS // 2


@traced()
def _low(source, base, target, place, like, n):
    """Balance the low n bits of the next ``2**register_bits(like)`` nodes, in registers.

    Loads of ``source`` from index ``base`` on become lanes or loads of ``target``, by its dtype,
    from index ``place`` on. Lanes are of the dtype of ``like``.
    """
    width = lanes(like.dtype)
    starts = range(0, width * _registers(like.dtype), width)
    rows = [_to_lanes(source.load(base + start, width), like.dtype) for start in starts]
    rows = balance_registers(rows, n, _rule(like.dtype))
    for start, row in zip(starts, rows, strict=True):
        target.store(place + start, _to_loads(row, target.dtype))


@traced("bits")
def _across(scratch, start, first, target, place, size, bits):
    """Exchange along bits ``first`` to ``first + bits - 1`` of the nodes, between registers.

    ``size`` lanes of ``scratch`` from ``start`` on become lanes or loads of ``target``, by its
    dtype, from ``place`` on.
    """
    rule, width = _rule(scratch.dtype), lanes(scratch.dtype)

    def columns(i):
        # Node i of those that have none of these bits.
        base = ((i >> first) << (first + bits)) | (i & ((1 << first) - 1))
        places = [base + (r << first) for r in range(1 << bits)]
        rows = balance_rows([scratch.load(start + at, width) for at in places], rule)
        for at, row in zip(places, rows, strict=True):
            if target.dtype != scratch.dtype:
                # What is written four turns later.
                target.prefetch(place + at + 4 * width, width, to_write=True)
            target.store(place + at, _to_loads(row, target.dtype))

    fori(size >> bits, columns, step=width)


@traced()
def _pack(scratch, octets, place, bases, block):
    """Turn a block of lanes, ``scratch``, into bytes from ``place`` on; set ``bases[block]``."""
    width, size = lanes(scratch.dtype), scratch.shape[0]
    dtype = bases.dtype if scratch.dtype.kind == "f" else scratch.dtype
    first = lane(_to_loads(scratch.load(0), dtype), 0)
    bases[block] = first

    def pack(i):
        rows = [_to_loads(scratch.load(i + at), dtype) for at in range(0, BYTES, width)]
        parts = [(row - spread(first, row) + BYTE_OF_BASE).astype(np.uint8) for row in rows]
        octets.store(place + i, concatenate(parts))

    fori(size, pack, step=BYTES)


@traced()
def _unpack(octets, place, target, start, base, nodes):
    """Turn the bytes of a cube from ``place`` on into loads of ``target`` from ``start`` on.

    Both begin at the same address, so the highest node comes first: its load overwrites bytes of
    nodes whose loads are there already.
    """
    width = lanes(target.dtype)

    def unpack(i):
        low = nodes - BYTES - i
        parts = split(octets.load(place + low), width)
        for at, part in zip(range(0, BYTES, width), parts, strict=True):
            load = part.astype(target.dtype)
            target.prefetch(start + low + at - 512, width, to_write=True)
            target.store(start + low + at, load + spread(base, load) - BYTE_OF_BASE)

    fori(nodes, unpack, step=BYTES)


@traced("bits")
def _across_bytes(octets, base, stride, offsets, bits):
    """Exchange along ``bits`` bits between ``2**bits`` blocks of ``stride`` bytes from ``base`` on.

    ``offsets`` (7,) int8 holds those of the first bit, 2**(bits - 1), then those of the next.
    """

    def terms(number):
        """Return what is added to either byte before an exchange, and what is subtracted after."""
        offset = spread(offsets[number], octets.load(base).view(np.int8))
        ahead = maximum(offset, spread(0, offset)).view(np.uint8)
        behind = maximum(-offset, spread(0, offset)).view(np.uint8)
        return ahead, behind, (ahead + behind) >> 1

    pairs = [(r, s, bit) for bit in range(bits) for r, s in links(bits, bit)]
    # Pairs along a bit whose lower bits alone differ have one offset: these blocks have met.
    numbers = [(1 << bits) - (1 << bits - bit) + (r >> bit + 1) for r, _, bit in pairs]
    terms_of = {number: terms(number) for number in sorted(set(numbers))}

    def columns(i):
        rows = [octets.load(base + r * stride + i) for r in range(1 << bits)]
        for (r, s, _), number in zip(pairs, numbers, strict=True):
            rows[r], rows[s] = _exchange_bytes(rows[r], rows[s], *terms_of[number])
        for r, row in enumerate(rows):
            octets.store(base + r * stride + i, row)

    fori(stride, columns, step=BYTES)


def _exchange_bytes(a, b, ahead, behind, half):
    """Exchange bytes of two blocks; both then count from the mean of the blocks' bases.

    ``ahead`` or ``behind`` is 0, the other one by how much the bases differ: with them added, both
    bytes count from the lower base. The larger keeps an odd unit: a becomes half the sum, rounded
    up, with b one less where b is the larger.
    """
    a, b = a + ahead, b + behind
    lower = maximum(minimum(a, b), b - 1)
    first = ((a.astype(np.uint16) + lower.astype(np.uint16) + 1) >> 1).astype(np.uint8)
    return first - half, a + b - first - half


@inlined
def _survey(source, target, largest):
    """Return 0 if loads may be balanced: from 0 to ``largest``, 2**p - 1, and no arrays overlap.

    Otherwise ``OVERLAP``, or the bitwise or of all loads: it has as many bits as the largest load,
    and is negative if any load is.
    """
    result = source.dtype.type(0)
    for i in range(source.size):
        result |= source[i]
    if overlap(source, target):
        return np.int64(OVERLAP)
    return np.int64(0) if 0 <= result <= largest else np.int64(result)


@inlined
def _between_rows(scratch, start, low, n, target, place, nodes):
    """Balance bits ``low`` to n - 1 of lanes; the last four or fewer of them into ``target``."""
    bit = low
    while bit + BITS_A_PASS < n:
        _across(scratch, start, bit, scratch, start, nodes, BITS_A_PASS)
        bit += BITS_A_PASS
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

    ``target`` may be ``source``. ``like`` has the dtype of lanes: it is ``target`` viewed so, where
    lanes lie then, or any array of another size, and a scratch holds them. A cube is no larger than
    a block. Returns what ``_survey`` does for loads up to ``largest``, which lanes must hold, and
    writes nothing unless that is 0. With ``largest`` 0 loads are not surveyed.
    """
    status = _survey(source, target, largest) if largest > 0 else np.int64(0)
    if status != 0:
        return status
    low_bits = register_bits(like)
    low, size = 1 << low_bits, source.size
    block = block_nodes(like)
    if n > low_bits:
        in_target = like.size == size
        scratch = like if in_target else np.empty(block, like.dtype)
        for start in range(0, size, block):
            at = start if in_target else 0
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


@long_kernel
def balance_in_bytes(source, target, like, n, largest):
    """Do the same with cubes larger than a block.

    The bytes of a cube lie at the beginning of its memory in ``target``: where target is source,
    over loads that have been read.
    """
    status = _survey(source, target, largest) if largest > 0 else np.int64(0)
    if status != 0:
        return status
    octets = target.view(np.uint8)
    low_bits = register_bits(like)
    block = block_nodes(like)
    block_bits = low_bits
    while 1 << block_bits < block:
        block_bits += 1
    nodes = 1 << n
    chunk = min(nodes, CHUNK_NODES)
    scratch = np.empty(block, like.dtype)
    bases = np.empty(chunk // block, target.dtype)
    roots = np.empty(nodes // chunk, target.dtype)
    offsets, meter = np.empty(7, np.int8), new_meter()
    for start in range(0, source.size, nodes):
        place = start * target.itemsize
        for c in range(roots.size):
            if interrupted(meter, 2 * chunk):
                return status
            for b in range(bases.size):
                at = c * chunk + b * block
                for base in range(0, block, 1 << low_bits):
                    _low(source, start + at + base, scratch, base, like, low_bits)
                _between_rows(scratch, 0, low_bits, block_bits, scratch, 0, block)
                _pack(scratch, octets, place + at, bases, b)
            _between_blocks(octets, place + c * chunk, block, bases, offsets)
            roots[c] = bases[0]
        _between_blocks(octets, place, chunk, roots, offsets)
        _unpack(octets, place, target, start, roots[0], nodes)
    return status


@kernel
def _between_blocks(octets, place, stride, bases, offsets):
    """Balance bytes between all blocks of ``stride`` nodes, from ``place`` on.

    ``bases`` (blocks,) are theirs; the first becomes that of all.
    """
    count = bases.size
    while count > 1:
        bits = 3 if count >= 8 else 2 if count == 4 else 1
        for s in range(count >> bits):
            _set_offsets(bases, s, bits, offsets)
            base = place + s * (stride << bits)
            if bits == 3:
                _across_bytes(octets, base, stride, offsets, 3)
            elif bits == 2:
                _across_bytes(octets, base, stride, offsets, 2)
            else:
                _across_bytes(octets, base, stride, offsets, 1)
        stride <<= bits
        count >>= bits


@inlined
def _set_offsets(bases, group, bits, offsets):
    """Set the offsets of ``2**bits`` blocks, bit by bit, and the base of their group.

    An offset is by how much the first of two bases is the larger, or FAR and as odd as that.
    """
    one, far = bases.dtype.type(1), bases.dtype.type(FAR)
    first, number, half = group << bits, 0, 1 << bits - 1
    while half > 0:
        for m in range(half):
            a, b = bases[first + 2 * m], bases[first + 2 * m + 1]
            lower = min(a, b)
            apart = max(a, b) - lower
            bases[first + m] = lower + (apart >> one)
            offset = np.int8(apart if apart < far else far + (apart & one))
            offsets[number + m] = offset if a > b else -offset
        number += half
        half >>= 1
    bases[group] = bases[first]


@traced(returns=types.int64)
def register_bits(like):
    """Return how many low bits are balanced in registers at a time, in lanes of a dtype."""
    return (lanes(like.dtype) * _registers(like.dtype)).bit_length() - 1


@traced(returns=types.int64)
def block_nodes(like):
    """Return how many nodes a block has, in lanes of a dtype."""
    return BLOCK_NODES[like.dtype.itemsize]
