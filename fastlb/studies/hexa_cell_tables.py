"""Tables of the Hexa-Cell study: metrics by position and by load, all settings, errata."""

from __future__ import annotations

from ..hexa_cells.errata import hexa_cell_errata
from ..hexa_cells.hexa_cell_exchange import hexa_cell
from ..reports.mean import mean_of
from ..reports.report import Table, Value
from ..topologies.hexa_cell_topology import INTERIOR, HyperHexaCell
from .hexa_cell_measured import (
    METRICS,
    HexaCellMeasurements,
    formula,
    of_single_nodes,
    popcount_shaped,
)
from .hexa_cell_settings import ALL_UNITS, DIMENSIONS, EVEN_UNITS, METHODS, UNITS

# The loads in the tables by load; the table of all settings has all of them.
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


def tables(measured: HexaCellMeasurements) -> list[Table]:
    """Return for each metric a table by position and one by load, and the table of all settings."""
    by_metric = [
        table
        for metric in METRICS
        for table in (_by_position(measured, metric), _by_units(measured, metric))
    ]
    return [*by_metric, _settings(measured)]


def _by_position(measured: HexaCellMeasurements, metric: str) -> Table:
    """Return a metric for one loaded node in each of the six positions, and for random loads."""
    figure, name = METRICS[metric]
    # The formula of time is exact if M divides evenly. Other metrics are the largest of all M.
    units = (EVEN_UNITS,) if metric == "time" else ALL_UNITS
    rows: list[list[Value]] = []
    for algorithm in METHODS:
        for d in DIMENSIONS:
            by_units = (of_single_nodes(figure, algorithm, d, M) for M in units)
            by_position = zip(*by_units, strict=True)
            row: list[Value] = [algorithm, d]
            row += [formula(key, algorithm, d, units[-1]) for key in (name, f"corrected_{name}")]
            row += [max(values) for values in by_position]
            if metric != "time":
                row.append(measured.largest(figure, algorithm, d, ALL_UNITS))
            if metric == "error":
                loads, topology = popcount_shaped(d), HyperHexaCell(d)
                row.append(int(hexa_cell(loads, topology, algorithm).difference))
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


def _by_units(measured: HexaCellMeasurements, metric: str) -> Table:
    """Return a metric by M: the largest of the six positions, and random loads.

    Time is divided by M.
    """
    figure, name = METRICS[metric]
    is_time = metric == "time"
    rows: list[list[Value]] = []
    for algorithm in METHODS:
        for d in DIMENSIONS:
            row: list[Value] = [algorithm, d]
            for key in (name, f"corrected_{name}"):
                value = formula(key, algorithm, d, UNITS[-1])
                row.append(value / UNITS[-1] if is_time and value is not None else value)
            for M in SHOWN_UNITS:
                largest = max(of_single_nodes(figure, algorithm, d, M))
                row.append(largest / M if is_time else largest)
            for M in SHOWN_UNITS:
                random = measured.statistic(figure, algorithm, d, M)
                row.append(mean_of(random).scaled(1 / M) if is_time else round(random.maximum))
            rows.append(row)
    headings = [f"{M:,}" for M in SHOWN_UNITS]
    return Table(
        f"{metric}-by-load",
        f"{TITLES[metric]}{' / M' if is_time else ''} by M",
        [
            "alg",
            "d",
            "printed",
            "correct",
            *(f"one\n{M}" for M in headings),
            *(f"random\n{M}" for M in headings),
        ],
        rows,
        [0, 0, *[2] * 8] if is_time else [0] * 10,
        "One loaded node with M units: the most of the six positions; random loads 0 .. M: the "
        f"{'mean ± standard error' if is_time else 'most'} of all trials.",
    )


def _settings(measured: HexaCellMeasurements) -> Table:
    """Return all metrics of all algorithms, dimensions, loads and positions."""
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


def _setting(measured: HexaCellMeasurements, algorithm: str, d: int, M: int) -> list[list[Value]]:
    """Return the rows of one setting: one per position, and one for random loads."""
    rows: list[list[Value]] = [[algorithm, d, M, loads] for loads in (*INTERIOR, "random")]
    for figure, name in METRICS.values():
        formulas = [formula(key, algorithm, d, M) for key in (name, f"corrected_{name}")]
        random = measured.statistic(figure, algorithm, d, M)
        for row, value in zip(rows, of_single_nodes(figure, algorithm, d, M), strict=False):
            row += [value, value, *formulas]
        rows[-1] += [mean_of(random), round(random.maximum), *formulas]
    return rows


def errata() -> Table:
    """Return the errors in the paper."""
    rows: list[list[Value]] = []
    for erratum in hexa_cell_errata():
        shown = f"{erratum.example}: {erratum.shown}" if erratum.example else None
        rows.append([erratum.place, erratum.printed, erratum.right, shown])
    title = "Where the paper is wrong, with the least example of each"
    return Table("errata", title, ["place", "printed", "right", "least example"], rows, [0] * 4)
