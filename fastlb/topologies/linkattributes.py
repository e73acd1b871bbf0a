"""Attributes of links as people name them."""

from __future__ import annotations

import warnings

# What people call the capacity of a link, in lower case, the likeliest first.
CAPACITY_NAMES = ("capacity", "cap", "bandwidth", "bw", "linkspeedraw", "linkspeed", "speed")


def warn_of_unread(capacity: str, traffic: str, attributes: set[str]) -> None:
    """Warn of an attribute that is usually the capacity, where no link has ``capacity``."""
    unread = [name for name in attributes if name.lower() in CAPACITY_NAMES and name != traffic]
    if capacity in attributes or not unread:
        return
    name = min(unread, key=lambda name: (CAPACITY_NAMES.index(name.lower()), name))
    warnings.warn(
        f"links have the attribute {name!r}, which is not read: "
        f"capacity={name!r} makes it their capacity",
        stacklevel=3,
    )
