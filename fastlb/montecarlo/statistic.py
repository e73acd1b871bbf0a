"""Summaries of a figure over the trials of a study: of one method, and between two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import Displayed
from .histogram import Histogram
from .moments import Column, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Statistic(Displayed):
    """Summary of one figure over the trials of one combination.

    Attributes
    ----------
    trials : int
    mean, minimum, maximum : float
        The mean is exact and rounded once.
    standard_error : float
        Standard error of the mean; NaN with a single trial.
    quantiles : dict of float
        By level, with linear interpolation.
    quantile_error : float
        Bound on the error of a quantile: 0 if rows were kept, or if there are at most 2**13
        distinct values.
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
        """Summarise the values of a figure, one per trial."""
        column = Column.of(values)
        moments = Moments()
        moments.add(column)
        return cls._of_moments(moments, levels, np.quantile(column.values, levels).tolist())

    @classmethod
    def counted(
        cls, moments: Moments, histogram: Histogram, levels: Sequence[float] = QUANTILES
    ) -> Statistic:
        """Summarise values that were added up and counted."""
        quantiles, error = histogram.quantiles(levels, moments.minimum, moments.maximum)
        return cls._of_moments(moments, levels, quantiles, error)

    @classmethod
    def _of_moments(
        cls, moments: Moments, levels: Sequence[float], quantiles: list[float], error: float = 0.0
    ) -> Statistic:
        return cls(
            trials=moments.trials,
            mean=moments.mean,
            standard_error=moments.standard_error,
            minimum=moments.minimum,
            maximum=moments.maximum,
            quantiles=dict(zip(levels, quantiles, strict=True)),
            quantile_error=error,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statistic JSON-ready; with a single trial, the standard error is None."""
        quantiles = {str(level): value for level, value in self.quantiles.items()}
        return {**_attributes(self, "standard_error"), "quantiles": quantiles}


@dataclass(frozen=True)
class Difference(Displayed):
    """Summary of the differences of a figure between two methods: the first's minus the second's.

    Both methods balance the same loads, and each trial has one difference.

    Attributes
    ----------
    trials : int
    mean : float
        Mean of the differences.
    standard_error : float
        Standard error of the mean; NaN with a single trial.
    low, high : float
        Ends of the mean's confidence interval by Student's t; NaN with a single trial.
    confidence : float
        Confidence of this one interval: among many of 0.95, one in twenty misses the mean.
    less, equal, greater : float
        Share of the trials in which the first method's figure is less than the second's, equal to
        it or greater.
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
        half_width = math.nan if n < 2 else float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        return cls(
            trials=n,
            mean=mean,
            standard_error=error,
            low=mean - half_width,
            high=mean + half_width,
            confidence=confidence,
            less=moments.negative / n,
            equal=moments.zero / n,
            greater=(n - moments.negative - moments.zero) / n,
        )

    def __neg__(self) -> Difference:
        """Return the summary of the opposite differences: the second method's minus the first's."""
        return replace(
            self,
            mean=-self.mean,
            low=-self.high,
            high=-self.low,
            less=self.greater,
            greater=self.less,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the difference JSON-ready; with a single trial, error and interval are None."""
        return _attributes(self, "standard_error", "low", "high")


def _attributes(summary: Statistic | Difference, *nan_of_one: str) -> dict[str, Any]:
    """Return the attributes by name; those that are NaN with a single trial become None."""
    values = {field.name: getattr(summary, field.name) for field in fields(summary)}
    return values if summary.trials > 1 else {**values, **dict.fromkeys(nan_of_one)}
