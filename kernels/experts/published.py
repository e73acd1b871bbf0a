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

from ..shared.compiling import inlined, kernel
from ..shared.tracing import cond, either, fori, traced, while_loop
from ..shared.vectors import maximum, minimum, select

# The bits of no positive float32 are more; as many bits number what is sorted.
MOST_BITS = 2**31 - 1
# Keys are sorted by four digits of 8 bits.
DIGITS, RADIX = 4, 256


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
    digits = np.empty(DIGITS * RADIX, np.int64)
    falling = np.empty(K, loads.dtype)
    slot = np.empty(K, np.int64)
    queue_load = np.empty(nodes + K, loads.dtype)
    queue_pack = np.empty(nodes + K, np.int64)
    filled = np.empty(nodes, np.int64)
    for layer in range(L):
        for j in range(K):
            words[j] = (MOST_BITS - np.int64(bits[layer, j])) << 32 | j
        result = spare if _sort(words, spare, digits) else words
        for k in range(K):
            falling[k] = loads[layer, result[k] & MOST_BITS]
        if S > 1:
            _pack(falling, S, queue_load, queue_pack, filled, slot)
        for k in range(K):
            own = result[k] & MOST_BITS
            order[layer, slot[k] if S > 1 else own] = own


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
    digits = np.empty(DIGITS * RADIX, np.int64)
    # By place in the falling order of experts: number within the node, load, copies.
    number = np.empty(M, np.int64)
    load = np.empty(M, loads.dtype)
    count = np.empty(M, np.int64)
    # By extra copy: the place of its expert, and how many copies there were before.
    place_of = np.empty(C - M, np.int64)
    earlier = np.empty(C - M, np.int64)
    # Replicated experts by falling load of a copy: places and loads.
    heavy = np.empty(C - M, np.int64)
    heavy_load = np.empty(C - M, loads.dtype)
    group = np.empty(M, np.int64)
    ends = np.empty(C - M, np.int64)
    # All copies of replicated experts by falling load.
    several = np.empty(2 * (C - M), np.int64)
    several_load = np.empty(2 * (C - M), loads.dtype)
    # All copies by falling load.
    copy = np.empty(C, np.int64)
    copy_load = np.empty(C, loads.dtype)
    slot = np.empty(C, np.int64)
    queue_load = np.empty(P + C, loads.dtype)
    queue_pack = np.empty(P + C, np.int64)
    filled = np.empty(P, np.int64)
    for layer in range(L):
        for node in range(nodes):
            first = node * M
            for j in range(M):
                key = MOST_BITS - np.int64(bits[layer, order[layer, first + j]])
                words[j] = key << 32 | j
            result = spare if _sort(words, spare, digits) else words
            for i in range(M):
                number[i] = result[i] & MOST_BITS
                load[i] = loads[layer, order[layer, first + number[i]]]
            head, replicated, light = _replicate(
                load,
                number,
                ceiling[layer],
                to_lightest,
                count,
                place_of,
                earlier,
                heavy,
                heavy_load,
            )
            _merge(
                load, number, head, replicated, light, count, place_of, heavy, heavy_load,
                group, ends, several, several_load, copy, copy_load,
            )  # fmt: skip
            if S > 1:
                _pack(copy_load, S, queue_load, queue_pack, filled, slot)
            for k in range(C):
                extra = copy[k] - M
                local = copy[k]
                copy_number = 0
                if extra >= 0:
                    local = number[place_of[extra]]
                    copy_number = earlier[extra]
                expert = order[layer, first + local]
                at = node * C + (slot[k] if S > 1 else copy[k])
                phy2log[layer, at] = expert
                copies[layer, at] = expert << 32 | copy_number
            for i in range(M):
                logcnt[layer, order[layer, first + number[i]]] = count[i]


@traced(returns=types.boolean)
def _sort(words, spare, digits):
    """Sort words (n,) by their upper 32 bits, the rest in the order in which it comes.

    Return whether the result is in ``spare`` (n,); ``digits`` (DIGITS * RADIX,) is a workspace.
    """
    n = words.shape[0]

    def clear(i):
        digits[i] = 0

    fori(digits.shape[0], clear)

    def count(i):
        word = words[i] >> 32
        for digit in range(DIGITS):
            value = digit * RADIX + (word >> 8 * digit & RADIX - 1)
            digits[value] = digits[value] + 1

    fori(n, count)

    def sort_by(digit, in_spare):
        source, target = either(in_spare, spare, words), either(in_spare, words, spare)

        def place_of(i):
            return digit * RADIX + (source[i] >> 32 + 8 * digit & RADIX - 1)

        def add(value, below):
            count = digits[digit * RADIX + value] + 0
            digits[digit * RADIX + value] = below
            return [below + count]

        def move(i):
            value = place_of(i)
            at = digits[value] + 0
            target[at] = source[i]
            digits[value] = at + 1

        def deal():
            fori(n * 0 + RADIX, add, 0)
            fori(n, move)

        # Loads that are small integers share their lower digits.
        differs = digits[place_of(0)] < n
        cond(differs, deal)
        return [in_spare ^ differs]

    (in_spare,) = fori(n * 0 + DIGITS, sort_by, n < 0)
    return in_spare


@traced(returns=types.UniTuple(types.int64, 3))
def _replicate(load, number, ceiling, to_lightest, count, place_of, earlier, heavy, heavy_load):
    """Give each extra copy to the expert whose copies are heaviest, up to a ceiling.

    Replicated experts are the first ones of the falling order, and lightest ones if they got the
    last extra copies. They stand, with the load of a copy, in the queue ``heavy``, ``heavy_load``
    from ``head`` on. Return head, and between which places of the order experts have one copy.
    """
    M, extras = load.shape[0], place_of.shape[0]
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

        place_of[extra] = i
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


@inlined
def _merge(
    load, number, head, single, light, count, place_of, heavy, heavy_load,
    group, ends, several, several_load, copy, copy_load,
):  # fmt: skip
    """Put all copies into one falling order: ``copy``, ``copy_load`` (C,).

    Experts with one copy stand at the places from ``single`` to ``light`` of the falling order of
    experts, replicated ones in the queue. Of equal loads first copies come first, by number, then
    extra copies as they were made; so the copies of replicated experts are first put in order by
    groups of experts of equal load.
    """
    M = load.size
    groups = 0
    begin = 0
    for at in range(head, heavy.size):
        i = heavy[at]
        if at == head or heavy_load[at] != heavy_load[at - 1]:
            ends[groups] = begin
            groups += 1
        group[i] = groups - 1
        several[ends[groups - 1]] = number[i]
        several_load[ends[groups - 1]] = heavy_load[at]
        ends[groups - 1] += 1
        begin += count[i]
    for extra in range(place_of.size):
        i = place_of[extra]
        several[ends[group[i]]] = M + extra
        several_load[ends[group[i]]] = load[i] / count[i]
        ends[group[i]] += 1
    at = 0
    for k in range(copy.size):
        if single < light and (
            at == begin
            or load[single] > several_load[at]
            or (load[single] == several_load[at] and number[single] < several[at])
        ):
            copy[k] = number[single]
            copy_load[k] = load[single]
            single += 1
        else:
            copy[k] = several[at]
            copy_load[k] = several_load[at]
            at += 1


@traced()
def _pack(falling, S, queue_load, queue_pack, filled, slot):
    """Give copies (C,) by falling load, one after the other, to the lightest pack with a free slot.

    ``slot`` (C,) receives ``pack * S`` and more, as a pack is filled; packs have two slots or more.
    Those with free slots stand in a queue by rising load, of equal loads the lower pack first. The
    first one gets the next copy, and then stands near the front still, as with light copies, or
    near the end.
    """
    C, P = falling.shape[0], filled.shape[0]

    def comes_before(at, value, pack):
        load = queue_load[at]
        return (load < value) | ((load == value) & (queue_pack[at] < pack))

    def move(source, target):
        queue_load[target] = queue_load[source]
        queue_pack[target] = queue_pack[source]

    def put(at, value, pack):
        queue_load[at] = value
        queue_pack[at] = pack

    def put_from_end(first, end, value, pack):
        """Put a pack into the queue from ``first`` to ``end``, which is one place longer then."""

        def move_up(at):
            move(at - 1, at)
            return [at - 1]

        (at,) = while_loop(
            lambda at: (at > first) & ~comes_before(maximum(at - 1, 0), value, pack), move_up, end
        )
        put(at, value, pack)

    # The first copies go to a pack each, unless they are no load at all.
    def fill(pack):
        slot[pack] = pack * S
        filled[pack] = 1
        return [pack + 1]

    (loaded,) = while_loop(lambda pack: (pack < P) & (falling[pack] > 0), fill, P * 0)

    def leave_empty(pack):
        filled[pack] = 0
        put(pack - loaded, falling[pack] * 0, pack)

    fori(P, leave_empty, start=loaded)

    def put_loaded(i):
        pack = loaded - 1 - i
        put_from_end(P - loaded, P - 1 - pack, falling[pack], pack)

    fori(loaded, put_loaded)

    def give(k, head, end):
        pack, count = queue_pack[head] + 0, filled[queue_pack[head]] + 1
        slot[k] = pack * S + count - 1
        filled[pack] = count
        value = queue_load[head] + falling[k]
        middle = (head + end) >> 1

        def put_from_front():
            def move_down(at):
                move(at + 1, at)
                return [at + 1]

            (at,) = while_loop(lambda at: comes_before(at + 1, value, pack), move_down, head)
            put(at, value, pack)
            return head, end

        def go_to_end():
            put_from_end(head + 1, end, value, pack)
            return head + 1, end + 1

        def requeue():
            near = (middle > head) & ~comes_before(middle, value, pack)
            return cond(near, put_from_front, go_to_end)

        return cond(count == S, lambda: (head + 1, end), requeue)

    fori(C, give, P * 0, P, start=loaded)
