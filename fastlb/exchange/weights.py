"""Weights of nodes, their speeds or shares: as people give them, and as exact integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import refused_dtype
from ..rational import read_rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..quantities import MixedNumbers
    from ..topologies.topology import Topology

# Kernels divide products of two numbers below the sum of all weights, digit by digit, of which one
# must fit 62 bits beside that sum.
LARGEST_SUM = 2**61 - 1
# Bits of a common denominator beyond which no weights fit.
MOST_BITS = 4096
# Floats up to this that are whole are exact integers.
LARGEST_WHOLE_FLOAT = 2.0**53


@dataclass(frozen=True, eq=False)
class Weights:
    """A weight a node: integers without a common factor, and what one unit of them is.

    Attributes
    ----------
    integers : (N,) int64, or object where int64 does not hold their sum
        At least 0, not all 0.
    total : int
        The sum of the integers.
    unit : Fraction
        The weights are ``unit * integers``.
    """

    integers: NDArray[Any]
    total: int
    unit: Fraction

    @classmethod
    def equal(cls, count: int) -> Weights:
        """Return the weights of nodes that all have the weight 1."""
        return cls(np.ones(count, np.int64), count, Fraction(1))

    @cached_property
    def are_equal(self) -> bool:
        """Whether all nodes have the same weight."""
        return bool((self.integers == 1).all())

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """What part of a total each node is due, (N,), rounded once."""
        return np.array([weight / self.total for weight in self.integers.tolist()])

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """The weights, (N,): int64 where all are whole and their sum fits, else float64."""
        if self.unit.denominator == 1 and self.total * self.unit.numerator < 2**63:
            return self.integers.astype(np.int64) * self.unit.numerator
        return np.array([float(w * self.unit) for w in self.integers.tolist()])


def read_weights(weights: MixedNumbers, topology: Topology) -> Weights:
    """Return the weights of a topology's nodes, exactly.

    Parameters
    ----------
    weights : array_like, shape topology.shape or (topology.size,)
        Numbers of at least 0, not all 0: integers, floats (each its shortest decimal), Fractions,
        or strings such as ``"41/7"``.

    Raises
    ------
    TypeError, ValueError
        If they are no such numbers, or have another shape.
    OverflowError
        If their sum is 2**61 or more, in the largest unit of which all are multiples, or float64
        does not hold them.
    """
    array = _as_array(weights)
    if array.shape not in (topology.shape, (topology.size,)):
        shapes = dict.fromkeys([topology.shape, (topology.size,)])
        spelled = " or ".join(map(str, shapes))
        raise ValueError(
            f"weights must be one number a node, shape {spelled} on {topology!r}, "
            f"got shape {array.shape}"
        )
    exact = exact_weights(array.reshape(-1))
    if exact.total > LARGEST_SUM:
        raise OverflowError(
            "weights must have a sum below 2**61 in the largest unit of which all are multiples, "
            f"got a sum of {exact.total.bit_length()} bits: {_how_to_round(exact)}"
        )
    if not _fits_floats(exact):
        raise OverflowError("weights must fit float64: give them in another unit")
    return exact


def _fits_floats(exact: Weights) -> bool:
    try:
        return float(exact.unit) > 0 and math.isfinite(exact.unit * exact.total)
    except OverflowError:
        return False


def _how_to_round(exact: Weights) -> str:
    """Return in words how weights of too many digits are rounded so that they fit."""
    if not _fits_floats(exact):
        return "round them to fewer digits"
    digits = math.floor(math.log10(LARGEST_SUM) - math.log10(float(exact.unit * exact.total)))
    return f"round them, as np.round(weights, {digits - 1}) does"


def exact_weights(weights: MixedNumbers) -> Weights:
    """Return weights of one axis exactly, whatever their sum; errors as for ``read_weights``."""
    array = _as_array(weights)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"weights must be one number a node, shape (n,), got shape {array.shape}")
    multiples, denominator = _in_one_unit(array)
    if multiples.min() < 0:
        node = int(np.argmax(multiples < 0))
        raise ValueError(f"weights must not be negative, got {array[node]} at node {node}")
    factor = int(np.gcd.reduce(multiples))
    if factor == 0:
        raise ValueError("weights must not all be 0: no node could have a load")
    multiples = multiples // factor
    total = int(multiples.sum(dtype=object))
    integers = multiples.astype(np.int64 if total < 2**63 else object)
    return Weights(integers, total, Fraction(factor, denominator))


def _as_array(weights: MixedNumbers) -> NDArray[Any]:
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("weights must not be a masked array: give nodes that have none 0")
    try:
        # Of a list each number stays as it is: NumPy would round integers beside floats.
        array = np.asarray(weights) if hasattr(weights, "dtype") else np.array(weights, object)
    except ValueError:
        raise ValueError("weights must be one number a node, got rows of unequal length") from None
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind in "iuOUS" or (kind == "f" and width in (4, 8)):
        return array
    got = refused_dtype("weights", array.dtype)
    raise TypeError(f"weights must be integers, floats, Fractions or strings, got {got}")


def _in_one_unit(array: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return integers, and the number that they have to be divided by to be the weights."""
    kind = array.dtype.kind
    if kind == "i" or (kind == "u" and int(array.max()) < 2**63):
        return array.astype(np.int64), 1
    if kind == "f":
        if not np.isfinite(array).all():
            node = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"weights must be finite, got {array[node]} at node {node}")
        if (array == np.rint(array)).all() and np.abs(array).max() <= LARGEST_WHOLE_FLOAT:
            return array.astype(np.int64), 1
        fractions = [Fraction(str(value)) for value in array]
    else:
        values = array.astype(str).tolist() if kind == "S" else array.tolist()
        fractions = [
            read_rational(f"weights at node {node}", value) for node, value in enumerate(values)
        ]
    denominator = 1
    for fraction in fractions:
        denominator = math.lcm(denominator, fraction.denominator)
        if denominator.bit_length() > MOST_BITS:
            raise OverflowError(
                "weights must be multiples of one unit, got fractions whose common denominator has "
                f"more than {MOST_BITS} bits: round them to decimals"
            )
    multiples = np.empty(len(fractions), object)
    multiples[:] = [f.numerator * (denominator // f.denominator) for f in fractions]
    return multiples, denominator
