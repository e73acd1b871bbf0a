"""Descriptions of studies as JSON-ready data, which can be stored, compared and run again."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..files.graphfiles import is_graph_file
from ..random_loads.distributions import Distribution
from ..random_loads.parse import parse_distribution
from ..random_loads.resampled import Resampled
from ..topologies.network import Network
from ..topologies.parse import parse_topology
from ..topologies.topology import Topology
from .grid import GRID, Part
from .study import Study

# Parameters with which a bundled study may be run and still be the bundled one.
OPTIONS = ("trials", "seed", "target_error", "minimum_trials")

# The keys of a description.
KEYS = ("name", *GRID, "further", *OPTIONS)

# Most differences of two studies, and entries of a list, that an error names.
MAX_NAMED = 6

# Stands between a spelling and the hash of what it does not say.
_HASH_MARK = " sha256:"


def describe(study: Study | Part) -> dict[str, Any]:
    """Return every parameter of a study, or of a part of it, JSON-ready.

    Topologies and loads become their spelling. The SHA-256 of the whole follows it where the
    spelling does not say all, as for a general network or one in a file.
    """
    return {
        field.name: _json_ready(field.name, getattr(study, field.name))
        for field in dataclasses.fields(study)
    }


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's content, the same in every process and on every machine.

    Raises
    ------
    TypeError
        If it has something other than numbers, text, arrays, sequences and dataclasses.
    """
    hasher = hashlib.sha256()
    for piece in _canonical(value):
        hasher.update(len(piece).to_bytes(8, "little"))
        hasher.update(piece)
    return hasher.hexdigest()


def check_description(description: Any) -> None:
    """Raise ``ValueError`` if a description lacks a key or has a value of the wrong kind.

    The message begins with the key.
    """
    if not isinstance(description, dict):
        raise ValueError(f"study must be a table, got {description!r:.200}")
    _check_kinds(description, KEYS, "study")
    for i, part in enumerate(description["further"]):
        _check_kinds(part, GRID, f"study.further[{i}]")


def study_of(description: Mapping[str, Any]) -> Study:
    """Return the study that was described.

    Raises
    ------
    ValueError, TypeError
        If a topology or distribution cannot be made from its spelling alone, a key is unknown or
        a value is wrong.
    """
    from .. import studies

    if description["name"] in studies.names():
        options = {key: description[key] for key in OPTIONS}
        bundled = dataclasses.replace(studies.load(description["name"]), **options)
        if describe(bundled) == description:
            return bundled
    further = description["further"]
    for table, keys in ((description, KEYS), *((part, GRID) for part in further)):
        if unknown := next((key for key in table if key not in keys), None):
            raise ValueError(f"study has the keys {', '.join(keys)}, got {unknown}")
    grids = [description, *further]
    spelled = [text for grid in grids for text in (*grid["topologies"], *grid["loads"])]
    for text in spelled:
        name, mark, _ = text.partition(_HASH_MARK)
        if mark and not is_graph_file(name):
            raise ValueError(f"{name} has no spelling to be read back from")
    read = [{**grid, "topologies": list(map(_read_topology, grid["topologies"]))} for grid in grids]
    return Study(**{**read[0], "further": [Part(**part) for part in read[1:]]})


def _read_topology(text: str) -> Topology:
    """Return a topology from a description; a file must still hold the same network."""
    name, mark, expected = text.partition(_HASH_MARK)
    topology = parse_topology(name)
    if mark and digest(topology) != expected:
        raise ValueError(
            f"{name} must hold the network of the store: it has changed, or was read with options"
        )
    return topology


def differences(stored: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """Return what two descriptions differ in: a text per key, with both values."""
    first, second = _flat(stored), _flat(current)
    keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    lines = [f"{key}: {_change(first.get(key), second.get(key))}" for key in keys]
    further = len(lines) - MAX_NAMED
    return lines if further <= 0 else [*lines[:MAX_NAMED], f"and {further} more"]


def _check_kinds(table: dict[str, Any], keys: Iterable[str], where: str) -> None:
    for key in keys:
        if key not in table:
            raise ValueError(f"{where} lacks {key}")
        kind, fits = _KINDS[key]
        if not fits(table[key]):
            raise ValueError(f"{where}.{key} must be {kind}, got {table[key]!r:.200}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)


# By key, the kind of its value in words, and a test of it.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("text", lambda value: isinstance(value, str)),
    "further": ("a list of tables", _are_tables),
    "target_error": ("a table", lambda value: isinstance(value, dict)),
    **dict.fromkeys(GRID, ("a list of texts", _are_texts)),
    **dict.fromkeys(("trials", "seed", "minimum_trials"), ("a whole number", _is_number)),
}


def _json_ready(name: str, value: Any) -> Any:
    if isinstance(value, Topology | Distribution):
        return _spelling_with_hash(value)
    if isinstance(value, Part):
        return describe(value)
    if isinstance(value, tuple) and name == "target_error":
        return {target.figure: target.spec for target in value}
    if isinstance(value, tuple):
        return [_json_ready(name, part) for part in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{name} must be numbers or text to be kept in a store, got {value!r}")


def _spelling_with_hash(value: Topology | Distribution) -> str:
    """Return a spelling, followed by the hash of the whole if it does not say all."""
    if _spelling_says_all(value):
        return value.spec
    return f"{value.spec}{_HASH_MARK}{digest(value)}"


def _spelling_says_all(value: Topology | Distribution) -> bool:
    if isinstance(value, Resampled) and value.file:
        return True  # its spelling has the hash of the loads
    if isinstance(value, Network) and value.label is not None:
        return False  # its file may change
    read: Any = parse_topology if isinstance(value, Topology) else parse_distribution
    try:
        return bool(read(value.spec) == value)
    except (ValueError, TypeError):
        return False


def _canonical(value: Any) -> Iterator[bytes]:
    """Yield a value's content as bytes, each array, text and number with its kind."""
    if isinstance(value, Topology):
        yield from _canonical(value._key)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield f"array {value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, bytes):
        yield b"bytes"
        yield value
    elif isinstance(value, tuple | list):
        yield f"sequence {len(value)}".encode()
        for part in value:
            yield from _canonical(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__qualname__.encode()
        yield from _canonical(tuple(getattr(value, f.name) for f in dataclasses.fields(value)))
    elif value is None or isinstance(value, str | int | float | Fraction):
        yield repr(value).encode()
    else:
        raise TypeError(f"only numbers, text and arrays can be kept in a store, got {value!r}")


def _flat(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description in which the keys of further grids stand beside the others."""
    flat = {key: value for key, value in description.items() if key != "further"}
    for number, part in enumerate(description.get("further", ()), 2):
        flat |= {f"{key} of grid {number}": value for key, value in part.items()}
    return flat


def _change(stored: Any, current: Any) -> str:
    if not (isinstance(stored, list) and isinstance(current, list)):
        return f"{_shown(stored)} in the store, {_shown(current)} now"
    removed = [text for text in stored if text not in current]
    added = [text for text in current if text not in stored]
    if not removed and not added:
        return "in another order"
    sides = ((removed, "in the store only"), (added, "now only"))
    return ", ".join(f"{_shown(texts)} {side}" for texts, side in sides if texts)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key}={entry}" for key, entry in value.items()]
    if not isinstance(value, list):
        return "nothing" if value is None else str(value)
    texts = [text[:200] for text in value[:MAX_NAMED]] or ["nothing"]
    further = len(value) - MAX_NAMED
    return " ".join(texts) + (f" and {further} more" if further > 0 else "")
