"""The table of ratios as Markdown and JSON, and its comparison with an earlier one."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import fastlb
from bench import native
from bench.race import Row

# Ratios of one run wander by a tenth on a busy machine.
SLACK = 0.25
# Whose versions a table gives, where they are installed; HiGHS is scipy's.
LIBRARIES = ("numpy", "numba", "scipy", "ortools", "igraph", "networkx")


def as_markdown(rows: list[Row]) -> str:
    """Return the table: one row a line of work, peers as columns."""
    peers = list(dict.fromkeys(peer for row in rows for peer in row.faster_than))
    yardsticks = list(dict.fromkeys(y for row in rows for y in row.times_of))
    heads = ["work", "rounds", "ns/node", *(f"faster than {p}" for p in peers)]
    heads += [f"{y}, fewer is better" for y in yardsticks]
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    for row in rows:
        cells = [row.name, f"{row.rounds}", f"{row.nanoseconds_per_node:.3g}"]
        cells += [_cell(row, peer, row.faster_than.get(peer), ">=") for peer in peers]
        cells += [_cell(row, y, row.times_of.get(y), "<=") for y in yardsticks]
        lines.append(" | ".join(cells))
    about = "; ".join(f"{name} {value}" for name, value in environment().items())
    return "\n".join(f"| {line} |" for line in lines) + f"\n\n{about}\n"


def as_json(rows: list[Row]) -> str:
    """Return the same for programs, with what it was measured on."""
    found = {"environment": environment(), "rows": [row.to_dict() for row in rows]}
    return json.dumps(found, indent=1) + "\n"


def fallen(rows: list[Row], earlier: dict[str, Any]) -> list[str]:
    """Return a line for every ratio that is worse than earlier by more than the slack."""
    before = {row["name"]: row for row in earlier["rows"]}
    lines = []
    for row in rows:
        if row.name not in before:
            continue
        old = before[row.name]
        for peer, ratio in row.faster_than.items():
            was = old["faster_than"].get(peer, {"median": 0.0})["median"]
            if ratio.median < was * (1 - SLACK):
                lines.append(f"{row.name}: {ratio} times faster than {peer}, was {was:.3g}")
        for yardstick, ratio in row.times_of.items():
            was = old["times_of"].get(yardstick, {"median": float("inf")})["median"]
            if ratio.median > was / (1 - SLACK):
                lines.append(f"{row.name}: takes {ratio} {yardstick}, was {was:.3g}")
    return lines


def environment() -> dict[str, str]:
    """Return machine, versions and date."""
    versions = {name: version for name in LIBRARIES if (version := _version(name))}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": _processor(),
        "fastlb": fastlb.__version__,
        "python": platform.python_version(),
        **versions,
        "C": native.version(),
    }


def _cell(row: Row, label: str, ratio: Any, relation: str) -> str:
    if ratio is None:
        return ""
    target = row.targets.get(label)
    return f"{ratio}" + (f", aim {relation} {target:g}" if target is not None else "")


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()
