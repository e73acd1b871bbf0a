"""The assignments of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..display.cards import card
from .assignment import Assignment, Move

# Attributes that are stacked: one array a task or node, or one number, of each assignment.
STACKED = (
    "owner", "loads", "status", "largest", "initial_largest", "initial_loads", "bound", "gap",
    "moved", "excess", "hops", "remote_before", "remote_after",
)  # fmt: skip


class AssignmentBatch(Sequence[Assignment]):
    """Assignments of a batch of tasks; attributes are stacked.

    Numbers and texts of an :class:`Assignment` become arrays of the batch's shape, ``owner`` has
    shape ``(*batch, T)``, ``loads`` ``(*batch, N)``; ``moves`` is a list, in C order of the batch.
    """

    def __init__(self, assignments: Sequence[Assignment], shape: tuple[int, ...]) -> None:
        self._assignments = tuple(assignments)
        self.shape = shape

    def __len__(self) -> int:
        return len(self._assignments)

    @overload
    def __getitem__(self, index: int) -> Assignment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Assignment, ...]: ...
    def __getitem__(self, index: int | slice) -> Assignment | tuple[Assignment, ...]:
        return self._assignments[index]

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self._assignments)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name not in STACKED:
            raise AttributeError(f"AssignmentBatch has no attribute {name!r}")
        values = np.array([getattr(assignment, name) for assignment in self])
        return values.reshape(self.shape + values.shape[1:])

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *STACKED})

    @property
    def moves(self) -> list[list[Move]]:
        return [assignment.moves for assignment in self]

    def verify(self) -> bool:
        """Verify every assignment; see :meth:`Assignment.verify`."""
        return all(assignment.verify() for assignment in self)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return every assignment as JSON-ready values, in C order of the batch."""
        return [assignment.to_dict() for assignment in self]

    def __repr__(self) -> str:
        if not self:
            return f"<AssignmentBatch: none, of shape {self.shape}>"
        gaps = self.gap
        return (
            f"<AssignmentBatch: assignments of shape {self.shape}; gap {gaps.min():.2g} to "
            f"{gaps.max():.2g}>"
        )

    def _repr_html_(self) -> str:
        return card(repr(self)[1:-1], {name: getattr(self, name) for name in STACKED[2:]})
