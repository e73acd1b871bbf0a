"""The further tables of the Hexa-Cell study: by position, by load, every setting, errata."""

from __future__ import annotations

from ..hexa_cells.errata import hexa_cell_errata
from ..hexa_cells.hexa_cell_exchange import hexa_cell
from ..reports.mean import mean_of
from ..reports.report import Table, Value
from ..topologies.hexa_cell_topology import INTERIOR, HyperHexaCell
from .hexa_cell_measured import METRICS, Measured, formula, one_loaded, popcount_shaped
from .hexa_cell_settings import ALL_UNITS, DIMENSIONS, EVEN_UNITS, METHODS, UNITS

# The loads of the printed tables; all of them are in the table of every setting.
SHOWN_UNITS = UNITS[::2]

TITLES = {
    "time": "Time",
    "error": "Final difference",
    "steps": "Steps of the busiest node",
    "total": "Sends and receives of all nodes",
}
NOTES = {
    "time": "000 and 100 are coordinators: loaded, they take B's time in A too.",
    "error": "popcount: of loads popcount(s) + (0, 2, 2, 1, 3, 3), which stay as they are.",
    "steps": "For C the paper prints none.",
    "total": "What is printed for C are messages, about half of its sends and receives.",
}


def tables(measured: Measured) -> list[Table]:
    """Return for each metric a table by position and one by load, then every setting."""
    by_metric = [
        table
        for metric in METRICS
        for table in (_by_position(measured, metric), _by_units(measured, metric))
    ]
    return [*by_metric, _settings(measured)]


def _by_position(measured: Measured, metric: str) -> Table:
    """Return what one loaded node costs in each of the six positions, and random loads."""
    figure, name = METRICS[metric]
    # Time is exact where M divides evenly; all else is the largest of all M.
    units = (EVEN_UNITS,) if metric == "time" else ALL_UNITS
    rows: list[list[Value]] = []
    for algorithm in METHODS:
        for d in DIMENSIONS:
            nodes = zip(*(one_loaded(figure, algorithm, d, M) for M in units), strict=True)
            row: list[Value] = [algorithm, d]
            row += [formula(what, algorithm, d, units[-1]) for what in (name, f"corrected_{name}")]
            row += [max(values) for values in nodes]
            if metric != "time":
                row.append(measured.largest(figure, algorithm, d, ALL_UNITS))
            if metric == "error":
                loads, topology = popcount_shaped(d), HyperHexaCell(d)
                row.append(hexa_cell(loads, topology, algorithm).difference)
            rows.append(row)
    further = {"time": [], "error": ["random", "popcount"]}.get(metric, ["random"])
    largest = f"M = {EVEN_UNITS:,}" if metric == "time" else "most of all M"
    return Table(
        f"{metric}-by-position",
        f"{TITLES[metric]}, one loaded node by position, {largest}",
        ["alg", "d", "printed", "correct", *INTERIOR, *further],
        rows,
        [1] * (10 + len(further)),
        NOTES[metric],
    )


def _by_units(measured: Measured, metric: str) -> Table:
    """Return the most of the six positions and random loads by M; time in units of M."""
    figure, name = METRICS[metric]
    timed = metric == "time"
    rows: list[list[Value]] = []
    for algorithm in METHODS:
        for d in DIMENSIONS:
            row: list[Value] = [algorithm, d]
            for what in (name, f"corrected_{name}"):
                value = formula(what, algorithm, d, UNITS[-1])
                row.append(value / UNITS[-1] if timed and value is not None else value)
            for M in SHOWN_UNITS:
                most = max(one_loaded(figure, algorithm, d, M))
                row.append(most / M if timed else most)
            for M in SHOWN_UNITS:
                drawn = measured.statistic(figure, algorithm, d, M)
                row.append(mean_of(drawn).scaled(1 / M) if timed else round(drawn.maximum))
            rows.append(row)
    heads = [f"{M:,}" for M in SHOWN_UNITS]
    return Table(
        f"{metric}-by-load",
        f"{TITLES[metric]}{' / M' if timed else ''} by M",
        [
            "alg",
            "d",
            "printed",
            "correct",
            *(f"one\n{M}" for M in heads),
            *(f"random\n{M}" for M in heads),
        ],
        rows,
        [0, 0, *[2] * 8] if timed else [0] * 10,
        "One loaded node with M units: the most of the six positions; random loads 0 .. M: the "
        f"{'mean ± standard error' if timed else 'most'} of all trials.",
    )


def _settings(measured: Measured) -> Table:
    """Return every figure of every algorithm, dimension, load and position."""
    columns: list[Value] = ["algorithm", "d", "M", "loads"]
    for metric in METRICS:
        columns += [metric, f"{metric} most", f"printed {metric}", f"corrected {metric}"]
    rows: list[list[Value]] = []
    for algorithm in METHODS:
        for d in DIMENSIONS:
            for M in ALL_UNITS:
                rows += _setting(measured, algorithm, d, M)
    return Table(
        "settings",
        "Every setting: one node by position, and random loads (mean and most)",
        columns,
        rows,
        [0] * len(columns),
        long=True,
    )


def _setting(measured: Measured, algorithm: str, d: int, M: int) -> list[list[Value]]:
    rows: list[list[Value]] = [[algorithm, d, M, loads] for loads in (*INTERIOR, "random")]
    for figure, name in METRICS.values():
        formulas = [formula(what, algorithm, d, M) for what in (name, f"corrected_{name}")]
        drawn = measured.statistic(figure, algorithm, d, M)
        for row, value in zip(rows, one_loaded(figure, algorithm, d, M), strict=False):
            row += [value, value, *formulas]
        rows[-1] += [mean_of(drawn), round(drawn.maximum), *formulas]
    return rows


def errata() -> Table:
    """Return the places where the paper is wrong."""
    rows: list[list[Value]] = []
    for erratum in hexa_cell_errata():
        shown = f"{erratum.example}: {erratum.shown}" if erratum.example else None
        rows.append([erratum.place, erratum.printed, erratum.right, shown])
    title = "Where the paper is wrong, with the least example of each"
    return Table("errata", title, ["place", "printed", "right", "least example"], rows, [0] * 4)
