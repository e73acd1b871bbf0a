"""What matters of a balancing, in words: what Balance prints and shows in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..display.numbers import percent, shown


def facts(recorded: Mapping[str, Any], *, arrow: str = "->") -> dict[str, str]:
    """Return the main figures by name, of a batch their means over its networks.

    ``recorded`` : a Balance's fields by name, those that there are.
    """
    if "moved" in recorded and not np.size(recorded["moved"]):
        return {}
    one = {name: _mean(value) for name, value in recorded.items() if name in _MEANT}
    told = {}
    if "difference" in one:
        told["difference"] = (
            f"{shown(one['initial_difference'])} {arrow} {shown(one['difference'])}"
        )
        before, after = one["initial_imbalance"], one["imbalance"]
        told["imbalance"] = f"{percent(before)} {arrow} {percent(after)}"
    if "moved" in one:
        told["moved"] = f"{shown(one['moved'])} ({shown(one['cost'])} a unit of load)"
    if "local" in one:
        told["stayed"] = percent(one["locality"])
    if "converged" in recorded:
        told["sweeps"] = f"{shown(one['sweeps'])}{_ended(recorded)}"
    if "steps" in one:
        simulated = one.get("simulated_steps")
        more = "" if simulated is None else f" ({shown(simulated)} simulated)"
        told["steps"] = f"{shown(one['steps'])}{more}"
    for name, value in recorded.get("counts", {}).items():
        told[name.replace("_", " ")] = shown(_mean(value))
    return told


_MEANT = {
    "difference", "initial_difference", "imbalance", "initial_imbalance", "moved", "cost", "local",
    "locality", "sweeps", "steps", "simulated_steps",
}  # fmt: skip


def _mean(value: Any) -> Any:
    return float(np.mean(value)) if np.ndim(value) else value


def _ended(recorded: Mapping[str, Any]) -> str:
    """Return how a GDE ended that did not converge, else nothing."""
    converged = np.asarray(recorded["converged"])
    left = int(converged.size - np.count_nonzero(converged))
    if not left:
        return ""
    stalled = int(np.count_nonzero(recorded.get("stalled", False)))
    if converged.ndim == 0:
        return ", not converged: " + ("stalled" if stalled else "out of sweeps")
    return f", {left:,} of {converged.size:,} not converged"
