"""What is kept of a study's trials: every row, or running statistics in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .statistic import Statistic
from .tally import Column, Histogram, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .study import Cell, Study

Columns = Mapping[str, "NDArray[Any]"]


class Rows:
    """Every figure of every trial."""

    def __init__(self, study: Study) -> None:
        self._parts: dict[Cell, list[Columns]] = {cell: [] for cell in study.cells}

    def add(self, cells: Sequence[Cell], found: Sequence[Columns]) -> None:
        """Take the next trials of combinations that share their loads, a column a figure."""
        for cell, columns in zip(cells, found, strict=True):
            self._parts[cell].append(columns)

    def columns(self, cell: Cell) -> Columns:
        """Return all figures of a combination, one value a trial each."""
        parts = self._parts[cell]
        if len(parts) > 1:
            joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            self._parts[cell] = parts = [joined]
        return parts[0]

    def trials(self, cell: Cell) -> int:
        """Return how many trials of a combination were run."""
        return sum(len(next(iter(part.values()))) for part in self._parts[cell])

    def figures(self, cell: Cell) -> list[str]:
        """Return the names of a combination's figures."""
        return list(self._parts[cell][0])

    def moments(self, cell: Cell, figure: str) -> Moments:
        """Return the moments of one figure."""
        moments = Moments()
        for part in self._parts[cell]:
            moments.add(Column.of(part[figure]))
        return moments

    def statistic(self, cell: Cell, figure: str, levels: Sequence[float]) -> Statistic:
        """Return the summary of one figure."""
        return Statistic.of(self.columns(cell)[figure], levels)

    def differences(self, first: Cell, second: Cell, figure: str) -> Moments:
        """Return the moments of one figure's differences between two methods."""
        moments = Moments()
        a, b = (self.columns(cell)[figure] for cell in (first, second))
        moments.add(Column.of(a) - Column.of(b))
        return moments


class Tallies:
    """Running statistics of every figure, and of its differences between methods."""

    def __init__(self, study: Study) -> None:
        self._figures: dict[Cell, dict[str, tuple[Moments, Histogram]]] = {
            cell: {} for cell in study.cells
        }
        self._pairs: dict[tuple[Cell, Cell], dict[str, Moments]] = {
            pair: {} for cells in study.groups.values() for pair in combinations(cells, 2)
        }

    def add(self, cells: Sequence[Cell], found: Sequence[Columns]) -> None:
        """Take the next trials of combinations that share their loads, a column a figure."""
        taken = {
            cell: {name: Column.of(values) for name, values in columns.items()}
            for cell, columns in zip(cells, found, strict=True)
        }
        for cell, columns in taken.items():
            kept = self._figures[cell]
            for name, column in columns.items():
                moments, histogram = kept.setdefault(name, (Moments(), Histogram()))
                moments.add(column)
                histogram.add(column)
        for first, second in combinations(cells, 2):
            pair = self._pairs[first, second]
            for name in taken[first]:
                if name in taken[second]:
                    difference = taken[first][name] - taken[second][name]
                    pair.setdefault(name, Moments()).add(difference)

    def trials(self, cell: Cell) -> int:
        """Return how many trials of a combination were run."""
        moments, _ = next(iter(self._figures[cell].values()))
        return moments.trials

    def figures(self, cell: Cell) -> list[str]:
        """Return the names of a combination's figures."""
        return list(self._figures[cell])

    def moments(self, cell: Cell, figure: str) -> Moments:
        """Return the moments of one figure."""
        return self._figures[cell][figure][0]

    def statistic(self, cell: Cell, figure: str, levels: Sequence[float]) -> Statistic:
        """Return the summary of one figure."""
        return Statistic.counted(*self._figures[cell][figure], levels)

    def differences(self, first: Cell, second: Cell, figure: str) -> Moments:
        """Return the moments of one figure's differences between two methods."""
        return self._pairs[first, second][figure]
