"""What a run collects of its trials: every row, or running statistics in bounded memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..memory import require_memory
from .moments import Column, Moments
from .statistic import Statistic
from .tally import Columns, Dropped, Tally

if TYPE_CHECKING:
    from ..random_loads.distributions import Distribution
    from ..topologies.topology import Topology
    from .chunks import Chunk
    from .grid import Cell, Group
    from .histogram import Histogram
    from .parts import Layout
    from .study import Study


class Rows:
    """Every figure of every trial."""

    def __init__(self, study: Study) -> None:
        self._parts: dict[Cell, list[Columns]] = {cell: [] for cell in study.cells}

    def add(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add the next trials of combinations; ``columns`` has the figures of each."""
        for cell, figures in zip(cells, columns, strict=True):
            self._parts[cell].append(figures)

    def columns(self, cell: Cell) -> Columns:
        """Return all figures of a combination, one value per trial."""
        parts = self._parts[cell]
        if len(parts) > 1:
            joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            self._parts[cell] = parts = [joined]
        return parts[0]

    def trials(self, cell: Cell) -> int:
        """Return how many trials of a combination were added."""
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
        """Return the summary of one figure, with quantiles at these levels."""
        return Statistic.of(self.columns(cell)[figure], levels)

    def differences(self, first: Cell, second: Cell, figure: str) -> Moments:
        """Return the moments of the differences of one figure between two methods."""
        moments = Moments()
        a, b = (self.columns(cell)[figure] for cell in (first, second))
        moments.add(Column.of(a) - Column.of(b))
        return moments


class Tallies:
    """Running statistics of every figure, and of its differences between methods.

    Trials may be added from any thread. Each thread has tallies of its own, which are merged after
    all threads have finished: the histograms of shared ones, megabytes, would move from the cache
    of one processor to that of another.
    """

    def __init__(self, study: Study) -> None:
        self._groups = study.groups
        # By group and thread.
        self._tallies: dict[Group, dict[int, Tally]] = {group: {} for group in study.groups}

    def covers(self, chunk: Chunk) -> bool:
        """Return whether a chunk has all methods of its group, which must be added together."""
        return len(chunk.methods) == len(self._groups[chunk.group])

    def add(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add trials of combinations that share their loads; ``columns`` has each one's figures."""
        tally = self._tally_of_thread(cells[0].topology, cells[0].loads)
        tally.add([cell.method for cell in cells], columns)

    def add_later(self, cells: Sequence[Cell], columns: Sequence[Columns]) -> None:
        """Add trials together with later ones; the caller must not change the columns."""
        tally = self._tally_of_thread(cells[0].topology, cells[0].loads)
        tally.add_later([cell.method for cell in cells], columns)

    def merge(self, group: Group, tally: Tally) -> None:
        """Add trials of a group that another process has added up."""
        self._tally_of_thread(*group).merge(tally)

    def merge_threads(self, group: Group) -> None:
        """Merge the tallies of a group's threads, which must have finished."""
        tallies = self._tallies[group]
        while len(tallies) > 1:
            _, further = tallies.popitem()
            next(iter(tallies.values())).merge(further)

    def dropped(self, group: Group) -> Dropped:
        """Return how many bits the histograms of a group have dropped so far."""
        self.merge_threads(group)
        return next((tally.dropped() for tally in self._tallies[group].values()), {})

    def trials(self, cell: Cell) -> int:
        """Return how many trials of a combination were added."""
        moments, _ = next(iter(self._figures(cell).values()))
        return moments.trials

    def figures(self, cell: Cell) -> list[str]:
        """Return the names of a combination's figures."""
        return list(self._figures(cell))

    def moments(self, cell: Cell, figure: str) -> Moments:
        """Return the moments of one figure."""
        return self._figures(cell)[figure][0]

    def statistic(self, cell: Cell, figure: str, levels: Sequence[float]) -> Statistic:
        """Return the summary of one figure, with quantiles at these levels."""
        return Statistic.counted(*self._figures(cell)[figure], levels)

    def differences(self, first: Cell, second: Cell, figure: str) -> Moments:
        """Return the moments of the differences of one figure between two methods."""
        return self._tally(first).pairs[first.method, second.method][figure]

    def _tally_of_thread(self, topology: Topology, loads: Distribution) -> Tally:
        """Return the tally of a group that the current thread adds to."""
        tallies = self._tallies[topology, loads]
        thread = threading.get_ident()
        if thread not in tallies:
            tallies[thread] = Tally()
        return tallies[thread]

    def _tally(self, cell: Cell) -> Tally:
        """Return the merged tally of a combination's group."""
        group = cell.topology, cell.loads
        self.merge_threads(group)
        return next(iter(self._tallies[group].values()))

    def _figures(self, cell: Cell) -> dict[str, tuple[Moments, Histogram]]:
        return self._tally(cell).figures[cell.method]


@dataclass(frozen=True)
class Outputs:
    """What becomes of the figures of trials.

    Attributes
    ----------
    tallies : Tallies, optional
        Where they are added up, in the process that runs the trials if possible.
    columns : bool
        Whether they are returned.
    """

    tallies: Tallies | None = None
    columns: bool = True


ALL_COLUMNS = Outputs()


def collector(study: Study, layout: Layout, *, rows: bool) -> Rows | Tallies:
    """Return an empty collection of rows or, without ``rows``, of tallies.

    Raises
    ------
    MemoryError
        If the rows of all trials plainly do not fit in memory.
    """
    if not rows:
        return Tallies(study)
    row_bytes = sum(dtype.itemsize for figures in layout.values() for dtype in figures.values())
    require_memory(
        2 * study.trials * row_bytes,  # in chunks, then joined
        f"the table of {study.trials:,} trials",
        "rows=False in Python, --no-rows on the command line, adds up the trials without a table",
    )
    return Rows(study)
