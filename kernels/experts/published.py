"""The published placement of experts (DeepSeek's EPLB): replicate the heaviest, pack longest first.

Each node is placed for itself. Its experts are sorted by falling load; each extra copy goes to the
expert whose copies are heaviest; all copies, by falling load, go to the lightest GPU with a free
slot. Ties go to the lower number throughout: experts are numbered within their node, and the first
copy of every expert comes before all extra copies, which are numbered as they are made.

``L`` layers, ``E`` experts, ``K`` groups of experts, ``R`` replicas. A node has ``M`` experts,
``C`` copies of them and ``P`` GPUs of ``S`` slots each. Loads are float64 or float32; they are
divided and added as such. ``bits`` are those of the same loads in float32, which order them.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.sorting import COUNTERS, sort_words
from ..shared.tracing import fori, traced, while_loop
from ..shared.vectors import maximum, minimum, reduce, select, spread

# The bits of no positive float32 are more; as many bits number what is sorted.
MOST_BITS = 2**31 - 1
# The lower half of a word: the number of a copy.
NUMBER = 2**32 - 1
# Nodes that are packed side by side, those of several layers too. Each step of one waits for the
# step before, and leaves the processor time for another one. If their number is odd, the last one
# has an earlier one beside it, or one without loads.
ABREAST = 2


@kernel
def pack_groups(loads, bits, nodes, order):
    """Give groups of experts to nodes, as many to each, longest first.

    ``loads``, ``bits`` (L, K) are of groups; ``order`` (L, K) receives the groups of the first
    node, in the order in which it got them, then those of the next.
    """
    L, K = loads.shape
    S = K // nodes
    words = np.empty(K, np.int64)
    spare = np.empty(K, np.int64)
    digits = np.empty(COUNTERS, np.int64)
    own = np.empty((ABREAST, K), np.int64)
    falling = np.empty((ABREAST, K), loads.dtype)
    slot = np.empty((ABREAST, K), np.int64)
    leaves = _power_of_2(nodes)
    lighter_load = np.empty((ABREAST, 2 * leaves), loads.dtype)
    lighter_pack = np.empty((ABREAST, 2 * leaves), np.int64)
    filled = np.empty((ABREAST, nodes), np.int64)
    _clear(falling)
    for begin in range(0, L, ABREAST):
        rows = min(ABREAST, L - begin)
        for row in range(rows):
            layer = begin + row
            for j in range(K):
                words[j] = (MOST_BITS - np.int64(bits[layer, j])) << 32 | j
            result = spare if sort_words(words, spare, digits) else words
            for k in range(K):
                own[row, k] = result[k] & MOST_BITS
                falling[row, k] = loads[layer, own[row, k]]
        if S > 1:
            _pack(falling, S, lighter_load, lighter_pack, filled, slot)
        for row in range(rows):
            for k in range(K):
                at = slot[row, k] if S > 1 else own[row, k]
                order[begin + row, at] = own[row, k]


@kernel
def place(loads, bits, order, nodes, gpus, ceiling, to_lightest, phy2log, logcnt, copies):
    """Replicate the experts of each node and pack their copies into its GPUs.

    ``loads``, ``bits`` (L, E) are of experts; ``order`` (L, E) has the experts of the first node,
    then those of the next. Once no copy in a node is heavier than ``ceiling`` (L,), the extra
    copies that remain go to experts with one copy, one each, either to the lightest or to the
    heaviest of them. It is -1 for the published placement, which goes on with heavy copies.

    ``phy2log`` (L, R) receives the expert in each slot of each GPU, ``logcnt`` (L, E) the number of
    copies of each expert, and ``copies`` (L, R) the expert and the number of the copy in each slot
    as ``expert << 32 | number``.
    """
    L, E = loads.shape
    R = phy2log.shape[1]
    M = E // nodes
    C = R // nodes
    P = gpus // nodes
    S = R // gpus
    words = np.empty(M, np.int64)
    spare = np.empty(M, np.int64)
    digits = np.empty(COUNTERS, np.int64)
    # By rank in the falling order of experts: number within the node, load, copies. Of the first
    # two _merge reads one more.
    number = np.empty(M + 1, np.int64)
    load = np.empty(M + 1, loads.dtype)
    count = np.empty(M, np.int64)
    # By extra copy: the rank of its expert, and how many copies there were before.
    rank_of = np.empty(C - M, np.int64)
    earlier = np.empty(C - M, np.int64)
    # Replicated experts by falling load of a copy: ranks and loads.
    heavy = np.empty(C - M, np.int64)
    heavy_load = np.empty(C - M, loads.dtype)
    # For _merge.
    group = np.empty(M, np.int64)
    ends = np.empty(C - M, np.int64)
    several = np.empty(2 * (C - M) + 1, np.int64)
    several_load = np.empty(2 * (C - M) + 1, loads.dtype)
    # By copy, all first ones before all extra ones: its expert and number as one word.
    word_of = np.empty((ABREAST, C), np.int64)
    # All copies by falling load.
    copy = np.empty((ABREAST, C), np.int64)
    copy_load = np.empty((ABREAST, C), loads.dtype)
    slot = np.empty((ABREAST, C), np.int64)
    leaves = _power_of_2(P)
    lighter_load = np.empty((ABREAST, 2 * leaves), loads.dtype)
    lighter_pack = np.empty((ABREAST, 2 * leaves), np.int64)
    filled = np.empty((ABREAST, P), np.int64)
    _clear(copy_load)
    for begin in range(0, L * nodes, ABREAST):
        rows = min(ABREAST, L * nodes - begin)
        for row in range(rows):
            layer = (begin + row) // nodes
            first = (begin + row) % nodes * M
            for j in range(M):
                key = MOST_BITS - np.int64(bits[layer, order[layer, first + j]])
                words[j] = key << 32 | j
            result = spare if sort_words(words, spare, digits) else words
            for i in range(M):
                number[i] = result[i] & MOST_BITS
                load[i] = loads[layer, order[layer, first + number[i]]]
            head, replicated, light = _replicate(
                load, number, ceiling[layer], to_lightest, count, rank_of, earlier, heavy,
                heavy_load,
            )  # fmt: skip
            _merge(
                load, number, head, replicated, light, count, rank_of, earlier, heavy, heavy_load,
                group, ends, several, several_load, row, word_of, copy, copy_load,
            )  # fmt: skip
            for i in range(M):
                logcnt[layer, order[layer, first + number[i]]] = count[i]
        if S > 1:
            _pack(copy_load, S, lighter_load, lighter_pack, filled, slot)
        for row in range(rows):
            layer = (begin + row) // nodes
            node = (begin + row) % nodes
            for k in range(C):
                word = word_of[row, copy[row, k]]
                expert = order[layer, node * M + (word >> 32)]
                at = node * C + (slot[row, k] if S > 1 else copy[row, k])
                phy2log[layer, at] = expert
                copies[layer, at] = expert << 32 | word & NUMBER


@traced()
def _clear(loads):
    """Set loads to 0; ``np.zeros`` takes longer to compile."""

    def clear(i):
        loads[i] = 0

    fori(loads.shape[0] * loads.shape[1], clear)


@traced(returns=types.int64)
def _power_of_2(least):
    """Return the least power of 2 that is not below a number."""
    (power,) = while_loop(lambda power: power < least, lambda power: [2 * power], least * 0 + 1)
    return power


@traced(returns=types.UniTuple(types.int64, 3))
def _replicate(load, number, ceiling, to_lightest, count, rank_of, earlier, heavy, heavy_load):
    """Give each extra copy to the expert whose copies are heaviest, up to a ceiling.

    Replicated experts are the first ones of the falling order, and lightest ones if they got the
    last extra copies. They stand, with the load of a copy, in the queue ``heavy``, ``heavy_load``
    from ``head`` on. Return head, and between which places of the order experts have one copy.
    """
    M, extras = count.shape[0], rank_of.shape[0]
    ceiling = ceiling.astype(load.dtype)

    def begin(i):
        count[i] = 1

    fori(M, begin)

    def clear(extra):
        heavy[extra] = 0

    fori(extras, clear)

    def add(extra, head, replicated, light, is_below):
        remaining = extras - extra
        # Where there is no such expert, any other one is looked at, and not counted.
        next_single, first = minimum(replicated, M - 1), minimum(head, extras - 1)
        has_single, has_first = replicated < M, head < extra
        single, several = load[next_single] + 0, heavy_load[first] + 0
        is_low = ~(has_single & (single > ceiling)) & ~(has_first & (several > ceiling))
        is_below = is_below | (is_low & (remaining <= M - replicated))
        is_lower = number[heavy[first]] < number[next_single]
        is_first = ~has_single | (several > single) | ((several == single) & is_lower)
        is_first = is_first & has_first & ~is_below
        is_last = is_below & to_lightest
        i = select(is_last, M - remaining, select(is_first, heavy[first], replicated))
        head = head + is_first.astype(np.int64)
        light = select(is_last, minimum(light, i), light)
        replicated = select(is_last | is_first, replicated, replicated + 1)

        rank_of[extra] = i
        earlier[extra] = count[i]
        count[i] = count[i] + 1
        heavy_load[extra] = load[i] / count[i].astype(load.dtype)
        value = heavy_load[extra] + 0

        def follows(at):
            before = maximum(at - 1, 0)
            other = heavy_load[before] + 0
            is_higher = number[heavy[before]] > number[i]
            return (at > head) & ((other < value) | ((other == value) & is_higher))

        def move_up(at):
            heavy_load[at] = heavy_load[at - 1]
            heavy[at] = heavy[at - 1]
            return [at - 1]

        (at,) = while_loop(follows, move_up, extra)
        heavy_load[at] = value
        heavy[at] = i
        return head, replicated, light, is_below

    head, replicated, light, _ = fori(extras, add, M * 0, M * 0, M, M < 0)
    return head, replicated, light


@traced()
def _merge(
    load, number, head, single, light, count, rank_of, earlier, heavy, heavy_load,
    group, ends, several, several_load, row, word_of, copy, copy_load,
):  # fmt: skip
    """Put all copies of a node into one falling order: a row of ``copy``, ``copy_load``.

    Experts with one copy stand at the ranks from ``single`` to ``light`` of the falling order of
    experts, replicated ones in the queue. Of equal loads first copies come first, by number, then
    extra copies as they were made; so the copies of replicated experts are first put in order by
    groups of experts of equal load. ``word_of`` receives the expert and the number of each copy.
    """
    M, extras = count.shape[0], rank_of.shape[0]

    def add_expert(at, groups, begin, last):
        i, value = heavy[at] + 0, heavy_load[at] + 0
        is_new = (at == head) | (value != last)
        groups = groups + is_new.astype(np.int64)
        own = groups - 1
        end = select(is_new, begin, ends[own])
        group[i] = own
        several[end] = number[i]
        several_load[end] = value
        ends[own] = end + 1
        return groups, begin + count[i], value

    zero = M * 0
    _, end, _ = fori(extras, add_expert, zero, zero, load[0] + 0, start=head)
    # Lighter than any load: all that has one copy comes before.
    several_load[end] = load[0] * 0 - 1

    def add_extra(extra):
        i = rank_of[extra] + 0
        at = ends[group[i]] + 0
        several[at] = M + extra
        several_load[at] = load[i] / count[i].astype(load.dtype)
        ends[group[i]] = at + 1
        word_of[row, M + extra] = number[i] << 32 | earlier[extra]

    fori(extras, add_extra)

    def name_first(j):
        word_of[row, j] = j << 32

    fori(M, name_first)

    integer = np.int64 if load.itemsize == 8 else np.int32
    bits, several_bits = load.view(integer), several_load.view(integer)
    bits_of_copies = copy_load.view(integer)

    def choose(k, single, at):
        own, own_bits = number[single] + 0, bits[single] + 0
        other, other_bits = several[at] + 0, several_bits[at] + 0
        # Greater, or equal and of a lower number: see _pack for bits and branches.
        is_first = own_bits + (own < other).astype(integer) > other_bits
        is_first = is_first & (single < light)
        copy[row, k] = select(is_first, own, other)
        bits_of_copies[row, k] = select(is_first, own_bits, other_bits)
        step = is_first.astype(np.int64)
        return single + step, at + 1 - step

    fori(copy.shape[1], choose, single, zero)


@traced()
def _pack(falling, S, lighter_load, lighter_pack, filled, slot):
    """Give copies by falling load, one after the other, to the lightest pack with a free slot.

    ``falling`` (ABREAST, C) are the loads of copies; ``slot`` (ABREAST, C) receives ``pack * S``
    and more, as a pack is filled; packs have two slots or more.

    Packs play a tournament: node W + p of a tree is pack p, and each node i from 1 to W - 1 has the
    lighter one of nodes 2 i and 2 i + 1, of equal loads the left one, so that the lightest of all
    is in node 1. ``lighter_load``, ``lighter_pack`` (ABREAST, 2 W) are workspaces, W a power of 2.
    """
    rows = range(ABREAST)
    C, P, W = falling.shape[1], filled.shape[1], lighter_pack.shape[1] // 2
    # The bits of loads are integers in the same order, which are compared without branches: nothing
    # could predict where a copy goes. A full pack is heavier than any load.
    integer = np.int64 if falling.itemsize == 8 else np.int32
    bits, full = lighter_load.view(integer), np.iinfo(integer).max
    last_bit = 8 * falling.itemsize - 1

    # The first copies go to a pack each, unless they are no load at all.
    def count_loaded(pack, loaded):
        has_load = [(falling[row, pack] > 0).astype(np.int64) for row in rows]
        return [loaded + reduce(has_load, minimum)]

    (loaded,) = fori(P, count_loaded, P * 0)

    def begin(pack):
        is_loaded = pack < loaded
        for row in rows:
            load = falling[row, pack] + 0
            lighter_load[row, W + pack] = select(is_loaded, load, load * 0)
            lighter_pack[row, W + pack] = pack
            filled[row, pack] = is_loaded.astype(np.int64)
            slot[row, pack] = pack * S

    fori(P, begin)

    def leave_out(pack):
        for row in rows:
            bits[row, W + pack] = full
            lighter_pack[row, W + pack] = 0

    fori(W, leave_out, start=P)

    def climb(row, node, word, pack):
        """Let the winner of a node play against the node beside it; return who goes on where."""
        other_word, other_pack = bits[row, node ^ 1] + 0, lighter_pack[row, node ^ 1] + 0
        # All bits are set if the other one is lighter, or else none.
        lighter = other_word - spread(node & 1, word) - word >> last_bit
        word = word ^ (word ^ other_word) & lighter
        pack = pack ^ (pack ^ other_pack) & lighter.astype(np.int64)
        bits[row, node >> 1] = word
        lighter_pack[row, node >> 1] = pack
        return node >> 1, word, pack

    def lightest(row, node):
        return node, bits[row, node] + 0, lighter_pack[row, node] + 0

    def play(i):
        for row in rows:
            climb(row, *lightest(row, 2 * (W - i)))

    fori(W, play, start=1)

    def climb_all(*winners):
        return [x for row in rows for x in climb(row, *winners[3 * row : 3 * row + 3])]

    def give(k, *winners):
        leaves = []
        for row in rows:
            _, word, pack = winners[3 * row : 3 * row + 3]
            count = filled[row, pack] + 1
            slot[row, k] = pack * S + count - 1
            filled[row, pack] = count
            load = (word.view(falling.dtype) + falling[row, k]).view(integer)
            word = select(count == S, full, load)
            bits[row, W + pack] = word
            leaves += [W + pack, word, pack]
        return while_loop(lambda node, *_: node > 1, climb_all, *leaves)

    root = W * 0 + 1
    fori(C, give, *(x for row in rows for x in lightest(row, root)), start=loaded)
