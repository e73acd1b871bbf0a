"""Summaries of a figure over the trials of a study: of one method, and between two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import Displayed
from .tally import Column, Histogram, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Statistic(Displayed):
    """One figure over the trials of one combination.

    Attributes
    ----------
    trials : int
    mean, minimum, maximum : float
        The mean is exact, rounded once.
    standard_error : float
        Of the mean; NaN with a single trial.
    quantiles : dict of float
        By level, with linear interpolation.
    quantile_error : float
        The most that a quantile may be wrong by: 0 where rows were kept, or where there are no
        more than 2**13 distinct values.
    """

    trials: int
    mean: float
    standard_error: float
    minimum: float
    maximum: float
    quantiles: dict[float, float]
    quantile_error: float = 0.0

    @classmethod
    def of(cls, values: NDArray[Any], levels: Sequence[float] = QUANTILES) -> Statistic:
        """Summarise one value a trial."""
        column = Column.of(values)
        moments = Moments()
        moments.add(column)
        return cls._with(moments, levels, np.quantile(column.values, levels).tolist())

    @classmethod
    def counted(
        cls, moments: Moments, histogram: Histogram, levels: Sequence[float] = QUANTILES
    ) -> Statistic:
        """Summarise values that were added up and counted."""
        quantiles, error = histogram.quantiles(levels, moments.minimum, moments.maximum)
        return cls._with(moments, levels, quantiles, error)

    @classmethod
    def _with(
        cls, moments: Moments, levels: Sequence[float], values: list[float], error: float = 0.0
    ) -> Statistic:
        return cls(
            trials=moments.trials,
            mean=moments.mean,
            standard_error=moments.standard_error,
            minimum=moments.minimum,
            maximum=moments.maximum,
            quantiles=dict(zip(levels, values, strict=True)),
            quantile_error=error,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statistic JSON-ready; what a single trial does not tell is None."""
        quantiles = {str(level): value for level, value in self.quantiles.items()}
        return {**_told(self, "standard_error"), "quantiles": quantiles}


@dataclass(frozen=True)
class Difference(Displayed):
    """One figure of a first method minus that of a second, on the same loads, trial by trial.

    Attributes
    ----------
    trials : int
    mean : float
        Of the differences.
    standard_error : float
        Of their mean; NaN with a single trial.
    low, high : float
        Ends of the mean's confidence interval by Student's t; NaN with a single trial.
    confidence : float
        Of this one interval: among many of 0.95, one in twenty misses.
    less, equal, greater : float
        Shares of the trials in which the first method's figure is so.
    """

    trials: int
    mean: float
    standard_error: float
    low: float
    high: float
    confidence: float
    less: float
    equal: float
    greater: float

    @classmethod
    def of(cls, moments: Moments, confidence: float = 0.95) -> Difference:
        """Summarise differences that were added up."""
        from scipy.special import stdtrit

        n, mean, error = moments.trials, moments.mean, moments.standard_error
        reach = math.nan if n < 2 else float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        return cls(
            trials=n,
            mean=mean,
            standard_error=error,
            low=mean - reach,
            high=mean + reach,
            confidence=confidence,
            less=moments.negative / n,
            equal=moments.zero / n,
            greater=(n - moments.negative - moments.zero) / n,
        )

    def __neg__(self) -> Difference:
        """Return the second method's figure minus that of the first."""
        return replace(
            self,
            mean=-self.mean,
            low=-self.high,
            high=-self.low,
            less=self.greater,
            greater=self.less,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the difference JSON-ready; what a single trial does not tell is None."""
        return _told(self, "standard_error", "low", "high")


def _told(summary: Statistic | Difference, *of_several: str) -> dict[str, Any]:
    """Return the attributes by name; those that only several trials tell are else None."""
    values = {field.name: getattr(summary, field.name) for field in fields(summary)}
    return values if summary.trials > 1 else {**values, **dict.fromkeys(of_several)}
