"""Usual names of link attributes."""

from __future__ import annotations

import warnings

# Usual names of the capacity of a link, in lower case, the likeliest first.
CAPACITY_NAMES = ("capacity", "cap", "bandwidth", "bw", "linkspeedraw", "linkspeed", "speed")


def warn_of_unread(capacity: str, traffic: str, attributes: set[str]) -> None:
    """Warn if no link has the attribute ``capacity`` but some have a usual name of it."""
    unread = [name for name in attributes if name.lower() in CAPACITY_NAMES and name != traffic]
    if capacity in attributes or not unread:
        return
    name = min(unread, key=lambda name: (CAPACITY_NAMES.index(name.lower()), name))
    warnings.warn(
        f"links have the attribute {name!r}, which is not read: "
        f"capacity={name!r} makes it their capacity",
        stacklevel=3,
    )
