"""Stopping a study once the standard errors of its figures are small enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..arguments import did_you_mean

if TYPE_CHECKING:
    from .collecting import Rows, Tallies
    from .grid import Group
    from .study import Study


def check_targets(study: Study, figures: Iterable[str]) -> None:
    """Raise ``ValueError`` if a target names a figure that none of the study's methods has."""
    known = list(dict.fromkeys(figures))
    for target in study.target_error:
        if target.figure not in known:
            raise ValueError(
                f"target_error must be among {', '.join(known)}, got {target.figure!r}"
                f"{did_you_mean(target.figure, known)}"
            )


def checkpoints(study: Study) -> Iterator[int]:
    """Yield the numbers of trials after which a study checks whether it has reached its targets.

    They are ``minimum_trials``, twice as many, four times as many and so on, and ``trials``.
    """
    number = study.minimum_trials if study.target_error else study.trials
    while number < study.trials:
        yield number
        number *= 2
    yield study.trials


def trial_ranges(study: Study, collected: Rows | Tallies) -> Iterator[tuple[list[Group], range]]:
    """Yield the groups that go on, and the range of their trials up to a checkpoint.

    All trials of a range must be in ``collected`` before the next range is requested.
    """
    groups = list(study.groups)
    start = 0
    for stop in checkpoints(study):
        yield groups, range(start, stop)
        groups = [group for group in groups if not has_reached_targets(study, group, collected)]
        if not groups:
            return
        start = stop


def has_reached_targets(study: Study, group: Group, collected: Rows | Tallies) -> bool:
    """Return whether all methods of a group have reached the targets of all figures they have."""
    measured = [
        (target, collected.moments(cell, target.figure))
        for cell in study.groups[group]
        for target in study.target_error
        if target.figure in collected.figures(cell)
    ]
    return bool(measured) and all(
        target.reached(moments.mean, moments.standard_error) for target, moments in measured
    )
