"""Quotas: what each node is due of a total, in proportion to weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_array, one_of, refused_dtype
from .casting import INT64_MAX
from .weights import Weights, exact_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..quantities import MixedNumbers

RULES = ("share", "time")
# Products of two numbers up to this fit int64.
LARGEST_FACTOR = 2**31


def quotas(total: ArrayLike, weights: MixedNumbers, *, rule: str = "share") -> NDArray[Any]:
    """Divide a total among nodes in proportion to their weights.

    Parameters
    ----------
    total : array_like, shape (*batch,)
        Units to be divided, not negative: whole ones, or floats.
    weights : array_like, shape (n,)
        Speeds of the nodes, at least 0 and not all 0: integers, floats (each its shortest
        decimal), Fractions or strings such as ``"41/7"``, taken exactly. Their sum is W.
    rule : {"share", "time"}
        How whole units are rounded. ``"share"``: node i gets ``floor(total * w_i / W)``, and one
        unit more if its remainder is among the largest, of equal ones the lower node; so it is
        within 1 of its share. ``"time"``: after the floors each unit goes to where it ends first,
        ``(q_i + 1) / w_i`` is least, of equal ones the lower node; so the largest ``q_i / w_i``
        is the least possible.

    Returns
    -------
    (*batch, n) int64, or float64 for floats
        Whole units add up to the total; floats are in proportion, by either rule.

    Raises
    ------
    TypeError, ValueError
        On arguments that do not fit.
    OverflowError
        If whole units do not fit int64.

    Examples
    --------
    >>> quotas(10, [3, 1.5, 0]).tolist()
    [7, 3, 0]
    >>> quotas(100, [8, 8, 1]).tolist(), quotas(100, [8, 8, 1], rule="time").tolist()
    ([47, 47, 6], [48, 47, 5])
    """
    one_of("rule", rule, RULES)
    exact = exact_weights(weights)
    totals = _totals(total)
    rows = totals.reshape(-1)
    divided: NDArray[Any]
    if rows.dtype.kind == "f":
        divided = rows[:, None] * exact.shares
    else:
        divided, remainders = floors_of(rows, exact)
        round_up = _by_remainder if rule == "share" else _by_time
        divided += round_up(rows - divided.sum(axis=1), divided, remainders, exact)
    return divided.reshape(*totals.shape, len(exact.integers))


def floors_of(
    totals: NDArray[np.int64], weights: Weights
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the floors of all shares of totals (B,), and the remainders in units of 1 / W, (B, N).

    With ``total = a W + b`` a share is ``a w + b w / W``. Numbers beyond int64 are Python's.
    """
    W = weights.total
    is_narrow = W <= LARGEST_FACTOR
    column = totals[:, None] if is_narrow else totals.astype(object)[:, None]
    integers = weights.integers if is_narrow else weights.integers.astype(object)
    parts = column % W * integers
    floors = column // W * integers + parts // W
    return floors.astype(np.int64), parts % W


def _by_remainder(
    missing: NDArray[np.int64], _floors: NDArray[Any], remainders: NDArray[Any], weights: Weights
) -> NDArray[np.int64]:
    """Return one unit for each of the ``missing`` (B,) largest remainders of a row."""
    order = np.argsort(weights.total - remainders, axis=1, kind="stable")
    return first_in_order(order, missing)


def first_in_order(order: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 1 at the first ``count`` (B,) nodes of each row of ``order`` (B, N), 0 elsewhere."""
    units = np.zeros(order.shape, np.int64)
    chosen = (np.arange(order.shape[1]) < count[:, None]).astype(np.int64)
    np.put_along_axis(units, order, chosen, axis=1)
    return units


def _by_time(
    missing: NDArray[np.int64], floors: NDArray[Any], _remainders: NDArray[Any], weights: Weights
) -> NDArray[np.int64]:
    """Return how many of the ``missing`` (B,) units each node gets, those that end first."""
    units = np.zeros(floors.shape, np.int64)
    integers, n = weights.integers.tolist(), len(weights.integers)
    # Times c / w and c' / w' that differ do so by 1 / (w w') at least.
    bits = 2 * max(integers).bit_length()
    for row, count in enumerate(missing.tolist()):
        if count == 0:
            continue
        total = int(floors[row].sum()) + count
        # At the time (total + n) / W all nodes have ended that many units, and no later ones count.
        nodes: list[int] = []
        times: list[int] = []
        for node, (floor, weight) in enumerate(zip(floors[row].tolist(), integers, strict=True)):
            latest = (total + n) * weight // weights.total
            nodes += [node] * (latest - floor)
            times += [(unit << bits) // weight for unit in range(floor + 1, latest + 1)]
        earliest = sorted(range(len(times)), key=times.__getitem__)[:count]
        np.add.at(units[row], [nodes[i] for i in earliest], 1)
    return units


def _totals(total: ArrayLike) -> NDArray[Any]:
    """Return totals as int64 or float64, or raise."""
    array = as_array("total", total)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if not (kind in "iu" or (kind == "f" and width in (4, 8))):
        got = refused_dtype("total", array.dtype)
        raise TypeError(f"total must be integers, float32 or float64, got {got}")
    legal = np.isfinite(array) & (array >= 0)
    if not legal.all():
        raise ValueError(f"total must be finite and not negative, got {array[~legal][0]}")
    if kind == "f":
        return array.astype(np.float64)
    if int(array.max(initial=0)) > INT64_MAX:
        raise OverflowError(f"total must fit int64, got {int(array.max())}")
    return array.astype(np.int64)
