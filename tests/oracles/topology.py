"""Grids spelled out: addresses, lines, links, colours as plain lists."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

Pair = tuple[int, int]


def size(shape: Sequence[int]) -> int:
    return math.prod(shape)


def stride(shape: Sequence[int], axis: int) -> int:
    return math.prod(shape[axis + 1 :])


def coordinate(node: int, shape: Sequence[int], axis: int) -> int:
    return node // stride(shape, axis) % shape[axis]


def lines(shape: Sequence[int], axis: int) -> Iterator[list[int]]:
    """The nodes of every line along one axis, in the order of that coordinate."""
    step = stride(shape, axis)
    for node in range(size(shape)):
        if coordinate(node, shape, axis) == 0:
            yield [node + i * step for i in range(shape[axis])]


def line_links(line: Sequence[int], wrap: bool) -> list[Pair]:
    """Links (node, successor) of one line; a wrapped line of 2 has one link, of 1 none."""
    k = len(line)
    links = [(line[i], line[i + 1]) for i in range(k - 1)]
    if wrap and k > 2:
        links.append((line[-1], line[0]))
    return links


def grid_links(shape: Sequence[int], wrap: Sequence[bool]) -> list[Pair]:
    """Undirected links once, u < v, in lexicographic order."""
    found = [
        (min(link), max(link))
        for axis in range(len(shape))
        for line in lines(shape, axis)
        for link in line_links(line, wrap[axis])
    ]
    return sorted(found)


def hypercube_links(n: int) -> list[Pair]:
    return [(u, u ^ (1 << bit)) for u in range(2**n) for bit in range(n) if u < u ^ (1 << bit)]


def axis_colours(shape: Sequence[int], wrap: Sequence[bool], axis: int) -> list[list[Pair]]:
    """First, second and third colour of one axis; a colour may be empty here.

    Even links, odd links (the wrap link of an even ring is odd), the wrap link of an odd ring.
    """
    colours: list[list[Pair]] = [[], [], []]
    for line in lines(shape, axis):
        k = len(line)
        for i, link in enumerate(line_links(line, wrap[axis])):
            is_wrap = i == k - 1
            colours[2 if is_wrap and k % 2 else i % 2].append(link)
    return colours


def grid_colours(
    shape: Sequence[int], wrap: Sequence[bool], order: str = "dimension"
) -> list[list[Pair]]:
    """The colours of a sweep in their order; colours without links do not exist."""
    by_axis = [axis_colours(shape, wrap, axis) for axis in range(len(shape))]
    if order == "dimension":
        ordered = [by_axis[axis][rank] for axis in range(len(shape)) for rank in range(3)]
    elif order == "interleaved":
        ordered = [by_axis[axis][rank] for rank in range(3) for axis in range(len(shape))]
    else:
        raise ValueError(order)
    return [colour for colour in ordered if colour]


def optimal_lambda(shape: Sequence[int], wrap: Sequence[bool]) -> float:
    """The largest over the axes of 1/(1+sin(pi/k)) (mesh) and 1/(1+sin(2 pi/k)) (torus).

    An axis of length 1 is ignored and a ring of 2 counts as a chain of 2.
    """
    values = [
        1 / (1 + math.sin((2 if wrapped and k > 2 else 1) * math.pi / k))
        for k, wrapped in zip(shape, wrap, strict=True)
        if k > 1
    ]
    return max(values)
