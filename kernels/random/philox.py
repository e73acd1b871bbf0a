"""Random loads from Philox4x64-10 (Salmon et al. 2011), bit for bit ``numpy.random.Philox``.

Block ``j`` of trial ``t`` is the cipher, keyed by a seed, of the counter ``(1 + j, t, 0, 0)``,
which is what NumPy yields from ``Philox(key=seed, counter=[0, t, 0, 0])``, since it counts up
before it draws. A block is four 64-bit words or eight 32-bit numbers, the low half of each word
first.

Legend: ``B`` trials, ``N`` nodes, ``n`` words of a trial, ``K`` tiles of ``W`` trials side by
side, ``C`` cells of a table.

Lanes are blocks of one trial after another where loads lie in rows, trials where they lie in
tiles. As vectors (``_vector_cipher``), on a processor with 52-bit products, words in rows take 0.55
ns each and uniform loads in tiles 0.26; by 32-bit products 1.25 times as long, one 64 x 64 bit
product after the other 4 times. Scalar products beside those of the vectors gain nothing.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
WEYL_0 = 0x9E3779B97F4A7C15
WEYL_1 = 0xBB67AE8584CAA73B
ROUNDS = 10

HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)

# Lanes at once, as a product has to wait for the one before it: with 16 words take 1.4 times as
# long, with 64 1.06. The last ones of a tile whose width is no multiple of that are fewer, and
# so are all without the registers of AVX-512.
LANES, FEWER = 32, 16
# So many lanes are a vector.
PART = ir.VectorType(ir.IntType(64), 8)
# Blocks drawn at a time for loads in rows, 2 KiB: with 32 a word takes 1.2 times as long, with 128
# 0.98.
STRIP = 64

# What is made of a word: two scaled numbers, one, a table's load, one of given values, or itself.
HALVES, SCALED, TABLE, VALUES, WORDS = 0, 1, 2, 3, 4


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

    By 32-bit products loads from given values take 1.7 times as long.
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


def _cipher(a, b, c, d, keys, first):
    """Return what the rounds from ``first`` on make of a block."""
    for r in range(first, ROUNDS):
        high_0, low_0 = _multiply(MULTIPLIER_0, a)
        high_1, low_1 = _multiply(MULTIPLIER_1, c)
        a, b, c, d = high_1 ^ b ^ keys[r, 0], low_1, high_0 ^ d ^ keys[r, 1], low_0
    return a, b, c, d


def _rounds(first, high, low, keys, state):
    """Do the rounds after the second on a lane each of ``state`` (4 W,).

    ``first`` is of the block (``_first_rounds``), ``high`` and ``low`` (W,) are of the trials
    (``_trial_rounds``).
    """
    a, b, c = first
    for w in range(high.size):
        state[w :: high.size] = _cipher(a, b, c ^ high[w], low[w], keys, 2)


def _blocks(numbers, trials, count, keys, strip):
    """Write ``count`` blocks, of the ``trials`` and with the ``numbers`` given, to ``strip``."""
    zero = np.uint64(0)
    for u in range(count):
        strip[4 * u : 4 * u + 4] = _cipher(numbers[u], trials[u], zero, zero, keys, 0)


def _constant(vector, value):
    """Return a vector of one number."""
    return ir.Constant(vector, [value] * vector.count)


def _multiply_halves(builder, a, factor):
    """Build ``_multiply`` of a vector and a constant."""
    half, low_half = _constant(a.type, 32), _constant(a.type, 0xFFFFFFFF)
    factor_low = _constant(a.type, int(factor) & 0xFFFFFFFF)
    factor_high = _constant(a.type, int(factor) >> 32)
    a_low, a_high = builder.and_(a, low_half), builder.lshr(a, half)
    low = builder.mul(a_low, factor_low)
    middle = builder.add(builder.mul(a_high, factor_low), builder.lshr(low, half))
    crossed = builder.add(builder.mul(a_low, factor_high), builder.and_(middle, low_half))
    high = builder.add(builder.mul(a_high, factor_high), builder.lshr(middle, half))
    high = builder.add(high, builder.lshr(crossed, half))
    return high, builder.or_(builder.shl(crossed, half), builder.and_(low, low_half))


def _multiply_fused(builder, a, factor):
    """Build ``_multiply`` of 8 lanes and a constant from the 52-bit products of AVX-512 IFMA.

    Let ``a = 2**52 top + rest`` and ``factor = 2**12 begin + end``. Then ``a * factor >> 12`` is
    ``2**52 (top begin + (rest begin >> 52)) + below``, where ``below`` is the low 52 bits of
    ``rest begin``, ``2**40 top end``, and ``rest end >> 12``. It is less than ``2**64``, as
    ``end < 2**12 - 1``. That makes 9 operations where halves take 17.
    """
    kind = ir.FunctionType(a.type, [a.type] * 3)
    name = "llvm.x86.avx512.vpmadd52{}.uq.512"
    # To the first are added the low or the high 52 bits of the product of the low 52 bits of the
    # second and the third.
    add_low, add_high = (
        builder.module.declare_intrinsic(name.format(bits), [], kind) for bits in "lh"
    )
    begin, end = int(factor) >> 12, int(factor) & 0xFFF
    begin, end = _constant(a.type, begin), _constant(a.type, end << 40)
    above = _constant(a.type, 52)
    top = builder.lshr(a, above)
    below = builder.call(add_low, [builder.mul(top, end), a, begin])
    below = builder.call(add_high, [below, a, end])
    high = builder.call(add_high, [builder.mul(top, begin), a, begin])
    high = builder.add(high, builder.lshr(below, above))
    return high, builder.mul(a, _constant(a.type, int(factor)))


def _features():
    """Return those of the processor that code is compiled for."""
    return cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _way_to_multiply():
    """Return what builds ``_multiply`` of vectors in the fewest operations there are."""
    return _multiply_fused if "+avx512ifma" in _features() else _multiply_halves


def _lanes():
    """Return how many lanes fit the registers: too many take 1.4 to 1.5 times as long."""
    return LANES if "+avx512f" in _features() else FEWER


def _shuffled(builder, a, b, lanes):
    order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(a, b, order)


def _spread(builder, word):
    """Build a vector of one word in each lane."""
    one = ir.Constant(PART, ir.Undefined)
    one = builder.insert_element(one, word, ir.Constant(ir.IntType(32), 0))
    return _shuffled(builder, one, one, [0] * PART.count)


def _vector_cipher(builder, blocks, keys, first):
    """Build ``_cipher`` of lists of vectors a, b, c, d, in place; None stands for zeros."""
    multiply = _way_to_multiply()

    def product(words, factor):
        return multiply(builder, words, factor) if words else (None, None)

    def mixed(high, words, r, side):
        place = builder.gep(keys, [ir.Constant(ir.IntType(64), 2 * r + side)])
        found = _spread(builder, builder.load(place))
        for other in (high, words):
            found = builder.xor(found, other) if other else found
        return found

    for r in range(first, ROUNDS):
        for block in blocks:
            a, b, c, d = block
            high_0, low_0 = product(a, MULTIPLIER_0)
            high_1, low_1 = product(c, MULTIPLIER_1)
            block[:] = mixed(high_1, b, r, 0), low_1, mixed(high_0, d, r, 1), low_0


class _Arrays:
    """Words of the arrays that an intrinsic has among its arguments."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.types, self.arguments = signature.args, arguments

    def data(self, number):
        array = self.context.make_array(self.types[number])
        return array(self.context, self.builder, self.arguments[number]).data

    def place(self, number, index, vector):
        place = self.builder.gep(self.data(number), [index])
        return self.builder.bitcast(place, vector.as_pointer())

    def load(self, number, index):
        return self.builder.load(self.place(number, index, PART), align=8)

    def store(self, number, index, words):
        self.builder.store(words, self.place(number, index, words.type), align=8)

    def parts(self, index, lanes):
        """Return where the vectors of so many lanes begin."""
        starts = range(0, lanes, PART.count)
        return [self.builder.add(index, ir.Constant(index.type, start)) for start in starts]


def _machine_rounds(lanes):
    """Make ``_rounds`` of so many lanes as vectors of all of them."""

    @intrinsic
    def rounds(_typing, first, high, low, keys, state, _w, _W):
        def generate(context, builder, signature, arguments):
            arrays = _Arrays(context, builder, signature, arguments)
            a, b, c = (
                _spread(builder, builder.extract_value(arguments[0], word)) for word in range(3)
            )
            places = arrays.parts(arguments[5], lanes)
            blocks = [
                [a, b, builder.xor(c, arrays.load(1, place)), arrays.load(2, place)]
                for place in places
            ]
            _vector_cipher(builder, blocks, arrays.data(3), 2)
            for place, block in zip(places, blocks, strict=True):
                for words in block:
                    arrays.store(4, place, words)
                    place = builder.add(place, arguments[6])
            return context.get_dummy_value()

        return types.none(first, high, low, keys, state, types.int64, types.int64), generate

    return rounds


@overload(_rounds, jit_options={"forceinline": True})
def _choose_rounds(first, high, low, keys, state):
    lanes = _lanes()
    many, fewer = _machine_rounds(lanes), _machine_rounds(FEWER)

    def rounds(first, high, low, keys, state):
        W = high.size
        for w in range(0, W - lanes + 1, lanes):
            many(first, high, low, keys, state, w, W)
        if W % lanes:
            fewer(first, high, low, keys, state, W - FEWER, W)

    return rounds


def _machine_blocks(lanes):
    """Make so many of ``_blocks`` as vectors, whose words are interleaved at the end."""

    @intrinsic
    def blocks(_typing, numbers, trials, _u, keys, strip):
        def generate(context, builder, signature, arguments):
            arrays = _Arrays(context, builder, signature, arguments)
            places = arrays.parts(arguments[2], lanes)
            blocks = [[arrays.load(0, p), arrays.load(1, p), None, None] for p in places]
            _vector_cipher(builder, blocks, arrays.data(3), 0)
            both = [n for lane in range(PART.count) for n in (lane, PART.count + lane)]
            pairs = [n for pair in both for n in (2 * pair, 2 * pair + 1)]
            for place, (a, b, c, d) in zip(places, blocks, strict=True):
                ab, cd = _shuffled(builder, a, b, both), _shuffled(builder, c, d, both)
                words = _shuffled(builder, ab, cd, pairs)
                arrays.store(4, builder.mul(place, ir.Constant(place.type, 4)), words)
            return context.get_dummy_value()

        return types.none(numbers, trials, types.int64, keys, strip), generate

    return blocks


@overload(_blocks, jit_options={"forceinline": True})
def _choose_blocks(numbers, trials, count, keys, strip):
    lanes = _lanes()
    some = _machine_blocks(lanes)

    def blocks(numbers, trials, count, keys, strip):
        for u in range(0, count, lanes):
            some(numbers, trials, u, keys, strip)

    return blocks


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
    """Return what two rounds make of a trial's number: what goes into c, and d."""
    return _multiply(MULTIPLIER_0, np.uint64(trial) ^ keys[0, 0])


@njit(cache=True, nogil=True)
def _strip(keys, trial, block, blocks, count, numbers, trials, strip):
    """Draw ``count`` blocks into ``strip``, from one of ``trial`` on; a trial has ``blocks``."""
    for u in range(STRIP):
        numbers[u] = block + 1 + u
        trials[u] = trial
    begin = blocks - block
    while begin < count:
        trial += 1
        for u in range(begin, min(begin + blocks, count)):
            numbers[u] = u - begin + 1
            trials[u] = trial
        begin += blocks
    _blocks(numbers, trials, count, keys, strip)


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


@njit(cache=True, nogil=True)
def draw_rows(keys, start, law, out):
    """Fill ``out`` (B, N) int64 with the loads of the trials ``start ..``.

    ``law`` : (kind, span, thresholds, values, masks, guide, shift).

    - ``HALVES``: node i takes number i, ``u``; its load is ``u * span >> 32``, span <= 2**32.
    - ``SCALED``: node i takes word i, ``u``; its load is ``u * span >> 64``.
    - ``TABLE``: ``c`` of the ``thresholds`` (C - 1,) uint64 are at most the word; the load is
      ``values[c] + (u & masks[c])``, both (C,). ``guide[u >> shift]`` of them are at most the
      least word that begins like ``u``.
    - ``VALUES``: the load is number ``u * span >> 64`` of those that the memory of ``values``
      holds in ``shift`` bits each, without a sign: 8, 16, 32 or 64.
    - ``WORDS``: the load is the word, ``out`` is uint64.
    """
    B, N = out.shape
    kind, span, thresholds, values, masks, guide, shift = law
    in_8, in_16, in_32 = values.view(np.uint8), values.view(np.uint16), values.view(np.uint32)
    a_block = 8 if kind == HALVES else 4
    blocks = (N + a_block - 1) // a_block
    places, trials = np.empty(STRIP, np.uint64), np.empty(STRIP, np.uint64)
    strip = np.empty(4 * STRIP, np.uint64)
    halves = strip.view(np.uint32)
    b, block = 0, 0
    for first in range(0, B * blocks, STRIP):
        count = min(STRIP, B * blocks - first)
        _strip(keys, start + b, block, blocks, count, places, trials, strip)
        u = 0
        while u < count:
            run = min(blocks - block, STRIP - u)
            # Places without a sign, for no look at whether they count from the end, in whole
            # arrays: by slices, whose holders are counted, 8 nodes take 3 to 4 times as long.
            at, given = np.uint64(a_block * block), np.uint64(a_block * u)
            loads = np.uint64(min(a_block * run, N - a_block * block))
            if kind == HALVES:
                for i in range(loads):
                    out[b, at + i] = np.uint64(halves[given + i]) * span >> HALF
            elif kind == SCALED:
                for i in range(loads):
                    out[b, at + i] = _multiply(strip[given + i], span)[0]
            elif kind == TABLE:
                for i in range(loads):
                    word = strip[given + i]
                    c = _cell(word, thresholds, guide, shift)
                    out[b, at + i] = values[c] + np.int64(word & masks[c])
            elif kind == VALUES:
                # The fewer bits, the more a cache holds: with 16 instead of 64 a load from a
                # million values takes 0.7 to 0.9 times as long. A loop each: to ask within one
                # takes up to 1.15 times as long. No faster: gathering 8 at once; finding all
                # places first; reading one half of the table after the other; large pages of
                # memory; fetching those of the next strip ahead, but for tables that no cache
                # holds.
                if shift == 8:
                    for i in range(loads):
                        out[b, at + i] = in_8[_multiply(strip[given + i], span)[0]]
                elif shift == 16:
                    for i in range(loads):
                        out[b, at + i] = in_16[_multiply(strip[given + i], span)[0]]
                elif shift == 32:
                    for i in range(loads):
                        out[b, at + i] = in_32[_multiply(strip[given + i], span)[0]]
                else:
                    for i in range(loads):
                        out[b, at + i] = values[_multiply(strip[given + i], span)[0]]
            else:
                for i in range(loads):
                    out[b, at + i] = strip[given + i]
            u += run
            block += run
            if block == blocks:
                block = 0
                b += 1


@njit(cache=True, nogil=True)
def words(keys, start, out):
    """Fill ``out`` (B, n) uint64 with the first ``n`` words of the trials ``start ..``."""
    none, zero = np.empty(0, np.uint64), np.uint64(0)
    law = WORDS, zero, none, none.view(np.int64), none, none.view(np.int32), zero
    draw_rows(keys, start, law, out)


@njit(cache=True, nogil=True)
def draw_tiles(keys, start, law, out):
    """Fill tiles (K, N, W) of integers that every load fits: trial ``k * W + w`` in lane w.

    ``W`` is a multiple of ``FEWER``; all else as in ``draw_rows``.
    """
    K, N, W = out.shape
    T = out.dtype.type
    kind, span, thresholds, values, masks, guide, shift = law
    in_8, in_16, in_32 = values.view(np.uint8), values.view(np.uint16), values.view(np.uint32)
    a_block = 8 if kind == HALVES else 4
    state = np.empty(4 * W, np.uint64)
    high, low = np.empty(W, np.uint64), np.empty(W, np.uint64)
    for k in range(K):
        tile = out[k].reshape(-1)
        for w in range(W):
            high[w], low[w] = _trial_rounds(keys, start + k * W + w)
        for block in range((N + a_block - 1) // a_block):
            _rounds(_first_rounds(keys, block), high, low, keys, state)
            nodes = min(a_block, N - a_block * block)
            at = np.uint64(a_block * block * W)
            loads = np.uint64(nodes * W)
            if kind == HALVES:
                width = np.uint64(W)
                for i in range(nodes):
                    given = np.uint64((i >> 1) * W)
                    side = HALF * np.uint64(i & 1)
                    for w in range(width):
                        tile[at + w] = T((state[given + w] >> side & LOW_HALF) * span >> HALF)
                    at += width
            elif kind == SCALED:
                for i in range(loads):
                    tile[at + i] = T(_multiply(state[i], span)[0])
            elif kind == TABLE:
                for i in range(loads):
                    c = _cell(state[i], thresholds, guide, shift)
                    tile[at + i] = T(values[c] + np.int64(state[i] & masks[c]))
            elif shift == 8:
                for i in range(loads):
                    tile[at + i] = T(in_8[_multiply(state[i], span)[0]])
            elif shift == 16:
                for i in range(loads):
                    tile[at + i] = T(in_16[_multiply(state[i], span)[0]])
            elif shift == 32:
                for i in range(loads):
                    tile[at + i] = T(in_32[_multiply(state[i], span)[0]])
            else:
                for i in range(loads):
                    tile[at + i] = T(values[_multiply(state[i], span)[0]])
