"""Running statistics of methods that balance the same loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .histogram import Histogram
from .moments import Column, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The values of each figure, one per trial.
Columns = Mapping[str, "NDArray[Any]"]

# How many bits each histogram has dropped so far, by method and figure.
Dropped = dict[str, dict[str, int]]

# Trials, and chunks of trials, that are collected before they are added up. With fewer, the Python
# around the kernels, for which threads wait for each other, takes a noticeable time. With more, so
# does what a single thread adds up at the end.
MAX_PENDING_TRIALS = 2**13
MAX_PENDING_CHUNKS = 32


class Tally:
    """Running statistics of every figure of several methods, and of the methods' differences.

    They depend on the trials alone, not on their order or on how they are divided and merged.
    """

    def __init__(self, dropped: Dropped | None = None) -> None:
        """Make an empty tally; ``dropped`` is that of a tally it will be merged with."""
        self._figures: dict[str, dict[str, tuple[Moments, Histogram]]] = {}
        self._pairs: dict[tuple[str, str], dict[str, Moments]] = {}
        self._dropped = dropped or {}
        self._pending: list[dict[str, Columns]] = []
        self._pending_trials = 0

    def __getstate__(self) -> dict[str, Any]:
        self._add_pending()
        return self.__dict__

    @property
    def figures(self) -> dict[str, dict[str, tuple[Moments, Histogram]]]:
        """Moments and histograms by method and figure."""
        self._add_pending()
        return self._figures

    @property
    def pairs(self) -> dict[tuple[str, str], dict[str, Moments]]:
        """Moments of the differences by (first method, second method) and figure."""
        self._add_pending()
        return self._pairs

    def add(self, methods: Sequence[str], columns: Sequence[Columns]) -> None:
        """Add trials; ``columns`` has the figures of each method."""
        self.add_later(methods, columns)
        self._add_pending()

    def add_later(self, methods: Sequence[str], columns: Sequence[Columns]) -> None:
        """Add trials together with later ones; the caller must not change the columns."""
        by_method = dict(zip(methods, columns, strict=True))
        if self._pending and _names(by_method) != _names(self._pending[0]):
            self._add_pending()
        self._pending.append(by_method)
        self._pending_trials += len(next(iter(columns[0].values()), ()))
        full = len(self._pending) == MAX_PENDING_CHUNKS
        if full or self._pending_trials >= MAX_PENDING_TRIALS:
            self._add_pending()

    def _add_pending(self) -> None:
        """Add all pending trials, which have the same methods and figures."""
        pending, self._pending, self._pending_trials = self._pending, [], 0
        if not pending:
            return
        added: dict[str, dict[str, Column]] = {}
        for method, columns in pending[0].items():
            added[method] = {}
            for name in columns:
                parts = [by_method[method][name] for by_method in pending]
                # One column after the other, so that each is still in the cache when it is counted.
                column = Column.of(parts[0] if len(parts) == 1 else np.concatenate(parts))
                moments, histogram = self._statistics(method, name)
                moments.add(column)
                histogram.add(column)
                if len(pending[0]) > 1:  # for the differences
                    added[method][name] = column
        for first, second in combinations(added, 2):
            pair = self._pairs.setdefault((first, second), {})
            for name in added[first]:
                if name in added[second]:
                    difference = added[first][name] - added[second][name]
                    pair.setdefault(name, Moments()).add(difference)

    def merge(self, other: Tally) -> None:
        """Add the trials of another tally of the same methods."""
        for method, figures in other.figures.items():
            for name, (moments, histogram) in figures.items():
                own_moments, own_histogram = self._statistics(method, name)
                own_moments.merge(moments)
                own_histogram.merge(histogram)
        for methods, differences in other.pairs.items():
            pair = self._pairs.setdefault(methods, {})
            for name, moments in differences.items():
                pair.setdefault(name, Moments()).merge(moments)

    def dropped(self) -> Dropped:
        """Return how many bits each histogram has dropped, without those that dropped none."""
        return {
            method: {
                name: histogram.dropped
                for name, (_, histogram) in figures.items()
                if histogram.dropped
            }
            for method, figures in self.figures.items()
        }

    def _statistics(self, method: str, name: str) -> tuple[Moments, Histogram]:
        """Return the moments and the histogram of a figure, new ones for a new figure."""
        figures = self._figures.setdefault(method, {})
        if name not in figures:
            dropped = self._dropped.get(method, {}).get(name, 0)
            figures[name] = Moments(), Histogram(dropped)
        return figures[name]


def _names(by_method: Mapping[str, Columns]) -> list[tuple[str, tuple[str, ...]]]:
    return [(method, tuple(columns)) for method, columns in by_method.items()]
