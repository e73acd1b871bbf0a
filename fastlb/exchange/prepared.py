"""A fast path for repeated calls with one network: the choice of the kernel is cached.

A program that balances in every step calls with the same topology, dtype and options each time.
The method's ``prepare`` computes all that depends on these alone (the kernel, its tables, whether
the arguments are legal), and ``functools.lru_cache`` keeps it. Later calls check the arrays and run
the kernel. The general path handles everything else: batches, other layouts and dtypes,
conversions, and errors.

A method uses it so::

    @lru_cache(maxsize=256)
    def _prepare(topology, dtype, shape, record, *options):
        if ...:  # not a case for the small kernel
            return None
        return PreparedCall(kernels("dem.small").balance, (topology.n,), fields=None)

    def dem(loads, topology, *, dims=None, record="metrics", out=None):
        if dims is None:
            balance = run_prepared("dem", _prepare, loads, topology, record, out)
            if balance is not None:
                return balance
        ...  # the general path

``prepare`` must return None unless the topology is of the method's type, and for every shape but
``topology.shape`` and ``(topology.size,)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import as_array
from ..pages import empty_like
from ..topologies.parse import read_topology
from .result import Balance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

Fields = dict[str, Any]

# Bytes up to which a copy costs less than an empty array.
FEW_BYTES = 2**12


class PreparedCall(NamedTuple):
    """A kernel for one network, with its other arguments.

    Attributes
    ----------
    kernel : callable
        ``kernel(source, target, *constants)`` balances ``source`` (N,) into ``target`` (N,), which
        may be the same array. It returns a status, or a tuple of the status and figures. The
        status is 0 if the loads are balanced. Otherwise nothing was written (a load is not
        legal, the arrays overlap, or a sum might not fit), and the general path follows.
    constants : tuple
        The kernel's other arguments: tables, numbers.
    fields : callable, optional
        Turns the figures that follow the status into a dict; None if there are no figures.
    """

    kernel: Callable[..., Any]
    constants: tuple[Any, ...]
    fields: Callable[..., Fields] | None = None


def run_prepared(
    method: str,
    prepare: Callable[..., PreparedCall | None],
    loads: ArrayLike,
    topology: Topology | str,
    record: str,
    out: NDArray[Any] | None,
    *options: Any,
) -> Balance | None:
    """Balance one network of plain loads by a prepared kernel, or return None.

    ``options`` are hashable. Plain arrays are of the type ``numpy.ndarray``, in C order, aligned
    and writable. A list becomes one, so that a first small call compiles this kernel only.
    """
    if isinstance(loads, list):
        try:
            loads = as_array("loads", loads)
        except (TypeError, ValueError, OverflowError):
            return None
    if type(loads) is not np.ndarray or type(record) is not str or not loads.flags.carray:
        return None
    if isinstance(topology, str):
        topology = read_topology(topology)
    try:
        call = prepare(topology, loads.dtype, loads.shape, record, *options)
    except TypeError:
        # An argument is not hashable; the general path raises the error.
        return None
    if call is None:
        return None
    kernel, constants, name_figures = call
    if out is None:
        # For a few loads a copy is faster than np.empty_like.
        result = loads.copy() if loads.nbytes <= FEW_BYTES else empty_like(loads)
    elif out is loads or _is_plain_like(out, loads):
        result = out
    else:
        return None
    source, target = loads, result
    if loads.ndim != 1:
        # ``ravel`` takes a third of the time of ``reshape``.
        source, target = loads.ravel(), result.ravel()
    returned = kernel(source, target, *constants)
    if name_figures is None:
        if returned:
            return None
        fields = {"loads": result}
    else:
        if returned[0]:
            return None
        fields = name_figures(*returned[1:])
        fields["loads"] = result
    return Balance(method, topology, record, fields)


def _is_plain_like(out: NDArray[Any], loads: NDArray[Any]) -> bool:
    """Return whether ``out`` is a plain array of the loads' shape and dtype."""
    return (
        type(out) is np.ndarray
        and out.dtype == loads.dtype
        and out.shape == loads.shape
        and out.flags.carray
    )
