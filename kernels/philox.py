"""Random loads from Philox4x64-10 (Salmon et al. 2011), bit for bit ``numpy.random.Philox``.

Block ``j`` of trial ``t`` is the cipher, keyed by a seed, of the counter ``(1 + j, t, 0, 0)``,
which is what NumPy yields from ``Philox(key=seed, counter=[0, t, 0, 0])``, since it counts up
before it draws. A block is four 64-bit words or eight 32-bit numbers, the low half of each word
first.

Legend: ``B`` trials, ``N`` nodes, ``n`` words of a trial, ``K`` tiles of ``W`` trials side by
side, ``C`` cells of a table.

Lanes are blocks of one trial after another where loads lie in rows, trials where they lie in
tiles. As vectors of 32-bit products (``_machine_rounds``) the cipher takes 0.8 ns a word in
tiles and 1.0 in rows, one 64 x 64 bit product after the other 2.4; plain loops over lanes, which
LLVM turns into vectors in part, 1.2.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
WEYL_0 = 0x9E3779B97F4A7C15
WEYL_1 = 0xBB67AE8584CAA73B
ROUNDS = 10

HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)

# With 8 lanes words take 1.2 times as long, with 32 0.94, but not all tiles are as wide.
LANES = 16
# Blocks drawn at a time for loads in rows, 2 KiB: with 16 a word takes 1.3 times as long, with 32
# 1.1, with 128 0.98, and a network of a few nodes draws as many in vain.
STRIP = 64

# What is made of a word: two scaled numbers, one, a table's load, or one of given values.
HALVES, SCALED, TABLE, VALUES = 0, 1, 2, 3


def round_keys(seed):
    """Return the key schedule, (10, 2) uint64, of a seed below 2**128."""
    low, high = seed & (2**64 - 1), seed >> 64
    schedule = [[(low + r * WEYL_0) % 2**64, (high + r * WEYL_1) % 2**64] for r in range(ROUNDS)]
    return np.array(schedule, dtype=np.uint64)


def _multiply(a, b):
    """Return the high and the low word of ``a * b``."""
    a_low, a_high = a & LOW_HALF, a >> HALF
    b_low, b_high = b & LOW_HALF, b >> HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> HALF)
    crossed = a_low * b_high + (middle & LOW_HALF)
    high = a_high * b_high + (middle >> HALF) + (crossed >> HALF)
    return high, (crossed & LOW_HALF) << HALF | low & LOW_HALF


@intrinsic
def _machine_multiply(_typing, _a, _b):
    """Compile ``_multiply`` to one 64 x 64 -> 128 bit multiplication.

    By 32-bit products words in rows take 1.3 times as long.
    """
    word, double = ir.IntType(64), ir.IntType(128)

    def generate(context, builder, signature, arguments):
        a, b = (builder.zext(argument, double) for argument in arguments)
        product = builder.mul(a, b)
        high = builder.trunc(builder.lshr(product, ir.Constant(double, 64)), word)
        return context.make_tuple(
            builder, signature.return_type, (high, builder.trunc(product, word))
        )

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


@overload(_multiply)
def _choose_multiply(a, b):
    return lambda a, b: _machine_multiply(a, b)  # type: ignore[call-arg]


def _rounds(state, w, W, keys):
    """Do the rounds after the second on ``LANES`` lanes of ``state`` (4 W,) from ``w`` on."""
    for u in range(w, w + LANES):
        a, b, c, d = state[u], state[W + u], state[2 * W + u], state[3 * W + u]
        for r in range(2, ROUNDS):
            high_0, low_0 = _multiply(MULTIPLIER_0, a)
            high_1, low_1 = _multiply(MULTIPLIER_1, c)
            a, b, c, d = high_1 ^ b ^ keys[r, 0], low_1, high_0 ^ d ^ keys[r, 1], low_0
        state[u], state[W + u], state[2 * W + u], state[3 * W + u] = a, b, c, d


def _vector_multiply(builder, a, factor):
    """Build ``_multiply`` of a vector and a constant."""

    def constant(value):
        return ir.Constant(a.type, [value] * LANES)

    half, low_half = constant(32), constant(0xFFFFFFFF)
    factor_low, factor_high = constant(int(factor) & 0xFFFFFFFF), constant(int(factor) >> 32)
    a_low, a_high = builder.and_(a, low_half), builder.lshr(a, half)
    low = builder.mul(a_low, factor_low)
    middle = builder.add(builder.mul(a_high, factor_low), builder.lshr(low, half))
    crossed = builder.add(builder.mul(a_low, factor_high), builder.and_(middle, low_half))
    high = builder.add(builder.mul(a_high, factor_high), builder.lshr(middle, half))
    high = builder.add(high, builder.lshr(crossed, half))
    return high, builder.or_(builder.shl(crossed, half), builder.and_(low, low_half))


@intrinsic
def _machine_rounds(_typing, state, _w, _W, keys):
    """Compile ``_rounds`` to vectors of all its lanes."""

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(ir.IntType(64), LANES)
        undefined = ir.Constant(vector, ir.Undefined)
        first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)

        def data(number):
            array = context.make_array(signature.args[number])
            return array(context, builder, arguments[number]).data

        def key(r, side):
            place = builder.gep(data(3), [ir.Constant(ir.IntType(64), 2 * r + side)])
            one = builder.insert_element(
                undefined, builder.load(place), ir.Constant(ir.IntType(32), 0)
            )
            return builder.shuffle_vector(one, undefined, first)

        places, index = [], arguments[1]
        for _ in range(4):
            places.append(builder.bitcast(builder.gep(data(0), [index]), vector.as_pointer()))
            index = builder.add(index, arguments[2])
        a, b, c, d = (builder.load(place, align=8) for place in places)
        for r in range(2, ROUNDS):
            high_0, low_0 = _vector_multiply(builder, a, MULTIPLIER_0)
            high_1, low_1 = _vector_multiply(builder, c, MULTIPLIER_1)
            a = builder.xor(builder.xor(high_1, b), key(r, 0))
            c = builder.xor(builder.xor(high_0, d), key(r, 1))
            b, d = low_1, low_0
        for place, word in zip(places, (a, b, c, d), strict=True):
            builder.store(word, place, align=8)
        return context.get_dummy_value()

    return types.none(state, types.int64, types.int64, keys), generate


@overload(_rounds)
def _choose_rounds(state, w, W, keys):
    return lambda state, w, W, keys: _machine_rounds(state, w, W, keys)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def _first_rounds(keys, block):
    """Return what two rounds make of a block's number: a, b, and what is yet to go into c.

    The third and fourth counter word are zero, so that c and d have a part of the block, one of
    the trial (``_trial_rounds``), and no more than these.
    """
    high_0, low_0 = _multiply(MULTIPLIER_0, np.uint64(block + 1))
    high_1, b = _multiply(MULTIPLIER_1, high_0 ^ keys[0, 1])
    return high_1 ^ keys[1, 0], b, low_0 ^ keys[1, 1]


@njit(cache=True, nogil=True)
def _trial_rounds(keys, trial):
    return _multiply(MULTIPLIER_0, np.uint64(trial) ^ keys[0, 0])


@njit(cache=True, nogil=True)
def _strip(keys, start, blocks, first, state, strip):
    """Draw blocks ``first, first + 1, ..``, of which a trial has ``blocks``, into ``strip``."""
    trial, block = first // blocks, first % blocks
    high, low = _trial_rounds(keys, start + trial)
    for u in range(STRIP):
        state[u], state[STRIP + u], c = _first_rounds(keys, block)
        state[2 * STRIP + u] = c ^ high
        state[3 * STRIP + u] = low
        block += 1
        if block == blocks:
            block = 0
            trial += 1
            high, low = _trial_rounds(keys, start + trial)
    for w in range(0, STRIP, LANES):
        _rounds(state, w, STRIP, keys)
    for u in range(STRIP):
        o = strip[4 * u : 4 * u + 4]
        o[0] = state[u]
        o[1] = state[STRIP + u]
        o[2] = state[2 * STRIP + u]
        o[3] = state[3 * STRIP + u]


@njit(cache=True, nogil=True)
def words(keys, start, out):
    """Fill ``out`` (B, n) uint64 with the first ``n`` words of the trials ``start ..``."""
    B, n = out.shape
    blocks = (n + 3) // 4
    state = np.empty(4 * STRIP, np.uint64)
    strip = np.empty(4 * STRIP, np.uint64)
    for first in range(0, B * blocks, STRIP):
        _strip(keys, start, blocks, first, state, strip)
        u = 0
        while u < STRIP and first + u < B * blocks:
            b, block = (first + u) // blocks, (first + u) % blocks
            part = out[b, 4 * block : 4 * (block + STRIP - u)]
            for i in range(part.size):
                part[i] = strip[4 * u + i]
            u += blocks - block


@njit(cache=True, nogil=True)
def _cell(word, thresholds, guide, shift):
    """Return how many thresholds are at most the word; ``guide`` counts those of its beginning.

    Most words need no search if beginnings are many. Searching without branches, in vectors or
    not, takes 5 ns a load where this takes 2 to 3.
    """
    low = guide[word >> shift]
    high = guide[(word >> shift) + np.uint64(1)]
    while low < high:
        middle = (low + high) >> 1
        if thresholds[middle] <= word:
            low = middle + 1
        else:
            high = middle
    return low


# What follows makes loads of the first ``out.size`` of the words ``given``. Each is a function of
# its own, small enough to become a part of its callers: a fifth of the time of small tables.


@njit(cache=True, nogil=True)
def _scale(given, span, out):
    T = out.dtype.type
    for i in range(out.size):
        out[i] = T(_multiply(given[i], span)[0])


@njit(cache=True, nogil=True)
def _look_up(given, thresholds, values, masks, guide, shift, out):
    T = out.dtype.type
    for i in range(out.size):
        c = _cell(given[i], thresholds, guide, shift)
        out[i] = T(values[c] + np.int64(given[i] & masks[c]))


@njit(cache=True, nogil=True)
def _choose(given, span, values, out):
    """Take values at places without a sign: no look at whether they count from the end."""
    T = out.dtype.type
    for i in range(out.size):
        out[i] = T(values[_multiply(given[i], span)[0]])


@njit(cache=True, nogil=True)
def draw_rows(keys, start, law, out):
    """Fill ``out`` (B, N) int64 with the loads of the trials ``start ..``.

    ``law`` : (kind, span, thresholds, values, masks, guide, shift).

    - ``HALVES``: node i takes number i, ``u``; its load is ``u * span >> 32``, span <= 2**32.
    - ``SCALED``: node i takes word i, ``u``; its load is ``u * span >> 64``.
    - ``TABLE``: ``c`` of the ``thresholds`` (C - 1,) uint64 are at most the word; the load is
      ``values[c] + (u & masks[c])``, both (C,). ``guide[u >> shift]`` of them are at most the
      least word that begins like ``u``.
    - ``VALUES``: the load is ``values[u * span >> 64]``.
    """
    B, N = out.shape
    kind, span, thresholds, values, masks, guide, shift = law
    a_block = 8 if kind == HALVES else 4
    blocks = (N + a_block - 1) // a_block
    state = np.empty(4 * STRIP, np.uint64)
    strip = np.empty(4 * STRIP, np.uint64)
    numbers = strip.view(np.uint32)
    for first in range(0, B * blocks, STRIP):
        _strip(keys, start, blocks, first, state, strip)
        u = 0
        while u < STRIP and first + u < B * blocks:
            b, block = (first + u) // blocks, (first + u) % blocks
            part = out[b, a_block * block : a_block * (block + STRIP - u)]
            if kind == HALVES:
                for i in range(part.size):
                    part[i] = np.int64(np.uint64(numbers[8 * u + i]) * span >> HALF)
            elif kind == SCALED:
                _scale(strip[4 * u :], span, part)
            elif kind == TABLE:
                _look_up(strip[4 * u :], thresholds, values, masks, guide, shift, part)
            else:
                _choose(strip[4 * u :], span, values, part)
            u += blocks - block


@njit(cache=True, nogil=True)
def draw_tiles(keys, start, law, out):
    """Fill tiles (K, N, W) int32 or int64, which every load fits: trial ``k * W + w`` in lane w.

    ``W`` is a multiple of ``LANES``; all else as in ``draw_rows``.
    """
    K, N, W = out.shape
    T = out.dtype.type
    kind, span, thresholds, values, masks, guide, shift = law
    a_block = 8 if kind == HALVES else 4
    state = np.empty(4 * W, np.uint64)
    a, b, c, d = state[:W], state[W : 2 * W], state[2 * W : 3 * W], state[3 * W :]
    high, low = np.empty(W, np.uint64), np.empty(W, np.uint64)
    for k in range(K):
        tile = out[k].reshape(-1)
        for w in range(W):
            high[w], low[w] = _trial_rounds(keys, start + k * W + w)
        for block in range((N + a_block - 1) // a_block):
            same_a, same_b, same_c = _first_rounds(keys, block)
            for w in range(W):
                a[w] = same_a
                b[w] = same_b
                c[w] = high[w] ^ same_c
                d[w] = low[w]
            for w in range(0, W, LANES):
                _rounds(state, w, W, keys)
            nodes = min(a_block, N - a_block * block)
            part = tile[a_block * block * W : (a_block * block + nodes) * W]
            if kind != HALVES:
                if kind == SCALED:
                    _scale(state, span, part)
                elif kind == TABLE:
                    _look_up(state, thresholds, values, masks, guide, shift, part)
                else:
                    _choose(state, span, values, part)
                continue
            for i in range(nodes):
                given = state[(i >> 1) * W : (i >> 1) * W + W]
                row = part[i * W : i * W + W]
                if i & 1:
                    for w in range(W):
                        row[w] = T((given[w] >> HALF) * span >> HALF)
                else:
                    for w in range(W):
                        row[w] = T((given[w] & LOW_HALF) * span >> HALF)
