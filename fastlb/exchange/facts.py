"""The main figures of a balance as texts, for its ``repr`` and for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..display.numbers import percent, shown


def facts(recorded: Mapping[str, Any], *, arrow: str = "->") -> dict[str, str]:
    """Return the main figures as texts by name; of a batch the means over its networks.

    ``recorded`` has the recorded fields of a Balance by name.
    """
    if "moved" in recorded and not np.size(recorded["moved"]):
        return {}
    means = {name: _mean(value) for name, value in recorded.items() if name in _AVERAGED}
    texts = {}
    if "difference" in means:
        texts["difference"] = (
            f"{shown(means['initial_difference'])} {arrow} {shown(means['difference'])}"
        )
        before, after = means["initial_imbalance"], means["imbalance"]
        what = "imbalance of load / weight" if "weights" in recorded else "imbalance"
        texts[what] = f"{percent(before)} {arrow} {percent(after)}"
    if "moved" in means:
        texts["moved"] = f"{shown(means['moved'])} ({shown(means['cost'])} a unit of load)"
    if "local" in means:
        texts["stayed"] = percent(means["locality"])
    if "converged" in recorded:
        texts["sweeps"] = f"{shown(means['sweeps'])}{_unconverged_text(recorded)}"
    if "steps" in means:
        simulated = means.get("simulated_steps")
        more = "" if simulated is None else f" ({shown(simulated)} simulated)"
        texts["steps"] = f"{shown(means['steps'])}{more}"
    for name, value in recorded.get("counts", {}).items():
        texts[name.replace("_", " ")] = shown(_mean(value))
    return texts


_AVERAGED = {
    "difference", "initial_difference", "imbalance", "initial_imbalance", "moved", "cost", "local",
    "locality", "sweeps", "steps", "simulated_steps",
}  # fmt: skip


def _mean(value: Any) -> Any:
    return float(np.mean(value)) if np.ndim(value) else value


def _unconverged_text(recorded: Mapping[str, Any]) -> str:
    """Return a text on networks on which GDE did not converge, or an empty one."""
    converged = np.asarray(recorded["converged"])
    unconverged = int(converged.size - np.count_nonzero(converged))
    if not unconverged:
        return ""
    stalled = int(np.count_nonzero(recorded.get("stalled", False)))
    if converged.ndim == 0:
        return ", not converged: " + ("stalled" if stalled else "out of sweeps")
    return f", {unconverged:,} of {converged.size:,} not converged"
