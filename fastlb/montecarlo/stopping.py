"""When a study has seen enough: rounds of trials until the standard errors are small."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .collecting import Rows, Tallies
    from .grid import Group
    from .study import Study


def check_targets(study: Study, figures: Iterable[str]) -> None:
    """Raise ``ValueError`` if a target's figure is none that the study's methods have."""
    known = list(dict.fromkeys(figures))
    for target in study.target_error:
        if target.figure not in known:
            close = difflib.get_close_matches(target.figure, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(
                f"target_error must be among {', '.join(known)}, got {target.figure!r}{hint}"
            )


def looks(study: Study) -> Iterator[int]:
    """Yield the numbers of trials after which a study looks whether it has seen enough.

    ``minimum_trials``, twice, four times as many and so on, and at last ``trials``.
    """
    number = study.minimum_trials if study.target_error else study.trials
    while number < study.trials:
        yield number
        number *= 2
    yield study.trials


def rounds(study: Study, collected: Rows | Tallies) -> Iterator[tuple[list[Group], range]]:
    """Yield which groups to run next, and which of their trials.

    All trials of a round must have been added to ``kept`` before the next is asked for.
    """
    going = list(study.groups)
    start = 0
    for stop in looks(study):
        yield going, range(start, stop)
        going = [group for group in going if not enough(study, group, collected)]
        if not going:
            return
        start = stop


def enough(study: Study, group: Group, collected: Rows | Tallies) -> bool:
    """Return whether all methods of a group have reached all targets of figures they have."""
    reached = [
        (target, collected.moments(cell, target.figure))
        for cell in study.groups[group]
        for target in study.target_error
        if target.figure in collected.figures(cell)
    ]
    return bool(reached) and all(
        target.reached(moments.mean, moments.standard_error) for target, moments in reached
    )
