"""Loads with one loaded node among nodes with equal smaller loads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT64_MAX
from .bounds import whole
from .distributions import PhiloxLoads, round_keys, word_law

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class OneHot(PhiloxLoads):
    """One random node of each trial has a load, and all others have an equal, smaller one.

    Of N nodes it is node ``u * N >> 64``, where ``u`` is the first word of the trial's Philox
    stream.

    Parameters
    ----------
    load : int
        Load of the hot node, from 0 to 2**63 - 1.
    rest : int
        Load of every other node, from 0 to ``load``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> OneHot(load=640).spec
    'one-hot:640,0'
    """

    name: ClassVar[str] = "one-hot"
    load: int = field(metadata=whole(0, INT64_MAX))
    rest: int = field(default=0, metadata=whole(0, INT64_MAX))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rest > self.load:
            raise ValueError(f"rest must be at most load, got {self.rest} and {self.load}")

    @property
    def largest(self) -> int:
        """The largest possible load."""
        return self.load

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        hot = self._hot_nodes(rows.shape[0], rows.shape[1], seed, start)
        rows[:] = self.rest
        rows[np.arange(len(rows)), hot] = self.load

    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write the loads to tiles (K, N, W): lane w of tile k is the trial ``start + k W + w``."""
        K, N, W = tiles.shape
        hot = self._hot_nodes(K * W, N, seed, start)
        tiles[:] = self.rest
        k, w = np.divmod(np.arange(K * W), W)
        tiles[k, hot, w] = self.load

    def _hot_nodes(self, trials: int, N: int, seed: int, start: int) -> NDArray[np.int64]:
        hot = np.empty((trials, 1), np.int64)
        kernels("random.loads").draw_rows(round_keys(seed), start, *word_law(N), hot)
        return hot[:, 0]
