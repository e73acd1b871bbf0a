"""What the property tests draw: a method with its topology, options, loads and plain twin."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import strategies as st

import fastlb as lb
from tests.oracles import dde, dem, fault_tolerant_dem, gde, metrics, topology

INT64_MAX = 2**63 - 1
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype("float32"), np.dtype("float64")]
LAMBDAS = [Fraction(x) for x in ("1/2", "723/1000", "3/4", "2/5", "1/3", "9/10", "17/19", "1/20")]


@dataclass
class Expected:
    """One trial by the plain twin, by the names of a Balance."""

    loads: list[Any]
    moved: Any
    local: Any
    steps: int
    flows: list[list[Any]]
    sweeps: int = 1
    extra: dict[str, Any] = field(default_factory=dict)  # figures only this method has
    stages: list[list[Any]] | None = None
    moved_per_stage: list[Any] | None = None
    rounds_per_stage: list[int] | None = None


@dataclass
class Problem:
    """A balancing that can be run by the library and by its twin."""

    name: str
    topology: Any
    options: dict[str, Any]
    twin: Callable[[Sequence[Any]], Expected]
    bound: Callable[[Expected], float]  # of the final difference

    def run(self, loads: Any, **more: Any) -> Any:
        return getattr(lb, self.name)(loads, self.topology, **{**self.options, **more})

    def shaped(self, rows: Any) -> Any:
        """Rows (batch, size) so that no other reading of their shape fits."""
        return rows.reshape(len(rows), *(self.topology.shape or (1,)))

    def __repr__(self) -> str:
        return f"{self.name}({self.topology!r}, {self.options})"


@st.composite
def shapes(draw: st.DrawFn, limit: int = 48) -> tuple[int, ...]:
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    while math.prod(lengths) > limit:
        lengths[lengths.index(max(lengths))] //= 2
    return tuple(lengths)


@st.composite
def dem_problems(draw: st.DrawFn) -> Problem:
    n = draw(st.integers(0, 6))
    dims = draw(st.none() | st.permutations(range(n)))

    def twin(loads: Sequence[Any]) -> Expected:
        r = dem.dem(loads, n, dims)
        return Expected(
            r.loads,
            r.moved,
            r.local,
            r.steps,
            r.flows,
            stages=r.stages,
            moved_per_stage=r.moved_per_dim,
        )

    return Problem("dem", lb.Hypercube(n), {"dims": dims}, twin, lambda _: n)


@st.composite
def dde_problems(draw: st.DrawFn, real: bool = False) -> Problem:
    shape = draw(shapes())
    if real:  # powers of two, so that float means are exact
        shape = tuple(2 ** (k.bit_length() - 1) for k in shape)
    wrap = tuple(draw(st.booleans()) for _ in shape)
    axes = draw(st.none() | st.permutations(range(len(shape))))
    mode = draw(st.sampled_from(["rbs", "sbr"]))

    def twin(loads: Sequence[Any]) -> Expected:
        r = dde.dde(loads, shape, wrap, axes, mode, real=real)
        return Expected(
            r.loads,
            r.moved,
            r.local,
            r.steps,
            r.flows,
            extra={"rounds": sum(r.rounds_per_axis), "simulated_steps": r.simulated_steps},
            stages=r.stages,
            moved_per_stage=r.moved_per_axis,
            rounds_per_stage=r.rounds_per_axis,
        )

    options = {"axes": axes, "exchange": mode}
    return Problem("dde", lb.Grid(shape, wrap=wrap), options, twin, lambda _: len(shape))


@st.composite
def gde_problems(draw: st.DrawFn) -> Problem:
    shape = draw(shapes(limit=30))
    wrap = tuple(draw(st.booleans()) for _ in shape)
    lam = draw(st.sampled_from(LAMBDAS))
    order = draw(st.sampled_from(["dimension", "interleaved"]))
    max_sweeps = draw(st.sampled_from([100, 3, 1]))

    def twin(loads: Sequence[Any]) -> Expected:
        r = gde.gde(loads, shape, wrap, lam, order, max_sweeps=max_sweeps)
        return Expected(
            r.loads,
            r.moved,
            r.local,
            r.steps,
            gde.grid_flows(r, shape, wrap),
            r.sweeps,
            extra={"stalled": r.stalled, "converged": r.converged, "colours": r.colours},
        )

    def bound(r: Expected) -> float:
        if not r.extra["converged"]:
            return math.inf
        return sum(k // 2 if w and k > 2 else k - 1 for k, w in zip(shape, wrap, strict=True))

    options = {"lam": lam, "order": order, "max_sweeps": max_sweeps}
    return Problem("gde", lb.Grid(shape, wrap=wrap), options, twin, bound)


@st.composite
def fault_problems(draw: st.DrawFn) -> Problem:
    """With at most n - 1 faulty links a plan exists."""
    n = draw(st.integers(0, 5))
    links = topology.hypercube_links(n)
    faults = draw(st.lists(st.sampled_from(links), max_size=n - 1, unique=True)) if links else []
    options = {
        "order": draw(st.sampled_from(["lowest", "highest"])),
        "donor": draw(st.sampled_from(["latest", "earliest"])),
        "finish": draw(st.sampled_from([None, "tree"])),
    }
    cube = lb.Hypercube(n, faults=faults)
    steps = lb.fault_tolerant_dem([0] * 2**n, cube, **options).steps

    def twin(loads: Sequence[Any]) -> Expected:
        r = fault_tolerant_dem.fault_tolerant_dem(loads, faults, **options)
        moved = r.moved_per_stage
        return Expected(
            r.loads, r.moved, r.local, steps, r.flows, stages=r.stages, moved_per_stage=moved
        )

    return Problem("fault_tolerant_dem", cube, options, twin, lambda _: math.inf)


def problems() -> st.SearchStrategy[Problem]:
    return dem_problems() | dde_problems() | gde_problems() | fault_problems()


@st.composite
def integer_loads(
    draw: st.DrawFn, size: int, *, batch: int = 1, dtype: Any = None, whole_range: bool = False
) -> Any:
    """Loads (batch, size) whose totals fit int64, unless `whole_range`."""
    dtype = np.dtype(draw(st.sampled_from(INTEGERS)) if dtype is None else dtype)
    top = int(np.iinfo(dtype).max)
    if not whole_range:
        top = min(top, INT64_MAX // size)
    top = min(top, draw(st.sampled_from([top, 1000, 20, 3, 1])))
    if draw(st.booleans()):
        return draw(hnp.arrays(dtype, (batch, size), elements=st.integers(0, top)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, top, (batch, size), dtype, endpoint=True)


def fits(expected: Sequence[Expected], loads: Any) -> bool:
    """Whether every total and every figure of these trials is an int64."""
    totals = [sum(map(int, row)) for row in loads]
    return max([*totals, *(r.moved for r in expected)], default=0) <= INT64_MAX


def figures(r: Expected, before: Sequence[Any]) -> dict[str, Any]:
    """Everything `record="metrics"` reports for one trial."""
    return {
        "difference": metrics.difference(r.loads),
        "initial_difference": metrics.difference(before),
        "imbalance": metrics.imbalance(r.loads),
        "initial_imbalance": metrics.imbalance(before),
        "moved": r.moved,
        "cost": metrics.cost(r.moved, before),
        "local": r.local,
        "locality": metrics.locality(r.local, before),
        "sweeps": r.sweeps,
        "steps": r.steps,
        **r.extra,
    }
