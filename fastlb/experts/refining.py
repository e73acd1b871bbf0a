"""The refined placement: the published one, or the one in use, made more even."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..accelerate import kernels
from .problem import Cluster
from .published import (
    Maps,
    experts_of_groups,
    least_peak,
    loads_of_gpus,
    pack_groups,
    place,
    sums_of_groups,
)
from .transfers import renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

# Pairs of GPUs compared in a layer, for each slot, and the parts of them: for a placement as it is,
# for each new one that is begun, for the best one at last, and for the placement in use.
EFFORT = 6
AS_IT_IS, BEGUN, LAST, IN_USE = 3 / 8, 1 / 12, 1 / 4, 1 / 2
# The part of a layer's experts that are light.
LIGHT = 0.4
# Placements of at most so many times the target are evened out as they are.
NEAR = 1.15
# A load is lower than another one if it is by more than rounding.
LOWER = 1 - 1e-9


class _Start(NamedTuple):
    """How a new placement begins.

    Attributes
    ----------
    ceiling : callable
        From the target and the load of light experts (both (L,)) the load from which on copies are
        not made lighter any more.
    to_lightest : bool
        Whether further copies are of the lightest experts, or of the heaviest that have one.
    """

    ceiling: Callable[[Reals, Reals], Reals]
    to_lightest: bool


@dataclass(frozen=True)
class _Layers:
    """Placements of ``L`` layers, which are replaced by better ones.

    Attributes
    ----------
    weights : (L, E) float32
    target, peak : (L,) float64
        The load that the fullest GPU may have, and what it has.
    phy2log : (L, R) int64
    logcnt : (L, E) int64
    """

    weights: NDArray[np.float32]
    cluster: Cluster
    effort: int
    target: Reals
    peak: Reals
    phy2log: Integers
    logcnt: Integers

    def part(self, rows: Integers) -> _Layers:
        """Return copies of some layers."""
        return _Layers(
            self.weights[rows],
            self.cluster,
            self.effort,
            self.target[rows],
            self.peak[rows],
            self.phy2log[rows],
            self.logcnt[rows],
        )

    def replace(self, rows: Integers, other: _Layers) -> None:
        """Put those layers here as rows that are as many in another one."""
        self.peak[rows], self.phy2log[rows], self.logcnt[rows] = (
            other.peak, other.phy2log, other.logcnt
        )  # fmt: skip

    @property
    def unfinished(self) -> Integers:
        return np.flatnonzero(self.peak > self.target)

    def attempt(self, rows: Integers, start: _Start | None, part: float) -> None:
        """Even some layers out, from a new start or as they are, with a part of the effort."""
        trial = self.part(rows)
        if start is not None:
            trial.place(start)
        trial.exchange(part)
        better = np.flatnonzero(trial.peak < self.peak[rows] * LOWER)
        self.replace(rows[better], trial.part(better))

    def place(self, start: _Start) -> None:
        """Place all layers anew, with groups spread over nodes as exchanges even them out."""
        cluster = self.cluster
        light = np.sort(self.weights, axis=1)[:, int(LIGHT * cluster.experts)].astype(np.float64)
        place(
            self.weights.astype(np.float64),
            self.weights,
            self.experts_by_node(),
            cluster,
            Maps(self.phy2log, self.logcnt, np.empty_like(self.phy2log)),
            ceiling=start.ceiling(self.target, light),
            to_lightest=start.to_lightest,
        )

    def experts_by_node(self) -> Integers:
        """Return the experts (L, E) node by node, with groups exchanged to even nodes out."""
        cluster, weights = self.cluster, self.weights
        if cluster.nodes == 1:
            return np.broadcast_to(np.arange(cluster.experts), weights.shape)
        sums = sums_of_groups(weights, cluster.groups)
        order = pack_groups(sums, cluster.nodes, np.float64)
        loads = sums.astype(np.float64)
        mean = loads.sum(axis=1) / cluster.nodes
        kernels("experts.refined").refine(
            loads, 1, cluster.nodes, mean, self.effort, -1, order, order,
            np.ones_like(order), np.empty(len(order)),
        )  # fmt: skip
        return experts_of_groups(order, cluster.experts)

    def exchange(
        self, part: float = 1, previous: Integers | None = None, moves: int | None = None
    ) -> None:
        """Even all layers out with a part of the effort.

        With ``moves``, at most so many experts come to GPUs that do not hold them in ``previous``.
        """
        kernels("experts.refined").refine(
            self.weights.astype(np.float64), self.cluster.nodes, self.cluster.gpus, self.target,
            int(part * self.effort), -1 if moves is None else moves,
            self.phy2log if previous is None else previous, self.phy2log, self.logcnt, self.peak,
        )  # fmt: skip


def refined(
    weights: NDArray[np.float32],
    cluster: Cluster,
    maps: Maps,
    tolerance: float,
    effort: int | None,
    previous: Integers | None,
    moves: int | None,
) -> None:
    """Replace the published placement in ``maps`` by the refined one.

    Parameters
    ----------
    weights : (L, E)
    tolerance : float
        How far above the bound the largest load may remain.
    effort : int or None
        Pairs of GPUs compared in a layer, of which each attempt has a part.
    previous : (L, R), optional
        The placement to begin with; without ``moves`` it is given up where a new one is lower by
        more than the tolerance.
    """
    loads = weights.astype(np.float64)
    published = _Layers(
        weights,
        cluster,
        EFFORT * cluster.replicas if effort is None else effort,
        least_peak(weights, cluster, maps.logcnt) * (1 + tolerance),
        loads_of_gpus(loads, maps, cluster.gpus).max(axis=1),
        maps.phy2log,
        maps.logcnt,
    )
    if previous is None:
        _improve(published)
    else:
        layers = published.part(np.arange(len(weights)))
        layers.phy2log[...] = previous
        for row, count in zip(previous, layers.logcnt, strict=True):
            count[...] = np.bincount(row, minlength=cluster.experts)
        layers.exchange(IN_USE, previous, moves)
        if moves is None:
            _renew(layers, published, previous, 1 + tolerance)
        kernels("experts.maps").keep_slots(previous, cluster.gpus, layers.phy2log)
        published.replace(np.arange(len(weights)), layers)
    kernels("experts.maps").number_copies(maps.phy2log, cluster.experts, maps.copies)


def _renew(layers: _Layers, published: _Layers, previous: Integers, much: float) -> None:
    """Replace layers by new placements that are lower by a factor, or where published ones are."""
    worse = layers.peak * LOWER > published.peak
    rows = np.flatnonzero((layers.peak > layers.target) | worse)
    new = published.part(rows)
    _improve(new)
    better = np.flatnonzero((new.peak * much < layers.peak[rows]) | worse[rows])
    new = new.part(better)
    new.phy2log[...] = renumbered(previous[rows[better]], new.phy2log, layers.cluster)
    layers.replace(rows[better], new)


def _improve(layers: _Layers) -> None:
    """Replace placements by lower ones until they reach the target, or all has been tried.

    Placements that are near to the target are evened out as they are. For the others several new
    ones are begun, and the best of them is evened out with what remains of the effort.
    """
    near = layers.unfinished
    layers.attempt(near[layers.peak[near] <= NEAR * layers.target[near]], None, AS_IT_IS)
    for start in _starts(layers.cluster):
        layers.attempt(layers.unfinished, start, BEGUN)
    layers.attempt(layers.unfinished, None, LAST)


def _starts(cluster: Cluster) -> Iterator[_Start]:
    """Yield how new placements begin.

    The published counts make copies as light as possible, so that there are many heavy ones. Fewer
    copies, which nearly fill a GPU each, leave extra copies to others: to the heaviest of them, cut
    into parts that fit beside one another, or to the lightest, to fill GPUs up with.
    """
    if cluster.nodes > 1:
        yield _Start(lambda target, light: np.full(target.shape, -1.0), False)
    if cluster.replicas > cluster.experts:
        others = cluster.replicas // cluster.gpus - 1
        yield _Start(lambda target, light: target, False)
        # This leaves room for light experts in the other slots of a GPU.
        for to_lightest in (True, False):
            yield _Start(
                lambda target, light: np.maximum(target - others * light, target / 2), to_lightest
            )
        # For layers that these leave far from the target.
        yield _Start(lambda target, light: 0.75 * target, False)
        yield _Start(lambda target, light: 0.9 * target, True)
