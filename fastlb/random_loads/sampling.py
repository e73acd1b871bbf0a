"""Random loads of trials, exactly as a study balances them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arguments import integer, written
from ..memory import require_memory
from ..topologies.parse import read_topology
from .distributions import Distribution
from .parse import parse_distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology

MAX_TRIAL = 2**63 - 1


def sample_loads(
    distribution: Distribution | str,
    topology: Topology | str,
    *,
    trials: int,
    seed: int,
    start: int = 0,
) -> NDArray[np.int64]:
    """Return the loads of the trials ``start .. start + trials - 1`` of a study.

    A load depends on ``(seed, trial, node)`` and on nothing else. The random numbers of trial ``t``
    are those of ``numpy.random.Philox(key=seed, counter=[0, t, 0, 0])``. The documentation of each
    distribution says how loads follow from them: see :class:`Uniform`, :class:`Exponential`,
    :class:`Poisson`, :class:`Normal`, :class:`LogNormal`, :class:`Zipf`, :class:`TwoValued`,
    :class:`OneHot` and :class:`Resampled`.

    Parameters
    ----------
    distribution : Distribution or str
        Such as ``Uniform(1000)`` or ``"uniform:1000"``, ``"resampled:loads.npy"``.
    topology : Topology or str
        Such as ``Mesh(8, 8)`` or ``"mesh:8x8"``.
    trials : int
        Number of trials.
    seed : int
        From 0 to 2**128 - 1.
    start : int
        Number of the first trial.

    Returns
    -------
    (trials, *topology.shape) int64

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the seed, ``trials`` or ``start`` is out of range, or a spelling cannot be read.
    MemoryError
        If the loads do not fit in memory.

    Examples
    --------
    >>> loads = sample_loads("uniform:1000", "ring:4", trials=2, seed=1995)
    >>> stream = np.random.Philox(key=1995, counter=[0, 1, 0, 0]).random_raw(2).view(np.uint32)
    >>> np.array_equal(loads[1], stream.astype(np.uint64) * np.uint64(2001) >> np.uint64(32))
    True
    """
    law = read_distribution(distribution)
    network = read_topology(topology)
    count, first = integer("trials", trials), integer("start", start)
    if not 0 <= count <= MAX_TRIAL:
        raise ValueError(f"trials must be between 0 and 2**63 - 1, got {written(count)}")
    if not 0 <= first <= MAX_TRIAL - count:
        raise ValueError(f"start must be between 0 and 2**63 - 1 - trials, got {written(first)}")
    require_memory(8 * count * network.size, f"{count} trials on {network!r}")
    rows = np.empty((count, network.size), dtype=np.int64)
    law.fill(rows, seed=check_seed(seed), start=first)
    return rows.reshape(count, *network.shape)


def read_distribution(loads: Distribution | str) -> Distribution:
    """Return a distribution, which may be an object or its spelling."""
    return loads if isinstance(loads, Distribution) else parse_distribution(loads)


def check_seed(seed: int) -> int:
    """Return the seed, or raise ``ValueError`` unless it is from 0 to 2**128 - 1."""
    key = integer("seed", seed)
    if not 0 <= key < 2**128:
        raise ValueError(f"seed must be between 0 and 2**128 - 1, got {key}")
    return key
