"""The result of balancing: final loads and, as far as recorded, figures and flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .loads import RECORDS
from .scratch import HUGE_PAGE, huge_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology
    from .loads import Survey

FigureColumns = tuple["NDArray[np.int64]", "NDArray[np.float64]"]

# What ``lanes.figures`` works out for every method: four columns of int64, four of float64.
COLUMNS = (
    "initial_difference", "difference", "moved", "local",
    "initial_imbalance", "imbalance", "cost", "locality",
)  # fmt: skip

# What each attribute needs; the order is that of ``to_dict`` and of printed tables.
RECORDED_WITH = {
    "loads": "loads",
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

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
# Of the floats above 0.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class Balance:
    """Final loads of a balancing, with the figures and flows that were recorded. Frozen.

    Legend: ``batch`` the leading axes of the input, ``S`` stages (dimensions, axes or phases),
    ``E`` links. Without a batch, figures are plain Python scalars. Figures counted in units are
    int64 for integer loads (the type given below) and float64 for float loads.

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
        GDE: the last sweep moved nothing although neighbours differ; neighbours are balanced.
    colours : int
        GDE: number of colours of the links.
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
    difference: Any
    initial_difference: Any
    imbalance: Any
    initial_imbalance: Any
    moved: Any
    cost: Any
    local: Any
    locality: Any
    sweeps: Any
    steps: Any
    rounds: Any
    simulated_steps: Any
    stalled: Any
    converged: Any
    colours: int
    counts: dict[str, Any]
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
        # Reached only for what was not recorded. Copying asks before anything is.
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
        """All that was recorded besides the loads, in the order of ``RECORDED_WITH``."""
        recorded = self.__dict__
        return {n: recorded[n] for n in RECORDED_WITH if n in recorded and n != "loads"}

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {"loads": self.loads, **self._fields}
        return Balance, (self.method, self.topology, self.record, fields)

    def __repr__(self) -> str:
        shown = [f"{self.method} on {self.topology!r}", f"loads{self.loads.shape}"]
        for name in ("initial_difference", "difference", "moved", "sweeps"):
            value = self.__dict__.get(name)
            if value is not None and np.ndim(value) == 0:
                shown += [f"{name}={value}"]
        return f"<Balance: {', '.join(shown)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything recorded as JSON-ready lists, numbers and strings."""
        fields = {"loads": self.loads, **self._fields}
        recorded = {name: _plain(value) for name, value in fields.items()}
        about: dict[str, Any] = {"method": self.method, "topology": self.topology.spec}
        if getattr(self.topology, "is_named", False):
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


def units_dtype(rows: NDArray[Any]) -> type:
    """Return the dtype in which units of these loads are counted: int64, float64 for floats."""
    return np.float64 if rows.dtype.kind == "f" else np.int64


def figures(
    before: Survey, after: Survey, size: int, moved: NDArray[Any], kept: NDArray[Any]
) -> dict[str, Any]:
    """Return the figures that every method shares, for :func:`per_batch` (Wu-Shu section 6).

    Parameters
    ----------
    before, after : Survey
        Of the rows before and after balancing.
    size : int
        Number of nodes.
    moved : (B,) or (B, S)
        Units times links, in all or per stage.
    kept : (B,) or (B, N)
        Units that never left, in all or per node.
    """
    if len(before.total) == 1:
        units = (sum_moved(moved) if moved.ndim == 2 else moved).item()
        local = (kept.sum(axis=1, dtype=moved.dtype) if kept.ndim == 2 else kept).item()
        first, last = ((rows.smallest.item(), rows.largest.item()) for rows in (before, after))
        return figures_of_one(before.total.item(), first, last, size, units, local)
    total = before.total
    empty = total == 0
    something = total + empty
    # Not 0 even where the mean of denormal loads is.
    mean = np.maximum(something / size, SMALLEST)
    moved = sum_moved(moved) if moved.ndim == 2 else moved
    local = kept.sum(axis=1, dtype=moved.dtype) if kept.ndim == 2 else kept
    return {
        "difference": after.largest - after.smallest,
        "initial_difference": before.largest - before.smallest,
        "imbalance": after.largest / mean - 1 + empty,
        "initial_imbalance": before.largest / mean - 1 + empty,
        "moved": moved,
        "cost": moved / something,
        "local": local,
        "locality": (local + empty) / something,
        "sweeps": np.ones(len(total), np.int64),
    }


def room_for_figures(B: int, whole: int = 4) -> FigureColumns:
    """Return room for figures (4, B) int64, or of more ``whole`` numbers, and (4, B) float64.

    In one array: what was freed of the last is had again, whereas the pages of many small ones
    are given back, and cost a fault each. Large pages are faults and zeros for half the time, and
    threads wait less for each other's; they are taken where hardly any of the last one is wasted.
    """
    rows = whole + 4
    size = rows * B * np.dtype(np.int64).itemsize
    large = -size % HUGE_PAGE <= size // 8
    memory = huge_pages(size) if large else np.empty(size, np.uint8)
    room = memory.view(np.int64).reshape(rows, B)
    return room[:whole], room[whole:].view(np.float64)


def figures_in(columns: FigureColumns) -> dict[str, NDArray[Any]]:
    """Return the figures that stand in columns, by name."""
    whole, real = columns
    return dict(zip(COLUMNS, (*whole, *real), strict=True))


def figures_of_one(
    total: int | float,
    before: tuple[Any, Any],
    after: tuple[Any, Any],
    size: int,
    moved: int | float,
    local: int | float,
) -> dict[str, Any]:
    """Return the figures of one network as numbers, a tenth of the time and the same bits.

    ``before``, ``after`` : least and largest load.
    """
    # As NumPy divides integers: as floats, which Python would not.
    something = float(total) if total > 0 else 1.0
    mean = max(something / size, SMALLEST)
    return {
        "difference": after[1] - after[0],
        "initial_difference": before[1] - before[0],
        "imbalance": float(after[1]) / mean - 1 if total > 0 else 0.0,
        "initial_imbalance": float(before[1]) / mean - 1 if total > 0 else 0.0,
        "moved": moved,
        "cost": float(moved) / something if total > 0 else 0.0,
        "local": local,
        "locality": float(local) / something if total > 0 else 1.0,
        "sweeps": 1,
    }


def sum_moved(moved: NDArray[Any]) -> NDArray[Any]:
    """Add up the units of all stages, (B, S) to (B,).

    Raises
    ------
    OverflowError
        If a sum does not fit int64, or is not finite.
    """
    exact = moved.dtype.kind != "f"
    if exact and moved.max(initial=0) > INT64_MAX // max(1, moved.shape[1]):
        for b, stages in enumerate(moved.tolist()):
            if sum(stages) > INT64_MAX:
                raise OverflowError(f"moved must fit int64, got {sum(stages)} units in row {b}")
    with np.errstate(over="ignore"):
        total: NDArray[Any] = moved.sum(axis=1)
    if not exact and not np.isfinite(total).all():
        row = int(np.flatnonzero(~np.isfinite(total))[0])
        raise OverflowError(f"moved must fit float64, got more units in row {row}")
    return total


def per_batch(fields: dict[str, Any], batch: tuple[int, ...]) -> dict[str, Any]:
    """Give (B,) figures the batch's shape; without a batch they become Python scalars.

    Those of one network may be scalars already.
    """
    if batch:
        return {
            name: values.reshape(batch)
            if isinstance(values, np.ndarray)
            else np.array(values, ndmin=len(batch))
            for name, values in fields.items()
        }
    return {
        name: values.item() if isinstance(values, np.ndarray) else values
        for name, values in fields.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
