"""The time limit of a solve, and the callback that reports its progress."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .outcome import Outcome


# Longer limits (30 years) count as none: systems cannot wait for longer.
_LONGEST = 1e9


class Watch:
    """A time limit and a progress callback, checked between stretches of bounded work.

    Parameters
    ----------
    seconds : float, optional
        The limit, counted from now; None for no limit.
    tell : callable, optional
        Called with the current outcome of the program being solved.
    """

    def __init__(
        self, seconds: float | None = None, tell: Callable[[Outcome], None] | None = None
    ) -> None:
        if seconds is None or seconds > _LONGEST:
            seconds = inf
        self._end = monotonic() + seconds
        self.tell = tell

    def through(self, whole: Callable[[Outcome], Outcome] | None) -> Watch:
        """Return a watch with the same time limit for a part of the program.

        ``whole`` turns an outcome of the part into one of the program, which is then reported;
        with None the part reports nothing.
        """
        tell = self.tell
        if tell is None:
            return self
        watch = Watch()
        watch._end = self._end
        if whole is not None:
            watch.tell = lambda outcome: tell(whole(outcome))
        return watch

    @property
    def limited(self) -> bool:
        return self._end < inf

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit, 0 or more; inf without a limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.limited and monotonic() >= self._end
