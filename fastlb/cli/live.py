"""What a running study has found so far: a line a combination, below the progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from ..montecarlo.tally import Column, Moments
from ..reports.overview import OVERVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderResult

    from ..montecarlo.grid import Cell
    from ..montecarlo.study import Study

# Lines of the terminal that are left to the bar and to what stood there before.
MARGIN = 5


class Summary:
    """Running means of one figure, of the study's target or the first main one; a renderable.

    Where there are more combinations than lines, those show that changed last.
    """

    def __init__(self, study: Study) -> None:
        self._order = {cell: i for i, cell in enumerate(study.cells)}
        self._wanted = [target.figure for target in study.target_error] + list(OVERVIEW)
        self._moments: dict[Cell, Moments] = {}
        self._lines: dict[Cell, tuple[str, ...]] = {}

    def watch(self, cell: Cell, columns: Mapping[str, NDArray[Any]]) -> None:
        """Take the figures of further trials of a combination."""
        figure = next((name for name in self._wanted if name in columns), next(iter(columns)))
        moments = self._moments.setdefault(cell, Moments())
        moments.add(Column.of(columns[figure]))
        error = f"± {moments.standard_error:.2g}" if moments.trials > 1 else ""
        line = (*cell.key, figure, f"{moments.trials:,}", f"{moments.mean:,.5g}", error)
        # The bar's thread may be drawing: lines are replaced whole.
        lines = {key: shown for key, shown in self._lines.items() if key != cell}
        self._lines = {**lines, cell: line}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines, room = self._lines, max(1, console.height - MARGIN)
        shown = sorted(list(lines)[-room:], key=self._order.__getitem__)
        if not shown:
            return
        table = Table(box=None, pad_edge=False)
        for heading in ("topology", "method", "loads", "figure"):
            table.add_column(heading, no_wrap=True, overflow="ellipsis")
        for heading in ("trials", "mean", "s.e."):
            table.add_column(heading, justify="right", no_wrap=True)
        for cell in shown:
            table.add_row(*map(Text, lines[cell]))
        yield table
