"""The memory of tasks: bytes of their own, and blocks that a node holds once for all its tasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import written
from .numbers import numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .units import Integers

NO_BLOCK = -1


@dataclass(frozen=True, eq=False)
class TaskMemory:
    """Bytes that tasks need: their own, and those of shared blocks.

    A block is held once by every node that has a task which uses it, however many do.

    Parameters
    ----------
    own : (T,) or number, optional
        Bytes of each task alone.
    working : (T,) or number, optional
        Bytes that each task needs while it runs: a node needs the most of its tasks, as these
        run one after the other.
    block : (T,) sequence, optional
        The id of the block that each task uses, any hashable; None or -1: none.
    block_bytes : mapping of id to number, optional
        Bytes of each block.
    block_home : mapping of id to node, optional
        The node where a block is at home; elsewhere its bytes cost ``home_price``.
    node : (N,) or number, optional
        Bytes that each node holds whatever tasks it has.

    Examples
    --------
    >>> import fastlb as lb
    >>> memory = lb.TaskMemory(own=1, block=["a", "a", "b"], block_bytes={"a": 9, "b": 9})
    >>> lb.assign_tasks([2, 2, 4], [0, 0, 0], 2, memory=memory, memory_limit=12).owner
    array([0, 0, 1])
    """

    own: ArrayLike = 0
    working: ArrayLike = 0
    block: Iterable[Hashable] | None = None
    block_bytes: Mapping[Any, Any] | None = None
    block_home: Mapping[Any, int] | None = None
    node: ArrayLike = 0


@dataclass(frozen=True, eq=False)
class Memory:
    """What was read of it: ``T`` tasks, ``N`` nodes, ``B`` blocks, numbered as they first occur.

    Attributes
    ----------
    own, working, block : (T,)
        Bytes of each task, bytes while it runs, and the number of its block or ``NO_BLOCK``.
    block_bytes, home : (B,)
        Bytes of each block, and the node where it is at home or -1.
    node, limit : (N,)
        Bytes that each node holds anyway, and the most that it may hold; None: any.
    """

    own: NDArray[Any]
    working: NDArray[Any]
    block: NDArray[np.int64]
    block_bytes: NDArray[Any]
    home: NDArray[np.int64]
    node: NDArray[Any]
    limit: NDArray[Any] | None


def read_memory(memory: Any, limit: Any, tasks: int, nodes: int) -> Memory | None:
    """Return the memory of tasks, None where neither it nor a limit was passed.

    Raises
    ------
    TypeError, ValueError
        If something is no number, negative, of another length, or a block is not described.
    """
    if memory is None:
        if limit is not None:
            raise ValueError("memory_limit needs memory: pass the bytes of each task")
        return None
    if not isinstance(memory, TaskMemory):
        memory = TaskMemory(memory)
    own = numbers("memory", memory.own, tasks, "tasks")
    working = numbers("working memory", memory.working, tasks, "tasks")
    node = numbers("bytes of a node", memory.node, nodes, "nodes")
    most = None
    if limit is not None:
        most = numbers("memory_limit", limit, nodes, "nodes", unlimited=True)
    block, names = _blocks(memory.block, tasks)
    sizes = memory.block_bytes or {}
    for name in names:
        if name not in sizes:
            raise ValueError(f"block_bytes must have every block, got none of {name!r}")
    amounts = numbers("block_bytes", [sizes[name] for name in names], len(names), "blocks")
    home = np.full(len(names), -1, np.int64)
    for i, name in enumerate(names):
        at = -1 if memory.block_home is None else memory.block_home.get(name, -1)
        if isinstance(at, bool) or not isinstance(at, int | np.integer) or not -1 <= at < nodes:
            raise ValueError(f"block_home must be nodes 0..{nodes - 1}, got {written(at)}")
        home[i] = at
    return Memory(own, working, block, amounts, home, node, most)


def fits_nowhere(
    memory: Memory, owner: Integers, movable: NDArray[np.bool_], usable: NDArray[np.bool_]
) -> bool:
    """Tell whether a task alone, or all tasks, are too much for the limits of the usable nodes.

    A task that may not move has its own node alone.
    """
    if memory.limit is None or not len(owner):
        return False
    limits = memory.limit.tolist()
    room = [
        Fraction(most) - Fraction(held) if most < np.inf else None
        for most, held in zip(limits, memory.node.tolist(), strict=True)
    ]
    rooms = [amount for amount, use in zip(room, usable.tolist(), strict=True) if use]
    finite = [amount for amount in rooms if amount is not None]
    widest = max(finite) if len(finite) == len(rooms) else None
    blocks = [*map(Fraction, memory.block_bytes.tolist()), Fraction(0)]
    total = sum(blocks, Fraction(0))
    columns = (memory.own, memory.working, memory.block, owner, movable)
    for own, working, block, node, free in zip(*(c.tolist() for c in columns), strict=True):
        most = widest if free else room[node]
        alone = Fraction(own) + Fraction(working) + blocks[block]
        if most is not None and alone > most:
            return True
        total += Fraction(own)
    return widest is not None and total > sum(finite)


def _blocks(block: Any, tasks: int) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the number of every task's block, and the ids by number."""
    places = np.full(tasks, NO_BLOCK, np.int64)
    if block is None:
        return places, []
    listed = block.tolist() if isinstance(block, np.ndarray) else list(block)
    if len(listed) != tasks:
        raise ValueError(f"block must be an id for each of {tasks} tasks, got {len(listed)}")
    known: dict[Any, int] = {}
    for task, name in enumerate(listed):
        if name is None or name == NO_BLOCK:
            continue
        if not isinstance(name, Hashable):
            raise TypeError(f"block must be ids that are hashable, got {written(name)}")
        places[task] = known.setdefault(name, len(known))
    return places, list(known)
