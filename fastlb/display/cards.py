"""The HTML of a result in a notebook: a title, a table of facts, further tables and drawings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .html import Markup, tag
from .numbers import shown
from .tables import html_table

FLEX = "display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start"


def card(title: str, facts: Mapping[str, Any], *parts: Markup, note: str = "") -> Markup:
    """Return an object as HTML.

    Parameters
    ----------
    title : str
    facts : mapping
        A row of a table each; values are formatted by :func:`shown`.
    parts : Markup
        Further tables and drawings beside the table.
    note : str
        Text after the title.
    """
    rows = [[name, shown(value)] for name, value in facts.items()]
    tables = [html_table(["", ""], rows, names=2)] if rows else []
    head = tag("div", tag("strong", title), f" {note}" if note else "")
    return tag("div", head, tag("div", *tables, *parts, style=FLEX))


class Displayed:
    """A dataclass that a notebook shows as a table of its public fields."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        names = [f.name for f in dataclasses.fields(self) if f.name[0] != "_"]  # type: ignore[arg-type]
        return card(type(self).__name__, {name: getattr(self, name) for name in names})
