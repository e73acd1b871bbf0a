"""What a store says of its study: spelled out, so that it can be compared and run again."""

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

# What bundled studies may be asked for.
ASKED = ("trials", "seed", "target_error", "minimum_trials")

# What every study says of itself in a manifest of the version that is known.
SAID = ("name", *GRID, "further", *ASKED)

# Differences told of two studies, and entries told of two lists.
TOLD = 6

_DIGEST = " sha256:"


def describe(study: Study | Part) -> dict[str, Any]:
    """Return every parameter of a study JSON-ready.

    Topologies and loads are spelled. Where a spelling does not say all, as that of a general
    network or of one in a file, the SHA-256 of the whole stands behind it.
    """
    return {
        field.name: _plain(field.name, getattr(study, field.name))
        for field in dataclasses.fields(study)
    }


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's content, the same in every process and on every machine.

    Raises
    ------
    TypeError
        If it is made of something else than numbers, text, arrays, sequences and dataclasses.
    """
    hasher = hashlib.sha256()
    for piece in _canonical(value):
        hasher.update(len(piece).to_bytes(8, "little"))
        hasher.update(piece)
    return hasher.hexdigest()


def check_said(said: Any) -> None:
    """Raise ``ValueError`` unless what a manifest says of its study has the kinds it should have.

    The message begins with the key.
    """
    if not isinstance(said, dict):
        raise ValueError(f"study must be a table, got {said!r:.200}")
    _check_kinds(said, SAID, "study")
    for i, part in enumerate(said["further"]):
        _check_kinds(part, GRID, f"study.further[{i}]")


def study_of(described: Mapping[str, Any]) -> Study:
    """Return the study that was described, a bundled one as such.

    Raises
    ------
    ValueError, TypeError
        If it has topologies or loads that no spelling says all of, or a value is wrong.
    """
    from .. import studies

    if described["name"] in studies.names():
        asked = {key: described[key] for key in ASKED}
        bundled = dataclasses.replace(studies.load(described["name"]), **asked)
        if describe(bundled) == described:
            return bundled
    further = described["further"]
    for table, keys in ((described, SAID), *((part, GRID) for part in further)):
        if unknown := next((key for key in table if key not in keys), None):
            raise ValueError(f"study has the keys {', '.join(keys)}, got {unknown}")
    grids = [described, *further]
    spelled = [text for grid in grids for text in (*grid["topologies"], *grid["loads"])]
    for text in spelled:
        name, hidden, _ = text.partition(_DIGEST)
        if hidden and not is_graph_file(name):
            raise ValueError(f"{name} has no spelling to be read back from")
    read = [{**grid, "topologies": list(map(_read_back, grid["topologies"]))} for grid in grids]
    return Study(**{**read[0], "further": [Part(**part) for part in read[1:]]})


def _read_back(text: str) -> Topology:
    """Return a topology of a manifest; a file must hold the network that it held."""
    name, hidden, expected = text.partition(_DIGEST)
    topology = parse_topology(name)
    if hidden and digest(topology) != expected:
        raise ValueError(
            f"{name} must hold the network of the store: it has changed, or was read with options"
        )
    return topology


def differences(stored: Mapping[str, Any], current: Mapping[str, Any]) -> list[str]:
    """Return what two descriptions differ in, a line a key: what was kept, what is given now."""
    first, second = _flat(stored), _flat(current)
    keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    lines = [f"{key}: {_change(first.get(key), second.get(key))}" for key in keys]
    return lines if len(lines) <= TOLD else [*lines[:TOLD], f"and {len(lines) - TOLD} more"]


def _check_kinds(said: dict[str, Any], keys: Iterable[str], where: str) -> None:
    for key in keys:
        if key not in said:
            raise ValueError(f"{where} lacks {key}")
        kind, fits = _KINDS[key]
        if not fits(said[key]):
            raise ValueError(f"{where}.{key} must be {kind}, got {said[key]!r:.200}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("text", lambda value: isinstance(value, str)),
    "further": ("a list of tables", _are_tables),
    "target_error": ("a table", lambda value: isinstance(value, dict)),
    **dict.fromkeys(GRID, ("a list of texts", _are_texts)),
    **dict.fromkeys(("trials", "seed", "minimum_trials"), ("a whole number", _is_number)),
}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Topology | Distribution):
        return _spelling(value)
    if isinstance(value, Part):
        return describe(value)
    if isinstance(value, tuple) and name == "target_error":
        return {target.figure: target.spec for target in value}
    if isinstance(value, tuple):
        return [_plain(name, part) for part in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{name} must be numbers or text to be kept in a store, got {value!r}")


def _spelling(value: Topology | Distribution) -> str:
    if isinstance(value, Resampled) and value.file:
        return value.spec  # with the hash of the loads, whatever the file holds by now
    if isinstance(value, Network) and value.label is not None:
        return f"{value.spec}{_DIGEST}{digest(value)}"  # the file may change
    read: Any = parse_topology if isinstance(value, Topology) else parse_distribution
    try:
        whole = read(value.spec) == value
    except (ValueError, TypeError):
        whole = False
    return value.spec if whole else f"{value.spec}{_DIGEST}{digest(value)}"


def _canonical(value: Any) -> Iterator[bytes]:
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


def _flat(described: Mapping[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in described.items() if key != "further"}
    for i, part in enumerate(described.get("further", ()), 1):
        flat |= {f"{key} of grid {i + 1}": value for key, value in part.items()}
    return flat


def _change(stored: Any, current: Any) -> str:
    if not (isinstance(stored, list) and isinstance(current, list)):
        return f"{_shown(stored)} in the store, {_shown(current)} now"
    gone = [text for text in stored if text not in current]
    new = [text for text in current if text not in stored]
    if not gone and not new:
        return "in another order"
    sides = ((gone, "in the store only"), (new, "now only"))
    return ", ".join(f"{_shown(texts)} {side}" for texts, side in sides if texts)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key}={entry}" for key, entry in value.items()]
    if not isinstance(value, list):
        return "nothing" if value is None else str(value)
    texts = [text[:200] for text in value[:TOLD]] or ["nothing"]
    return " ".join(texts) + (f" and {len(value) - TOLD} more" if len(value) > TOLD else "")
