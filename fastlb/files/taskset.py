"""Tasks on nodes, as files list them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..quantities import Number
from ..tasks.memory import TaskMemory
from .textfiles import refuse


@dataclass(frozen=True, eq=False)
class TaskSet:
    """Tasks with sizes on nodes; ``T`` tasks, ``N`` nodes, ``E`` communications.

    Attributes
    ----------
    source, kind : str
        The file or folder, and its form: "csv", "parquet" or "vt".
    names : T names of tasks, each one different
    nodes : N names of nodes
    sizes : (T,) int64 or float64
        Load of every task.
    owner : (T,) int64
        Node of every task.
    movable : (T,) bool
        Whether a task may leave its node.
    memory : TaskMemory or None
        Memory that tasks need, where the file says so.
    edges : (E, 2) int64
        Pairs of tasks that communicate.
    edge_bytes : (E,) float64
        Bytes that they exchange.
    weights : (N,) numbers or None
        Speeds of the nodes, where the file says so.
    phase : int or None
        The phase of a vt run.
    """

    source: str
    kind: str
    names: Sequence[str]
    nodes: Sequence[str]
    sizes: NDArray[Any]
    owner: NDArray[np.int64]
    movable: NDArray[np.bool_]
    memory: TaskMemory | None = None
    edges: NDArray[np.int64] | None = None
    edge_bytes: NDArray[np.float64] | None = None
    weights: Any = None
    phase: int | None = None

    @property
    def place(self) -> str:
        """The file or folder, and the phase where there is one."""
        return self.source if self.phase is None else f"{self.source} phase {self.phase}"

    def loads(self, owner: NDArray[np.int64] | None = None) -> list[Number]:
        """Return the load of every node, of these owners or of those in the file.

        Raises
        ------
        OverflowError
            If the load of a node does not fit float64.
        """
        from math import fsum

        owners = self.owner if owner is None else owner
        parts: list[list[Number]] = [[] for _ in self.nodes]
        for node, size in zip(owners.tolist(), self.sizes.tolist(), strict=True):
            parts[node].append(size)
        if self.sizes.dtype.kind != "f":
            return [sum(part) for part in parts]
        try:
            return [fsum(part) for part in parts]
        except OverflowError:
            raise OverflowError(
                f"{self.place}: sizes must have a total that fits float64"
            ) from None

    def content(self) -> str:
        """Return the SHA-256 of all that an assignment depends on."""
        memory = self.memory
        arrays = [self.sizes, self.owner, self.movable, self.edges, self.edge_bytes]
        digest = hashlib.sha256()
        weights = None if self.weights is None else list(map(str, self.weights))
        held: list[Any] = []
        if memory is not None:
            blocks = None if memory.block is None else np.asarray(memory.block).tolist()
            held = [np.asarray(memory.own).tolist(), blocks, dict(memory.block_bytes or {})]
            held += [np.asarray(memory.working).tolist(), np.asarray(memory.node).tolist()]
        head = [list(self.names), list(self.nodes), weights, held]
        digest.update(json.dumps(head, separators=(",", ":")).encode())
        for array in arrays:
            if array is None:
                digest.update(b"none")
            else:
                kind = array.dtype.newbyteorder("<")
                digest.update(f"{kind.str}{array.shape}".encode())
                digest.update(np.ascontiguousarray(array, kind).tobytes())
        return f"sha256:{digest.hexdigest()}"


def number_column(place: str, what: str, numbers: Sequence[Number]) -> NDArray[Any]:
    """Return numbers as int64 where all are whole, else as float64.

    Raises
    ------
    ValueError
        If one is a fraction that float64 does not hold as it is written.
    OverflowError
        If a whole number does not fit int64.
    """
    for number in numbers:
        if isinstance(number, Fraction):
            refuse(place, f"{what} must be whole numbers or decimals, got {number}")
    if all(isinstance(number, int) for number in numbers):
        largest = max(map(int, numbers), default=0)
        if largest >= 2**63:
            power = largest.bit_length() - 1
            raise OverflowError(f"{place}: {what} must be below 2**63, got 2**{power} or more")
        return np.array(numbers, dtype=np.int64)
    return np.array(numbers, dtype=np.float64)
