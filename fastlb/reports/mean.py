"""Means with their standard errors, and the digits of both that are printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..montecarlo.statistic import Difference, Statistic

# Decimal places at most: the standard error of nearly equal real numbers is tiny.
MOST_PLACES = 9


@dataclass(frozen=True)
class Mean:
    """A mean over trials with its standard error; NaN with a single trial."""

    mean: float
    standard_error: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Return the mean of one value a trial."""
        listed = [float(value) for value in values]
        n = len(listed)
        mean = math.fsum(listed) / n
        if n == 1:
            return cls(mean, math.nan)
        variance = math.fsum((value - mean) ** 2 for value in listed) / (n - 1)
        return cls(mean, math.sqrt(variance / n))

    @property
    def has_error(self) -> bool:
        """Whether there is a standard error, which takes two trials."""
        return not math.isnan(self.standard_error)

    def scaled(self, factor: float) -> Mean:
        """Return the mean in another unit."""
        return Mean(factor * self.mean, abs(factor) * self.standard_error)

    def text(self, places: int = 2, between: str = " ") -> str:
        """Return ``mean ± standard error``, with the digits of the mean that the error leaves sure.

        The error has one digit, or two if the first is 1; equal trials have an error of 0. The
        mean of a single trial has no error, and is printed with so many decimal ``places``.

        Examples
        --------
        >>> Mean(12.3456, 0.0456).text(), Mean(12.3456, 0.0156).text(), Mean(64.0, 0.0).text()
        ('12.35 ± 0.05', '12.346 ± 0.016', '64 ± 0')
        """
        error = self.standard_error
        sign = f"{between}±" if between == "\n" else f"{between}± "
        if not self.has_error:
            return number_text(self.mean, places)
        if error == 0 or not math.isfinite(error):
            return f"{_shortest(self.mean)}{sign}{error:g}"
        size = math.floor(math.log10(error))
        digits = 2 if error < 2 * 10.0**size else 1
        decimals = max(0, digits - 1 - size)
        if decimals > MOST_PLACES:
            return f"{_shortest(self.mean)}{sign}{error:.0e}"
        return f"{self.mean:,.{decimals}f}{sign}{error:,.{decimals}f}"


def mean_of(summary: Statistic | Difference) -> Mean:
    """Return the mean of a figure, or of its differences, with the standard error."""
    return Mean(summary.mean, summary.standard_error)


def ratio(first: Mean, second: Mean, difference: Mean) -> Mean:
    """Return the ratio of two means over the same trials, the error to first order.

    The error of the paired ``difference`` gives their covariance.
    """
    a, b = first.mean, second.mean
    covariance = (
        first.standard_error**2 + second.standard_error**2 - difference.standard_error**2
    ) / 2
    value = a / b
    variance = (
        first.standard_error**2 - 2 * value * covariance + (value * second.standard_error) ** 2
    )
    return Mean(value, math.sqrt(max(variance, 0.0)) / abs(b))


def number_text(value: float, places: int) -> str:
    """Return a number with so many decimal places; a small one keeps its first digit.

    Examples
    --------
    >>> number_text(1234.5, 2), number_text(0.0004, 2), number_text(0.0, 2)
    ('1,234.50', '0.0004', '0')
    """
    if value == 0:
        return "0"
    if abs(value) < 0.5 * 10.0**-places:
        return f"{value:.1g}"
    return f"{value:,.{places}f}"


def _shortest(value: float) -> str:
    """Return an exact number: a whole one in full, others with at most six digits."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"
