"""Edge colouring of any simple graph with at most one colour more than the largest degree.

Misra and Gries (1992): one link after the other is coloured. A colour is free at a node if none of
its links has it. At one end of the new link, the centre, a fan of links is built that begins with
it, each of a colour that is free at the far end of the one before. Two colours, c and d, are
swapped along a path, after which each link of the fan can take the colour of the next one:

    fan       new link   1st link   2nd link   3rd link        c is free at the centre, d at the
    before       -          p          q          r            far end of the last link
    after        p          q          r          d

The links at node i are ``incident[first[i]:first[i + 1]]``; ``colours[e]`` is -1 while e has none.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter

NONE = np.int64(-1)


@inlined
def _other_end(links, e, node):
    return links[e, 0] + links[e, 1] - node


@kernel
def _link_of_colour(node, colour, first, incident, colours, except_link):
    """Return the link of a colour at a node other than ``except_link``, or ``NONE``."""
    result = NONE
    for a in range(first[node], first[node + 1]):
        if colours[incident[a]] == colour and incident[a] != except_link:
            result = incident[a]
    return result


@inlined
def _free_colour(node, first, incident, colours, used):
    """Return the least colour that is free at the node; ``used`` is workspace."""
    degree = first[node + 1] - first[node]
    for colour in range(degree + 1):
        used[colour] = False
    for a in range(first[node], first[node + 1]):
        if 0 <= colours[incident[a]] <= degree:
            used[colours[incident[a]]] = True
    result = 0
    while used[result]:
        result += 1
    return result


@inlined
def _swap_path(node, c, d, links, first, incident, colours):
    """Swap c and d along the path of links of these colours that starts at ``node`` with d."""
    new_colour = c
    e = _link_of_colour(node, d, first, incident, colours, NONE)
    while e >= 0:
        node = _other_end(links, e, node)
        following = _link_of_colour(node, new_colour, first, incident, colours, e)
        colours[e] = new_colour
        new_colour = c + d - new_colour
        e = following


def misra_gries(links, n):
    """Return a proper edge colouring (E,) of simple links (E, 2) on n nodes."""
    degrees = np.bincount(links.reshape(-1), minlength=n)
    first = np.concatenate([[0], np.cumsum(degrees)])
    incident = np.argsort(links.reshape(-1), kind="stable") // 2
    return _colour(links, first, incident, degrees.max(initial=0))


@long_kernel
def _colour(links, first, incident, largest):
    """Return the colouring; ``largest`` is the largest degree."""
    E = links.shape[0]
    colours = np.empty(E, np.int64)
    in_fan_of = np.empty(E, np.int64)
    for e in range(E):
        colours[e] = in_fan_of[e] = NONE
    used = np.empty(largest + 2, np.bool_)
    fan = np.empty(largest + 1, np.int64)
    meter = new_meter()
    for e in range(E):
        if interrupted(meter, 64):
            break
        centre = links[e, 0]
        c = _free_colour(centre, first, incident, colours, used)
        # The fan grows until no link can follow, or c is free at its last end; then d is c.
        fan[0] = in_fan_of[e] = e
        length = 1
        end = _other_end(links, e, centre)
        growing = True
        while growing and _link_of_colour(end, c, first, incident, colours, NONE) >= 0:
            growing = False
            for a in range(first[centre], first[centre + 1]):
                candidate = incident[a]
                colour = colours[candidate]
                if colour < 0 or in_fan_of[candidate] == e or growing:
                    continue
                if _link_of_colour(end, colour, first, incident, colours, NONE) < 0:
                    fan[length] = candidate
                    in_fan_of[candidate] = e
                    length += 1
                    growing = True
            if growing:
                end = _other_end(links, fan[length - 1], centre)
        d = c
        if not growing:
            d = _free_colour(end, first, incident, colours, used)
        if c != d:
            _swap_path(centre, c, d, links, first, incident, colours)
        # The swap may have changed colours in the fan. Up to its first link with d free at the
        # far end it still is one.
        chosen = 0
        while True:
            end = _other_end(links, fan[chosen], centre)
            if _link_of_colour(end, d, first, incident, colours, NONE) < 0:
                break
            chosen += 1
        for f in range(chosen):
            colours[fan[f]] = colours[fan[f + 1]]
        colours[fan[chosen]] = d
    return colours
