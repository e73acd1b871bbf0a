"""A progress bar on standard error, for people only: nothing in a pipe."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from ..extras import extra

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
    ) as bar:
        task = bar.add_task(title, total=total, **fields())
        yield lambda done, total: tell(bar, task, done, total)


def is_terminal(console: Any) -> bool:
    """Tell whether a console writes to a person: ``FORCE_COLOR`` makes no terminal of a pipe."""
    return bool(console.is_terminal and console.file.isatty())


def columns() -> list[Any]:
    """Return what a bar shows: the work, how far it is, trials a second, time spent and left."""
    bars = extra("rich.progress")
    return [
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.TextColumn("{task.fields[counted]}"),
        bars.TextColumn("{task.fields[speed]}"),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.fields[left]}", style="progress.remaining"),
    ]


def fields() -> dict[str, Any]:
    """Return what a task of a bar with :func:`columns` begins with."""
    return {"counted": "", "speed": "", "left": "", "pace": Pace()}


def tell(bar: Any, task: Any, done: int, total: int) -> None:
    """Tell a bar with :func:`columns` how far its task is."""
    pace = next(shown.fields["pace"] for shown in bar.tasks if shown.id == task)
    speed = pace.speed(done)
    bar.update(
        task,
        completed=done,
        total=total,
        counted=f"{done:,}/{total:,}",
        speed=f"{speed:,.{0 if speed >= 10 else 1}f} trials/s" if speed else "",
        left=str(timedelta(seconds=round((total - done) / speed))) if speed else "",
    )


class Pace:
    """How many trials a second are run, over the last minutes.

    What a store had before counts for nothing, and neither does the time that reading it takes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque()

    def speed(self, done: int) -> float | None:
        """Take the trials that are done by now; return the speed, or None before any was run."""
        now, samples = self._clock(), self._samples
        if len(samples) == 1 and samples[0][1] == done:
            samples.clear()  # nothing was run yet: what is there was read
        if not samples or done != samples[-1][1]:
            samples.append((now, done))
        while len(samples) > 2 and now - samples[1][0] > SPEED_OF_SECONDS:
            samples.popleft()
        (begin, before), (end, after) = samples[0], samples[-1]
        return (after - before) / (end - begin) if end > begin else None
