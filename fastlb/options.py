"""Which options a balancing method takes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from . import registry

# Arguments of every method; they are no options of one.
SHARED = ("loads", "topology", "record", "out")


def options_of(method: str) -> tuple[str, ...] | None:
    """Return the names of a method's options, or None if it may take any or does not tell."""
    try:
        parameters = list(inspect.signature(registry._METHODS[method]).parameters.values())[2:]
    except ValueError:
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(p.name for p in parameters if p.name not in SHARED)


def default_of(method: str, option: str) -> object:
    """Return what an option is when it is not given."""
    return inspect.signature(registry._METHODS[method]).parameters[option].default


def check_options(method: str, options: Iterable[str]) -> None:
    """Raise ``TypeError`` if a method is given an option that it does not take."""
    taken = options_of(method)
    for name in options:
        if taken is not None and name not in (*taken, *SHARED):
            listed = f"takes {', '.join(taken)}" if taken else "takes no options"
            raise TypeError(f"{method} {listed}, got {name}")
