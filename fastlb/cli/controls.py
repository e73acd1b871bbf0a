"""Control characters of names in files, which must not reach a terminal: they could steer it."""

from __future__ import annotations

# C0 without line feeds, delete, and C1. They have no width, so that columns stay aligned.
_NONE = dict.fromkeys([*range(10), *range(11, 32), *range(127, 160)])


def without_controls(text: str) -> str:
    """Return a text without its control characters but for line feeds."""
    return text.translate(_NONE)
