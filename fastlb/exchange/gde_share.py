"""The share of a difference that GDE sends: the argument, its default, and exact products."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..rational import floor_share, multiply_shift, read_rational
from ..topologies.grids import Grid
from ..topologies.hypercube import Hypercube
from ..topologies.parse import read_topology
from ..topologies.topology import Topology
from .casting import INT64_MAX

# Twice the bits of a load.
WIDEST_SHIFT = 126


def optimal_lambda(topology: Topology | str) -> float:
    """Return the exchange share with the fastest convergence of real-valued GDE.

    ``1 / (1 + sin(pi / k))`` for a chain of k along an axis, ``1 / (1 + sin(2 pi / k))`` for a
    ring; the largest over the axes (Xu and Lau, as cited in Wu-Shu section 6). A ring of 2
    counts as a chain, length 1 is ignored. 1/2 on a hypercube. Integer GDE sweeps less with
    a larger share: 9.0 sweeps at 0.75 against 11.3 at 0.723 on the 8x8 mesh, mean load 1000.

    Raises
    ------
    ValueError
        On a topology without axes, for which no optimum is known.

    Examples
    --------
    >>> import fastlb as lb
    >>> round(lb.optimal_lambda(lb.Mesh(8, 8)), 4)
    0.7232
    """
    topology = read_topology(topology)
    if isinstance(topology, Hypercube):
        return 0.5
    if not isinstance(topology, Grid):
        raise ValueError(f"lam has no known optimum on {topology!r}; gde takes 1/2 there")
    lines = [
        (k, 2 if wrap and k > 2 else 1)
        for k, wrap in zip(topology.shape, topology.wrap, strict=True)
        if k > 1
    ]
    return max((1 / (1 + math.sin(turn * math.pi / k)) for k, turn in lines), default=0.5)


def read_share(lam: Any, topology: Topology) -> Fraction:
    """Return the share that ``lam`` means; None means the default on this topology."""
    return default_share(topology) if lam is None else parse_share(lam)


@lru_cache(maxsize=16)
def default_share(topology: Topology) -> Fraction:
    """Return the optimal share, rounded to 3 decimals, or 1/2 where none is known."""
    if not isinstance(topology, Hypercube | Grid):
        return Fraction(1, 2)
    return Fraction(f"{optimal_lambda(topology):.3f}")


def parse_share(lam: Any) -> Fraction:
    """Return the rational meant by ``lam``, or raise ``TypeError`` or ``ValueError``."""
    share = read_rational("lam", lam)
    if not 0 < share < 1:
        raise ValueError(f"lam must lie between 0 and 1, both excluded, got {lam!r}")
    return share


def integer_factor(
    share: Fraction, total: int, largest: int
) -> tuple[tuple[np.generic, ...], type[np.generic]]:
    """Return how kernels multiply differences by the share, exactly, and in what dtype.

    Products are exact for totals up to ``total`` and loads up to ``largest``; for the numbers of a
    factor see ``kernels/shared/shares.py``.
    """
    # A share with the same floors, whose numerator and denominator are smaller.
    small_share = floor_share(share, largest)
    narrow = multiply_shift(small_share, largest, 32)
    if narrow is not None and total < 2**31:
        return (np.uint32(narrow[0]), np.uint32(narrow[1])), np.int32
    wide = multiply_shift(small_share, largest, 64)
    if wide is not None:
        return (np.uint64(wide[0]), np.uint64(wide[1])), np.int64
    return widest_factor(share), np.int64


def widest_factor(share: Fraction) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return how kernels multiply any differences below 2**63 by the share, exactly."""
    small_share = floor_share(share, INT64_MAX)
    m = -(-(small_share.numerator << WIDEST_SHIFT) // small_share.denominator)
    return np.uint64(m >> 64), np.uint64(m % 2**64), np.uint64(WIDEST_SHIFT)
