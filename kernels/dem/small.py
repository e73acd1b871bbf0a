"""Dimension exchange on the hypercube (Wu-Shu Fig. 1, More-Wu 2.1): small cubes, or side by side.

Legend: ``B`` networks, ``N = 2**n`` nodes. From ``n = LOW_BITS`` on integers are for
``dem_narrow.py`` and ``dem_wide.py``, which compute in other lanes, real loads for ``dem_real.py``.
Cubes side by side (``dem_rows``): dimensions of a Hyper Hexa-Cell.

Small cubes are balanced several at a time within two vector registers, those side by side up to
three bits at a time between eight of them. Measured on 32-bit loads, ns a node: spelled-out vectors
(``_machine_within``, ``_machine_across``) 0.46 on the 10-cube, loops that turn the cube between two
buffers 0.67.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

# Two registers hold 2**LOW_BITS nodes. With 8 lanes 32-bit loads take 1.2 to 2.1 times as long;
# with 32 integers take 1.0 to 1.1, float32 0.65 to 0.9.
LANES = 16
LOW_BITS = 5
CHUNK_BYTES = 2**19


def _exchange(a, b):
    """Return both loads after the exchange; the higher sends ``diff//2``, floats meet midway."""
    if isinstance(a, np.floating):
        mean = (a + b) * a.dtype.type(0.5)
        return mean, mean
    a, b = int(a), int(b)
    sent = (a - b) // 2 if a > b else -((b - a) // 2)
    return a - sent, b + sent


@overload(_exchange)
def _choose_exchange(a, b):
    T = a
    if isinstance(T, types.Float):

        def float_exchange(a, b):
            mean = T(T(a + b) * T(0.5))
            return mean, mean

        return float_exchange
    if T.signed:

        def signed_exchange(a, b):
            # Loads are not negative, so the difference fits.
            d = T(a - b)
            sent = T(T(d + T(d < 0)) >> T(1))
            return T(a - sent), T(b + sent)

        return signed_exchange

    def unsigned_exchange(a, b):
        differing = T(a ^ b)
        low = T(T(a & b) + T(differing >> T(1)))
        odd = T(differing & T(1))
        up = odd if a > b else T(0)
        return T(low + up), T(low + T(odd - up))

    return unsigned_exchange


def _largest(loads, n):
    """Return the largest load with which ``2**n`` of them are legal: floats have a finite total."""
    if loads.dtype.kind == "f":
        return np.finfo(loads.dtype).max / loads.dtype.type(1 << n)
    return np.iinfo(loads.dtype).max


@overload(_largest)
def _choose_largest(loads, n):
    T = loads.dtype
    if isinstance(T, types.Float):
        largest = float(np.finfo(str(T)).max)
        return lambda loads, n: T(largest) / T(1 << n)
    most = T.maxval
    return lambda loads, n: T(most)


def _vector_exchange(builder, dtype, a, b):
    """Build ``_exchange`` of two vectors."""
    if isinstance(dtype, types.Float):
        half = ir.Constant(a.type, [0.5] * LANES)
        mean = builder.fmul(builder.fadd(a, b), half)
        return mean, mean
    one = ir.Constant(a.type, [1] * LANES)
    if dtype.signed:
        # Loads are not negative, so the sum fits without a sign.
        both = builder.add(a, b)
        # The sign of the difference; comparing into a mask takes 1.2 times as long.
        sign = ir.Constant(a.type, [dtype.bitwidth - 1] * LANES)
        ahead = builder.lshr(builder.sub(b, a), sign)
        first = builder.lshr(builder.add(both, ahead), one)
        return first, builder.sub(both, first)
    differing = builder.xor(a, b)
    low = builder.add(builder.and_(a, b), builder.lshr(differing, one))
    odd = builder.and_(differing, one)
    up = builder.select(builder.icmp_unsigned(">", a, b), odd, ir.Constant(a.type, [0] * LANES))
    return builder.add(low, up), builder.add(low, builder.sub(odd, up))


def _vector_at(context, builder, array_type, array, index):
    """Build the pointer to ``LANES`` elements of an array from an index on."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), LANES)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _within(source, target, base, bits):
    """Balance the low ``bits`` bits of ``2 * LANES`` nodes from ``base`` on."""
    target[base : base + 2 * LANES] = source[base : base + 2 * LANES]
    for bit in range(bits):
        for i in range(base, base + 2 * LANES):
            if not i >> bit & 1:
                j = i + (1 << bit)
                target[i], target[j] = _exchange(target[i], target[j])


def _machine_within(bits):
    """Make ``_within`` in two registers.

    Even and odd places come apart and are averaged: the node number turns right by one bit, so
    that bit 0 is next again, and after ``LOW_BITS`` turns every load is back at its node.
    """

    @intrinsic
    def within(_typing, source, target, _base):
        def generate(context, builder, signature, arguments):
            ends = (arguments[2], builder.add(arguments[2], ir.Constant(ir.IntType(64), LANES)))
            bytes_each = source.dtype.bitwidth // 8
            a, b = (
                builder.load(
                    _vector_at(context, builder, source, arguments[0], end), align=bytes_each
                )
                for end in ends
            )
            mask = ir.VectorType(ir.IntType(32), LANES)
            even = ir.Constant(mask, list(range(0, 2 * LANES, 2)))
            odd = ir.Constant(mask, list(range(1, 2 * LANES, 2)))
            for turn in range(LOW_BITS):
                a, b = builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd)
                if turn < bits:
                    a, b = _vector_exchange(builder, target.dtype, a, b)
            for end, vector in zip(ends, (a, b), strict=True):
                place = _vector_at(context, builder, target, arguments[1], end)
                builder.store(vector, place, align=bytes_each)
            return context.get_dummy_value()

        return types.none(source, target, types.int64), generate

    return within


def _across(loads, base, stride, bits):
    """Balance ``bits`` bits between rows ``stride`` apart, ``LANES`` columns from ``base`` on."""
    rows = [loads[base + r * stride :][:LANES] for r in range(1 << bits)]
    for bit in range(bits):
        for r in range(1 << bits):
            if not r >> bit & 1:
                low, high = rows[r], rows[r + (1 << bit)]
                for u in range(LANES):
                    low[u], high[u] = _exchange(low[u], high[u])


def _machine_across(bits):
    """Make ``_across`` with a register a row."""

    @intrinsic
    def across(_typing, loads, _base, _stride):
        def generate(context, builder, signature, arguments):
            array, base, stride = arguments
            bytes_each = loads.dtype.bitwidth // 8
            places, rows = [], []
            for _ in range(1 << bits):
                places.append(_vector_at(context, builder, loads, array, base))
                rows.append(builder.load(places[-1], align=bytes_each))
                base = builder.add(base, stride)
            for bit in range(bits):
                for r in range(1 << bits):
                    if not r >> bit & 1:
                        s = r + (1 << bit)
                        rows[r], rows[s] = _vector_exchange(builder, loads.dtype, rows[r], rows[s])
            for place, row in zip(places, rows, strict=True):
                builder.store(row, place, align=bytes_each)
            return context.get_dummy_value()

        return types.none(loads, types.int64, types.int64), generate

    return across


WITHIN = {bits: _machine_within(bits) for bits in range(1, LOW_BITS)}
ACROSS = {bits: _machine_across(bits) for bits in (1, 2, 3)}


@intrinsic
def _start(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _flat(array):
    """Return an array seen as (N,); for the compiler one that nobody counts, two of them 20 ns."""
    return array.reshape(-1)


@overload(_flat)
def _choose_flat(array):
    return lambda array: carray(_start(array), array.size)  # type: ignore[call-arg]


@overload(_within, prefer_literal=True)
def _choose_within(source, target, base, bits):
    machine = WITHIN[bits.literal_value]
    return lambda source, target, base, bits: machine(source, target, base)


@overload(_across, prefer_literal=True)
def _choose_across(loads, base, stride, bits):
    machine = ACROSS[bits.literal_value]
    return lambda loads, base, stride, bits: machine(loads, base, stride)


@njit(cache=True, nogil=True)
def _rows(loads, stride, end):
    """Balance the bits from that of ``stride`` to below that of ``end``, ``stride >= LANES``."""
    while stride < end:
        if end == 2 * stride:
            for start in range(0, loads.size, 2 * stride):
                for base in range(start, start + stride, LANES):
                    _across(loads, base, stride, 1)
            stride *= 2
        elif end == 4 * stride or end == 16 * stride:
            for start in range(0, loads.size, 4 * stride):
                for base in range(start, start + stride, LANES):
                    _across(loads, base, stride, 2)
            stride *= 4
        else:
            for start in range(0, loads.size, 8 * stride):
                for base in range(start, start + stride, LANES):
                    _across(loads, base, stride, 3)
            stride *= 8


@njit(cache=True, nogil=True)
def dem(source, target, n):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``. Loads are not negative; ``n < LOW_BITS``.
    """
    whole = source.size // (2 * LANES) * (2 * LANES)
    if n == 0:
        target[:whole] = source[:whole]
    for base in range(0, whole, 2 * LANES):
        if n == 1:
            _within(source, target, base, 1)
        elif n == 2:
            _within(source, target, base, 2)
        elif n == 3:
            _within(source, target, base, 3)
        elif n == 4:
            _within(source, target, base, 4)
    target[whole:] = source[whole:]
    for bit in range(n):
        for i in range(whole, source.size):
            if not i >> bit & 1:
                j = i + (1 << bit)
                target[i], target[j] = _exchange(target[i], target[j])


@njit(cache=True, nogil=True)
def checked(source, target, n):
    """Do the same with loads (N,) or (B, N) as a caller hands them over, or write nothing.

    Returns 0 if they are balanced and -1 if not: a load is below 0, above ``_largest`` or NaN,
    ``N`` is not ``2**n``, the shapes differ, or the arrays overlap without being the same.
    """
    loads, result = _flat(source), _flat(target)
    apart = abs(np.int64(loads.ctypes.data) - np.int64(result.ctypes.data))
    # Not by ``or``, whose branches have the arrays counted as in use, 20 ns.
    overlap = (apart > 0) & (apart < source.nbytes)
    if (source.shape[-1] != 1 << n) | (source.shape != target.shape) | overlap:
        return -1
    largest = _largest(loads, n)
    count = 0
    for i in range(loads.size):
        # Negated, so that NaN counts; no early exit, so that the loop runs in vectors.
        count += not (loads[i] >= 0 and loads[i] <= largest)
    if count > 0:
        return -1
    dem(loads, result, n)
    return 0


@njit(cache=True, nogil=True)
def dem_rows(loads, width):
    """Balance cubes side by side, a cube in every column, in place.

    ``loads`` : (B, N * width), a network a row, in it ``N`` nodes of ``width`` cubes; ``width``
    is a multiple of ``LANES``.
    """
    end = loads.shape[1]
    chunk = width
    while chunk < end and 2 * chunk * loads.itemsize <= CHUNK_BYTES:
        chunk *= 2
    for b in range(loads.shape[0]):
        for start in range(0, end, chunk):
            _rows(loads[b, start : start + chunk], width, chunk)
        _rows(loads[b], chunk, end)
