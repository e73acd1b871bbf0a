"""The Hexa-Cell paper's sentences put to the test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..hexa_cell_costs import hexa_cell_formulas
from ..hexa_cell_exchange import hexa_cell
from ..hexa_cell_topology import HyperHexaCell
from ..report import Statement
from .hexa_cell import DIMENSIONS, FIXED_UNITS, NETWORKS, UNITS
from .hexa_cell_found import COORDINATOR, LEFT, Found, popcount_shaped


def statements(found: Found) -> list[Statement]:
    """Return the paper's sentences, each with its test and what was found."""
    return [
        _b_is_faster(found),
        _error_bound(),
        _most_steps(found),
        _best_metrics(found),
        _linear(found),
        _more_dimensions(found),
        _analytical_is_more(found),
    ]


def _b_is_faster(found: Found) -> Statement:
    def ratios(node: int) -> list[float]:
        return [
            found.one_loaded("time", "A", d, FIXED_UNITS, node)
            / found.one_loaded("time", "B", d, FIXED_UNITS, node)
            for d in DIMENSIONS
        ]

    left, coordinator = ratios(LEFT), ratios(COORDINATOR)
    drawn = [
        found.statistic("counts.time", "A", d, FIXED_UNITS).mean
        / found.statistic("counts.time", "B", d, FIXED_UNITS).mean
        for d in DIMENSIONS
    ]
    return Statement(
        "Algorithm B outperforms algorithm A in execution time.",
        "A takes longer with a left node, with a coordinator and with random loads, for every d",
        f"A / B: left {_span(left)}, coordinator {_span(coordinator)}, random {_span(drawn)}",
        min(*left, *coordinator, *drawn) > 1,
    )


def _error_bound() -> Statement:
    worst = [hexa_cell(popcount_shaped(d), HyperHexaCell(d), "B").difference for d in DIMENSIONS]
    return Statement(
        "Total error (e) <= 1 + d.",
        "no loads with a larger final difference",
        f"popcount(s)-shaped loads keep {_listed(worst)} for d = 1 to {DIMENSIONS[-1]}",
        all(error <= d + 1 for error, d in zip(worst, DIMENSIONS, strict=True)),
    )


def _most_steps(found: Found) -> Statement:
    most = [
        max(
            found.most_of_one_loaded("endpoint_max", "A", d, FIXED_UNITS),
            round(found.statistic("counts.endpoint_max", "A", d, FIXED_UNITS).maximum),
        )
        for d in DIMENSIONS
    ]
    return Statement(
        "Maximum communication steps at any single node is 3d + 8 (Algorithm A).",
        "reached by one loaded node or random loads; 3d + 6 is proved",
        f"at most {_listed(most)}",
        all(steps == 3 * d + 8 for steps, d in zip(most, DIMENSIONS, strict=True)),
    )


def _best_metrics(found: Found) -> Statement:
    names = ("time", "endpoint_max", "endpoint_total")
    beaten = []
    for figure in ("difference", *(f"counts.{name}" for name in names)):
        for d in DIMENSIONS:
            b, *others = (found.statistic(figure, a, d, FIXED_UNITS) for a in "BAC")
            for other in others:
                error = (b.standard_error**2 + other.standard_error**2) ** 0.5
                if b.mean - other.mean > (3 * error if found.trials > 1 else 0):
                    beaten.append(f"{figure.removeprefix('counts.')} at d = {d}")
    return Statement(
        "The analytical analysis showed that algorithm B has the best metrics over the other two.",
        "on random loads neither A's nor C's mean time, error, most steps of a node or total of "
        "sends and receives is less than B's by 3 standard errors",
        f"beaten in {_listed(beaten)}" if beaten else "never beaten",
        not beaten,
    )


def _linear(found: Found) -> Statement:
    per_unit = [
        [found.one_loaded("time", "C", network.d, M, LEFT) / M for M in UNITS if M >= 1000]
        for network in NETWORKS.values()
    ]
    return Statement(
        "There is a direct linear relation between workload size and execution time.",
        "C's time over M constant within 1% from M = 1000 on, on each network",
        "; ".join(
            f"{processors} processors: time / M = {_span(ratios, '.4f')}"
            for processors, ratios in zip(NETWORKS, per_unit, strict=True)
        ),
        all(max(ratios) <= 1.01 * min(ratios) for ratios in per_unit),
    )


def _more_dimensions(found: Found) -> Statement:
    one = [found.one_loaded("time", "C", d, FIXED_UNITS, LEFT) for d in DIMENSIONS]
    drawn = [found.statistic("counts.time", "C", d, FIXED_UNITS).mean for d in DIMENSIONS]
    return Statement(
        "Increasing the dimension of the HHC network, the execution time shall also increase.",
        "C's time never falls with d, with one loaded node and with random loads",
        f"one node {_listed(one)}; random {_listed([round(mean) for mean in drawn])}",
        all(a <= b for a, b in [*pairwise(one), *pairwise(drawn)]),
    )


def _analytical_is_more(found: Found) -> Statement:
    printed = [int(hexa_cell_formulas(d, FIXED_UNITS, "C")["total_steps"] or 0) for d in DIMENSIONS]
    one = [found.one_loaded("messages", "C", d, FIXED_UNITS, LEFT) for d in DIMENSIONS]
    drawn = [found.statistic("counts.messages", "C", d, FIXED_UNITS).maximum for d in DIMENSIONS]
    return Statement(
        "A slight increase is noticed in the analytical model since it is based on the worst case.",
        "C's printed total at least its messages with one loaded node and with random loads",
        f"printed {_listed(printed)}; one node {_listed(one)}; "
        f"random at most {_listed([round(most) for most in drawn])}",
        all(p >= max(a, b) for p, a, b in zip(printed, one, drawn, strict=True)),
    )


def _listed(values: Iterable[object], form: str = "") -> str:
    return ", ".join(format(value, form) for value in values)


def _span(values: Sequence[float], form: str = ".2f") -> str:
    return f"{min(values):{form}} to {max(values):{form}}"
