"""Running means of a study: a line a combination, below the progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from ..montecarlo.moments import Column, Moments
from ..reports.overview import MAIN_FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions, RenderResult

    from ..montecarlo.grid import Cell
    from ..montecarlo.study import Study

# Lines of the terminal kept free for the progress bar and earlier output.
MARGIN = 5


class Summary:
    """A rich renderable of running means of one figure: the study's target, else a main figure.

    If there are more combinations than lines, it shows those that changed last.
    """

    def __init__(self, study: Study) -> None:
        self._order = {cell: i for i, cell in enumerate(study.cells)}
        self._figures = [target.figure for target in study.target_error] + list(MAIN_FIGURES)
        self._moments: dict[Cell, Moments] = {}
        self._lines: dict[Cell, tuple[str, ...]] = {}

    def watch(self, cell: Cell, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add the figures of further trials of a combination."""
        figure = next((name for name in self._figures if name in columns), next(iter(columns)))
        moments = self._moments.setdefault(cell, Moments())
        moments.add(Column.of(columns[figure]))
        error = f"± {moments.standard_error:.2g}" if moments.trials > 1 else ""
        line = (*cell.key, figure, f"{moments.trials:,}", f"{moments.mean:,.5g}", error)
        # The thread of the bar may be drawing, so the dict is replaced, not changed.
        lines = {key: shown for key, shown in self._lines.items() if key != cell}
        self._lines = {**lines, cell: line}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines, max_lines = self._lines, max(1, console.height - MARGIN)
        shown = sorted(list(lines)[-max_lines:], key=self._order.__getitem__)
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
