"""Keys of summaries and comparisons that are spelled otherwise than in the study."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ..random_loads.sampling import read_distribution
from ..topologies.parse import read_topology
from .methodtext import parse_method

# Keys that an error names.
MOST_NEAR = 3


def spelled_key(
    keys: Iterable[tuple[str, ...]], kinds: tuple[str, ...], key: Any, *, pairs: bool = False
) -> tuple[str, ...]:
    """Return a key as the study spells it, one text for each of ``kinds``.

    With ``pairs`` the last two, a pair of methods, may stand in the other order.

    Raises
    ------
    KeyError
        If there is none; the message names the nearest.
    """
    known = list(keys)
    if not isinstance(key, tuple) or len(key) != len(kinds):
        raise KeyError(f"key must be ({', '.join(kinds)}), got {key!r}{_nearest(known, key)}")
    columns = [set(column) for column in zip(*known, strict=True)] or [set() for _ in kinds]
    meanings = [_meaning(*part) for part in zip(kinds, key, columns, strict=True)]
    wanted = [meanings, [*meanings[:2], *meanings[:1:-1]]] if pairs else [meanings]
    for candidate in known:
        spelled = [_method(p) if k in METHODS else p for k, p in zip(kinds, candidate, strict=True)]
        if spelled in wanted:
            return candidate if spelled == meanings else (*candidate[:2], *candidate[:1:-1])
    raise KeyError(f"no ({', '.join(kinds)}) is {key!r}{_nearest(known, key)}")


def _meaning(kind: str, part: Any, known: set[str]) -> Any:
    """Return a part of a key so that equal spellings are equal."""
    if kind in METHODS:
        return _method(part)
    # The study's own spelling may name a file, which is not read again.
    if isinstance(part, str) and part in known:
        return part
    with suppress(ValueError, TypeError, OSError):
        return READERS[kind](part).spec
    return part


def _method(text: Any) -> Any:
    with suppress(ValueError, TypeError):
        return parse_method(text)
    return text


def _nearest(known: list[tuple[str, ...]], key: Any) -> str:
    """Return the end of a message: the keys most like one."""
    parts = [str(part) for part in key] if isinstance(key, tuple) else [str(key)]

    def likeness(candidate: tuple[str, ...]) -> float:
        pairs = zip(candidate, parts, strict=False)
        return sum(difflib.SequenceMatcher(None, a, b).ratio() for a, b in pairs)

    near = sorted(known, key=likeness, reverse=True)[:MOST_NEAR]
    return f"; the nearest of {len(known):,}: {', '.join(map(str, near))}" if near else ""


METHODS = ("method", "first", "second")
READERS: dict[str, Callable[[Any], Any]] = {"topology": read_topology, "loads": read_distribution}
