"""The README's table of performance: ``python -m bench.readme RATIOS.json [README.md]``.

It replaces what stands between the two markers in the README, one line for each kind of work,
and names every row of the whole table in which a peer is faster.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

BEGIN, END = "<!-- performance: begin -->", "<!-- performance: end -->"

# What a line says, and the rows of the whole table that it sums up.
LINES = {
    "DEM, batches of small cubes": r"DEM \d+-cube, batch of \d+, \w+$",
    "DEM, loads of 20 to 60 bits": r"DEM \d+-cube, batch of \d+, loads of",
    "DEM, one cube of 2^17 to 2^24 nodes": r"DEM (17|20|24)-cube, single",
    "DEM, one small cube a call": r"DEM (6|10|14)-cube, single",
    "DEM, a 10-cube in every step of a program": r"DEM 10-cube, one call",
    "DDE, 16x16x16 torus": r"DDE 16x16x16 torus",
    "DDE, (5,7,9) grid and 1024-ring": r"DDE (\(5|1024)",
    "GDE, batches": r"GDE .*batch of \d{2,}",
    "GDE, one 8x8 mesh a call": r"GDE 8x8 mesh, batch of 1,",
    "fault-tolerant DEM": r"fault-tolerant DEM",
    "making the plan for faulty links": r"plan of a",
    "Hexa-Cell, batches": r"HHC . d=\d+, batch",
    "Hexa-Cell, one network": r"HHC . d=\d+, single",
    "Hexa-Cell, loads of 40 bits": r"HHC . d=\d+, loads to",
    "Hexa-Cell, all that is counted": r"HHC . d=\d+, all counters",
    "Monte Carlo: draw, balance, measure": r"Monte Carlo.*(?<!threads)$",
    "Monte Carlo on two threads": r"Monte Carlo.* threads$",
    "statistics of a study": r"statistics of a figure",
    "random numbers": r"random ",
    "minimax: least contention": r"minimax .*: beta$",
    "minimax: least contention and a plan": r"minimax .*: beta and a plan",
    "minimax: least traffic": r"minimax .*: least traffic",
    "0-1 programs, batches": r"0-1 batch",
    "0-1 programs of 13 to 40 variables, one at a time": r"0-1 single, \w+, \d+ rows",
    "0-1 programs of the literature": r"0-1 single, (mknap1|p0033|stein27)",
    "simulated search": r"simulated search",
    "import and first call": r"import fastlb|first call",
    "memory": r".*memory",
}


@dataclass(frozen=True)
class Against:
    """The rows of one line against one peer or yardstick."""

    label: str
    medians: list[float]
    aims: list[float | None]
    faster: bool

    def __str__(self) -> str:
        low, high = min(self.medians), max(self.medians)
        middle = geometric_mean(self.medians)
        spread = f" ({low:.3g} to {high:.3g})" if len(self.medians) > 1 else ""
        return f"{middle:.3g}{spread}"

    @property
    def aim(self) -> str:
        aimed = [(m, a) for m, a in zip(self.medians, self.aims, strict=True) if a is not None]
        if not aimed:
            return ""
        held = sum(m >= a if self.faster else m <= a for m, a in aimed)
        relation = ">=" if self.faster else "<="
        aims = sorted({a for _, a in aimed})
        wanted = f"{relation} {' or '.join(f'{a:g}' for a in aims)}"
        return f"{wanted}: {'held' if held == len(aimed) else f'{held} of {len(aimed)}'}"


def comparisons(rows: list[dict[str, Any]]) -> list[Against]:
    """Return what some rows say against each peer and yardstick."""
    found = []
    for kind, faster in (("faster_than", True), ("times_of", False)):
        for label in dict.fromkeys(label for row in rows for label in row[kind]):
            those = [row for row in rows if label in row[kind]]
            medians = [row[kind][label]["median"] for row in those]
            found.append(Against(label, medians, [r["targets"].get(label) for r in those], faster))
    return found


def table(measured: dict[str, Any]) -> str:
    """Return the Markdown between the markers."""
    about = "; ".join(f"{key} {value}" for key, value in measured["environment"].items())
    lines = [f"Measured in one run: {about}. {repeats(measured['rows'])}", ""]
    lines += ["| work | against | times faster | aim |", "| --- | --- | --- | --- |"]
    for line, pattern in LINES.items():
        rows = [row for row in measured["rows"] if re.match(pattern, row["name"])]
        for i, against in enumerate(comparisons(rows)):
            ratio = str(against) if against.faster else f"takes {against}"
            lines.append(f"| {line if not i else ''} | {against.label} | {ratio} | {against.aim} |")
    lines += ["", *losses(measured["rows"])]
    return "\n".join(lines)


def repeats(rows: list[dict[str, Any]]) -> str:
    """Return a sentence on how often all was run, and how near to the median it came."""
    rounds = sorted(row["rounds"] for row in rows)
    ratios = [ratio for row in rows for ratio in (row["faster_than"] | row["times_of"]).values()]
    spreads = sorted((ratio["high"] - ratio["low"]) / ratio["median"] / 2 for ratio in ratios)
    middle, most = spreads[len(spreads) // 2], spreads[-1]
    return (
        f"A row's ratio is the median of {rounds[0]} to {rounds[-1]} rounds, in the middle "
        f"{rounds[len(rounds) // 2]}; half of its rounds lie within {middle:.1%} of it in the "
        f"middle row, within {most:.1%} in every row."
    )


def losses(rows: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for every peer that is faster somewhere."""
    won: dict[str, list[str]] = {}
    for row in rows:
        for peer, ratio in row["faster_than"].items():
            if ratio["median"] < 1:
                won.setdefault(peer, []).append(f"{row['name']} ({ratio['median']:.2g})")
    if not won:
        return ["No peer is faster in any row."]
    return [f"{peer} is faster in: {'; '.join(names)}." for peer, names in won.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ratios", type=Path, help="ratios.json of pytest bench --table")
    parser.add_argument("readme", type=Path, nargs="?", default=Path("README.md"))
    arguments = parser.parse_args()
    text = arguments.readme.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        parser.error(f"{arguments.readme} must hold the lines {BEGIN} and {END}")
    made = table(json.loads(arguments.ratios.read_text()))
    arguments.readme.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}")


if __name__ == "__main__":
    main()
