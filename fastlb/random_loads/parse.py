"""Distributions spelled as strings: ``uniform:1000``, ``normal:mean=1000,deviation=100``."""

from __future__ import annotations

from ..arguments import did_you_mean
from .distributions import Distribution, Uniform
from .one_hot import OneHot
from .resampled import Resampled
from .tabulated import Exponential, LogNormal, Normal, Poisson, TwoValued, Zipf


def by_name() -> dict[str, type[Distribution]]:
    """Return the classes of the distributions that have a spelling, by name."""
    kinds = (Uniform, Exponential, Poisson, Normal, TwoValued, OneHot, LogNormal, Zipf, Resampled)
    return {kind.name: kind for kind in kinds}


def parse_distribution(text: str) -> Distribution:
    """Read a distribution from its spelling, ``uniform:1000`` or ``uniform:mean=1000``.

    Raises
    ------
    TypeError
        If it is not text, or a parameter is of the wrong type.
    ValueError
        If the name is unknown, a parameter is missing, unknown, unreadable or out of range.
    OSError
        If it names a file that cannot be read.

    Examples
    --------
    >>> parse_distribution("uniform:1000")
    Uniform(mean=1000)
    """
    if not isinstance(text, str):
        raise TypeError(f"loads must be a distribution or a spelling of one, got {text!r}")
    name, _, values = text.strip().partition(":")
    kinds = by_name()
    kind = kinds.get(name.strip().lower())
    if kind is None:
        raise ValueError(
            f"loads must be one of {', '.join(kinds)}, got {text!r}{did_you_mean(name, kinds)}"
        )
    try:
        return kind.read(values)
    except (ValueError, TypeError) as error:
        if "got" in str(error):  # the message names the value already
            raise
        raise type(error)(f"{error}, got {text!r}") from None
