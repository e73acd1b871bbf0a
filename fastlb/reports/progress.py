"""A progress bar on standard error, for people only: nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..accelerate import extra

# Trials come in parts, up to a minute apart: the speed is that of the last minutes.
SPEED_OF_SECONDS = 300.0


@contextmanager
def rows_bar(title: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while rows of results are made; yields what is told ``(done, total)``."""
    console = extra("rich.console").Console(stderr=True)
    with extra("rich.progress").Progress(
        *columns(),
        console=console,
        transient=True,
        disable=not is_terminal(console),
        speed_estimate_period=SPEED_OF_SECONDS,
    ) as bar:
        task = bar.add_task(title, total=total, counted="", speed="")
        yield lambda done, total: tell(bar, task, done, total)


def is_terminal(console: Any) -> bool:
    """Tell whether a console writes to a person: ``FORCE_COLOR`` makes no terminal of a pipe."""
    return bool(console.is_terminal and console.file.isatty())


def columns() -> list[Any]:
    """Return what a bar shows: the work, how far it is, trials a second, time spent and left."""
    bars = extra("rich.progress")
    return [
        bars.TextColumn("{task.description}"),
        bars.BarColumn(bar_width=20),
        bars.TextColumn("{task.fields[counted]}"),
        bars.TextColumn("{task.fields[speed]}"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    ]


def tell(bar: Any, task: Any, done: int, total: int) -> None:
    """Tell a bar with :func:`columns` how far its task is."""
    bar.update(task, completed=done, total=total, counted=f"{done:,}/{total:,}")
    speed = next(shown.speed for shown in bar.tasks if shown.id == task)
    bar.update(task, speed=f"{speed:,.{0 if speed >= 10 else 1}f} trials/s" if speed else "")
