"""Seeded families of random 0-1 programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..arguments import one_of, whole_number
from ..aside import aside_if_large
from ..memory import require_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Row = np.ndarray[tuple[int], np.dtype[np.int64]]
    Rows = np.ndarray[tuple[int, int], np.dtype[np.int64]]
    Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

# Equal variables in a group of the symmetric family.
_GROUP_SIZE = 3


class _Words:
    """Random words (T, W), a row a trial, consumed from the left as integers in a range."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words >> np.uint64(32)
        self._used = 0

    def integers(self, low: int, high: int, *shape: int) -> NDArray[np.int64]:
        """Return (T, *shape) whole numbers from low to high, both included."""
        count = int(np.prod(shape))
        words = self._words[:, self._used : self._used + count]
        self._used += count
        drawn = (words * np.uint64(high - low + 1)) >> np.uint64(32)
        return drawn.astype(np.int64).reshape(len(words), *shape) + low


def _loose(words: _Words, m: int, n: int) -> Arrays:
    A = words.integers(-6, 10, m, n)
    return words.integers(0, 20, n), A, words.integers(-8, 5, m)


def _planted(words: _Words, m: int, n: int) -> Arrays:
    A = words.integers(-10, 10, m, n)
    hidden = words.integers(0, 1, n)
    left_side = (A * hidden[:, None, :]).sum(axis=2)
    return words.integers(0, 20, n), A, left_side - words.integers(0, 3, m)


def _cover(words: _Words, m: int, n: int) -> Arrays:
    A = (words.integers(0, 3, m, n) == 0).astype(np.int64)
    if n:
        members = words.integers(0, n - 1, m, 2)
        np.put_along_axis(A, members, 1, axis=2)
    b = np.minimum(A.sum(axis=2), 1)
    return words.integers(1, 20, n), A, b


def _knapsack(words: _Words, m: int, n: int) -> Arrays:
    weights = words.integers(1, 100, m, n)
    total = weights.sum(axis=2)
    mean = weights.sum(axis=1) // max(m, 1)
    return mean + words.integers(0, 20, n), weights, total - total // 2


def _symmetric(words: _Words, m: int, n: int) -> Arrays:
    groups = -(-n // _GROUP_SIZE)
    A = np.repeat(words.integers(0, 2, m, groups), _GROUP_SIZE, axis=2)[:, :, :n].copy()
    return np.ones((len(A), n), dtype=np.int64), A, A.sum(axis=2) // 2


FAMILIES: dict[str, Callable[[_Words, int, int], Arrays]] = {
    "loose": _loose,
    "planted": _planted,
    "cover": _cover,
    "knapsack": _knapsack,
    "symmetric": _symmetric,
}


@overload
def random_binary(
    family: str, m: int, n: int, *, seed: int, trials: None = None, start: int = 0
) -> tuple[Row, Rows, Row]: ...
@overload
def random_binary(
    family: str, m: int, n: int, *, seed: int, trials: int, start: int = 0
) -> tuple[Rows, NDArray[np.int64], Rows]: ...
def random_binary(
    family: str, m: int, n: int, *, seed: int, trials: int | None = None, start: int = 0
) -> tuple[Any, Any, Any]:
    """Draw random 0-1 programs min c.x, A x >= b of m rows and n variables.

    Trial t depends on (seed, t) alone: its words are those of ``numpy.random.Philox`` with the
    seed as key from counter (0, t, 0, 0) on; of each the upper half is scaled to the range.

    Parameters
    ----------
    family : str
        - ``"loose"``: c from 0..20, A from -6..10, b from -8..5; mostly feasible.
        - ``"planted"``: c from 0..20, A from -10..10; b is 0..3 below the left side of a hidden
          random x, so always feasible.
        - ``"cover"``: c from 1..20; every row demands one of a random quarter of the variables
          and two more.
        - ``"knapsack"``: which items stay out of knapsacks that hold half of all; weights 1..100,
          costs the mean weight plus 0..20.
        - ``"symmetric"``: all costs 1, three equal variables in each group, A from 0..2, b half a
          row's sum.
    m, n : int
        Rows and variables, both 0 or more.
    seed : int
        0 <= seed < 2**128.
    trials : int, optional
        Number of programs; None gives one without a batch axis.
    start : int
        Number of the first trial.

    Returns
    -------
    (c, A, b) : int64 arrays, shapes (trials, n), (trials, m, n), (trials, m)

    Raises
    ------
    TypeError, ValueError
        If the family is unknown, or a number is not whole or out of range.
    MemoryError
        If the arrays plainly exceed the memory.

    Examples
    --------
    >>> import fastlb as lb
    >>> c, A, b = lb.random_binary("planted", 4, 6, seed=1, trials=3)
    >>> c.shape, A.shape, b.shape
    ((3, 6), (3, 4, 6), (3, 4))
    """
    one_of("family", family, FAMILIES)
    m, n = whole_number("m", m, 0, 2**31), whole_number("n", n, 0, 2**31)
    seed = whole_number("seed", seed, 0, 2**128)
    count = 1 if trials is None else whole_number("trials", trials, 0)
    start = whole_number("start", start, 0)
    width = m * n + 2 * n + 2 * m
    # Bytes of the words, the numbers and intermediate arrays.
    require_memory(32 * count * width, f"{count} programs of {m} rows and {n} variables")

    def draw() -> Arrays:
        # Every family draws at most A, the costs, the hidden x and two numbers a row.
        return FAMILIES[family](_Words(_draw(seed, start, count, width)), m, n)

    c, A, b = aside_if_large(count * width, draw)
    return (c[0], A[0], b[0]) if trials is None else (c, A, b)


def _draw(seed: int, start: int, trials: int, width: int) -> NDArray[np.uint64]:
    rows = np.empty((trials, width), dtype=np.uint64)
    for trial, words in enumerate(_streams(seed, start, trials)):
        rows[trial] = words.random_raw(width)
    return rows


def _streams(seed: int, start: int, trials: int) -> Iterator[np.random.Philox]:
    generator = np.random.Philox(key=seed)
    state: Any = generator.state
    for trial in range(start, start + trials):
        state["state"]["counter"][:] = (0, trial, 0, 0)
        state["buffer_pos"] = 4
        generator.state = state
        yield generator
