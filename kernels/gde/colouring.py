"""Edge colouring of any simple graph with at most one colour more than the largest degree.

Misra and Gries (1992): one link after the other is coloured. Around one of its ends a fan of links
is built, each of a colour that is free at the far end of the one before. Two colours are swapped
along a path, after which the fan's colours move on by one link, and one is free for the last.

The links at node i are ``link[first[i]:first[i + 1]]``; ``colours[e]`` is -1 while e has none.
"""

import numpy as np

from ..shared.compiling import inlined, kernel

NONE = np.int64(-1)


@inlined
def _list_links(links, first, link):
    """Fill the list of links at each node; ``first`` (n + 2,) holds zeros before."""
    # Counted one place further on, so that each count grows into the first place of its node.
    for e in range(links.shape[0]):
        for side in range(2):
            first[links[e, side] + 2] += 1
    for i in range(2, first.size):
        first[i] += first[i - 1]
    for e in range(links.shape[0]):
        for side in range(2):
            node = links[e, side] + 1
            link[first[node]] = e
            first[node] += 1


@inlined
def _other_end(links, e, node):
    return links[e, 0] + links[e, 1] - node


@kernel
def _link_of_colour(node, colour, first, link, colours, except_link):
    """Return the link of a colour at a node other than ``except_link``, or ``NONE``."""
    result = NONE
    for a in range(first[node], first[node + 1]):
        if colours[link[a]] == colour and link[a] != except_link:
            result = link[a]
    return result


@inlined
def _free_colour(node, first, link, colours, used):
    """Return the least colour of no link at the node; ``used`` is scratch."""
    degree = first[node + 1] - first[node]
    for colour in range(degree + 1):
        used[colour] = False
    for a in range(first[node], first[node + 1]):
        if 0 <= colours[link[a]] <= degree:
            used[colours[link[a]]] = True
    result = 0
    while used[result]:
        result += 1
    return result


@inlined
def _swap_path(node, c, d, links, first, link, colours):
    """Swap c and d along the path of these colours that starts at ``node`` with d."""
    other_colour = c
    e = _link_of_colour(node, d, first, link, colours, NONE)
    while e >= 0:
        node = _other_end(links, e, node)
        following = _link_of_colour(node, other_colour, first, link, colours, e)
        colours[e] = other_colour
        other_colour = c + d - other_colour
        e = following


@kernel
def misra_gries(links, n):
    """Return a proper edge colouring (E,) of simple links (E, 2) on n nodes."""
    E = links.shape[0]
    first = np.zeros(n + 2, np.int64)
    link = np.empty(2 * E, np.int64)
    _list_links(links, first, link)
    largest = 0
    for i in range(n):
        largest = max(largest, first[i + 1] - first[i])
    colours = np.empty(E, np.int64)
    in_fan_of = np.empty(E, np.int64)
    for e in range(E):
        colours[e] = in_fan_of[e] = NONE
    used = np.empty(largest + 2, np.bool_)
    fan = np.empty(largest + 1, np.int64)
    for e in range(E):
        centre = links[e, 0]
        c = _free_colour(centre, first, link, colours, used)
        fan[0] = in_fan_of[e] = e
        length = 1
        end = _other_end(links, e, centre)
        growing = True
        while growing and _link_of_colour(end, c, first, link, colours, NONE) >= 0:
            growing = False
            for a in range(first[centre], first[centre + 1]):
                candidate = link[a]
                colour = colours[candidate]
                if colour < 0 or in_fan_of[candidate] == e or growing:
                    continue
                if _link_of_colour(end, colour, first, link, colours, NONE) < 0:
                    fan[length] = candidate
                    in_fan_of[candidate] = e
                    length += 1
                    growing = True
            if growing:
                end = _other_end(links, fan[length - 1], centre)
        d = c
        if not growing:
            d = _free_colour(end, first, link, colours, used)
        if c != d:
            _swap_path(centre, c, d, links, first, link, colours)
        # The swap may have spoilt the fan further on: its first link with d free at the end
        # comes before that.
        chosen = 0
        while True:
            end = _other_end(links, fan[chosen], centre)
            if _link_of_colour(end, d, first, link, colours, NONE) < 0:
                break
            chosen += 1
        for f in range(chosen):
            colours[fan[f]] = colours[fan[f + 1]]
        colours[fan[chosen]] = d
    return colours
