"""A placement of experts: its maps, how even it is, and what it takes to get there."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..display.cards import card
from ..display.numbers import shown
from ..exchange.scratch import result_bytes
from .published import Maps, least_peak, loads_of_gpus
from .transfers import arrivals, by_group, holdings, moves_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..display.html import Markup
    from .problem import Cluster

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]


class Placement:
    """Which expert is in which slot of which GPU, layer by layer. Frozen.

    Legend: ``batch`` the leading axes of the weights, usually ``(layers,)``; ``E`` experts, ``R``
    slots (replicas), ``G`` GPUs, slot ``s`` being on GPU ``s // (R / G)``.

    Maps are made by the call, all else when it is first read. Arrays passed as ``out`` are the
    maps themselves: a later call that writes them changes them here, too.

    Attributes
    ----------
    method : str
        What was asked for.
    weights : batch + (E,) float32
        The loads of experts, rounded.
    replicas, gpus, nodes, groups : int
        What was asked for.
    phy2log : batch + (R,) int64
        The expert in each slot.
    log2phy : batch + (E, X) int64
        The slots of each expert, then -1; ``X`` is the largest number of copies. The published
        placement lists copies as it makes them, the refined one by rising slot.
    logcnt : batch + (E,) int64
        The number of copies of each expert.
    loads : batch + (G,) float64
        The load of each GPU.
    balancedness : batch, float64
        Mean load over the largest one: 1 is even; 1 where there is no load.
    bound, gap : batch, float64
        What the fullest GPU has at least, wherever the copies are; and by what part its load is
        above that, 0 where there is no load.
    transfers : batch, int64
        Experts that come to GPUs which did not hold them before.
    moves : (T, 4) int64
        These transfers: layer (a number over all of ``batch``), expert, GPU from which, GPU to
        which it goes.

    Raises
    ------
    AttributeError
        On reading ``transfers`` or ``moves`` where no ``previous`` was passed.
    """

    method: str
    weights: NDArray[np.float32]
    phy2log: Integers
    logcnt: Integers
    _cluster: Cluster
    _batch: tuple[int, ...]
    _maps: Maps
    _previous: Integers | None

    def __init__(
        self,
        method: str,
        cluster: Cluster,
        batch: tuple[int, ...],
        weights: NDArray[np.float32],
        maps: Maps,
        previous: Integers | None,
    ) -> None:
        self.__dict__.update(
            method=method,
            weights=weights.reshape(*batch, cluster.experts),
            phy2log=maps.phy2log.reshape(*batch, cluster.replicas),
            logcnt=maps.logcnt.reshape(*batch, cluster.experts),
            _cluster=cluster,
            _batch=batch,
            _maps=maps,
            _previous=previous,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Placement is frozen, cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Placement is frozen, cannot delete {name}")

    @property
    def replicas(self) -> int:
        return self._cluster.replicas

    @property
    def gpus(self) -> int:
        return self._cluster.gpus

    @property
    def nodes(self) -> int:
        return self._cluster.nodes

    @property
    def groups(self) -> int:
        return self._cluster.groups

    @property
    def _rows(self) -> NDArray[np.float32]:
        return self.weights.reshape(-1, self._cluster.experts)

    @cached_property
    def log2phy(self) -> Integers:
        most = int(self._maps.logcnt.max(initial=1))
        shape = (*self._maps.logcnt.shape, most)
        log2phy = result_bytes(8 * math.prod(shape)).view(np.int64).reshape(shape)
        kernels("experts.maps").slots_of_copies(self._maps.copies, log2phy)
        slots: Integers = log2phy.reshape(*self._batch, *shape[1:])
        return slots

    @cached_property
    def loads(self) -> Reals:
        loads: Reals = loads_of_gpus(self._rows.astype(np.float64), self._maps, self.gpus)
        return loads.reshape(*self._batch, self.gpus)

    @cached_property
    def balancedness(self) -> Reals:
        mean, most = self.loads.mean(axis=-1), self.loads.max(axis=-1)
        return _ratio(mean, most)

    @cached_property
    def bound(self) -> Reals:
        return least_peak(self._rows, self._cluster).reshape(self._batch)

    @cached_property
    def gap(self) -> Reals:
        # Sums of the same loads in another order may be lower by their rounding.
        return np.maximum(_ratio(self.loads.max(axis=-1), self.bound) - 1, 0)

    @cached_property
    def transfers(self) -> Integers:
        coming = arrivals(self._before("transfers"), self._maps.phy2log, self._cluster)
        counts: Integers = coming.sum(axis=(1, 2)).reshape(self._batch)
        return counts

    @cached_property
    def moves(self) -> Integers:
        return moves_of(self._before("moves"), self._maps.phy2log, self._cluster)

    def _before(self, name: str) -> Integers:
        if self._previous is None:
            raise AttributeError(
                f"{name} need a placement before: call place_experts with previous="
            )
        return self._previous

    def verify(self) -> bool:
        """Check the maps against one another, and the figures against the maps.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        cluster, R = self._cluster, self.replicas
        phy2log, logcnt = self._maps.phy2log, self._maps.logcnt
        layers = len(phy2log)
        _require(
            phy2log.min(initial=0) >= 0 and phy2log.max(initial=0) < cluster.experts,
            "slots hold experts",
        )
        counts = np.zeros_like(logcnt)
        np.add.at(counts, (np.repeat(np.arange(layers), R), phy2log.reshape(-1)), 1)
        _require(np.array_equal(counts, logcnt), "logcnt counts the copies in phy2log")
        _require(bool((counts >= 1).all()), "every expert has a copy")
        log2phy = self.log2phy.reshape(layers, *self.log2phy.shape[-2:])
        listed = log2phy >= 0
        _require(np.array_equal(listed.sum(axis=-1), logcnt), "log2phy lists every copy")
        layer, expert, _ = np.nonzero(listed)
        _require(
            np.array_equal(phy2log[layer, log2phy[listed]], expert)
            and len(set(zip(layer.tolist(), log2phy[listed].tolist(), strict=True))) == layers * R,
            "log2phy and phy2log are inverse",
        )
        on_nodes = holdings(phy2log, self.nodes, cluster.experts)
        groups = by_group(on_nodes, self.groups)
        _require(bool((groups.sum(axis=1) == 1).all()), "each group is on one node")
        loads = np.zeros((layers, self.gpus))
        share = self._rows.astype(np.float64) / counts
        on_gpu = np.broadcast_to(np.arange(R) // (R // self.gpus), phy2log.shape)
        rows = np.arange(layers)[:, None]
        np.add.at(loads, (rows, on_gpu), share[rows, phy2log])
        figures = self.loads.reshape(loads.shape)
        _require(np.allclose(loads, figures, rtol=1e-9, atol=0), "loads are those of the copies")
        most = loads.max(axis=1, initial=0)
        _require(bool((most >= self.bound.reshape(-1) * (1 - 1e-9)).all()), "the bound holds")
        return True

    @property
    def _heading(self) -> str:
        layers = len(self._maps.phy2log)
        several = "" if layers == 1 else f", {layers:,} layers"
        return f"{self.method}, {self._cluster}{several}"

    @property
    def _facts(self) -> dict[str, str]:
        if not self.balancedness.size:
            return {}
        least, gap = self.balancedness.min(), self.gap.max()
        one = self.balancedness.size == 1
        facts = {
            "balancedness": f"{self.balancedness.mean():.4f}"
            + ("" if one else f" (least {least:.4f})"),
            "gap": f"{self.gap.mean():.4f}" + ("" if one else f" (largest {gap:.4f})"),
            "copies": f"{shown(int(self.logcnt.max()))} of an expert at most",
        }
        if self._previous is not None:
            facts["transfers"] = shown(int(self.transfers.sum())) + (
                "" if one else f" (at most {shown(int(self.transfers.max()))} in a layer)"
            )
        return facts

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {text}" for name, text in self._facts.items())
        return f"<Placement: {self._heading}; {facts}>"

    def _repr_html_(self) -> Markup:
        note = "" if self.balancedness.size == 1 else "means of all layers"
        return card(f"Placement: {self._heading}", self._facts, note=note)

    def to_dict(self) -> dict[str, Any]:
        """Return the maps and figures as JSON-ready lists, numbers and strings."""
        about = {
            name: getattr(self, name) for name in ("method", "replicas", "gpus", "nodes", "groups")
        }
        maps = {
            name: getattr(self, name).tolist()
            for name in ("phy2log", "log2phy", "logcnt", "loads", "balancedness", "bound", "gap")
        }
        changes = {} if self._previous is None else {
            "transfers": self.transfers.tolist(), "moves": self.moves.tolist()
        }  # fmt: skip
        return {**about, **maps, **changes}


def _ratio(loads: Reals, of: Reals) -> Reals:
    """Return one load as a part of another one, 1 where both are 0."""
    ratio: Reals = np.divide(loads, of, out=np.ones(np.shape(loads)), where=of > 0)
    return ratio


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what}: it must hold for this placement, and does not")
