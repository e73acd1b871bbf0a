"""A progress bar on standard error, for people only: nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .accelerate import extra


@contextmanager
def rows_bar(title: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while rows of results are made; yields what is told ``(done, total)``."""
    console = extra("rich.console").Console(stderr=True)
    bars = extra("rich.progress")
    columns = [
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("trials"),
        bars.TimeRemainingColumn(),
    ]
    with bars.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, total: bar.update(task, completed=done, total=total)
