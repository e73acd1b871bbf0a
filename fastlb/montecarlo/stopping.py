"""When a study has seen enough: rounds of trials until the standard errors are small."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .collecting import Rows, Tallies
    from .study import Group, Study


@dataclass(frozen=True)
class Target:
    """The largest standard error of a figure's mean that is small enough.

    Attributes
    ----------
    figure : str
    error : float
        In the figure's unit, or in per cent of the mean where ``relative``.
    relative : bool
    """

    figure: str
    error: float
    relative: bool = False

    @property
    def spec(self) -> float | str:
        """How it is spelled in a study: a number, or text such as ``1%``."""
        return f"{self.error!r}%".replace(".0%", "%") if self.relative else self.error

    def reached(self, mean: float, standard_error: float) -> bool:
        """Return whether the standard error is at most the target; NaN is not."""
        return standard_error <= self.error * (abs(mean) / 100 if self.relative else 1.0)


def read_targets(given: Any) -> tuple[Target, ...]:
    """Return targets given as ``{figure: error}``, an error as a number or as text ``"1%"``.

    Raises
    ------
    ValueError, TypeError
        If they are no such mapping, or an error is not positive and finite.
    """
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(_read_target(figure, error) for figure, error in given.items())
    listed = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(target, Target) for target in listed):
        raise TypeError(f"target_error must be errors by figure, got {given!r}")
    return listed


def _read_target(figure: Any, given: Any) -> Target:
    if not isinstance(figure, str):
        raise TypeError(f"target_error must be errors by figure, got {figure!r}")
    wrong = f"target_error of {figure} must be a number or like '1%', got {given!r}"
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise TypeError(wrong)
    relative = isinstance(given, str)
    text = str(given).strip().removesuffix("%") if relative else repr(given)
    if relative and not re.fullmatch(r"[\d.]+(e[+-]?\d+)?\s*%", str(given).strip(), re.ASCII):
        raise ValueError(wrong)
    try:
        error = float(text)
    except ValueError:
        raise ValueError(wrong) from None
    if not 0 < error < math.inf:
        raise ValueError(f"target_error of {figure} must be positive and finite, got {given!r}")
    return Target(figure, error, relative)


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


def rounds(study: Study, kept: Rows | Tallies) -> Iterator[tuple[list[Group], range]]:
    """Yield which groups to run next, and which of their trials.

    All trials of a round must have been added to ``kept`` before the next is asked for.
    """
    going = list(study.groups)
    start = 0
    for stop in looks(study):
        yield going, range(start, stop)
        going = [group for group in going if not enough(study, group, kept)]
        if not going:
            return
        start = stop


def enough(study: Study, group: Group, kept: Rows | Tallies) -> bool:
    """Return whether all methods of a group have reached all targets of figures they have."""
    found = [
        (target, kept.moments(cell, target.figure))
        for cell in study.groups[group]
        for target in study.target_error
        if target.figure in kept.figures(cell)
    ]
    return bool(found) and all(
        target.reached(moments.mean, moments.standard_error) for target, moments in found
    )
