"""Weights of a study's nodes: one list for all its topologies, or a list by topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..exchange.weights import read_weights
from ..topologies.parse import read_topology
from ..topologies.topology import Topology

# By the spelling of a topology, or under ALL for every topology, the weight of each node.
StudyWeights = tuple[tuple[str, tuple[Fraction, ...]], ...]
ALL = ""


def read_study_weights(weights: Any, topologies: Iterable[Topology]) -> StudyWeights:
    """Return weights given as a list, or as lists by topology; checked on every topology.

    Raises
    ------
    ValueError, TypeError, OverflowError
        If they are no weights of the nodes of their topology, or that is none of the study's.
    """
    if weights is None or (isinstance(weights, tuple | list | Mapping) and not len(weights)):
        return ()
    known = {topology.spec: topology for topology in topologies}
    if _is_read(weights):
        weights = dict(weights) if weights[0][0] != ALL else weights[0][1]
    if not isinstance(weights, Mapping):
        lists = [_exact(weights, topology) for topology in known.values()]
        return ((ALL, lists[0]),)
    by_topology = {}
    for spelling, listed in weights.items():
        spec = read_topology(spelling, "weights").spec
        if spec not in known:
            raise ValueError(
                f"weights must be of topologies of the study, {', '.join(known)}, got {spec}"
            )
        by_topology[spec] = _exact(listed, known[spec])
    return tuple(by_topology.items())


def weights_on(weights: StudyWeights, topology: Topology) -> tuple[Fraction, ...] | None:
    """Return the weights of a topology's nodes, or None if the study gives it none."""
    lists = dict(weights)
    return lists.get(ALL, lists.get(topology.spec))


def weights_entry(weights: StudyWeights, *, as_text: bool = False) -> Any:
    """Return weights as a study's file has them: numbers, and texts such as ``"1/3"``.

    ``as_text`` : whole numbers as texts, too.
    """

    def spelled(weight: Fraction) -> int | str:
        return str(weight) if as_text or weight.denominator > 1 else int(weight)

    lists = {spec: list(map(spelled, listed)) for spec, listed in weights}
    return lists.get(ALL, lists)


def _is_read(weights: Any) -> bool:
    return isinstance(weights, tuple) and all(
        isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], tuple)
        for entry in weights
    )


def _exact(weights: Any, topology: Topology) -> tuple[Fraction, ...]:
    """Return the weights of a topology's nodes as Fractions."""
    if isinstance(weights, str) or not isinstance(weights, Iterable | np.ndarray):
        raise TypeError(f"weights must be a list of numbers, got {weights!r}")
    exact = read_weights(weights, topology)  # type: ignore[arg-type]
    return tuple(weight * exact.unit for weight in exact.integers.tolist())
