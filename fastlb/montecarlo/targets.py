"""Target errors of a study: by figure, the standard error at which it may stop."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """The standard error of a figure's mean at which a study may stop.

    Attributes
    ----------
    figure : str
    error : float
        In the figure's unit, or in per cent of the mean if ``relative``.
    relative : bool
    """

    figure: str
    error: float
    relative: bool = False

    @property
    def spec(self) -> float | str:
        """The spelling of the error in a study: a number, or text such as ``1%``."""
        return f"{self.error!r}%".replace(".0%", "%") if self.relative else self.error

    def reached(self, mean: float, standard_error: float) -> bool:
        """Return whether the standard error is at most the target; False for NaN."""
        return standard_error <= self.error * (abs(mean) / 100 if self.relative else 1.0)


def read_targets(targets: Any) -> tuple[Target, ...]:
    """Return the targets of a mapping ``{figure: error}``, or targets as they are.

    An error is a number or text such as ``"1%"``.

    Raises
    ------
    ValueError, TypeError
        If ``targets`` is neither, or an error is not positive and finite.
    """
    if targets is None:
        return ()
    if isinstance(targets, Mapping):
        return tuple(_read_target(figure, error) for figure, error in targets.items())
    listed = tuple(targets) if isinstance(targets, Iterable) else (targets,)
    if not all(isinstance(target, Target) for target in listed):
        raise TypeError(f"target_error must be errors by figure, got {targets!r}")
    return listed


def _read_target(figure: Any, value: Any) -> Target:
    if not isinstance(figure, str):
        raise TypeError(f"target_error must be errors by figure, got {figure!r}")
    message = f"target_error of {figure} must be a number or like '1%', got {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(message)
    relative = isinstance(value, str)
    text = str(value).strip().removesuffix("%") if relative else repr(value)
    if relative and not re.fullmatch(r"[\d.]+(e[+-]?\d+)?\s*%", str(value).strip(), re.ASCII):
        raise ValueError(message)
    try:
        error = float(text)
    except ValueError:
        raise ValueError(message) from None
    if not 0 < error < math.inf:
        raise ValueError(f"target_error of {figure} must be positive and finite, got {value!r}")
    return Target(figure, error, relative)
