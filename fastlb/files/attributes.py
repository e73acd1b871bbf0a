"""Attributes of links and nodes: which are read, which are known to be harmless, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from ..topologies.linkattributes import CAPACITY_NAMES
from .textfiles import refuse

TRAFFIC_NAMES = ("traffic", "used", "usage", "utilization", "throughput")
LOAD_NAMES = ("load", "loads")

# What numbers, names, describes or draws a node or link, and the notes of the Topology Zoo, in
# lower case; pandas writes its index without a heading.
_HARMLESS = frozenset((
    "", "unnamed: 0", "id", "key", "label", "name", "title", "description", "desc", "comment",
    "comments", "note", "notes", "url", "color", "colour", "fill", "style", "linklabel",
    "linktype", "linknote",
    "country", "city", "region", "continent", "internal", "type", "group", "hyperedge",
    "graphics", "graphics.x", "graphics.y", "x", "y", "z", "pos", "longitude", "latitude", "lon",
    "lat", "lng",
))  # fmt: skip


def find_label(asked: str | None, usual: Sequence[str], labels: Iterable[str]) -> str | None:
    """Return the label asked for, else a usual one, as it is written, or None."""
    listed = list(dict.fromkeys(labels))
    if asked is not None:
        return asked if asked in listed else None
    for name in usual:
        for label in (name, *listed):
            if label in listed and label.lower() == name:
                return label
    return None


def unread(labels: Iterable[str], used: Iterable[str | None], ignored: Iterable[str]) -> list[str]:
    """Return the labels that are neither used, nor ignored on request, nor known as harmless."""
    passed = {*used, *ignored}
    listed = dict.fromkeys(labels)
    return [label for label in listed if label not in passed and label.lower() not in _HARMLESS]


def refuse_links(place: str, labels: Sequence[str], *, capacity: bool) -> NoReturn:
    """Refuse attributes of links that nothing uses, and say how each could be used.

    ``capacity``: whether the capacity is still to be told.
    """
    usual = [label for label in labels if label.lower() in CAPACITY_NAMES and capacity]
    first = min(usual, key=lambda label: CAPACITY_NAMES.index(label.lower()), default=labels[0])
    carried = first.lower() in TRAFFIC_NAMES
    ways = [f"--capacity {quoted(first)} if it limits what a link carries"] if capacity else []
    ways.append(f"--traffic {quoted(first)} if links carry it already")
    if carried:
        ways.reverse()
    _refuse(place, labels, [*ways, f"{_ignoring(labels)} to leave {_it(labels)} out"])


def refuse_nodes(place: str, labels: Sequence[str], *, loads: bool) -> NoReturn:
    """Refuse attributes of nodes that nothing uses, and say how each could be used.

    ``loads``: whether the loads are still to be told.
    """
    ways = [f"--column {quoted(labels[0])} if it is the load"] if loads else []
    _refuse(place, labels, [*ways, f"{_ignoring(labels)} to leave {_it(labels)} out"])


def quoted(label: str) -> str:
    """Return a label as a shell takes it."""
    import shlex

    return shlex.quote(label)


def _refuse(place: str, labels: Sequence[str], ways: Sequence[str]) -> NoReturn:
    named = ", ".join(map(repr, labels))
    verb = "is" if len(labels) == 1 else "are"
    refuse(place, f"{named} {verb} not used: give {', or '.join(ways)}")


def _ignoring(labels: Sequence[str]) -> str:
    return " ".join(f"--ignore {quoted(label)}" for label in labels)


def _it(labels: Sequence[str]) -> str:
    return "it" if len(labels) == 1 else "them"
