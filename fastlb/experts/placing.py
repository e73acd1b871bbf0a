"""Placing the experts of mixture-of-experts models on GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import cost, one_of, whole_number
from .earlier import read_previous
from .placement import Placement
from .problem import Cluster, read_cluster, read_weights
from .published import Maps, experts_by_node, place

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

METHODS = ("published", "refined")
ARITHMETICS = ("float64", "float32")


def place_experts(
    weights: ArrayLike | Any,
    replicas: int,
    gpus: int,
    *,
    nodes: int = 1,
    groups: int = 1,
    method: str = "published",
    arithmetic: str = "float64",
    tolerance: float = 1e-3,
    effort: int | None = None,
    previous: Placement | ArrayLike | None = None,
    moves: int | None = None,
    out: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Placement:
    """Give copies of experts to the slots of GPUs, so that the fullest GPU has little more to do.

    Every layer of a mixture-of-experts model is placed for itself. Each expert has a copy at
    least; tokens for an expert are spread evenly over its copies. A GPU is as loaded as the copies
    in its slots together, and all wait for the fullest one.

    Parameters
    ----------
    weights : (*batch, E)
        Load of every expert, such as tokens counted, ``batch`` usually ``(layers,)``. An array, or
        a tensor on the CPU, which is read in place. They are rounded to float32, as serving
        engines do.
    replicas : int
        Slots in all, a multiple of ``gpus``, and at least ``E``.
    gpus, nodes : int
        GPUs in all, and the nodes that have as many of them each.
    groups : int
        Groups of as many consecutive experts, of which each stays whole on one node: a multiple
        of ``nodes``. With one node and one group experts go anywhere.
    method : {"published", "refined"}
        ``"published"`` is DeepSeek's algorithm (EPLB), to the last bit, where of equal loads the
        lower number always comes first. ``"refined"`` goes on from there: copies are exchanged
        and given to other experts until no GPU has more than ``1 + tolerance`` times the bound,
        or nothing helps. It is never worse than the published one, unless ``moves`` ends it.
    arithmetic : {"float64", "float32"}
        In which ``"published"`` divides and adds loads: float64 as vLLM does, float32 as the
        original does.
    tolerance : float
        How far above the bound the fullest GPU may remain; for ``"refined"``.
    effort : int, optional
        Pairs of GPUs that ``"refined"`` compares in a layer, of which each of its attempts has
        a part, from a twelfth to a half. Default: 6 for each slot.
    previous : Placement or (*batch, replicas) integers, optional
        The placement in use, or its ``phy2log``. ``"refined"`` begins with it and lets experts
        stay in their slots; the result's ``transfers`` count the experts that come to a GPU.
        ``"published"`` only counts.
    moves : int, optional
        The most transfers in a layer; needs ``previous`` and ``"refined"``. An exchange of two
        copies takes two, another expert in a slot one. Without it a new placement is made where
        changes to the one in use do not suffice, its GPUs numbered for the fewest transfers.
    out : (phy2log, logcnt), optional
        Arrays of int64 in C order that receive these two maps, for calls again and again.

    Returns
    -------
    Placement

    Raises
    ------
    TypeError
        If the weights are no array of real numbers in the CPU's memory, or an argument has the
        wrong type.
    ValueError
        If a weight is negative or not finite, numbers do not divide one another as they must, or
        ``previous`` does not fit.
    OverflowError
        If the total of a layer exceeds the largest float32.

    Notes
    -----
    The bound is the largest of: the mean load; the heaviest copy where all extra copies go to make
    it light; with several nodes, the heaviest group beside the lightest ones. Loads of groups are
    added in float32 in NumPy's order; PyTorch's differs where sums of counts exceed 2**24.

    Examples
    --------
    >>> import fastlb as lb
    >>> p = lb.place_experts([[90, 132, 40, 61, 104, 165, 39, 4]], replicas=10, gpus=5)
    >>> p.phy2log.tolist()
    [[4, 7, 0, 6, 5, 3, 5, 2, 1, 1]]
    """
    one_of("method", method, METHODS)
    one_of("arithmetic", arithmetic, ARITHMETICS)
    if method == "refined" and arithmetic != "float64":
        raise ValueError(
            f"arithmetic must be 'float64' for method='refined', got {arithmetic!r}: it is that of "
            "the published algorithm"
        )
    tolerance = cost("tolerance", tolerance)
    array = read_weights(weights)
    cluster = read_cluster(array.shape[-1], replicas, gpus, nodes, groups)
    batch = array.shape[:-1]
    rows = array.reshape(-1, cluster.experts)
    if effort is not None:
        effort = whole_number("effort", effort, 0)
    if moves is not None:
        moves = whole_number("moves", moves, 0)
        if previous is None or method != "refined":
            raise ValueError(
                "moves must come with previous= and method='refined', which change a placement "
                f"in use, got previous={'None' if previous is None else 'a placement'}, "
                f"method={method!r}"
            )
    before = None if previous is None else read_previous(previous, batch, cluster)
    maps = _maps(out, batch, cluster)
    dtype = np.dtype(arithmetic)
    loads = rows.astype(dtype)
    place(loads, rows, experts_by_node(rows, cluster, dtype), cluster, maps)
    if method == "refined":
        from .refining import refined

        refined(rows, cluster, maps, tolerance, effort, before, moves)
    return Placement(method, cluster, batch, rows, maps, before)


def _maps(out: Any, batch: tuple[int, ...], cluster: Cluster) -> Maps:
    """Return the arrays for the maps: the caller's two, or new ones."""
    rows = int(np.prod(batch, dtype=np.int64))
    if out is None:
        return Maps.empty(rows, cluster)
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise TypeError(f"out must be two arrays, (phy2log, logcnt), got {type(out).__name__}")
    shapes = (*batch, cluster.replicas), (*batch, cluster.experts)
    arrays = []
    for name, array, shape in zip(("phy2log", "logcnt"), out, shapes, strict=True):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out must hold arrays, got {type(array).__name__} for {name}")
        if array.shape != shape or array.dtype != np.int64:
            raise ValueError(
                f"out must have {name} of shape {shape} and dtype int64, "
                f"got {array.shape} and {array.dtype}"
            )
        if not (array.flags.c_contiguous and array.flags.writeable):
            raise ValueError(f"out must have {name} in C order and writable")
        arrays.append(array.reshape(-1, shape[-1]))
    if np.may_share_memory(arrays[0], arrays[1]):
        raise ValueError("out must be two arrays that share no memory")
    return Maps(arrays[0], arrays[1], np.empty_like(arrays[0]))
