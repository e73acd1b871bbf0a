"""Solutions of 0-1 programs, single ones and batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import Displayed
from .outcome import STATUSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATUS_NAMES = np.array(STATUSES)


@dataclass(frozen=True, eq=False)
class BinarySolution(Displayed):
    """Solutions of 0-1 programs; for a batch every field has the batch's shape.

    Attributes
    ----------
    x : (*batch, n) int8, or None where no solution is known (masked in a batch)
    objective : int or float, or None (masked)
        c.x, exact for integers; a float is the nearest one.
    status : str
        "optimal", "infeasible", or "limit": stopped before either was proven.
    bound : int or float, or None (masked) if infeasible
        No solution costs less; equal to the objective where optimal.
    method : str
        The method that ended it: "enumeration", "search", or "milp" for HiGHS.
    nodes : int
        Nodes of the depth-first search; those of HiGHS are not counted.
    """

    x: Any
    objective: Any
    status: Any
    bound: Any
    method: Any
    nodes: Any

    @property
    def gap(self) -> Any:
        """Objective minus bound: 0 where optimal, None (masked) without both."""
        if self.objective is None or self.bound is None:
            return None
        return self.objective - self.bound


class BinaryBatch(BinarySolution):
    """Solutions by enumeration, whose fields are computed on first access.

    Making three masked arrays takes half as long as solving 2000 programs of 5 variables.
    """

    _batch: tuple[int, ...]
    _n: int
    _pattern: NDArray[Any]
    _cost: NDArray[Any]
    _unknown: NDArray[np.bool_] | None

    def __init__(
        self,
        batch: tuple[int, ...],
        n: int,
        pattern: NDArray[Any],
        objective: NDArray[Any],
        unknown: NDArray[np.bool_] | None,
    ) -> None:
        self.__dict__.update(
            _batch=batch, _n=n, _pattern=pattern, _cost=objective, _unknown=unknown
        )

    @cached_property
    def x(self) -> Any:
        return masked(sequences(self._pattern, self._n), self._unknown, self._batch)

    @cached_property
    def objective(self) -> Any:
        return masked(self._cost, self._unknown, self._batch)

    @cached_property
    def bound(self) -> Any:
        return masked(self._cost, self._unknown, self._batch)

    @cached_property
    def status(self) -> Any:
        if self._unknown is None:
            return _repeated(STATUS_NAMES[:1], self._batch)
        return STATUS_NAMES.take(self._unknown).reshape(self._batch)

    @cached_property
    def method(self) -> Any:
        return _repeated(np.array(["enumeration"]), self._batch)

    @cached_property
    def nodes(self) -> Any:
        return np.zeros(self._batch, dtype=np.int64)


def sequences(pattern: NDArray[Any], n: int) -> NDArray[np.int8]:
    """Return x (B, n) of patterns (B,), whose bit n - j is x_j."""
    return (pattern[:, None] >> np.arange(n - 1, -1, -1) & 1).astype(np.int8)


def _repeated(value: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Give one value the batch's shape; ``numpy.broadcast_to`` takes 2 microseconds longer."""
    value.flags.writeable = False
    return np.ndarray(batch, value.dtype, value, 0, (0,) * len(batch))


def masked(
    values: NDArray[Any], hidden: NDArray[Any] | None, batch: tuple[int, ...]
) -> np.ma.MaskedArray[Any, Any]:
    """Give values (B, ..) the batch's shape and hide those that do not exist."""
    shaped = values.reshape(batch + values.shape[1:])
    if hidden is None:
        return shaped.view(np.ma.MaskedArray)
    if values.ndim > 1:
        hidden = np.repeat(hidden, values.shape[1])
    return np.ma.MaskedArray(shaped, hidden.reshape(shaped.shape))
