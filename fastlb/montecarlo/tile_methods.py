"""Balancing methods for tiles of random trials, prepared once for a topology and options.

The figures are bit for bit those that the public function records of the same loads.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials, ``K W >= B``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from ..errors import FaultError
from ..exchange import dimension_exchange, direct_exchange, fault_batches, fault_tolerance
from ..exchange import generalized_exchange as generalized
from ..exchange.casting import INT32, INT32_MAX, INT64, INT64_MAX, lane_dtype
from ..exchange.dde_run import LANES as DDE_LANES
from ..exchange.dde_run import plan_of
from ..exchange.fault_passes import plan_passes
from ..exchange.fault_plans import fault_plan
from ..exchange.gde_share import integer_factor, read_share
from ..exchange.loads import check_order
from ..exchange.scratch import scratch
from ..exchange.tiling import LANES
from ..hexa_cells.hexa_cell_exchange import hexa_cell
from ..hexa_cells.hexa_cell_run import STEPS, counters, run_of
from ..registry import function_of
from ..topologies.colouring import colouring
from ..topologies.grids import Grid
from ..topologies.hexa_cell_topology import HyperHexaCell
from ..topologies.hypercube import Hypercube
from ..topologies.topology import Topology
from .methodtext import parse_method

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What a method counted: arrays (.., B), by name.
Counts = dict[str, "NDArray[Any]"]


class TileMethod(ABC):
    """A method with its options on one topology.

    Attributes
    ----------
    function : callable
        The public function of the method.
    lanes : int
        Number of trials that are best balanced side by side.
    """

    function: ClassVar[Any]
    lanes: ClassVar[int] = LANES
    topology: Topology

    @abstractmethod
    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any] | None:
        """Return the dtype in which to balance loads up to ``largest`` with totals up to ``total``.

        It also depends on the width of tiles, as registers hold more of narrow lanes. None means
        that even int64 may not hold the units that are moved.
        """

    @abstractmethod
    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        """Balance tiles (K, N, W) of the dtype that ``dtype`` returned; they may be overwritten.

        Parameters
        ----------
        tiles : (K, N, W)
        B : int
            Number of trials.
        total, largest : int
            Largest total and largest load of all trials.

        Returns
        -------
        dict
            ``extremes`` (2, B), the least and the largest load of each trial afterwards; ``moved``
            and ``local`` (B,), the units that moved and those that never left; and what
            ``own_figures`` uses.
        """

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        """Return the figures, (B,) each, that only some methods have."""
        return {"sweeps": constant(1, B)}


class Gde(TileMethod):
    """Generalized dimension exchange."""

    function = staticmethod(generalized.gde)

    def __init__(
        self, topology: Topology, *, lam: Any = None, order: str = "dimension",
        tol: None = None, max_sweeps: int | None = None,
    ) -> None:  # fmt: skip
        if tol is not None:
            raise ValueError(f"tol must be left out for integer loads, got {tol!r}")
        self.topology = topology
        self.share = read_share(lam, topology)
        self.max_sweeps = generalized.most_sweeps(max_sweeps)
        self.links = colouring(topology, order)
        self._factors: dict[tuple[bool, int], Any] = {}

    def _factor(self, total: int, largest: int) -> Any:
        """Return the factor of the share and the dtype, which suit all loads of as many bits."""
        key = total <= INT32_MAX, largest.bit_length()
        if key not in self._factors:
            largest = min(2 ** key[1] - 1, INT64_MAX)
            self._factors[key] = integer_factor(self.share, total, largest)
        return self._factors[key]

    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any]:
        T: type[np.generic] = self._factor(total, largest)[1]
        return np.dtype(T)

    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        factor, _ = self._factor(total, largest)
        arrays = generalized.balance_tiles(
            tiles, B, self.links, factor, self.max_sweeps, None, with_metrics=True
        )
        counts = dict(zip(("moved", "local", "sweeps", "flags"), arrays, strict=True))
        return {**counts, "extremes": extremes(tiles, B)}

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        figures = generalized.gde_counts(self.links, counts["sweeps"], counts["flags"])
        return {**figures, "colours": self.links.count}


class Dde(TileMethod):
    """Direct dimension exchange, receive-before-send."""

    function = staticmethod(direct_exchange.dde)

    def __init__(self, topology: Topology, *, axes: Any = None, exchange: str = "rbs") -> None:
        if isinstance(topology, Grid):
            wrap = topology.wrap
        elif isinstance(topology, Hypercube) and not topology.faults:
            wrap = (False,) * topology.n
        else:
            raise TypeError(f"topology must be a Grid or Hypercube for dde, got {topology!r}")
        if exchange != "rbs":
            raise ValueError(f"exchange must be 'rbs' in tiles, got {exchange!r}")
        self.topology = topology
        self.plan = plan_of(topology.shape, wrap, check_order("axes", axes, topology.ndim))

    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any] | None:
        if total * self.plan.longest * max(1, len(self.plan.axes)) > INT64_MAX:
            return None
        return INT32 if total * self.plan.longest <= INT32_MAX else INT64

    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        plan, kernel = self.plan, kernels("dde.trials")
        S = len(plan.axes)
        figures = np.empty((kernel.AXES + 2 * S, tiles.shape[0] * tiles.shape[2]), np.int64)
        workspace = np.empty(kernel.room(plan.N, plan.longest, DDE_LANES), tiles.dtype)
        kernel.balance_tiles(tiles, figures, workspace, plan.axes, plan.comparators)
        figures = figures[:, :B]
        moved, rounds = figures[kernel.AXES : kernel.AXES + S], figures[kernel.AXES + S :]
        return {
            "moved": moved.sum(axis=0),
            "local": figures[kernel.LOCAL],
            "rounds": rounds.sum(axis=0),
            "extremes": figures[kernel.LEAST : kernel.MOST + 1],
        }

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        rounds = counts["rounds"]
        return {
            **super().own_figures(B, counts),
            "steps": constant(self.plan.steps, B),
            "rounds": rounds,
            "simulated_steps": rounds + self.plan.information,
        }


class Dem(TileMethod):
    """Dimension exchange."""

    function = staticmethod(dimension_exchange.dem)

    def __init__(self, topology: Hypercube, *, dims: Any = None) -> None:
        if not isinstance(topology, Hypercube):
            raise TypeError(f"topology must be a Hypercube for dem, got {topology!r}")
        self.topology = topology
        self.bits = np.array(check_order("dims", dims, topology.n), dtype=np.int64)
        self.faults = dimension_exchange.faulty_bits(topology)

    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any] | None:
        return lane_dtype(kernels("dem.tiles"), largest, total * max(1, len(self.bits)), W)

    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        counts = np.empty((4, B), np.int64)
        resident_min = scratch("resident_min", (tiles[0].size,), tiles.dtype)
        sums = np.empty((4, tiles.shape[2]), INT64 if tiles.dtype == INT64 else INT32)
        kernels("dem.tiles").balance(tiles, resident_min, sums, self.bits, self.faults, counts)
        return {"moved": counts[0], "local": counts[1], "extremes": counts[2:]}

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        return {**super().own_figures(B, counts), "steps": constant(3 * len(self.bits), B)}


class HexaCell(TileMethod):
    """Algorithms A, B and C on the Hyper Hexa-Cell network."""

    function = staticmethod(hexa_cell)

    def __init__(
        self, topology: HyperHexaCell, *, algorithm: str = "B", share: str = "fair",
        odd_unit: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(topology, HyperHexaCell):
            raise TypeError(f"topology must be a HyperHexaCell for hexa_cell, got {topology!r}")
        self.topology: HyperHexaCell = topology
        self.run = run_of(topology, algorithm, share, odd_unit)

    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any] | None:
        summed = self.run.summed(total, self.topology.size)
        return lane_dtype(kernels("hexa_cells.tiles"), largest, summed, W)

    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        rows = self.run.count_tiles(tiles, B)
        names = ("moved", "local", "time", "load", "polled", "ends")
        return {**dict(zip(names, rows, strict=False)), "extremes": rows[6:]}

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        algorithm = self.run.algorithm
        arrays = (counts[name] for name in ("load", "polled", "ends", "time"))
        return {
            **super().own_figures(B, counts),
            "steps": constant(3 * self.run.d + STEPS[algorithm], B),
            "counts": counters(self.topology, algorithm, *arrays),
        }


class FaultTolerantDem(TileMethod):
    """Fault-tolerant dimension exchange, if there is a plan for the faults."""

    # Each pass over a few nodes has a fixed cost: with 64 lanes it takes a fifth longer.
    lanes = 256
    function = staticmethod(fault_tolerance.fault_tolerant_dem)

    def __init__(
        self, topology: Hypercube, *, order: str = "lowest", donor: str = "latest",
        fallback: str | None = None,
    ) -> None:  # fmt: skip
        fault_tolerance.check_tree("fallback", fallback)
        self.topology = topology
        self.plan = fault_plan(topology, order=order, donor=donor)
        self.passes = plan_passes(self.plan, in_positions=False)

    def dtype(self, total: int, largest: int, W: int) -> np.dtype[Any] | None:
        if total * fault_batches.times_moved(self.plan) <= INT32_MAX:
            return INT32
        return INT64 if total * self.plan.steps <= INT64_MAX else None

    def balance(self, tiles: NDArray[Any], B: int, total: int, largest: int) -> Counts:
        moved, local = np.empty((2, B), np.int64)
        fault_batches.carry_out(self.plan, self.passes, tiles, True, total, moved, local)
        return {"moved": moved, "local": local, "extremes": extremes(tiles, B)}

    def own_figures(self, B: int, counts: Counts) -> dict[str, Any]:
        return {**super().own_figures(B, counts), "steps": constant(self.plan.steps, B)}


def constant(value: int, B: int) -> NDArray[np.int64]:
    """Return a column (B,) that stores its only value once."""
    return np.broadcast_to(np.int64(value), (B,))


def extremes(tiles: NDArray[Any], B: int) -> NDArray[np.int64]:
    """Return the least and the largest load of each lane, (2, B or more), of which B are trials."""
    counts = np.empty((3, len(tiles) * tiles.shape[2]), np.int64)
    kernels("layout.figures").survey(tiles, counts)
    return counts[1:]


_KINDS: tuple[Any, ...] = (Gde, Dde, Dem, HexaCell, FaultTolerantDem)


@lru_cache(maxsize=256)
def tile_method(topology: Topology, method: str) -> TileMethod | None:
    """Return a method of a study prepared for a topology, or None if it cannot balance tiles.

    Methods of the user's own cannot, nor do some options. None is returned for wrong options and
    topologies too, for which the public function raises an error.
    """
    name, options = parse_method(method)
    function = function_of(name)
    for kind in _KINDS:
        if kind.function is function:
            try:
                prepared: TileMethod = kind(topology, **options)
            except (TypeError, ValueError, FaultError):
                return None
            return prepared
    return None
