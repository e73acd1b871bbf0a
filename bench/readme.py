"""The README's table of performance and the whole one, from what ``pytest bench`` measured.

``python -m bench.readme RESULT.json .. [--readme README.md] [--whole RATIOS.md]`` takes one file
for each processor. It replaces what stands between markers in the README: one line for each kind
of work, with every row in which a peer is faster, and the seconds of first calls. With ``--whole``
it also writes the table of all rows.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from bench.table import Measurement, about, as_markdown, compared, holds, label

MARKERS = "<!-- {}: begin -->\n", "<!-- {}: end -->"
FIRST_CALL = "first call, {} cache: "

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
    "experts, published placement": r"experts .*(published|into arrays)$",
    "experts, refined placement": r"experts .*(refined|moves)$",
    "whole tasks, few: proven optimal": r"tasks, \d+ on \d nodes, proven",
    "whole tasks, many": r"tasks, [\d,]+ on \d+ nodes$",
    "whole tasks, one a node": r"tasks, one a node",
    "whole tasks along a plan": r"tasks along a plan",
    "rounds of transfers": r"rounds of",
    "maximum flow": r"maximum flow, ",
    "minimum-cost flow": r"minimum-cost flow, |network simplex, ",
    "inside NetworkX: flows and cuts": r"networkx [^:]*$",
    "inside NetworkX: connectivity": r"networkx .*: ",
    "import": r"import fastlb",
    "first call, empty cache": r"first call, empty cache",
    "first call, warm cache": r"first call, warm cache|first call of",
    "memory": r".*memory",
}


def summary(rows: list[dict[str, Any]], kind: str, other: str) -> tuple[str, str]:
    """Return how some rows compare with one peer or yardstick, and whether they hold their aims."""
    rows = [row for row in rows if other in row[kind]]
    if not rows:
        return "", ""
    medians = [row[kind][other]["median"] for row in rows]
    text = f"{geometric_mean(medians):.3g}"
    if len(rows) > 1:
        text += f" ({min(medians):.3g} to {max(medians):.3g})"
    takes, relation = ("", ">=") if kind == "faster_than" else ("takes ", "<=")
    aims = sorted({row["targets"][other] for row in rows if other in row["targets"]})
    if not aims:
        return takes + text, ""
    held = [outcome for row in rows if (outcome := holds(row, kind, other)) is not None]
    outcome = "held" if all(held) else f"{sum(held)} of {len(held)}"
    return takes + text, f"{relation} {' or '.join(f'{aim:g}' for aim in aims)}: {outcome}"


def table(measured: Sequence[Measurement]) -> str:
    """Return the Markdown between the markers."""
    lines = [f"Measured in one run each: {about(measured)}.", ""]
    lines += [
        f"{label(each)}: {repeats(each['rows'])} {against_c(each['rows'])}" for each in measured
    ]
    heads = ["work", "against", *(head for each in measured for head in (label(each), "aim"))]
    lines += ["", f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for line, pattern in LINES.items():
        rows = [
            [row for row in each["rows"] if re.match(pattern, row["name"])] for each in measured
        ]
        for i, (kind, other) in enumerate(compared(row for each in rows for row in each)):
            cells = [cell for each in rows for cell in summary(each, kind, other)]
            lines.append(f"| {line if not i else ''} | {other} | {' | '.join(cells)} |")
    for each in measured:
        lines += ["", *(f"{label(each)}: {line}" for line in losses(each["rows"]))]
    return "\n".join(lines)


def first_calls(measured: Sequence[Measurement]) -> str:
    """Return a table of the CPU seconds that processes take for a first call and nothing else."""
    seconds = [
        {row["name"]: row["nanoseconds_per_node"] / 1e9 for row in each["rows"]}
        for each in measured
    ]
    empty, warm = (FIRST_CALL.format(state) for state in ("empty", "warm"))
    names = dict.fromkeys(n.removeprefix(empty) for each in seconds for n in each if empty in n)
    heads = ["first call", *(f"{label(each)}, {s}" for each in measured for s in ("s", "cached"))]
    lines = [heads, ["---"] * len(heads)]
    for name in names:
        rows = [each.get(state + name) for each in seconds for state in (empty, warm)]
        lines.append([name, *("" if row is None else f"{row:.1f}" for row in rows)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if names else ""


def replaced(text: str, name: str, made: str) -> str:
    """Return a text with what stands between two markers replaced; raise ValueError without."""
    begin, end = (marker.format(name) for marker in MARKERS)
    before, begins, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not (begins and ends):
        raise ValueError(f"the README must hold the lines {begin.strip()} and {end}")
    return f"{before}{begin}{made}\n{end}{after}"


def against_c(rows: list[dict[str, Any]]) -> str:
    """Return a sentence with the geometric mean of all rows that have C as a peer."""
    medians = [row["faster_than"]["C"]["median"] for row in rows if "C" in row["faster_than"]]
    if not medians:
        return ""
    return f"All {len(medians)} rows beside C: {geometric_mean(medians):.3g} times faster."


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
    parser.add_argument("results", type=Path, nargs="+", help="written by pytest bench --table")
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--whole", type=Path, help="where the table of all rows goes")
    arguments = parser.parse_args()
    measured = [json.loads(path.read_text()) for path in arguments.results]
    text = arguments.readme.read_text()
    try:
        text = replaced(text, "performance", table(measured))
        text = replaced(text, "first calls", first_calls(measured))
    except ValueError as error:
        parser.error(str(error))
    arguments.readme.write_text(text)
    if arguments.whole:
        arguments.whole.write_text(as_markdown(measured))


if __name__ == "__main__":
    main()
