"""Keys of summaries and comparisons that are spelled otherwise than in the study."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from ..random_loads.sampling import read_distribution
from ..topologies.parse import read_topology
from .methodtext import parse_method

# What the parts of a key are: of summaries, and of comparisons of two methods.
KINDS = ("topology", "method", "loads")
PAIR_KINDS = ("topology", "loads", "first", "second")

METHOD_KINDS = ("method", "first", "second")
READERS: dict[str, Callable[[Any], Any]] = {"topology": read_topology, "loads": read_distribution}

# Nearest keys that an error names.
MAX_NEAREST = 3


def spelled_key(
    keys: Iterable[tuple[str, ...]], kinds: tuple[str, ...], key: Any
) -> tuple[str, ...]:
    """Return a key as the study spells it, one text for each of ``kinds``.

    The two methods of a comparison may be in the other order.

    Raises
    ------
    KeyError
        If there is no such key; the message names the nearest.
    """
    known = list(keys)
    if not isinstance(key, tuple) or len(key) != len(kinds):
        raise KeyError(f"key must be ({', '.join(kinds)}), got {key!r}{_nearest(known, key)}")
    spellings = [set(parts) for parts in zip(*known, strict=True)] or [set() for _ in kinds]
    parts = [_comparable(*part) for part in zip(kinds, key, spellings, strict=True)]
    for candidate in known:
        its_parts = [
            _parsed_method(part) if kind in METHOD_KINDS else part
            for kind, part in zip(kinds, candidate, strict=True)
        ]
        if its_parts == parts:
            return candidate
        if kinds == PAIR_KINDS and its_parts == _swapped(parts):
            return tuple(_swapped(candidate))
    raise KeyError(f"no ({', '.join(kinds)}) is {key!r}{_nearest(known, key)}")


def _swapped(parts: Iterable[Any]) -> list[Any]:
    """Return the parts of a comparison's key with its two methods in the other order."""
    topology, loads, first, second = parts
    return [topology, loads, second, first]


def _comparable(kind: str, part: Any, spellings: set[str]) -> Any:
    """Return a part of a key in a form in which equal spellings are equal."""
    if kind in METHOD_KINDS:
        return _parsed_method(part)
    # The study's own spelling may be a file's name; the file is not read again.
    if isinstance(part, str) and part in spellings:
        return part
    with suppress(ValueError, TypeError, OSError):
        return READERS[kind](part).spec
    return part


def _parsed_method(text: Any) -> Any:
    with suppress(ValueError, TypeError):
        return parse_method(text)
    return text


def _nearest(known: list[tuple[str, ...]], key: Any) -> str:
    """Return the end of an error message, which names the keys that are most similar to one."""
    parts = [str(part) for part in key] if isinstance(key, tuple) else [str(key)]

    def similarity(candidate: tuple[str, ...]) -> float:
        pairs = zip(candidate, parts, strict=False)
        return sum(difflib.SequenceMatcher(None, a, b).ratio() for a, b in pairs)

    nearest = sorted(known, key=similarity, reverse=True)[:MAX_NEAREST]
    if not nearest:
        return ""
    return f"; the nearest of {len(known):,}: {', '.join(map(str, nearest))}"
