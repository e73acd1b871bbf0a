"""What is measured of a balancing (Wu-Shu section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def difference(loads: Sequence[Any]) -> Any:
    return max(loads) - min(loads)


def imbalance(loads: Sequence[Any]) -> float:
    total = sum(map(Fraction, loads))
    return float(max(loads) * len(loads) / total - 1) if total else 0.0


def cost(moved: Any, loads: Sequence[Any]) -> float:
    total = sum(map(Fraction, loads))
    return float(moved / total) if total else 0.0


def locality(local: Any, loads: Sequence[Any]) -> float:
    total = sum(map(Fraction, loads))
    return float(local / total) if total else 1.0
