"""Whether a routing scheme has the properties P1-P3 on a network (Minimax section 2.1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..arguments import written
from ..display.cards import Displayed
from ..topologies.network import Network
from ..topologies.parse import network_of
from ..topologies.topology import Topology
from .routing import DimensionOrder, Routing, RoutingScheme, ordered_axes

Path = tuple[int, ...]

MOST_PATHS = 1_000_000
# Most walks that are checked even if no part of them is feasible.
MOST_WALKS = 20_000


@dataclass(frozen=True)
class RoutingCheck(Displayed):
    """Outcome of a check; true where the scheme has P1-P3.

    Attributes
    ----------
    violated : str or None
        ``"P1"``, ``"P2"`` or ``"P3"``.
    counterexample : tuple of paths
        Paths of nodes: the one that should be feasible first, then those that imply it.
    reason : str
        The finding in words.
    """

    violated: str | None
    counterexample: tuple[Path, ...]
    reason: str

    def __bool__(self) -> bool:
        return self.violated is None


def check_routing(
    network: Topology | str,
    scheme: Routing | Callable[[Sequence[int]], bool],
    *,
    longest: int = 0,
) -> RoutingCheck:
    """Tell whether a routing scheme satisfies P1-P3 on a network, with a counterexample.

    Parameters
    ----------
    scheme : "e-cube", "dimension-order", "shortest-direction", RoutingScheme or callable
        A callable, or a scheme's ``feasible``, takes a whole path of nodes. Where a scheme is
        given by its two-link paths alone, the feasible paths are those of P1-P3 by definition.
    longest : int
        Links of the longest path that is checked. Default: the number of nodes.

    Raises
    ------
    ValueError
        If a named scheme does not fit the network, or more than a million paths are feasible.

    Notes
    -----
    Paths are followed link by link while a part of them is feasible. A feasible path none of
    whose parts is, which violates P2, is looked for up to the length at which there are 20,000
    walks in all.

    Examples
    --------
    >>> from fastlb import Ring
    >>> check = check_routing(Ring(4).network(), "shortest-direction")
    >>> check.violated, check.counterexample[0]
    ('P3', (0, 1, 2, 3))
    """
    network = network_of(network)
    feasible = _feasible(network, scheme)
    if feasible is None:
        return RoutingCheck(None, (), "P1, P2 and P3 hold by definition of the two-link paths")
    links = {(u, v) for u, v in network.edges.tolist() if u != v}
    following: dict[int, list[int]] = {u: [] for u in range(network.size)}
    preceding: dict[int, list[int]] = {u: [] for u in range(network.size)}
    for u, v in sorted(links):
        following[u].append(v)
        preceding[v].append(u)
    for link in sorted(links):
        if not feasible(link):
            return RoutingCheck("P1", (link,), f"the link {link} is not a feasible path")
    max_links = longest or network.size
    paths: list[Path] = sorted(links)
    violation = _part_violation(paths, following, feasible, max_links)
    if violation is not None:
        return violation
    seen = len(paths)
    for _ in range(max_links - 1):
        longer = []
        for path in paths:
            extended = _extended(path, following, preceding, feasible)
            if isinstance(extended, RoutingCheck):
                return extended
            longer += extended
        paths = longer
        seen += len(paths)
        if seen > MOST_PATHS:
            raise ValueError(
                f"scheme must have at most {MOST_PATHS} feasible paths to be checked; "
                "pass longest= or a smaller network"
            )
    return RoutingCheck(None, (), "P1, P2 and P3 hold")


def _part_violation(
    walks: list[Path],
    following: dict[int, list[int]],
    feasible: Callable[[Path], bool],
    longest: int,
) -> RoutingCheck | None:
    """Return a feasible walk with an infeasible part, among the first MOST_WALKS walks, or None."""
    seen = 0
    for _ in range(longest - 1):
        walks = [(*walk, w) for walk in walks for w in following[walk[-1]]]
        seen += len(walks)
        if seen > MOST_WALKS:
            return None
        for walk in walks:
            parts = [part for part in (walk[:-1], walk[1:]) if not feasible(part)]
            if parts and feasible(walk):
                reason = f"{walk} is feasible and its part {parts[0]} is not"
                return RoutingCheck("P2", (parts[0], walk), reason)
    return None


def _extended(
    path: Path,
    following: dict[int, list[int]],
    preceding: dict[int, list[int]],
    feasible: Callable[[Path], bool],
) -> RoutingCheck | list[Path]:
    """Return the feasible paths one link longer, or what they violate."""
    longer = []
    for w in following[path[-1]]:
        whole, last = (*path, w), (*path[1:], w)
        if feasible(whole):
            if len(path) > 2 and not feasible(last):
                reason = f"{whole} is feasible and its part {last} is not"
                return RoutingCheck("P2", (last, whole), reason)
            longer.append(whole)
        elif len(path) > 2 and feasible(last):
            reason = f"{path} and {last} are feasible and overlap, and {whole} is not feasible"
            return RoutingCheck("P3", (whole, path, last), reason)
    for u in preceding[path[0]]:
        whole, first = (u, *path), (u, *path[:-1])
        if len(path) > 2 and not feasible(first) and feasible(whole):
            reason = f"{whole} is feasible and its part {first} is not"
            return RoutingCheck("P2", (first, whole), reason)
    return longer


def _feasible(
    network: Network, scheme: Routing | Callable[[Sequence[int]], bool]
) -> Callable[[Path], bool] | None:
    if isinstance(scheme, str) and scheme == "shortest-direction":
        if network.topology is None:
            raise ValueError(f"scheme {scheme!r} needs a network made by topology.network()")
        return _ordered(network.topology, tuple(range(network.topology.ndim)))
    if isinstance(scheme, RoutingScheme):
        return scheme.feasible
    if isinstance(scheme, str | DimensionOrder):
        return _ordered(*ordered_axes(network, scheme))
    if not callable(scheme):
        got = written(scheme)
        raise TypeError(f"scheme must be a name, a RoutingScheme or a callable, got {got}")
    return scheme


def _ordered(topology: Topology, order: tuple[int, ...]) -> Callable[[Path], bool]:
    """Paths that follow the axes in order, no longer than their ends are apart."""
    wraps = getattr(topology, "wrap", (False,) * topology.ndim)

    def feasible(path: Path) -> bool:
        ends = [topology.address(node) for node in path]
        moved = [
            order.index(axis)
            for before, after in itertools.pairwise(ends)
            for axis, (x, y) in enumerate(zip(before, after, strict=True))
            if x != y
        ]
        distance = 0
        for x, y, k, wrap in zip(ends[0], ends[-1], topology.shape, wraps, strict=True):
            straight = abs(x - y)
            distance += min(straight, k - straight) if wrap else straight
        return moved == sorted(moved) and len(path) - 1 == distance

    return feasible
