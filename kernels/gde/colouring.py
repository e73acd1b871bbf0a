"""Edge colouring of any simple graph with at most one colour more than the largest degree."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _incidence(links, n):
    """Return CSR arrays (first, link) of the links at each node."""
    first = np.zeros(n + 1, np.int64)
    for e in range(links.shape[0]):
        first[links[e, 0] + 1] += 1
        first[links[e, 1] + 1] += 1
    for i in range(n):
        first[i + 1] += first[i]
    place = first[:-1].copy()
    link = np.empty(2 * links.shape[0], np.int64)
    for e in range(links.shape[0]):
        for side in range(2):
            link[place[links[e, side]]] = e
            place[links[e, side]] += 1
    return first, link


@njit(cache=True, nogil=True)
def _other_end(links, e, node):
    return links[e, 1] if links[e, 0] == node else links[e, 0]


@njit(cache=True, nogil=True)
def _link_of_colour(node, wanted, first, link, colours):
    for a in range(first[node], first[node + 1]):
        if colours[link[a]] == wanted:
            return link[a]
    return -1


@njit(cache=True, nogil=True)
def _free_colour(node, first, link, colours, taken):
    """Return the least colour at no link of the node."""
    degree = first[node + 1] - first[node]
    taken[: degree + 1] = False
    for a in range(first[node], first[node + 1]):
        colour = colours[link[a]]
        if 0 <= colour <= degree:
            taken[colour] = True
    colour = 0
    while taken[colour]:
        colour += 1
    return colour


@njit(cache=True, nogil=True)
def _swap_path(node, c, d, links, first, link, colours):
    """Swap c and d along the path of these colours that starts at ``node`` with d."""
    wanted = d
    step = _link_of_colour(node, d, first, link, colours)
    while step >= 0:
        other = _other_end(links, step, node)
        wanted = c if wanted == d else d
        following = np.int64(-1)
        for a in range(first[other], first[other + 1]):
            if link[a] != step and colours[link[a]] == wanted:
                following = link[a]
        colours[step] = wanted
        node = other
        step = following


@njit(cache=True, nogil=True)
def misra_gries(links, n):
    """Return a proper edge colouring (E,) of simple links (E, 2) on n nodes (Misra, Gries 1992)."""
    E = links.shape[0]
    first, link = _incidence(links, n)
    largest = 0
    for i in range(n):
        largest = max(largest, first[i + 1] - first[i])
    colours = np.full(E, -1, np.int64)
    taken = np.empty(largest + 2, np.bool_)
    fan = np.empty(largest + 1, np.int64)
    in_fan_of = np.full(E, -1, np.int64)
    for e in range(E):
        centre = links[e, 0]
        c = _free_colour(centre, first, link, colours, taken)
        fan[0] = e
        in_fan_of[e] = e
        length = 1
        end = _other_end(links, e, centre)
        growing = True
        # Fan: links at the centre, each with a colour that is free at the end of the one before.
        while growing and _link_of_colour(end, c, first, link, colours) >= 0:
            growing = False
            for a in range(first[centre], first[centre + 1]):
                candidate = link[a]
                colour = colours[candidate]
                if colour < 0 or in_fan_of[candidate] == e:
                    continue
                if _link_of_colour(end, colour, first, link, colours) < 0:
                    fan[length] = candidate
                    in_fan_of[candidate] = e
                    length += 1
                    end = _other_end(links, candidate, centre)
                    growing = True
                    break
        d = c
        if not growing:
            d = _free_colour(end, first, link, colours, taken)
        if c != d:
            _swap_path(centre, c, d, links, first, link, colours)
        # The swap may have spoilt the fan further on: its first link with d free at the end
        # comes before that.
        chosen = 0
        while _link_of_colour(_other_end(links, fan[chosen], centre), d, first, link, colours) >= 0:
            chosen += 1
        for f in range(chosen):
            colours[fan[f]] = colours[fan[f + 1]]
        colours[fan[chosen]] = d
    return colours
