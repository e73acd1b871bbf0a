"""Minimum cuts by their definitions: all subsets of nodes are tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

Arc = tuple[int, int]


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all subsets, the smallest first."""
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def reaches(arcs: Iterable[Arc], source: int, sink: int, without: Iterable[int] = ()) -> bool:
    """Tell whether arcs lead from one node to another past some nodes."""
    usable = [(u, v) for u, v in arcs if u not in without and v not in without]
    seen = {source}
    while more := {v for u, v in usable if u in seen} - seen:
        seen |= more
    return sink in seen


def edges_between(n: int, arcs: set[Arc], source: int, sink: int) -> int:
    """Return the fewest arcs without which no way leads from one node to another."""
    others = [u for u in range(n) if u not in (source, sink)]
    sides = ({source, *chosen} for chosen in subsets(others))
    return min(sum(u in side and v not in side for u, v in arcs) for side in sides)


def nodes_between(n: int, arcs: set[Arc], source: int, sink: int) -> int:
    """Return the fewest other nodes without which no way leads on; a direct arc counts as one."""
    ways = arcs - {(source, sink)}
    others = [u for u in range(n) if u not in (source, sink)]
    parting = (chosen for chosen in subsets(others) if not reaches(ways, source, sink, chosen))
    return len(next(parting)) + ((source, sink) in arcs)


def cut_between(weights: dict[Arc, float], n: int, source: int, sink: int) -> float:
    """Return the weight of a minimum cut of an undirected graph between two nodes."""
    others = [u for u in range(n) if u not in (source, sink)]
    sides = ({source, *chosen} for chosen in subsets(others))
    return min(weight_across(weights, side) for side in sides)


def global_cut(weights: dict[Arc, float], n: int) -> float:
    """Return the weight of a minimum cut of a whole undirected graph."""
    sides = ({0, *chosen} for chosen in subsets(range(1, n)) if len(chosen) < n - 1)
    return min(weight_across(weights, side) for side in sides)


def weight_across(weights: dict[Arc, float], side: set[int]) -> float:
    """Return the weight of the links between a side and the rest."""
    return sum(weight for (u, v), weight in weights.items() if (u in side) != (v in side))
