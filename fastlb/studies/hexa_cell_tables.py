"""The further tables of the Hexa-Cell study: one loaded node, totals, errors, errata."""

from __future__ import annotations

import numpy as np

from ..errata import hexa_cell_errata
from ..hexa_cell_costs import hexa_cell_formulas
from ..hexa_cell_exchange import hexa_cell
from ..hexa_cell_topology import INTERIOR, HyperHexaCell
from ..report import Table, Value
from .hexa_cell import DIMENSIONS, EVEN_UNITS, FIXED_UNITS, METHODS
from .hexa_cell_found import POSITIONS, Found, popcount_shaped, six_positions


def one_node(found: Found) -> Table:
    """Return the time of one loaded node in each of the six positions beside the formulas."""
    rows: list[list[Value]] = []
    for name in METHODS:
        for d in DIMENSIONS:
            times = [found.one_loaded("time", name, d, EVEN_UNITS, node) for node in POSITIONS]
            costs = hexa_cell_formulas(d, EVEN_UNITS, name)
            bound = float(costs["corrected_time"] or 0)
            rows.append([name, d, *times, float(costs["time"] or 0), bound])
    return Table(
        "one-node",
        f"Time of one loaded node by position, M = {EVEN_UNITS:,}",
        ["algorithm", "d", *INTERIOR, "printed", "bound for any loads"],
        rows,
        [0] * 8 + [1, 1],
        note="000 and 100 are coordinators: loaded, they take B's time in A too.",
    )


def totals(found: Found) -> Table:
    """Return the sends and receives of all nodes, printed, corrected and counted."""
    rows: list[list[Value]] = []
    for name in METHODS:
        for d in DIMENSIONS:
            costs = hexa_cell_formulas(d, FIXED_UNITS, name)
            printed, corrected = costs["total_steps"], costs["corrected_total_steps"]
            drawn = found.statistic("counts.endpoint_total", name, d, FIXED_UNITS)
            one = found.most_of_one_loaded("endpoint_total", name, d, FIXED_UNITS)
            most = round(drawn.maximum)
            rows.append([name, d, int(printed or 0), int(corrected or 0), one, drawn.mean, most])
    return Table(
        "totals",
        f"Sends and receives of all nodes, M = {FIXED_UNITS}",
        ["algorithm", "d", "printed", "corrected", "one node", "random, mean", "random, most"],
        rows,
        [0] * 5 + [1, 0],
        note="What is printed for C are messages, about half of its sends and receives.",
    )


def errors(found: Found) -> Table:
    """Return the final differences: printed, corrected, one node, random, and the worst."""
    rows: list[list[Value]] = []
    for d in DIMENSIONS:
        topology = HyperHexaCell(d)
        one = [int(np.max(six_positions(name, d, FIXED_UNITS).difference)) for name in METHODS]
        drawn = [found.statistic("difference", name, d, FIXED_UNITS) for name in METHODS]
        worst = [hexa_cell(popcount_shaped(d), topology, name).difference for name in METHODS]
        rows.append([d, d + 1, d + 2, *one, *(round(s.maximum) for s in drawn), min(worst)])
    named = [f"{name} {what}" for what in ("one node", "random") for name in METHODS]
    return Table(
        "errors",
        f"Largest final difference, M = {FIXED_UNITS}",
        ["d", "printed", "corrected", *named, "popcount"],
        rows,
        [0] * 10,
        note="Of random loads the largest of all trials; popcount: the least of A, B and C on "
        "popcount(s)-shaped loads.",
    )


def errata() -> Table:
    """Return the places where the paper is wrong."""
    rows: list[list[Value]] = []
    for erratum in hexa_cell_errata():
        shown = f"{erratum.example}: {erratum.shown}" if erratum.example else None
        rows.append([erratum.place, erratum.printed, erratum.right, shown])
    title = "Where the paper is wrong, with the least example of each"
    return Table("errata", title, ["place", "printed", "right", "least example"], rows, [0] * 4)
