"""Solutions of 0-1 programs: of one, and of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import written
from ..display.cards import Displayed
from .outcome import STATUSES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..figuretypes import Masked
    from ..quantities import Number

STATUS_NAMES = np.array(STATUSES)


@dataclass(frozen=True, eq=False)
class BinarySolution(Displayed):
    """The solution of a 0-1 program.

    Attributes
    ----------
    x : (n,) int8, or None where no solution is known
    objective : int, float or Fraction, or None
        c.x, exact for integers; a float is the nearest one.
    status : str
        "optimal", "infeasible", or "limit": stopped before either was proven.
    bound : int, float or Fraction, or None if infeasible
        No solution costs less; equal to the objective where optimal.
    method : str
        The method that ended it: "enumeration", "search", or "milp" for HiGHS.
    nodes : int
        Nodes of the depth-first search; those of HiGHS are not counted.
    """

    x: NDArray[np.int8] | None
    objective: Number | None
    status: str
    bound: Number | None
    method: str
    nodes: int

    @property
    def gap(self) -> Number | None:
        """Objective minus bound: 0 where optimal, None without both."""
        if self.objective is None or self.bound is None:
            return None
        return self.objective - self.bound

    def __repr__(self) -> str:
        figures = [f"status={self.status!r}", f"objective={written(self.objective)}"]
        if self.bound is not None and self.gap != 0:
            figures += [f"bound={written(self.bound)}"]
        figures += [f"method={self.method!r}", f"nodes={self.nodes}"]
        if self.x is not None:
            figures += [f"x with {int(self.x.sum())} of {len(self.x)} variables at 1"]
        return f"{type(self).__name__}({', '.join(figures)})"


@dataclass(frozen=True, eq=False)
class BinaryBatch(Displayed):
    """Solutions of a batch of 0-1 programs: the fields of :class:`BinarySolution` as arrays.

    Attributes
    ----------
    x : (*batch, n) int8, masked where no solution is known
    objective, bound : (*batch,), masked where there is none
    status, method : (*batch,) str
    nodes : (*batch,) int64
    """

    x: Masked
    objective: Masked
    status: NDArray[np.str_]
    bound: Masked
    method: NDArray[np.str_]
    nodes: NDArray[np.int64]

    @property
    def gap(self) -> Masked:
        """Objective minus bound: 0 where optimal, masked without both."""
        gap: Masked = self.objective - self.bound
        return gap

    def __repr__(self) -> str:
        names, counts = np.unique(self.status, return_counts=True)
        programs = f"{self.status.size} programs of {self.x.shape[-1]} variables"
        figures = [programs, *(f"{n} {name}" for name, n in zip(names, counts, strict=True))]
        return f"BinaryBatch({', '.join(figures)})"


class EnumeratedBatch(BinaryBatch):
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
    def x(self) -> Masked:
        return masked(sequences(self._pattern, self._n), self._unknown, self._batch)

    @cached_property
    def objective(self) -> Masked:
        return masked(self._cost, self._unknown, self._batch)

    @cached_property
    def bound(self) -> Masked:
        return masked(self._cost, self._unknown, self._batch)

    @cached_property
    def status(self) -> NDArray[np.str_]:
        if self._unknown is None:
            return _repeated(STATUS_NAMES[:1], self._batch)
        return STATUS_NAMES.take(self._unknown).reshape(self._batch)

    @cached_property
    def method(self) -> NDArray[np.str_]:
        return _repeated(np.array(["enumeration"]), self._batch)

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        return np.zeros(self._batch, dtype=np.int64)


def sequences(pattern: NDArray[Any], n: int) -> NDArray[np.int8]:
    """Return x (B, n) of patterns (B,), whose bit n - j is x_j."""
    return (pattern[:, None] >> np.arange(n - 1, -1, -1) & 1).astype(np.int8)


def _repeated(value: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """Give one value the batch's shape; ``numpy.broadcast_to`` takes 2 microseconds longer."""
    value.flags.writeable = False
    return np.ndarray(batch, value.dtype, value, 0, (0,) * len(batch))


def masked(values: NDArray[Any], hidden: NDArray[Any] | None, batch: tuple[int, ...]) -> Masked:
    """Give values (B, ..) the batch's shape and hide those that do not exist."""
    shaped = values.reshape(batch + values.shape[1:])
    if hidden is None:
        return shaped.view(np.ma.MaskedArray)
    if values.ndim > 1:
        hidden = np.repeat(hidden, values.shape[1])
    return np.ma.MaskedArray(shaped, hidden.reshape(shaped.shape))
