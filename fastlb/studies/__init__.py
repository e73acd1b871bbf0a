"""Bundled studies: the experiments of the papers, ready to be run."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

from ..arguments import written

if TYPE_CHECKING:
    from ..montecarlo.study import Study

# Name, module, and what `fastlb study` says of it.
_BUNDLED = {
    "wu-shu": ("wu_shu", "DDE against GDE on meshes and tori: Table I, Figures 11-16"),
    "hexa-cell": ("hexa_cell", "Algorithms A, B and C on hyper hexa-cells: Figures 3-11, errata"),
    "more-wu": ("more_wu", "Branch and bound with and without balancing: the speedup"),
    "more-wu-faults": ("more_wu_faults", "DEM on hypercubes with faulty links: Figure 1"),
    "minimax": ("minimax", "Minimax flow: contention, routing schemes, traffic, entities"),
}


def names() -> dict[str, str]:
    """Return the names of the bundled studies, each with a line about it."""
    return {name: about for name, (_, about) in _BUNDLED.items()}


def load(name: str) -> Study:
    """Return a bundled study.

    Its trials and seed are changed with ``dataclasses.replace``; it is run by ``fastlb.run``.

    Raises
    ------
    ValueError
        If there is no study of this name.

    Examples
    --------
    >>> load("wu-shu").trials
    100
    """
    if not isinstance(name, str) or name not in _BUNDLED:
        close = difflib.get_close_matches(str(name), _BUNDLED, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"study must be one of {', '.join(_BUNDLED)}, got {written(name)}{hint}")
    module, _ = _BUNDLED[name]
    study: Study = importlib.import_module(f".{module}", __name__).study()
    return study
