"""The plans of a batch of excess vectors on one network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..display.cards import card
from .plan import MinimaxPlan, Route


class MinimaxBatch(Sequence[MinimaxPlan]):
    """Plans for a batch of excess vectors on one network; attributes are stacked.

    Scalars of a plan become arrays of the batch's shape, ``flow`` has shape ``(*batch, E)``;
    ``bottleneck``, ``full_links`` and ``routes()`` are lists, in C order of the batch.
    """

    def __init__(self, plans: Sequence[MinimaxPlan], shape: tuple[int, ...], links: int) -> None:
        self._plans = tuple(plans)
        self.shape = shape
        self._links = links

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, index: int) -> MinimaxPlan: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MinimaxPlan, ...]: ...
    def __getitem__(self, index: int | slice) -> MinimaxPlan | tuple[MinimaxPlan, ...]:
        return self._plans[index]

    def __iter__(self) -> Iterator[MinimaxPlan]:
        return iter(self._plans)

    def _repr_html_(self) -> str:
        about = {"eliminated": self.eliminated, "contention": self.contention}
        return card(repr(self)[1:-1], about)

    def __repr__(self) -> str:
        return f"<MinimaxBatch: plans of shape {self.shape} on {self._links} links>"

    def _stacked(self, name: str) -> NDArray[Any]:
        numbers = [getattr(plan, name) for plan in self._plans]
        kinds = {type(number) for number in numbers}
        kind = {int: np.int64, float: np.float64}.get(kinds.pop()) if len(kinds) == 1 else object
        values = np.empty(len(numbers), dtype=kind or object)
        values[:] = numbers
        return values.reshape(self.shape)

    @property
    def eliminated(self) -> NDArray[Any]:
        return self._stacked("eliminated")

    @property
    def contention(self) -> NDArray[Any]:
        return self._stacked("contention")

    @property
    def traffic(self) -> NDArray[Any]:
        return self._stacked("traffic")

    @property
    def iterations(self) -> NDArray[Any]:
        return self._stacked("iterations")

    @property
    def quantum(self) -> NDArray[Any]:
        return self._stacked("quantum")

    @property
    def flow(self) -> NDArray[Any]:
        if not self._plans:
            return np.empty((*self.shape, self._links), dtype=np.int64)
        flows = np.stack([plan.flow for plan in self._plans])
        return flows.reshape(*self.shape, self._links)

    @property
    def bottleneck(self) -> list[NDArray[np.int64]]:
        return [plan.bottleneck for plan in self._plans]

    @property
    def held_back(self) -> NDArray[Any]:
        return self._stacked("held_back")

    @property
    def full_links(self) -> list[NDArray[np.int64]]:
        return [plan.full_links for plan in self._plans]

    def routes(self) -> list[list[Route]]:
        """Return the routes of every plan."""
        return [plan.routes() for plan in self._plans]

    def verify(self) -> bool:
        """Verify every plan; see :meth:`MinimaxPlan.verify`."""
        return all(plan.verify() for plan in self._plans)
