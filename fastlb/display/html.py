"""Elements of HTML and SVG, whose text and attributes are always escaped."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is HTML already; all other text is escaped by :func:`tag`."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str) -> Markup:
    """Return an element; ``class_`` and ``http_equiv`` become ``class`` and ``http-equiv``."""
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    content = joined(*children)
    return Markup(f"<{name}{text}>" if name in _VOID else f"<{name}{text}>{content}</{name}>")


def joined(*children: str) -> Markup:
    """Return children joined, escaped unless they are HTML already."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children))


# Elements without an end tag.
_VOID = ("meta", "img")
