"""Which node has which task, with the figures that say how good that is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..display.cards import card
from ..display.drawings import loads_drawing
from ..display.html import tag
from ..display.numbers import shown
from ..flows.plan import Route

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .paths import Paths
    from .problem import Problem
    from .units import Integers

# Nodes of the largest assignment that a notebook draws.
MOST_DRAWN = 4096


class Move(NamedTuple):
    """A task that goes from a node to another, along a path of nodes that begins and ends there."""

    task: int
    source: int
    target: int
    path: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """Owners of whole tasks; ``T`` tasks, ``N`` nodes.

    Sums of integers are exact integers, sums of floats are rounded once.

    Attributes
    ----------
    owner : (T,) int64
        The node that has each task.
    loads : (N,) int64 or float64
        Sum of the sizes of each node's tasks.
    status : str
        ``"optimal"``: no assignment within the limits has a smaller ``largest``, which is proven.
        ``"feasible"``: all limits hold. ``"stuck"``: a node holds more than its memory limit, and
        no way was found to change that. ``"infeasible"``: it is proven that there is none.
        Of many tasks that is so where one alone, or all of them, are too much for the limits.
    """

    owner: Integers
    loads: NDArray[Any]
    status: str
    _problem: Problem
    _paths: Paths
    _largest: Fraction

    @property
    def largest(self) -> Any:
        """The largest load by weight, priced bytes included."""
        return self._number(self._largest)

    @cached_property
    def initial_largest(self) -> Any:
        """The largest load by weight before; infinite if a node of weight 0 had a task."""
        problem = self._problem
        at_zero = np.array([w == 0 for w in problem.weights])[problem.owner]
        if bool((problem.sizes[at_zero] > 0).any()):
            return float("inf")
        return self._number(Fraction(max(problem.work(problem.owner))))

    @property
    def initial_owner(self) -> Integers:
        """The node (T,) that had each task."""
        return self._problem.owner

    @cached_property
    def initial_loads(self) -> NDArray[Any]:
        """Sum of the sizes of each node's tasks before, shape (N,)."""
        return as_loads(self._problem, self._problem.loads(self._problem.owner))

    @property
    def bound(self) -> Any:
        """No assignment has a smaller ``largest``."""
        return self._number(self._problem.bound)

    @property
    def gap(self) -> float:
        """``largest / bound - 1``, 0 where there is no load."""
        bound = self._problem.bound
        return float(self._largest / bound - 1) if bound else float(self._largest)

    @cached_property
    def _moved_tasks(self) -> Integers:
        return np.flatnonzero(self.owner != self._problem.owner)

    @property
    def moved(self) -> Any:
        """Sum of the sizes of the tasks that change their node."""
        tasks = self._moved_tasks
        (total,) = sums(self._problem.sizes[tasks], np.zeros(len(tasks), np.int64))
        return total

    @property
    def excess(self) -> Any:
        """What nodes have above the bound before: at least that much must move."""
        bound, problem = self._problem.bound, self._problem
        over = (
            max(load - bound * w, Fraction(0))
            for load, w in zip(problem.loads(problem.owner), problem.weights, strict=True)
        )
        return self._number(sum(over, Fraction(0)))

    @property
    def hops(self) -> int:
        """Links that moving tasks take, in all."""
        return self._paths.hops

    @cached_property
    def moves(self) -> list[Move]:
        """The tasks that change their node, by number, each with the nodes of its path."""
        tasks = self._moved_tasks
        source, target = self._problem.owner[tasks].tolist(), self.owner[tasks].tolist()
        paths = self._paths.listed()
        return list(map(Move, tasks.tolist(), source, target, paths))

    def routes(self) -> list[Route]:
        """Return the moves as routes, whose amounts are the sizes of the tasks."""
        sizes = self._problem.sizes.tolist()
        return [Route(m.source, m.target, m.path, sizes[m.task]) for m in self.moves]

    @property
    def remote_before(self) -> Any:
        """Bytes of ``edges`` between tasks at different nodes, before; 0 without edges."""
        return self._remote(self._problem.owner)

    @property
    def remote_after(self) -> Any:
        """Bytes of ``edges`` between tasks at different nodes; 0 without edges."""
        return self._remote(self.owner)

    def _remote(self, owner: Integers) -> Any:
        if self._problem.edges is None:
            return 0
        amount, _, _ = self._problem.remote(owner)
        (total,) = sums(amount, np.zeros(len(amount), np.int64))
        return total

    @property
    def memory(self) -> NDArray[Any] | None:
        """Bytes that every node (N,) holds, None without ``memory``."""
        if self._problem.memory is None:
            return None
        held = self._problem.bytes_held(self.owner)
        whole = all(amount.denominator == 1 for amount in held)
        return np.array([int(amount) if whole else float(amount) for amount in held])

    @property
    def over_memory(self) -> list[int]:
        """The nodes that hold more than their limit: empty unless ``stuck`` or ``infeasible``."""
        return self._problem.over_memory(self.owner)

    def _number(self, value: Fraction) -> Any:
        whole = self._problem.sizes.dtype.kind != "f" and value.denominator == 1
        return int(value) if whole else float(value)

    def verify(self) -> bool:
        """Compute everything anew and compare.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        problem, owner = self._problem, self.owner
        _require(owner.shape == problem.owner.shape, "every task has one owner")
        in_range = bool(((owner >= 0) & (owner < problem.nodes)).all())
        _require(in_range, f"owners are nodes 0..{problem.nodes - 1}")
        stays = owner[~problem.movable] == problem.owner[~problem.movable]
        _require(bool(stays.all()), "tasks that may not move are where they were")
        alive = np.array([w > 0 for w in problem.weights])
        _require(bool(alive[owner].all()), "nodes of weight 0 have no task")
        loads = as_loads(problem, problem.loads(owner))
        _require(np.array_equal(self.loads, loads), "loads are sums of sizes")
        _require(problem.bound <= self._largest, "the largest load is not below the bound")
        if self.status in ("optimal", "feasible"):
            _require(not self.over_memory, "no node holds more than its memory limit")
        _require(self._largest == max(problem.work(owner)), "the largest load is that of a node")
        most = problem.max_moves
        _require(most is None or len(self._moved_tasks) <= most, "no more tasks move than allowed")
        for move in self.moves:
            ends = (move.path[0], move.path[-1]) == (move.source, move.target)
            _require(ends, f"the path of task {move.task} leads from its node to its new one")
        _require(self._paths.linked(), "paths follow links")
        return True

    def __repr__(self) -> str:
        remote = ""
        if self._problem.edges is not None:
            remote = f", remote {shown(self.remote_before)} -> {shown(self.remote_after)}"
        return (
            f"<Assignment: {len(self.owner):,} tasks on {self._problem.nodes:,} nodes, "
            f"{self.status}; largest {shown(self.initial_largest)} -> {shown(self.largest)}, "
            f"bound {shown(self.bound)}, gap {self.gap:.2g}, "
            f"{len(self._moved_tasks):,} moves of {shown(self.moved)}{remote}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready lists, numbers and strings."""
        topology = self._problem.topology
        about = {} if topology is None else {"topology": topology.spec}
        return {
            **about,
            "nodes": self._problem.nodes,
            "owner": self.owner.tolist(),
            "loads": self.loads.tolist(),
            "moves": [
                {"task": m.task, "from": m.source, "to": m.target, "path": list(m.path)}
                for m in self.moves
            ],
            "status": self.status,
            "initial_largest": None if isinf(self.initial_largest) else self.initial_largest,
            "largest": self.largest,
            "bound": self.bound,
            "gap": self.gap,
            "excess": self.excess,
            "moved": self.moved,
            "hops": self.hops,
            "remote_before": self.remote_before,
            "remote_after": self.remote_after,
            "over_memory": self.over_memory,
        }

    def _repr_html_(self) -> str:
        arrow = " \N{RIGHTWARDS ARROW} "
        about: dict[str, Any] = {
            "status": self.status,
            "largest": shown(self.initial_largest) + arrow + shown(self.largest),
            "bound": self.bound,
            "gap": self.gap,
            "tasks moved": len(self._moved_tasks),
            "load moved": self.moved,
            "links taken": self.hops,
        }
        if self._problem.edges is not None:
            about["remote bytes"] = shown(self.remote_before) + arrow + shown(self.remote_after)
        pictures = []
        if self._problem.nodes <= MOST_DRAWN:
            topology = self._problem.topology
            shape = (self._problem.nodes,) if topology is None else topology.shape
            for name, loads in (("before", self.initial_loads), ("after", self.loads)):
                pictures.append(tag("div", tag("div", name), loads_drawing(loads, shape)))
        title = f"{len(self.owner):,} tasks on {self._problem.nodes:,} nodes"
        return card(title, about, *pictures)


def as_loads(problem: Problem, loads: list[Any]) -> NDArray[Any]:
    """Return exact loads as int64 where sizes are integers, else as floats rounded once."""
    return np.array([plain(load) for load in loads], problem.sizes.dtype)


def sums(values: NDArray[Any], place: Integers) -> list[Any]:
    """Return the total of the values as a list of one plain number."""
    from .units import exact_sums

    return [plain(total) for total in exact_sums(values, place, 1)]


def plain(number: Any) -> Any:
    """Return a whole number as an int, any other as the nearest float."""
    return int(number) if number.denominator == 1 else float(number)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"the assignment must be one in which {what}; this one is not")
