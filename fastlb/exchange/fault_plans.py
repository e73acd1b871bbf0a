"""The plan of link-fault-tolerant DEM: a schedule that can be applied to any loads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..display.cards import card
from ..display.tables import html_table
from ..topologies.parse import read_topology
from .fault_planning import fault_schedule
from .fault_schedule import FaultSchedule, Subcube, brief
from .fault_tolerance import apply_schedule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.hypercube import Hypercube
    from .result import Balance


# Repairs that a notebook shows.
LISTED_REPAIRS = 10


@dataclass(frozen=True, eq=False, repr=False)
class FaultPlan(FaultSchedule):
    """What fault-tolerant DEM does on one faulty cube, whatever the loads.

    Attributes
    ----------
    topology : Hypercube
    order, donor : str
        The choices it was made with.
    splits : tuple of Split
        Subcubes with faults and the bit each is split along, a subcube before its halves.
    whole : tuple of Subcube
        Fault-free subcubes that remain, each balanced along all its bits in ``order``.
    repairs : tuple of Repair
        Stuck subcubes with their donors, in the order of their repair.
    program : (M, 4) int64
        All of it as rows ``kind, base, free, bit`` to be carried out from top to bottom, depth
        first: SPLIT (0), WHOLE (1, no bit) and REPAIR (2, the stuck subcube).

    Examples
    --------
    >>> import fastlb as lb
    >>> plan = fault_plan(lb.Hypercube(3, faults=[(0, 4), (5, 7)]))
    >>> [split.bit for split in plan.splits]
    [0, 1, 2]
    >>> [(r.stuck.nodes.tolist(), r.donor.nodes.tolist()) for r in plan.repairs]
    [([0, 4], [2, 6]), ([5, 7], [1, 3])]
    """

    def __repr__(self) -> str:
        counts = {"splits": len(self.splits), "repairs": len(self.repairs), "steps": self.steps}
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        return f"<FaultPlan of {brief(self.topology)}: {listed}>"

    def _repr_html_(self) -> str:
        about = {
            "splits": len(self.splits),
            "fault-free subcubes": len(self.whole),
            "stuck subcubes": len(self.repairs),
            "steps": self.steps,
        }
        rows = [
            [*map(_nodes_text, (repair.stuck, repair.donor)), str(repair.bit)]
            for repair in self.repairs[:LISTED_REPAIRS]
        ]
        headings = ["stuck nodes", "donor nodes", "across bit"]
        listed = [html_table(headings, rows, names=2)] if rows else []
        return card(f"fault plan of {brief(self.topology)}", about, *listed)

    def apply(
        self,
        loads: ArrayLike,
        *,
        finish: str | None = None,
        record: str = "metrics",
        out: NDArray[Any] | None = None,
    ) -> Balance:
        """Balance any batch of loads by this plan; see :func:`fastlb.fault_tolerant_dem`."""
        return apply_schedule(self, loads, finish=finish, record=record, out=out)


def _nodes_text(subcube: Subcube) -> str:
    if subcube.dimensions > 3:
        return f"{2**subcube.dimensions:,} from {subcube.base} on"
    return " ".join(map(str, subcube.nodes.tolist()))


def fault_plan(
    topology: Hypercube | str, *, order: str = "lowest", donor: str = "latest"
) -> FaultPlan:
    """Plan fault-tolerant DEM on a hypercube; the work grows with the faults, not the nodes.

    With at most ``n - 1`` faulty links a plan always exists (More-Wu section 2.2).

    Parameters
    ----------
    topology : Hypercube or str
        With its faulty links; or its spelling, ``"hypercube:3:faults=0-4,5-7"``.
    order : {"lowest", "highest"}
        Which fault-free dimension of a subcube is split first.
    donor : {"latest", "earliest"}
        Which donor repairs a stuck subcube: the one across the dimension it was split along most
        recently, or first. Donors that overlap no subcube still to be repaired come before others.

    Raises
    ------
    TypeError
        If the topology is no :class:`Hypercube`.
    ValueError
        If ``order`` or ``donor`` is none of those named.
    FaultError
        If a stuck subcube has no fault-free neighbour across any dimension it was split along.

    Examples
    --------
    >>> import fastlb as lb
    >>> fault_plan(lb.Hypercube(2, faults=[(0, 1)])).stuck
    (Subcube(base=0, free=1),)
    """
    return _plan_of(fault_schedule(read_topology(topology), order=order, donor=donor))


@lru_cache(maxsize=256)
def _plan_of(schedule: FaultSchedule) -> FaultPlan:
    return FaultPlan(**{field.name: getattr(schedule, field.name) for field in fields(schedule)})
