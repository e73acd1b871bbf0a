"""Consoles and the progress bar: standard output for results, standard error for progress."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.segment import Segment

from ..reports.progress import bar_columns, is_terminal, task_fields, update_bar
from .controls import without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import ConsoleOptions, RenderableType

    from ..montecarlo.gathering import Watch
    from ..montecarlo.study import Study

# Characters a line; rich uses the same in a pipe.
DEFAULT_WIDTH = 80


def output() -> Console:
    """Return the console for results; paths and numbers are not coloured by guesswork."""
    return _Output(highlight=False, soft_wrap=False, width=_width())


class _Output(Console):
    """A console that shows texts of files without their control characters."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(without_controls(segment.text), segment.style)


def _width() -> int | None:
    """Return the default width if COLUMNS is 0; None lets rich decide."""
    columns = os.environ.get("COLUMNS", "")
    return DEFAULT_WIDTH if columns.isdigit() and int(columns) == 0 else None


class _Bar(Progress):
    """A progress bar with a renderable below it."""

    below: RenderableType | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.below is not None:
            yield self.below


class Work:
    """The current step of a command, shown on a terminal only."""

    def __init__(self, progress: _Bar) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def step(self, text: str) -> None:
        """Begin a step of unknown length."""
        self._progress.below = None
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(text, total=None, **task_fields())

    def say(self, text: str) -> None:
        """Replace the text of the step."""
        if self._task is not None:
            self._progress.update(self._task, description=text)

    def count(self, done: int, total: int) -> None:
        """Show how much of the step is done."""
        if self._task is not None:
            update_bar(self._progress, self._task, done, total)

    def summary(self, study: Study) -> Watch | None:
        """Show a study's means below the bar; return the function to call with new figures."""
        if self._progress.disable:
            return None
        from .live import Summary

        means = Summary(study)
        self._progress.below = means
        return means.watch


@contextmanager
def working() -> Iterator[Work]:
    """Show a progress bar on standard error inside the context, if that is a terminal."""
    console = Console(stderr=True)
    progress = _Bar(
        *bar_columns(),
        console=console,
        transient=True,
        disable=not is_terminal(console),
    )
    with progress:
        yield Work(progress)
