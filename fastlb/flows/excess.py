"""Excess and room of nodes from their loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_array, refused_dtype
from ..exchange.weighted_quotas import first_in_order, floors_of
from ..exchange.weights import Weights, exact_weights
from ..quantities import MixedNumbers, Number, Numbers, Vector
from .scaling import exact_sum


@overload
def excess_load(
    loads: Sequence[Number], *, target: ArrayLike | None = None, weights: MixedNumbers | None = None
) -> Vector: ...
@overload
def excess_load(
    loads: Numbers, *, target: ArrayLike | None = None, weights: MixedNumbers | None = None
) -> NDArray[Any]: ...
def excess_load(
    loads: Numbers, *, target: ArrayLike | None = None, weights: MixedNumbers | None = None
) -> NDArray[Any]:
    """Return the load of each node above its target.

    Parameters
    ----------
    loads : (*batch, N)
        Loads; integers, or floats.
    target : scalar or (N,), optional
        Target load of each node. Default: the balanced load; of integers with total T the
        ``T % N`` most loaded nodes keep one unit more (ties: the lower node).
    weights : (N,), optional
        Speeds of the nodes, as :func:`quotas` takes them: the balanced load is in proportion. Of
        integers the nodes of the largest remainders get one unit more, of equal remainders the
        most loaded (ties: the lower node). A node of weight 0 gives all it has.

    Returns
    -------
    (*batch, N) int64 or float64
        Positive: overloaded by that much; negative: room for that much.

    Raises
    ------
    TypeError, ValueError
        If loads, target or weights are no finite numbers or their shapes do not fit, or there
        are both target and weights.
    OverflowError
        If an integer does not fit int64, or a total of floats float64.

    Examples
    --------
    >>> excess_load([7, 1, 3]).tolist()
    [3, -2, -1]
    >>> excess_load([4, 4, 3]).tolist()
    [0, 0, 0]
    >>> excess_load([4, 4, 4], weights=[1, 0.5, 0]).tolist()
    [-4, 0, 4]
    """
    numbers = _numbers("loads", loads)
    if numbers.ndim == 0 or numbers.shape[-1] == 0:
        raise ValueError(f"loads must be one number for each node, got shape {numbers.shape}")
    if target is not None and weights is not None:
        raise ValueError("target must be left out with weights, which say what nodes are due")
    if target is not None:
        targets = _numbers("target", target)
        if targets.ndim > numbers.ndim or (targets.ndim and targets.shape[-1] != numbers.shape[-1]):
            raise ValueError(
                f"target must be a number or one for each of {numbers.shape[-1]} nodes, "
                f"got shape {targets.shape}"
            )
        return _difference(numbers, np.broadcast_to(targets, numbers.shape))
    n = numbers.shape[-1]
    exact = Weights.equal(n) if weights is None else exact_weights(weights)
    if len(exact.integers) != n:
        raise ValueError(
            f"weights must be one number for each of {n} nodes, got {len(exact.integers)}"
        )
    if numbers.dtype.kind == "f":
        with np.errstate(over="ignore"):
            mean = numbers.mean(axis=-1, keepdims=True)
        if not np.isfinite(mean).all():
            raise OverflowError("loads must have totals that fit float64")
        relative = np.array([weight * n / exact.total for weight in exact.integers.tolist()])
        return np.asarray(numbers - mean * relative)
    rows = numbers.reshape(-1, n)
    sums = [exact_sum(row) for row in rows]
    narrow = all(-(2**63) <= total < 2**63 for total in sums)
    totals = np.array(sums, dtype=np.int64 if narrow else object)
    floors, remainders = floors_of(totals, exact)
    # The complement turns largest first into smallest first for every int64.
    by_load = np.argsort(~rows, axis=1, kind="stable")
    lacking = np.take_along_axis(exact.total - remainders, by_load, axis=1)
    order = np.take_along_axis(by_load, np.argsort(lacking, axis=1, kind="stable"), axis=1)
    missing = (totals - floors.astype(totals.dtype).sum(axis=1)).astype(np.int64)
    return _difference(rows, floors + first_in_order(order, missing)).reshape(numbers.shape)


def _difference(loads: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    difference = np.asarray(loads - target)
    if difference.dtype.kind == "i" and (((loads ^ target) & (loads ^ difference)) < 0).any():
        raise OverflowError("loads less target must fit int64")
    return difference


def _numbers(name: str, numbers: Numbers) -> NDArray[Any]:
    values = as_array(name, numbers)
    kind, width = values.dtype.kind, values.dtype.itemsize
    if not (kind in "iu" or (kind == "f" and width in (4, 8))):
        got = refused_dtype(name, values.dtype)
        raise TypeError(f"{name} must be integers, float32 or float64, got {got}")
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        return values.astype(np.float64)
    if values.dtype.kind == "u" and int(values.max(initial=0)) > 2**63 - 1:
        raise OverflowError(f"{name} must fit int64, got {int(values.max())}")
    return values.astype(np.int64)
