"""The result of balancing: final loads and, as far as recorded, figures and flows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import card
from ..display.drawings import loads_drawing
from ..display.numbers import shown
from ..display.tables import html_table
from .facts import facts
from .loads import RECORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..figuretypes import Flag, Real, Units, Whole
    from ..topologies.topology import Topology

# Most nodes whose names are shown beside their loads.
MOST_NAMED = 32
# The least ``record`` that has each attribute, in the order of ``to_dict`` and of printed tables.
RECORDED_WITH = {
    "loads": "loads",
    "lam": "loads",
    "weights": "loads",
    "difference": "metrics",
    "initial_difference": "metrics",
    "imbalance": "metrics",
    "initial_imbalance": "metrics",
    "moved": "metrics",
    "cost": "metrics",
    "local": "metrics",
    "locality": "metrics",
    "sweeps": "metrics",
    "steps": "metrics",
    "rounds": "metrics",
    "simulated_steps": "metrics",
    "stalled": "metrics",
    "converged": "metrics",
    "colours": "metrics",
    "counts": "metrics",
    "stages": "flows",
    "moved_per_stage": "flows",
    "rounds_per_stage": "flows",
    "flows": "flows",
    "after_triangle": "flows",
    "after_cell": "flows",
}


class Balance:
    """Final loads of a balancing, with the figures and flows that were recorded. Frozen.

    Legend: ``batch`` the leading axes of the input, ``S`` stages (dimensions, axes or phases),
    ``E`` links. Without a batch, figures are plain Python scalars. Figures counted in units are
    int64 for integer loads (the type given below) and float64 for float loads. Type checkers,
    which do not know the number of axes, see either: ``np.mean(b.cost)`` is right for both.

    Attributes
    ----------
    method, topology, record
        What was asked for.
    loads : as the input
        Final loads.
    difference, initial_difference : batch, int64
        Largest minus least load.
    imbalance, initial_imbalance : batch, float64
        Largest load over the mean, minus 1; 0 where there is no load.
    moved : batch, int64
        Units times links over all exchanges, gross.
    cost, locality : batch, float64
        ``moved / total`` and ``local / total``; without load 0 and 1.
    local : batch, int64
        Units that never left their node.
    sweeps, steps : batch, int64
        Executed sweeps (1 for one-pass methods); communication steps by the paper's formula.
    rounds, simulated_steps : batch, int64
        DDE: simulated exchange rounds, and with the information steps.
    stalled, converged : batch, bool
        GDE: the last sweep moved nothing although neighbours differ; neighbours are balanced,
        whatever ``difference`` is left between nodes that are not: on a graph in several parts
        it may be large.
    colours : int
        GDE: number of colours of the links.
    lam : Fraction
        GDE: the share of a difference that was sent, given or by default.
    weights : as the input without the batch, int64 or float64
        With weights: those of the nodes. Differences and imbalances are then of load / weight,
        float64, over the nodes of a weight above 0, and the mean is that of their load.
    counts : dict of batch
        HHC: counters by name; it cannot be changed.
    stages : (S,) + as the input; moved_per_stage, rounds_per_stage : (S,) + batch
        With ``record="flows"``: loads, units moved and rounds after each stage.
    flows : batch + (ndim,) + shape, or batch + (E,)
        Net units: ``flows[..., a, node]`` from each node to its successor along array axis
        ``a``; on networks one value a link, positive from u to v.
    after_triangle, after_cell : as the input
        HHC, with ``record="flows"``.

    Raises
    ------
    AttributeError
        On reading what was not recorded or does not apply to the method.
    """

    method: str
    topology: Topology
    record: str
    loads: NDArray[Any]
    difference: Units
    initial_difference: Units
    imbalance: Real
    initial_imbalance: Real
    moved: Units
    cost: Real
    local: Units
    locality: Real
    sweeps: Whole
    steps: Whole
    rounds: Whole
    simulated_steps: Whole
    stalled: Flag
    converged: Flag
    colours: int
    lam: Fraction
    weights: NDArray[Any]
    counts: dict[str, Units]
    stages: NDArray[Any]
    moved_per_stage: NDArray[Any]
    rounds_per_stage: NDArray[Any]
    flows: NDArray[Any]
    after_triangle: NDArray[Any]
    after_cell: NDArray[Any]

    def __init__(
        self, method: str, topology: Topology, record: str, fields: dict[str, Any]
    ) -> None:
        # Into the dictionary, past ``__setattr__``; by keywords it takes a third longer.
        attributes = self.__dict__
        attributes["method"] = method
        attributes["topology"] = topology
        attributes["record"] = record
        attributes.update(fields)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for missing attributes; ``copy`` does before any is set.
        if name in RECORDED_WITH and "record" in self.__dict__:
            level = RECORDED_WITH[name]
            if RECORDS.index(self.record) < RECORDS.index(level):
                raise AttributeError(
                    f"{name} was not recorded: call {self.method} with record={level!r}"
                )
            raise AttributeError(f"{name} does not apply to {self.method} on {self.topology!r}")
        raise AttributeError(f"Balance has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Balance is frozen, cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Balance is frozen, cannot delete {name}")

    def __dir__(self) -> list[str]:
        return [
            name
            for name in object.__dir__(self)
            if name not in RECORDED_WITH or name in self.__dict__
        ]

    @property
    def _fields(self) -> dict[str, Any]:
        """The recorded fields other than the loads, in the order of ``RECORDED_WITH``."""
        recorded = self.__dict__
        return {n: recorded[n] for n in RECORDED_WITH if n in recorded and n != "loads"}

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {"loads": self.loads, **self._fields}
        return Balance, (self.method, self.topology, self.record, fields)

    @property
    def _heading(self) -> str:
        """The method, its share, the topology and how many networks there are."""
        share = f", lam {self.lam}" if "lam" in self.__dict__ else ""
        networks = self.loads.size // self.topology.size
        several = "" if networks == 1 else f", {networks:,} networks"
        return f"{self.method} on {self.topology!r}{share}{several}"

    def __repr__(self) -> str:
        texts = [f"{name} {value}" for name, value in facts(self._fields).items()]
        mean = "means: " if self.loads.size != self.topology.size and texts else ""
        loads = f"loads [{shown(self.loads)}]"
        return f"<Balance: {self._heading}; {mean}{', '.join([*texts, loads])}>"

    def _repr_html_(self) -> str:
        texts = facts(self._fields, arrow="\N{RIGHTWARDS ARROW}")
        size, loads = self.topology.size, self.loads.reshape(-1)
        if len(loads) != size:
            about = {**texts, "loads": self.loads}
            return card(self._heading, about, note="means of all networks" if texts else "")
        parts = [loads_drawing(loads, self.topology.shape)]
        if self._has_names and size <= MOST_NAMED:
            rows = list(zip(self.topology._labels(), map(shown, loads.tolist()), strict=True))
            parts.insert(0, html_table(["node", "load"], rows, names=1))
        return card(self._heading, {**texts, "loads": self.loads}, *parts)

    @property
    def _has_names(self) -> bool:
        return bool(getattr(self.topology, "is_named", False))

    def to_dict(self) -> dict[str, Any]:
        """Return everything recorded as JSON-ready lists, numbers and strings."""
        fields = {"loads": self.loads, **self._fields}
        recorded = {name: _plain(value) for name, value in fields.items()}
        about: dict[str, Any] = {"method": self.method, "topology": self.topology.spec}
        if self._has_names:
            about["names"] = list(map(str, self.topology.names))  # type: ignore[attr-defined]
        return {**about, **recorded}


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed, as it is part of a frozen object."""

    def _refuse(self, *_arguments: Any, **_options: Any) -> Any:
        raise TypeError("counts are frozen, as the Balance is: dict(counts) can be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, Fraction):
        return str(value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
