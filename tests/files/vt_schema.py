"""What vt's published schema of an ``LBDatafile`` asks of a document, in rules of our own.

A rule is a type, a list with the rule of its items, or a dict with a rule for each entry; entries
whose name ends in ``?`` may be missing, others that are not named may not be there. Numbers are
integers or decimals as their rule says: vt does not read 5 as a time, but 5.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_IDS = {"id?": int, "seq_id?": int, "collection_id?": int, "objgroup_id?": int, "index?": [int]}
_TASK = {
    "entity": {**_IDS, "type": str, "home": int, "migratable": bool},
    "node": int,
    "resource": str,
    "time": float,
    "subphases?": [{"id": int, "time": float}],
    "user_defined?": dict,
    "attributes?": dict,
}
_END = {**_IDS, "type": str, "home?": int, "migratable?": bool}
_MESSAGE = {"type": str, "from": _END, "to": _END, "messages": int, "bytes": float}
_ITERATION = {
    "id": int,
    "tasks": [_TASK],
    "communications?": [_MESSAGE],
    "user_defined?": dict,
}
_NUMBERS = {"list": [int], "range": [[int]]}
_DOCUMENT = {
    "type?": str,
    "metadata?": {
        "type?": str,
        "rank?": int,
        "rank_alpha?": float,
        "shared_node?": {"id": int, "size": int, "rank": int, "num_nodes": int},
        "phases?": {"count?": int, "skipped": _NUMBERS, "identical_to_previous": _NUMBERS},
        "attributes?": dict,
    },
    "phases": [{**_ITERATION, "lb_iterations?": [_ITERATION]}],
}


def breaches(document: Any) -> list[str]:
    """Return the places of a document that break a rule."""
    places = list(_structure(document, _DOCUMENT, "document"))
    return places or list(_values(document, "document"))


def _structure(value: Any, rule: Any, place: str) -> Iterator[str]:
    if isinstance(rule, list):
        if not isinstance(value, list):
            yield f"{place} is no list"
            return
        for i, item in enumerate(value):
            yield from _structure(item, rule[0], f"{place}[{i}]")
    elif isinstance(rule, dict):
        if not isinstance(value, dict):
            yield f"{place} is no object"
            return
        rules = {name.rstrip("?"): part for name, part in rule.items()}
        required = {name for name in rule if not name.endswith("?")}
        yield from (f"{place} has no {name}" for name in sorted(required - value.keys()))
        yield from (f"{place} has {name}" for name in sorted(value.keys() - rules.keys()))
        for name in value.keys() & rules.keys():
            yield from _structure(value[name], rules[name], f"{place}.{name}")
    elif type(value) is not rule:
        yield f"{place} is no {rule.__name__}"


def _values(value: Any, place: str) -> Iterator[str]:
    """Yield where kinds of files, slownesses and the ids of objects are not as they must be."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _values(item, f"{place}[{i}]")
    if not isinstance(value, dict):
        return
    if (
        place in ("document", "document.metadata")
        and value.get("type", "LBDatafile") != "LBDatafile"
    ):
        yield f"{place} is of type {value['type']}"
    if place == "document.metadata" and not value.get("rank_alpha", 0.0) >= 0:
        yield f"{place} has a rank_alpha below 0"
    if place.endswith((".entity", ".from", ".to")):
        if not value.keys() & {"id", "seq_id"}:
            yield f"{place} has neither id nor seq_id"
        by_collection = "seq_id" in value and value.get("migratable") is True
        if by_collection and "collection_id" not in value:
            yield f"{place} has no collection_id"
    for name, item in value.items():
        if name not in ("user_defined", "attributes"):
            yield from _values(item, f"{place}.{name}")
