"""The arguments of ``assign_tasks``, read and checked before anything is computed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import as_array, whole_number, written
from ..exchange.weights import exact_weights
from ..rational import read_rational
from ..topologies.parse import parse_topology
from ..topologies.topology import Topology
from .memory import read_memory
from .numbers import real_array
from .problem import Edges, Problem
from .units import Integers

if TYPE_CHECKING:
    from ..quantities import MixedNumbers

# So that float64 holds them and 1 over them.
MOST_WEIGHT = sys.float_info.max
LEAST_WEIGHT = sys.float_info.min


_ZERO = Fraction(0)


def read_problems(
    sizes: Any,
    owner: Any,
    nodes: Any,
    *,
    movable: Any,
    weights: Any,
    memory: Any,
    memory_limit: Any,
    edges: Any,
    slack: Any,
    price: Any,
    home_price: Any,
    max_moves: Any,
) -> tuple[Iterator[Problem], tuple[int, ...]]:
    """Return the problems of a batch, made one after the other, and the batch's shape."""
    topology, count = _nodes(nodes)
    amounts = real_array("sizes", sizes)
    if amounts.ndim == 0:
        raise ValueError("sizes must be one number for each task, got a single number")
    places = _whole("owner", owner)
    shape = _broadcast("owner", places, "sizes", amounts)
    outside = (places < 0) | (places >= count)
    if outside.any():
        bad = int(places[outside][0])
        raise ValueError(f"owner must be nodes 0..{count - 1}, got {bad}")
    free = _movable(movable, amounts.shape[-1])
    if free.ndim > 1:
        shape = np.broadcast_shapes(shape, free.shape)
    tasks = shape[-1]
    speeds = _weights(weights, count)
    if weights is not None:
        _check_ratio(amounts, speeds)
    held = read_memory(memory, memory_limit, tasks, count)
    sent = _edges(edges, tasks)
    factor, home_factor = _factor("price", price), _factor("home_price", home_price)
    if home_factor and getattr(memory, "block_home", None) is None:
        raise ValueError("home_price needs blocks with a home: pass memory=TaskMemory(block_home=)")
    extra = _factor("slack", slack)
    most = None if max_moves is None else whole_number("max_moves", max_moves, 0)
    rows = [_rows(array, shape) for array in (amounts, places, free)]
    if not all(speeds):
        _check_evacuated(speeds, rows[1], rows[2])

    def problems() -> Iterator[Problem]:
        for size, at, moves in zip(*rows, strict=True):
            yield Problem(
                count, topology, size, at, moves, speeds, held, sent,
                factor, home_factor, extra, most,
            )  # fmt: skip

    return problems(), shape[:-1]


def _rows(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array as rows (R, T) of a batch, which nobody else changes."""
    full = array if array.shape == shape else np.array(np.broadcast_to(array, shape))
    return full.reshape(math.prod(shape[:-1]), shape[-1])


def _check_evacuated(
    speeds: tuple[int | Fraction, ...], places: Integers, movable: NDArray[np.bool_]
) -> None:
    """Refuse tasks (rows, T) that stay at a node of weight 0."""
    staying = np.array([w == 0 for w in speeds])[places] & ~movable
    if staying.any():
        row, task = np.argwhere(staying)[0].tolist()
        raise ValueError(
            f"weights must be above 0 where tasks may not move, got 0 for node "
            f"{places[row, task]}, where task {task} stays: let it move, or give the node a weight"
        )


def _nodes(nodes: Any) -> tuple[Topology | None, int]:
    if isinstance(nodes, str):
        nodes = parse_topology(nodes)
    if isinstance(nodes, Topology):
        if nodes.size == 0:
            raise ValueError("nodes must be at least one, got an empty network")
        return nodes, nodes.size
    return None, whole_number("nodes", nodes, 1)


def _whole(name: str, values: Any) -> Integers:
    array = as_array(name, values)
    if array.size == 0 and not hasattr(values, "dtype"):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    if array.dtype.kind == "u" and int(array.max(initial=0)) >= 2**63:
        raise ValueError(f"{name} must fit int64, got {int(array.max())}")
    return array.astype(np.int64)


def _broadcast(name: str, array: Any, other_name: str, other: Any) -> tuple[int, ...]:
    if array.ndim == 0 or array.shape[-1] != other.shape[-1]:
        raise ValueError(
            f"{name} must end in an axis of {other.shape[-1]} tasks, as {other_name} does, "
            f"got shape {array.shape}"
        )
    if array.shape == other.shape:
        return other.shape  # type: ignore[no-any-return]
    try:
        return np.broadcast_shapes(array.shape, other.shape)
    except ValueError:
        raise ValueError(
            f"{name} must have the batch axes of {other_name} or none, "
            f"got shapes {array.shape} and {other.shape}"
        ) from None


def _movable(movable: Any, tasks: int) -> NDArray[np.bool_]:
    if movable is None:
        return np.ones(tasks, dtype=bool)
    flags = np.array(movable)
    if flags.size == 0:
        flags = flags.astype(bool)
    if flags.dtype.kind in "iu" and bool(np.isin(flags, (0, 1)).all()):
        flags = flags.astype(bool)
    if flags.dtype != bool or flags.ndim == 0 or flags.shape[-1] != tasks:
        raise ValueError(
            f"movable must be a bool for each of {tasks} tasks, got {flags.dtype} of {flags.shape}"
        )
    return flags


def _weights(weights: MixedNumbers | None, nodes: int) -> tuple[int | Fraction, ...]:
    if weights is None:
        return (1,) * nodes
    exact = exact_weights(weights)
    if len(exact.integers) != nodes:
        raise ValueError(
            f"weights must be a number for each of {nodes} nodes, got {len(exact.integers)}"
        )
    numbers = [exact.unit * weight for weight in exact.integers.tolist()]
    for node, number in enumerate(numbers):
        # Loads are compared by float64, too, where that is near enough.
        if number and not LEAST_WEIGHT <= number <= MOST_WEIGHT:
            raise OverflowError(
                f"weights must be 0 or from {LEAST_WEIGHT:.3g} to {MOST_WEIGHT:.3g}, got "
                f"{Decimal(number.numerator) / number.denominator:.3g} for node {node}: "
                "give them in another unit"
            )
    return tuple(int(n) if n.denominator == 1 else n for n in numbers)


def _factor(name: str, value: Any) -> Fraction:
    if type(value) is int and value == 0:
        return _ZERO
    factor = read_rational(name, value)
    if factor < 0:
        raise ValueError(f"{name} must not be negative, got {written(value)}")
    return factor


def _check_ratio(amounts: NDArray[Any], speeds: tuple[int | Fraction, ...]) -> None:
    """Refuse loads that by weight are beyond float64."""
    least = min((w for w in speeds if w), default=1)
    with np.errstate(over="ignore"):
        total = float(amounts.sum(axis=-1, dtype=np.float64).max(initial=0))
    if math.isfinite(total) and math.isinf(total / float(least)):
        raise OverflowError(
            "sizes by weights must have a total that fits float64: give weights in another unit"
        )


def _edges(edges: Any, tasks: int) -> Edges | None:
    """Read (task, task, bytes) rows, or three arrays of equal length."""
    if edges is None:
        return None
    if isinstance(edges, tuple) and len(edges) == 3 and all(np.ndim(e) == 1 for e in edges):
        columns = [edges[0], edges[1], edges[2]]
    else:
        try:
            rows = [tuple(row) for row in edges]
        except TypeError:
            raise TypeError(
                f"edges must be rows (task, task, bytes), got {written(edges)}"
            ) from None
        for i, row in enumerate(rows):
            if len(row) != 3:
                raise ValueError(f"edges must be (task, task, bytes), got {row!r} at {i}")
        columns = [[row[k] for row in rows] for k in range(3)]
    ends = [_whole("edges", [int(e) if isinstance(e, float) and e.is_integer() else e for e in c])
            if isinstance(c, list) else _whole("edges", c) for c in columns[:2]]  # fmt: skip
    amount = real_array("bytes of edges", columns[2])
    if not ends[0].shape == ends[1].shape == amount.shape:
        shapes = [c.shape for c in (*ends, amount)]
        raise ValueError(f"edges must have as many tasks as bytes, got shapes {shapes}")
    for end in ends:
        outside = (end < 0) | (end >= tasks)
        if outside.any():
            bad = int(end[outside][0])
            raise ValueError(f"edges must be between tasks 0..{tasks - 1}, got {bad}")
    return Edges(ends[0], ends[1], amount)
