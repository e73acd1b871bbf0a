"""Topologies spelled as strings: ``torus:16x16``, ``hypercube:10``, ``grid:4wx6``."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .grids import Chain, Grid, Mesh, Ring, Torus
from .hexa_cell_topology import HyperHexaCell
from .hypercube import Hypercube
from .network import Network
from .topology import Topology

SPELLINGS = {
    "hypercube": "hypercube:10, with faulty links hypercube:3:faults=0-4,5-7",
    "mesh": "mesh:8x8",
    "torus": "torus:16x16x16",
    "chain": "chain:8",
    "ring": "ring:8",
    "grid": "grid:4wx6 (w: this axis wraps)",
    "hhc": "hhc:5",
}


def parse_topology(text: str) -> Topology:
    """Read a topology from the command line's spelling, or a network from a file.

    Parameters
    ----------
    text : str
        ``hypercube:10``, ``hypercube:3:faults=0-4,5-7``, ``mesh:8x8``, ``torus:16x16x16``,
        ``chain:8``, ``ring:8``, ``grid:4wx6`` (a ``w`` marks a wrapped axis) or ``hhc:5``; or a
        file of links such as ``servers.csv``, of which links and names of nodes are read alone
        (:func:`read_network` reads capacities too).

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If the name is unknown or the sizes do not fit it, or a file cannot be read; the message
        shows a right spelling.
    OSError
        If a file cannot be opened.

    Warns
    -----
    UserWarning
        If a file says more of its links than is read, such as a capacity.

    Examples
    --------
    >>> parse_topology("torus:4x4")
    Torus(4, 4)
    """
    if not isinstance(text, str):
        raise TypeError(f"topology must be a string such as 'torus:8x8', got {text!r}")
    # Readers of files are imported when a text may name one: a call with a topology needs none.
    from ..files.graphfiles import READERS, is_graph_file
    from ..files.namednetwork import read_network_file

    if is_graph_file(text.strip()):
        try:
            named = read_network_file(text.strip(), links_only=True)
        except FileNotFoundError:
            raise ValueError(f"topology must be a file that is there, got {text!r}") from None
        if named.note:
            warnings.warn(named.note, stacklevel=2)
        return named.network
    name, colon, sizes = text.strip().partition(":")
    name = name.strip().lower()
    if name not in _READERS:
        letters = re.sub(r"[^a-z]", "", name.partition("(")[0])
        close = difflib.get_close_matches(letters, [*_OTHER_NAMES, *_READERS], n=1)
        suggestion = _OTHER_NAMES.get(close[0], close[0]) if close else ""
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        known = ", ".join(_READERS)
        files = ", ".join(READERS)
        raise ValueError(
            f"topology must begin with one of {known}, or be a file {files}, got {text!r}{hint}"
        )
    try:
        return _READERS[name](sizes.strip().lower() if colon else "")
    except _SpellingError:
        raise ValueError(f"topology must be spelled like {SPELLINGS[name]}, got {text!r}") from None
    except _SizeError:
        raise ValueError(f"topology must have sizes below 10**18, got {text!r:.200}") from None


def read_topology(topology: Any, name: str = "topology") -> Topology:
    """Return a topology, which may be spelled as a string; errors call the argument ``name``.

    Raises
    ------
    TypeError
        If it is neither a topology nor a string.
    ValueError
        As :func:`parse_topology`.
    """
    if isinstance(topology, Topology):
        return topology
    if isinstance(topology, str):
        is_spelled = topology.partition(":")[0] in _READERS
        return (_cached_parse if is_spelled else parse_topology)(topology)
    hint = "; Network.from_networkx(graph) makes one" if hasattr(topology, "is_directed") else ""
    raise TypeError(
        f"{name} must be a Topology such as Mesh(8, 8) or a spelling such as 'mesh:8x8', "
        f"got {topology!r}{hint}"
    )


def network_of(network: Any) -> Network:
    """Return a network: of any other topology, which may be spelled, both directions of its links.

    Errors are those of :func:`read_topology`.
    """
    topology = read_topology(network, "network")
    return topology if isinstance(topology, Network) else topology.network()


# Makes repeated calls with spellings fast. The cache is small, as topologies keep their links.
_cached_parse = lru_cache(maxsize=16)(parse_topology)

# Other names that users may try.
_OTHER_NAMES = {"hyperhexacell": "hhc", "hexacell": "hhc"}


class _SpellingError(Exception):
    pass


class _SizeError(Exception):
    pass


def _number(digits: str) -> int:
    counting = digits.lstrip("0") or "0"
    if len(counting) > 18:
        raise _SizeError
    return int(counting)


def _lengths(sizes: str) -> list[int]:
    if not re.fullmatch(r"\d+(x\d+)*", sizes, re.ASCII):
        raise _SpellingError
    return [_number(k) for k in sizes.split("x")]


def _one_length(sizes: str) -> int:
    lengths = _lengths(sizes)
    if len(lengths) != 1:
        raise _SpellingError
    return lengths[0]


def _grid(sizes: str) -> Grid:
    axes = [re.fullmatch(r"(\d+)(w?)", axis, re.ASCII) for axis in sizes.split("x")]
    if not all(axes):
        raise _SpellingError
    lengths = [axis.groups() for axis in axes if axis]
    return Grid([_number(k) for k, _ in lengths], wrap=[bool(w) for _, w in lengths])


def _hypercube(sizes: str) -> Hypercube:
    dimensions, colon, broken = sizes.partition(":")
    n = _one_length(dimensions)
    if not colon:
        return Hypercube(n)
    if not re.fullmatch(r"faults=\d+-\d+(,\d+-\d+)*", broken, re.ASCII):
        raise _SpellingError
    pairs = broken.removeprefix("faults=").split(",")
    return Hypercube(n, faults=[[_number(node) for node in pair.split("-")] for pair in pairs])


_READERS: dict[str, Callable[[str], Topology]] = {
    "hypercube": _hypercube,
    "mesh": lambda sizes: Mesh(*_lengths(sizes)),
    "torus": lambda sizes: Torus(*_lengths(sizes)),
    "chain": lambda sizes: Chain(_one_length(sizes)),
    "ring": lambda sizes: Ring(_one_length(sizes)),
    "grid": _grid,
    "hhc": lambda sizes: HyperHexaCell(_one_length(sizes)),
}
