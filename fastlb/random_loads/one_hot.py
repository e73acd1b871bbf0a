"""Loads of which a single node has more than all others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT64_MAX
from .bounds import whole
from .distributions import Drawn, round_keys, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class OneHot(Drawn):
    """One node of a trial has a load, all others have the same smaller one.

    Of N nodes it is node ``u * N >> 64``, ``u`` the first word of the trial's Philox stream.

    Parameters
    ----------
    load : int
        Load of the hot node, from 0 to 2**63 - 1.
    rest : int
        Load of every other node, from 0 to ``load``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

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
        """No load is larger."""
        return self.load

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        hot = self._hot(rows.shape[0], rows.shape[1], seed, start)
        rows[:] = self.rest
        rows[np.arange(len(rows)), hot] = self.load

    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write them to tiles (K, N, W) of integers: trial ``k W + w`` to lane w of tile k."""
        K, N, W = tiles.shape
        hot = self._hot(K * W, N, seed, start)
        tiles[:] = self.rest
        k, w = np.divmod(np.arange(K * W), W)
        tiles[k, hot, w] = self.load

    def _hot(self, trials: int, nodes: int, seed: int, start: int) -> NDArray[np.int64]:
        hot = np.empty((trials, 1), np.int64)
        kernels("random.loads").draw_rows(round_keys(seed), start, *scaled(nodes), hot)
        return hot[:, 0]
