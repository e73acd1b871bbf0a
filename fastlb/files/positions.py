"""Where nodes are drawn, as their attributes say: x and y, pos, or longitude and latitude."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .filenumbers import is_number

Position = tuple[float, float]

_EAST, _NORTH = ("longitude", "lon", "lng"), ("latitude", "lat")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def read_positions(nodes: Sequence[Mapping[str, Any]]) -> tuple[Position | None, ...] | None:
    """Return (x, y) of every node, y upwards, from its attributes; None where it has none.

    The first form that any node uses is read for all nodes. Longitudes are multiplied by the
    cosine of the mean latitude. The result is None if no node has a position.
    """
    lowered = [{key.lower(): value for key, value in node.items()} for node in nodes]
    for read in (_plane, _pos, _globe, _screen):
        positions = tuple(map(read, lowered))
        if any(positions):
            return _projected(positions) if read is _globe else positions
    return None


def _plane(node: Mapping[str, Any]) -> Position | None:
    return _pair(node.get("x"), node.get("y"))


def _screen(node: Mapping[str, Any]) -> Position | None:
    position = _pair(node.get("graphics.x"), node.get("graphics.y"))
    return None if position is None else (position[0], -position[1])


def _globe(node: Mapping[str, Any]) -> Position | None:
    east = next((node[name] for name in _EAST if name in node), None)
    north = next((node[name] for name in _NORTH if name in node), None)
    return _pair(east, north)


def _pos(node: Mapping[str, Any]) -> Position | None:
    """Read ``pos``: a list, or a text such as "1.5,2" or "(1.5, 2)"."""
    value = node.get("pos")
    parts = value if isinstance(value, list | tuple) else _NUMBER.findall(str(value or ""))
    return _pair(*parts[:2]) if len(parts) >= 2 else None


def _pair(x: Any, y: Any) -> Position | None:
    if not (is_number(x) and is_number(y)):
        return None
    pair = float(x), float(y)
    return pair if all(map(math.isfinite, pair)) else None


def _projected(positions: Sequence[Position | None]) -> tuple[Position | None, ...]:
    north = [position[1] for position in positions if position is not None]
    shrink = max(0.1, math.cos(math.radians(sum(north) / len(north))))
    return tuple(
        None if position is None else (position[0] * shrink, position[1]) for position in positions
    )
