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

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter

# The bits of no positive float32 are more; as many bits number what is sorted.
MOST_BITS = 2**31 - 1
# Keys are sorted by four digits of 8 bits.
DIGITS, RADIX = 4, 256


@long_kernel
def pack_groups(loads, bits, nodes, order):
    """Give groups of experts to nodes, as many to each, longest first.

    ``loads``, ``bits`` (L, K) are of groups; ``order`` (L, K) receives the groups of the first
    node, in the order in which it got them, then those of the next.
    """
    L, K = loads.shape
    S = K // nodes
    words = np.empty(K, np.int64)
    spare = np.empty(K, np.int64)
    digits = np.empty((DIGITS, RADIX), np.int64)
    falling = np.empty(K, loads.dtype)
    slot = np.empty(K, np.int64)
    queue_load = np.empty(nodes + K, loads.dtype)
    queue_pack = np.empty(nodes + K, np.int64)
    filled = np.empty(nodes, np.int64)
    meter = new_meter()
    for layer in range(L):
        if interrupted(meter, 16 * K):
            break
        for j in range(K):
            words[j] = (MOST_BITS - np.int64(bits[layer, j])) << 32 | j
        result = _sort(words, spare, digits)
        for k in range(K):
            falling[k] = loads[layer, result[k] & MOST_BITS]
        if S > 1:
            _pack(falling, S, queue_load, queue_pack, filled, slot)
        for k in range(K):
            own = result[k] & MOST_BITS
            order[layer, slot[k] if S > 1 else own] = own


@long_kernel
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
    digits = np.empty((DIGITS, RADIX), np.int64)
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
    members = np.empty(C - M, np.int64)
    begins = np.empty(C - M + 1, np.int64)
    # All copies by falling load.
    copy = np.empty(C, np.int64)
    copy_load = np.empty(C, loads.dtype)
    slot = np.empty(C, np.int64)
    queue_load = np.empty(P + C, loads.dtype)
    queue_pack = np.empty(P + C, np.int64)
    filled = np.empty(P, np.int64)
    meter = new_meter()
    for layer in range(L):
        if interrupted(meter, 32 * R):
            break
        for node in range(nodes):
            first = node * M
            for j in range(M):
                key = MOST_BITS - np.int64(bits[layer, order[layer, first + j]])
                words[j] = key << 32 | j
            result = _sort(words, spare, digits)
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
                group, begins, members, copy, copy_load,
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


@inlined
def _sort(words, spare, digits):
    """Sort words (n,) by their upper 32 bits, the rest in the order in which it comes.

    Return either ``words`` or ``spare`` (n,), which holds the result; ``digits`` is a workspace.
    """
    n = words.size
    for digit in range(DIGITS):
        for value in range(RADIX):
            digits[digit, value] = 0
    for i in range(n):
        word = words[i] >> 32
        for digit in range(DIGITS):
            digits[digit, word >> 8 * digit & 255] += 1
    source = words
    target = spare
    for digit in range(DIGITS):
        shift = 32 + 8 * digit
        # Loads that are small integers share their lower digits.
        if digits[digit, source[0] >> shift & 255] < n:
            below = 0
            for value in range(RADIX):
                number = digits[digit, value]
                digits[digit, value] = below
                below += number
            for i in range(n):
                word = source[i]
                value = word >> shift & 255
                target[digits[digit, value]] = word
                digits[digit, value] += 1
            sorted_words = target
            target = source
            source = sorted_words
    return source


@inlined
def _replicate(load, number, ceiling, to_lightest, count, place_of, earlier, heavy, heavy_load):
    """Give each extra copy to the expert whose copies are heaviest, up to a ceiling.

    Replicated experts are the first ones of the falling order, and lightest ones if they got the
    last extra copies. They stand, with the load of a copy, in the queue ``heavy``, ``heavy_load``
    from ``head`` on. Return head, and between which places of the order experts have one copy.
    """
    M = load.size
    for i in range(M):
        count[i] = 1
    head = 0
    replicated = 0
    light = M
    is_below = False
    for extra in range(place_of.size):
        remaining = place_of.size - extra
        heaviest = -1.0
        if replicated < M:
            heaviest = load[replicated]
        if head < extra:
            heaviest = max(heaviest, heavy_load[head])
        is_below = is_below or (heaviest <= ceiling and remaining <= M - replicated)
        if is_below and to_lightest:
            i = M - remaining
            light = min(light, i)
        elif is_below:
            i = replicated
            replicated += 1
        elif head < extra and (
            replicated == M
            or heavy_load[head] > load[replicated]
            or (heavy_load[head] == load[replicated] and number[heavy[head]] < number[replicated])
        ):
            i = heavy[head]
            head += 1
        else:
            i = replicated
            replicated += 1
        place_of[extra] = i
        earlier[extra] = count[i]
        count[i] += 1
        heavy_load[extra] = load[i] / count[i]
        value = heavy_load[extra]
        at = extra
        while at > head and (
            heavy_load[at - 1] < value
            or (heavy_load[at - 1] == value and number[heavy[at - 1]] > number[i])
        ):
            heavy_load[at] = heavy_load[at - 1]
            heavy[at] = heavy[at - 1]
            at -= 1
        heavy_load[at] = value
        heavy[at] = i
    return head, replicated, light


@inlined
def _merge(
    load, number, head, single, light, count, place_of, heavy, heavy_load,
    group, begins, members, copy, copy_load,
):  # fmt: skip
    """Put all copies into one falling order: ``copy``, ``copy_load`` (C,).

    Experts with one copy stand at the places from ``single`` to ``light`` of the falling order of
    experts, replicated ones in the queue. Of equal loads first copies come first, by number, then
    extra copies as they were made: these are brought together by groups of experts of equal load.
    """
    M = load.size
    extras = place_of.size
    groups = 0
    begin = 0
    for at in range(head, extras):
        if at == head or heavy_load[at] != heavy_load[at - 1]:
            begins[groups] = begin
            groups += 1
        group[heavy[at]] = groups - 1
        begin += count[heavy[at]] - 1
    for extra in range(extras):
        own = group[place_of[extra]]
        members[begins[own]] = extra
        begins[own] += 1
    # Now begins has the end of each group, which is where the next one begins.
    k = 0
    used = 0
    at = head
    for own in range(groups):
        value = heavy_load[at]
        while single < light and load[single] > value:
            copy[k] = number[single]
            copy_load[k] = load[single]
            single += 1
            k += 1
        while at < extras and heavy_load[at] == value:
            while single < light and load[single] == value and number[single] < number[heavy[at]]:
                copy[k] = number[single]
                copy_load[k] = value
                single += 1
                k += 1
            copy[k] = number[heavy[at]]
            copy_load[k] = value
            at += 1
            k += 1
        while single < light and load[single] == value:
            copy[k] = number[single]
            copy_load[k] = value
            single += 1
            k += 1
        while used < begins[own]:
            copy[k] = M + members[used]
            copy_load[k] = value
            used += 1
            k += 1
    while single < light:
        copy[k] = number[single]
        copy_load[k] = load[single]
        single += 1
        k += 1


@inlined
def _pack(falling, S, queue_load, queue_pack, filled, slot):
    """Give copies (C,) by falling load, one after the other, to the lightest pack with a free slot.

    ``slot`` (C,) receives ``pack * S`` and more, as a pack is filled. Packs with free slots stand
    in a queue by rising load, of equal loads the lower pack first. The first one gets the next copy
    and then stands either near the front still, as with light copies, or near the end.
    """
    C = falling.size
    P = filled.size
    # The first copies go to a pack each, unless they are no load at all.
    loaded = 0
    while loaded < P and falling[loaded] > 0:
        slot[loaded] = loaded * S
        filled[loaded] = 1
        loaded += 1
    end = 0
    for pack in range(loaded, P):
        filled[pack] = 0
        queue_load[end] = 0
        queue_pack[end] = pack
        end += 1
    last = loaded
    while last > 0:
        first = last - 1
        while first > 0 and falling[first - 1] == falling[last - 1]:
            first -= 1
        for pack in range(first, last):
            queue_load[end] = falling[pack]
            queue_pack[end] = pack
            end += 1
        last = first
    head = 0
    for k in range(loaded, C):
        pack = queue_pack[head]
        slot[k] = pack * S + filled[pack]
        filled[pack] += 1
        if filled[pack] == S:
            head += 1
            continue
        queue_load[head] += falling[k]
        value = queue_load[head]
        middle = (head + end) >> 1
        if middle > head and (
            queue_load[middle] > value
            or (queue_load[middle] == value and queue_pack[middle] > pack)
        ):
            at = head
            while queue_load[at + 1] < value or (
                queue_load[at + 1] == value and queue_pack[at + 1] < pack
            ):
                queue_load[at] = queue_load[at + 1]
                queue_pack[at] = queue_pack[at + 1]
                at += 1
        else:
            head += 1
            at = end
            while at > head and (
                queue_load[at - 1] > value
                or (queue_load[at - 1] == value and queue_pack[at - 1] > pack)
            ):
                queue_load[at] = queue_load[at - 1]
                queue_pack[at] = queue_pack[at - 1]
                at -= 1
            end += 1
        queue_load[at] = value
        queue_pack[at] = pack
