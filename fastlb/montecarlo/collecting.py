"""What is kept of a study's trials: every row, or running statistics in bounded memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..memory import require_memory
from .statistic import Statistic
from .tally import Column, Histogram, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..random_loads.distributions import Distribution
    from ..topologies.topology import Topology
    from .chunks import Chunk
    from .grid import Cell, Group
    from .parts import Layout
    from .study import Study

Columns = Mapping[str, "NDArray[Any]"]

# Trials that are added up at a time, of so many chunks at most: enough that the Python around it,
# for which threads wait for each other, does not show, and few enough that what one thread alone
# adds up at the end does not either.
TRIALS_AT_A_TIME = 2**13
CHUNKS_AT_A_TIME = 32


class Rows:
    """Every figure of every trial."""

    def __init__(self, study: Study) -> None:
        self._parts: dict[Cell, list[Columns]] = {cell: [] for cell in study.cells}

    def add(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add the next trials of combinations that share their loads, a column a figure."""
        for cell, figures in zip(cells, columns, strict=True):
            self._parts[cell].append(figures)

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


# By method and figure, how many bits a histogram has dropped so far.
Dropped = dict[str, dict[str, int]]


class Tally:
    """Running statistics of methods that balance the same loads, and of their differences.

    They depend on the trials alone, not on their order or on how they are divided and merged.

    Few trials wait until there are more of them to be added up at a time.
    """

    def __init__(self, dropped: Dropped | None = None) -> None:
        """Begin without trials; ``dropped`` is that of a tally it will be merged with."""
        self._figures: dict[str, dict[str, tuple[Moments, Histogram]]] = {}
        self._pairs: dict[tuple[str, str], dict[str, Moments]] = {}
        self._dropped = dropped or {}
        self._waiting: list[dict[str, Columns]] = []
        self._trials = 0

    def __getstate__(self) -> dict[str, Any]:
        self._add_up()
        return self.__dict__

    @property
    def figures(self) -> dict[str, dict[str, tuple[Moments, Histogram]]]:
        """The moments and values by method and figure."""
        self._add_up()
        return self._figures

    @property
    def pairs(self) -> dict[tuple[str, str], dict[str, Moments]]:
        """The moments of differences by first and second method, and figure."""
        self._add_up()
        return self._pairs

    def add(self, methods: Sequence[str], columns: Sequence[Columns]) -> None:
        """Add further trials, for each method a column a figure."""
        self.add_later(methods, columns)
        self._add_up()

    def add_later(self, methods: Sequence[str], columns: Sequence[Columns]) -> None:
        """Add further trials later; the caller must not change the columns."""
        by_method = dict(zip(methods, columns, strict=True))
        if self._waiting and _names(by_method) != _names(self._waiting[0]):
            self._add_up()
        self._waiting.append(by_method)
        self._trials += len(next(iter(columns[0].values()), ()))
        if self._trials >= TRIALS_AT_A_TIME or len(self._waiting) == CHUNKS_AT_A_TIME:
            self._add_up()

    def _add_up(self) -> None:
        """Add all waiting trials at once; they have the same methods and figures."""
        waiting, self._waiting, self._trials = self._waiting, [], 0
        if not waiting:
            return
        added: dict[str, dict[str, Column]] = {}
        for method, columns in waiting[0].items():
            added[method] = {}
            for name in columns:
                parts = [trials[method][name] for trials in waiting]
                # Column by column, so that it is still in the cache when it is counted.
                column = Column.of(parts[0] if len(parts) == 1 else np.concatenate(parts))
                moments, histogram = self._figure(method, name)
                moments.add(column)
                histogram.add(column)
                # Needed for the differences between methods, if there are several.
                if len(waiting[0]) > 1:
                    added[method][name] = column
        for first, second in combinations(added, 2):
            pair = self._pairs.setdefault((first, second), {})
            for name in added[first]:
                if name in added[second]:
                    difference = added[first][name] - added[second][name]
                    pair.setdefault(name, Moments()).add(difference)

    def merge(self, other: Tally) -> None:
        """Take the trials of another tally of the same methods."""
        for method, figures in other.figures.items():
            for name, (moments, histogram) in figures.items():
                mine = self._figure(method, name)
                mine[0].merge(moments)
                mine[1].merge(histogram)
        for methods, differences in other.pairs.items():
            pair = self._pairs.setdefault(methods, {})
            for name, moments in differences.items():
                pair.setdefault(name, Moments()).merge(moments)

    def dropped(self) -> Dropped:
        """Return how many bits the histograms have dropped, where they have any."""
        return {
            method: {
                name: histogram.dropped
                for name, (_, histogram) in figures.items()
                if histogram.dropped
            }
            for method, figures in self.figures.items()
        }

    def _figure(self, method: str, name: str) -> tuple[Moments, Histogram]:
        figures = self._figures.setdefault(method, {})
        if name not in figures:
            dropped = self._dropped.get(method, {}).get(name, 0)
            figures[name] = Moments(), Histogram(dropped)
        return figures[name]


def _names(by_method: Mapping[str, Columns]) -> list[tuple[str, tuple[str, ...]]]:
    return [(method, tuple(columns)) for method, columns in by_method.items()]


class Tallies:
    """Running statistics of every figure, and of its differences between methods.

    Trials may be added from any thread: each thread has tallies of its own, which are merged after
    all threads are done. With shared tallies the histograms, megabytes, would move from one
    processor's cache to the other's.
    """

    def __init__(self, study: Study) -> None:
        self._groups = study.groups
        self._tallies: dict[Group, dict[int, Tally]] = {group: {} for group in study.groups}

    def covers(self, chunk: Chunk) -> bool:
        """Return whether a chunk is of all methods of its group: no others can be added."""
        return len(chunk.methods) == len(self._groups[chunk.group])

    def add(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add further trials of combinations that share their loads, a column a figure."""
        self._own(cells[0].topology, cells[0].loads).add([cell.method for cell in cells], columns)

    def add_later(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add further trials later; the caller must not change the columns."""
        tally = self._own(cells[0].topology, cells[0].loads)
        tally.add_later([cell.method for cell in cells], columns)

    def merge(self, group: Group, tally: Tally) -> None:
        """Take further trials of the combinations of a group, added up elsewhere."""
        self._own(*group).merge(tally)

    def settle(self, group: Group) -> None:
        """Merge what threads have added to the tallies of a group, once they are done."""
        tallies = self._tallies[group]
        while len(tallies) > 1:
            _, further = tallies.popitem()
            next(iter(tallies.values())).merge(further)

    def dropped(self, group: Group) -> Dropped:
        """Return how many bits the histograms of a group have dropped, where they have any."""
        self.settle(group)
        return next((tally.dropped() for tally in self._tallies[group].values()), {})

    def trials(self, cell: Cell) -> int:
        """Return how many trials of a combination were run."""
        moments, _ = next(iter(self._figures(cell).values()))
        return moments.trials

    def figures(self, cell: Cell) -> list[str]:
        """Return the names of a combination's figures."""
        return list(self._figures(cell))

    def moments(self, cell: Cell, figure: str) -> Moments:
        """Return the moments of one figure."""
        return self._figures(cell)[figure][0]

    def statistic(self, cell: Cell, figure: str, levels: Sequence[float]) -> Statistic:
        """Return the summary of one figure."""
        return Statistic.counted(*self._figures(cell)[figure], levels)

    def differences(self, first: Cell, second: Cell, figure: str) -> Moments:
        """Return the moments of one figure's differences between two methods."""
        return self._tally(first).pairs[first.method, second.method][figure]

    def _own(self, topology: Topology, loads: Distribution) -> Tally:
        """Return the tally of a group that this thread adds to."""
        tallies = self._tallies[topology, loads]
        thread = threading.get_ident()
        if thread not in tallies:
            tallies[thread] = Tally()
        return tallies[thread]

    def _tally(self, cell: Cell) -> Tally:
        group = cell.topology, cell.loads
        self.settle(group)
        return next(iter(self._tallies[group].values()))

    def _figures(self, cell: Cell) -> dict[str, tuple[Moments, Histogram]]:
        return self._tally(cell).figures[cell.method]


@dataclass(frozen=True)
class Outputs:
    """Where the figures of trials go.

    Attributes
    ----------
    tallies : Tallies, optional
        They are added to these, in the process that runs the trials if possible.
    columns : bool
        Whether they are returned, a column a figure.
    """

    tallies: Tallies | None = None
    columns: bool = True


ALL_COLUMNS = Outputs()


def collector(study: Study, layout: Layout, *, rows: bool) -> Rows | Tallies:
    """Return an empty table, once it is known to fit in memory, or empty tallies."""
    if not rows:
        return Tallies(study)
    row = sum(dtype.itemsize for figures in layout.values() for dtype in figures.values())
    table = study.trials * row
    require_memory(
        2 * table,  # in chunks, then joined
        f"the table of {study.trials:,} trials",
        "rows=False in Python, --no-rows on the command line, adds up the trials without a table",
    )
    return Rows(study)
