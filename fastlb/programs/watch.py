"""How long programs may be solved, and who is told how far that is."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .outcome import Outcome


# Seconds from which on there is no limit: 30 years, fewer than any system can wait for.
_LONGEST = 1e9


class Watch:
    """The time that is left for solving, looked at between stretches of bounded work.

    Parameters
    ----------
    seconds : float, optional
        From now on; None for no limit.
    tell : callable, optional
        Called with the outcome so far, of the program at hand.
    """

    def __init__(
        self, seconds: float | None = None, tell: Callable[[Outcome], None] | None = None
    ) -> None:
        if seconds is None or seconds > _LONGEST:
            seconds = inf
        self._end = monotonic() + seconds
        self.tell = tell

    def through(self, whole: Callable[[Outcome], Outcome] | None) -> Watch:
        """Return a watch over the same time for a part, whose outcomes are told made whole.

        None tells nothing.
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
        """Seconds left, 0 or more; inf without a limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def over(self) -> bool:
        return self.limited and monotonic() >= self._end
