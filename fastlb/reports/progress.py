"""A progress bar on standard error, on terminals only."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from ..extras import extra

# The speed is that of the last seconds, so many: trials end in parts, up to a minute apart.
SPEED_OF_SECONDS = 300.0


@contextmanager
def rows_bar(title: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while rows of results are computed; yield a function of ``(done, total)``."""
    console = extra("rich.console").Console(stderr=True)
    with extra("rich.progress").Progress(
        *bar_columns(),
        console=console,
        transient=True,
        disable=not is_terminal(console),
    ) as bar:
        task = bar.add_task(title, total=total, **task_fields())
        yield lambda done, total: update_bar(bar, task, done, total)


def is_terminal(console: Any) -> bool:
    """Return whether a console is a terminal; ``FORCE_COLOR`` makes no terminal of a pipe."""
    return bool(console.is_terminal and console.file.isatty())


def bar_columns() -> list[Any]:
    """Return the columns of a bar: task, progress, trials a second, elapsed and remaining time."""
    bars = extra("rich.progress")
    return [
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.TextColumn("{task.fields[counted]}"),
        bars.TextColumn("{task.fields[speed]}"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.fields[remaining]}", style="progress.remaining"),
    ]


def task_fields() -> dict[str, Any]:
    """Return the initial fields of a task of a bar with :func:`bar_columns`."""
    return {"counted": "", "speed": "", "remaining": "", "pace": Pace()}


def update_bar(bar: Any, task_id: Any, done: int, total: int) -> None:
    """Update a task of a bar with :func:`bar_columns`."""
    pace = next(task.fields["pace"] for task in bar.tasks if task.id == task_id)
    speed = pace.speed(done)
    bar.update(
        task_id,
        completed=done,
        total=total,
        counted=f"{done:,}/{total:,}",
        speed=f"{speed:,.{0 if speed >= 10 else 1}f} trials/s" if speed else "",
        remaining=str(timedelta(seconds=round((total - done) / speed))) if speed else "",
    )


class Pace:
    """The trials run a second, over the last minutes.

    Trials that were read from a store do not count, nor does the time that reading them takes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque()

    def speed(self, done: int) -> float | None:
        """Record that ``done`` trials are done; return the speed, or None before any was run."""
        now, samples = self._clock(), self._samples
        if len(samples) == 1 and samples[0][1] == done:
            samples.clear()  # no trial was run yet: these were read
        if not samples or done != samples[-1][1]:
            samples.append((now, done))
        while len(samples) > 2 and now - samples[1][0] > SPEED_OF_SECONDS:
            samples.popleft()
        (begin, before), (end, after) = samples[0], samples[-1]
        return (after - before) / (end - begin) if end > begin else None
