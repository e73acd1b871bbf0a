"""How a program is solved: the method, its limits, and the callback that reports progress."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from .outcome import Outcome


# Longer limits (30 years) count as none: systems cannot wait for longer.
_LONGEST = 1e9


class Monitor:
    """A time limit and a progress callback, checked between stretches of bounded work.

    Parameters
    ----------
    seconds : float, optional
        The limit, counted from now; None for no limit.
    report : callable, optional
        Called with the current outcome of the program being solved.
    """

    def __init__(
        self, seconds: float | None = None, report: Callable[[Outcome], None] | None = None
    ) -> None:
        if seconds is None or seconds > _LONGEST:
            seconds = inf
        self._end = monotonic() + seconds
        self.report = report

    def with_report(self, report: Callable[[Outcome], None] | None) -> Monitor:
        """Return a monitor with the same time limit and another callback."""
        monitor = Monitor(report=report)
        monitor._end = self._end
        return monitor

    @property
    def is_limited(self) -> bool:
        return self._end < inf

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit, 0 or more; inf without a limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        return self.is_limited and monotonic() >= self._end


class Options(NamedTuple):
    """What a solver is asked to do.

    Attributes
    ----------
    method : str
        As in :func:`solve_binary`.
    node_limit : int
        Most nodes of the search, and most nodes of HiGHS after it.
    monitor : Monitor
    """

    method: str
    node_limit: int
    monitor: Monitor

    @property
    def method_name(self) -> str:
        """The method named in an outcome of no other solver: ``"search"`` for ``"auto"``."""
        return "search" if self.method == "auto" else self.method

    def reporting(self, convert: Callable[[Outcome], Outcome]) -> Options:
        """Return the options for a part of a program.

        ``convert`` turns an outcome of the part into one of the program, which is reported.
        """
        report = self.monitor.report
        if report is None:
            return self
        monitor = self.monitor.with_report(lambda outcome: report(convert(outcome)))
        return Options(self.method, self.node_limit, monitor)
