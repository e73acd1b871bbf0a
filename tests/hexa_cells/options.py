"""The options of hexa_cell that tests go through."""

from __future__ import annotations

from typing import Any

OPTIONS: list[dict[str, Any]] = [
    {"algorithm": "A"},
    {"algorithm": "A", "odd_unit": "lower"},
    {"algorithm": "A", "share": "greedy"},
    {"algorithm": "B", "odd_unit": "higher"},
    {"algorithm": "B", "share": "greedy", "odd_unit": "lower"},
    {"algorithm": "B"},
    {"algorithm": "C"},
]
