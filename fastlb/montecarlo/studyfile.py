"""Studies as the text of TOML files."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import did_you_mean
from ..random_loads.distributions import Experiment
from ..topologies.parse import parse_topology
from .grid import GRID, Part

if TYPE_CHECKING:
    from ..topologies.topology import Topology
    from .targets import Target

REQUIRED = ("name", *GRID)

# Most dots in a line: tomllib takes a time that grows with the square of the parts of a key.
MAX_DOTS = 5000

# Stands above the first of the further grids.
FURTHER_COMMENT = "# [[further]]: one more grid of combinations, with the same trials and seed."


def toml_text(
    name: str,
    grids: Sequence[Part],
    *,
    trials: int,
    seed: int,
    targets: Sequence[Target],
    minimum_trials: int,
) -> str:
    """Return a study as the text of a TOML file; errors as for ``Study.to_toml``."""
    lines = [
        f"name = {json.dumps(name, ensure_ascii=False)}",
        f"trials = {trials}",
        f"seed = {seed}",
    ]
    if targets:
        entries = [f"{json.dumps(t.figure)} = {json.dumps(t.spec)}" for t in targets]
        lines.append(f"target_error = {{ {', '.join(entries)} }}")
        lines.append(f"minimum_trials = {minimum_trials}")
    first, *further = grids
    lines += _grid_lines(first)
    for i, part in enumerate(further):
        lines += ["", *([FURTHER_COMMENT] if i == 0 else []), "[[further]]", *_grid_lines(part)]
    return "\n".join(lines) + "\n"


def read_keys(text: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a study from the text of a TOML file, which may have these keys.

    Errors as for ``Study.from_toml``.
    """
    try:
        table = parse_toml(f"{text}\n")  # the newline gives errors in the last line its number
    except (ValueError, RecursionError) as error:
        raise ValueError(f"study is not valid TOML: {error}") from None
    _check_keys(table, keys, "study")
    further = table.get("further", [])
    if not isinstance(further, list) or not all(isinstance(part, dict) for part in further):
        raise ValueError(f"further must be tables [[further]], got {further!r}")
    for part in further:
        _check_keys(part, GRID, "further")
    return {**table, "further": [Part(**part) for part in further]}


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    ValueError
        If it is not valid, or has too many dots or digits.
    RecursionError
        If it is nested too deeply.
    """
    dots = max(line.count(".") for line in text.split("\n"))
    if dots > MAX_DOTS:
        raise ValueError(f"a line must have at most {MAX_DOTS} dots, got {dots}")
    return tomllib.loads(text)


def _grid_lines(part: Part) -> list[str]:
    for topology in part.topologies:
        _check_spelling(topology)
    for loads in part.loads:
        if isinstance(loads, Experiment):
            raise ValueError(f"loads of a TOML file must have a spelling, got {loads!r}")
    lists = {
        "topologies": [topology.spec for topology in part.topologies],
        "methods": list(part.methods),
        "loads": [loads.spec for loads in part.loads],
    }
    return [f"{key} = {json.dumps(values, ensure_ascii=False)}" for key, values in lists.items()]


def _check_spelling(topology: Topology) -> None:
    try:
        same = parse_topology(topology.spec) == topology
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"topologies of a TOML file must have a spelling, got {topology!r}")


def _check_keys(table: dict[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ValueError(
                f"{where} takes {', '.join(keys)}, got {key!r}{did_you_mean(key, keys)}"
            )
    missing = [key for key in keys if key in REQUIRED and key not in table]
    if missing:
        raise ValueError(f"{where} needs {', '.join(missing)}")
