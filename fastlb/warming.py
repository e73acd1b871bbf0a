"""Loading the kernels ahead of the first call that needs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from .exchange.dimension_exchange import dem
from .exchange.direct_exchange import dde
from .exchange.fault_tolerance import fault_tolerant_dem
from .exchange.generalized_exchange import gde
from .exchange.loads import RECORDS
from .flows.minimax import minimax_flow
from .hexa_cells.hexa_cell_exchange import hexa_cell
from .programs.binary import solve_binary
from .random_loads.distributions import Uniform
from .random_loads.sampling import sample_loads
from .topologies.hexa_cell_topology import HyperHexaCell
from .topologies.hypercube import Hypercube
from .topologies.topology import Mesh, Ring

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .topologies.topology import Topology

# A single network, and the few trials beside a whole tile of 64, may take another way.
BATCHES = ((), (1,), (65,))
# By the bytes of an integer: loads of so many bits and three more take other kernels, as there are
# for those that fit 15, 23 and 52 bits.
SHIFTS = {4: (0, 20, 28), 8: (0, 20, 50)}


def warmup(*names: str, dtypes: Iterable[DTypeLike] = (np.int64,)) -> dict[str, float]:
    """Load the kernels of some functions, so that the first real call is as fast as the next.

    A kernel is compiled for each dtype at its first use, once on a machine, which takes seconds;
    afterwards it is loaded from the cache, which takes milliseconds. Either is done here, by
    running the functions on a few small inputs at every level of ``record``.

    Parameters
    ----------
    *names : str
        Of ``dem``, ``gde``, ``dde``, ``hexa_cell``, ``fault_tolerant_dem``, ``minimax_flow``,
        ``solve_binary`` and ``sample_loads``; without any, all of these.
    dtypes : iterable of dtype
        Of the loads that the balancing methods will get.

    Returns
    -------
    dict of float
        Seconds that each of the functions took.

    Raises
    ------
    ValueError
        If there is no such name.
    TypeError
        If loads cannot have one of the dtypes.

    Examples
    --------
    >>> import fastlb as lb
    >>> list(lb.warmup("sample_loads"))
    ['sample_loads']
    """
    for name in names:
        if name not in _RUNS:
            raise ValueError(f"names must be among {', '.join(_RUNS)}, got {name!r}")
    wanted = [np.dtype(dtype) for dtype in dtypes]
    seconds = {}
    for name in names or _RUNS:
        begin = time.perf_counter()
        _RUNS[name](wanted)
        seconds[name] = time.perf_counter() - begin
    return seconds


def _loads(topology: Topology, dtypes: Iterable[np.dtype[Any]]) -> Iterator[NDArray[Any]]:
    """Yield batches of every dtype; of integers also larger ones, for which kernels are wider.

    A single network comes flat as well, which kernels may take as it is.
    """
    for dtype, batch in product(dtypes, BATCHES):
        for shift in SHIFTS.get(dtype.itemsize, (0,)) if dtype.kind in "iu" else (0,):
            loads = (np.resize(np.arange(7), (*batch, *topology.shape)) << shift).astype(dtype)
            yield loads
            if not batch:
                yield loads.reshape(-1)


def _balancing(balance: Callable[..., Any], *topologies: Topology, **options: Any) -> Any:
    """Return what runs a balancing method at every level."""

    def run(dtypes: Iterable[np.dtype[Any]]) -> None:
        for topology in topologies:
            for loads, record in product(_loads(topology, dtypes), RECORDS):
                balance(loads, topology, record=record, **options)

    return run


def _hexa_cell(dtypes: list[np.dtype[Any]]) -> None:
    for algorithm in "ABC":
        _balancing(hexa_cell, HyperHexaCell(3), HyperHexaCell(9), algorithm=algorithm)(dtypes)


def _minimax(_: list[np.dtype[Any]]) -> None:
    network = Ring(8).network(capacity=9)
    excess = np.array([7, 0, -3, 0, 2, 0, -4, 0])
    for integral, plan in product((True, False), ("short", "least")):
        minimax_flow(network, excess, integral=integral, plan=plan).routes()


def _binary(_: list[np.dtype[Any]]) -> None:
    costs, rows = np.arange(1, 21), np.eye(20, dtype=np.int64)[:4]
    solve_binary(costs[:4], rows[:, :4], np.ones(4, dtype=np.int64))
    solve_binary(costs, rows, np.ones(4, dtype=np.int64))
    many = np.broadcast_to(rows[:, :6], (32, 4, 6)).copy()
    many[0] = 0
    _ = solve_binary(np.ones((32, 6), np.int64), many, np.ones((32, 4), np.int64)).status


def _sampling(_: list[np.dtype[Any]]) -> None:
    for mean in (10, 2**40):
        sample_loads(Uniform(mean), Ring(8), trials=2, seed=0)


_RUNS: dict[str, Callable[[list[np.dtype[Any]]], None]] = {
    "dem": _balancing(dem, Hypercube(3), Hypercube(7), Hypercube(9)),
    "gde": _balancing(gde, Mesh(3, 4)),
    "dde": _balancing(dde, Mesh(3, 4), Ring(5)),
    "hexa_cell": _hexa_cell,
    "fault_tolerant_dem": _balancing(fault_tolerant_dem, Hypercube(4, faults=[(0, 1)])),
    "minimax_flow": _minimax,
    "solve_binary": _binary,
    "sample_loads": _sampling,
}
