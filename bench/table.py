"""What was measured as JSON and as one Markdown table, and its comparison with an earlier run.

A measurement is what one run of ``pytest bench`` wrote: ``environment`` and ``rows``. A table has
two columns for each, so that those made for several processors stand side by side.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import fastlb
from bench import native, processor
from bench.race import Row

# Ratios of one run wander by a tenth on a busy machine.
SLACK = 0.25
# Whose versions a table gives, where they are installed; HiGHS is scipy's.
LIBRARIES = ("numpy", "numba", "scipy", "ortools", "igraph", "networkx")

Measurement = dict[str, Any]


def measurement(rows: list[Row]) -> Measurement:
    """Return rows with what they were measured on."""
    return {"environment": environment(), "rows": [row.to_dict() for row in rows]}


def as_json(measured: Measurement) -> str:
    """Return a measurement for programs."""
    return json.dumps(measured, indent=1) + "\n"


def as_markdown(measured: Sequence[Measurement]) -> str:
    """Return the whole table: a line for each row and peer, two columns for each measurement."""
    heads = [(f"{label(each)}", "aim") for each in measured]
    lines = [["work", "against", *(cell for head in heads for cell in head)]]
    lines.append(["---"] * len(lines[0]))
    rows = [{row["name"]: row for row in each["rows"]} for each in measured]
    for name in dict.fromkeys(name for each in rows for name in each):
        same = [each.get(name) for each in rows]
        for i, (kind, other) in enumerate(compared(row for row in same if row)):
            cells = [cell for row in same for cell in _cells(row, kind, other)]
            lines.append([name if not i else "", other, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{about(measured)}\n"


def label(measured: Measurement) -> str:
    """Return what the column of a measurement is called: the processor's instructions."""
    return processor.INSTRUCTIONS[measured["environment"]["register bytes"]]


def compared(rows: Iterator[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return with whom rows compare, peers first: ``("faster_than", "C")`` and the like."""
    present = list(rows)
    return [
        (kind, other)
        for kind in ("faster_than", "times_of")
        for other in dict.fromkeys(other for row in present for other in row[kind])
    ]


def holds(row: dict[str, Any], kind: str, other: str) -> bool | None:
    """Return whether a row holds its aim against a peer or yardstick, None without an aim."""
    if other not in row["targets"]:
        return None
    median, aim = row[kind][other]["median"], row["targets"][other]
    return bool(median >= aim if kind == "faster_than" else median <= aim)


def about(measured: Sequence[Measurement]) -> str:
    """Return what all was measured on, and what differs between the measurements."""
    environments = [each["environment"] for each in measured]
    common = [
        item for item in environments[0].items() if all(item in e.items() for e in environments)
    ]
    text = "; ".join(f"{name} {value}" for name, value in common)
    for each in measured:
        rest = [item for item in each["environment"].items() if item not in common]
        if rest:
            text += f". {label(each)}: " + "; ".join(f"{name} {value}" for name, value in rest)
    return text


def fallen(rows: list[Row], earlier: Measurement) -> list[str]:
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


def environment() -> dict[str, Any]:
    """Return machine, versions, date, and what kernels and C were compiled for."""
    versions = {name: version for name in LIBRARIES if (version := _version(name))}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": _machine(),
        "compiled for": processor.name(),
        "register bytes": processor.register_bytes(),
        "fastlb": fastlb.__version__,
        "python": platform.python_version(),
        **versions,
        "C": native.version(),
    }


def _cells(row: dict[str, Any] | None, kind: str, other: str) -> tuple[str, str]:
    if row is None or other not in row[kind]:
        return "", ""
    ratio = row[kind][other]
    text = f"{ratio['median']:.3g} ({ratio['low']:.3g} to {ratio['high']:.3g})"
    takes, relation = ("", ">=") if kind == "faster_than" else ("takes ", "<=")
    held = holds(row, kind, other)
    missed = "" if held else ", missed"
    return takes + text, "" if held is None else f"{relation} {row['targets'][other]:g}{missed}"


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def _machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()
