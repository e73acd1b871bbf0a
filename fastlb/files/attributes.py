"""Attributes of links and nodes: those that are read, and those that may be ignored safely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from ..topologies.linkattributes import CAPACITY_NAMES
from .textfiles import refuse

TRAFFIC_NAMES = ("traffic", "used", "usage", "utilization", "throughput")
LOAD_NAMES = ("load", "loads")

# Attributes, in lower case, that number, name, describe or draw a node or link, among them those
# of the Topology Zoo. pandas writes its index without a heading.
_HARMLESS = frozenset((
    "", "unnamed: 0", "id", "key", "label", "name", "title", "description", "desc", "comment",
    "comments", "note", "notes", "url", "color", "colour", "fill", "style", "linklabel",
    "linktype", "linknote",
    "country", "city", "region", "continent", "internal", "type", "group", "hyperedge",
    "graphics", "graphics.x", "graphics.y", "x", "y", "z", "pos", "longitude", "latitude", "lon",
    "lat", "lng",
))  # fmt: skip


def find_label(requested: str | None, usual: Sequence[str], labels: Iterable[str]) -> str | None:
    """Return the requested label, else a usual one in the file's spelling, or None."""
    available = list(dict.fromkeys(labels))
    if requested is not None:
        return requested if requested in available else None
    for name in usual:
        for label in (name, *available):
            if label in available and label.lower() == name:
                return label
    return None


def unread(labels: Iterable[str], used: Iterable[str | None], ignored: Iterable[str]) -> list[str]:
    """Return the labels that are neither used nor ignored on request nor known to be harmless."""
    accounted = {*used, *ignored}
    listed = dict.fromkeys(labels)
    return [label for label in listed if label not in accounted and label.lower() not in _HARMLESS]


def check_ignored(ignored: Iterable[str], labels: Iterable[str], source: str) -> None:
    """Raise ``ValueError`` if what is to be left out is none of the labels that were read."""
    known = list(dict.fromkeys(labels))
    for name in ignored:
        if name not in known:
            there = f"there are {', '.join(map(repr, known))}" if known else "there are none"
            refuse(source, f"no column or attribute to ignore is called {name!r}; {there}")


def refuse_links(place: str, labels: Sequence[str], *, capacity: bool) -> NoReturn:
    """Refuse attributes of links that nothing uses, and say how each could be used.

    ``capacity`` says whether an attribute can still be chosen as the capacity.
    """
    capacities = [label for label in labels if label.lower() in CAPACITY_NAMES and capacity]
    example = min(
        capacities, key=lambda label: CAPACITY_NAMES.index(label.lower()), default=labels[0]
    )
    is_traffic = example.lower() in TRAFFIC_NAMES
    options = [f"--capacity {quoted(example)} if it limits what a link carries"] if capacity else []
    options.append(f"--traffic {quoted(example)} if links carry it already")
    if is_traffic:
        options.reverse()
    _refuse(place, labels, [*options, f"{_ignore_options(labels)} to leave {_pronoun(labels)} out"])


def refuse_nodes(place: str, labels: Sequence[str], *, loads: bool) -> NoReturn:
    """Refuse attributes of nodes that nothing uses, and say how each could be used.

    ``loads`` says whether an attribute can still be chosen as the load.
    """
    options = [f"--column {quoted(labels[0])} if it is the load"] if loads else []
    _refuse(place, labels, [*options, f"{_ignore_options(labels)} to leave {_pronoun(labels)} out"])


def quoted(label: str) -> str:
    """Return a label quoted for a shell."""
    import shlex

    return shlex.quote(label)


def _refuse(place: str, labels: Sequence[str], options: Sequence[str]) -> NoReturn:
    named = ", ".join(map(repr, labels))
    verb = "is" if len(labels) == 1 else "are"
    refuse(place, f"{named} {verb} not used: give {', or '.join(options)}")


def _ignore_options(labels: Sequence[str]) -> str:
    return " ".join(f"--ignore {quoted(label)}" for label in labels)


def _pronoun(labels: Sequence[str]) -> str:
    return "it" if len(labels) == 1 else "them"
