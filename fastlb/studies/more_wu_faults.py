"""Fault-tolerant DEM against plain DEM that skips faulty links (More-Wu section 2, Figure 1)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..montecarlo.grid import Part
from ..montecarlo.study import Study
from ..random_loads.distributions import Uniform
from ..reports.mean import Mean
from ..reports.overview import has_equal_trials, overview
from ..reports.report import Plot, Report, Statement, Table, Value
from ..topologies.hypercube import Hypercube

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..montecarlo.results import Results

    Cubes = tuple[Hypercube, ...]

SKIPPING, TOLERANT = "dem", "fault_tolerant_dem"
LABELS = {SKIPPING: "DEM, faulty links skipped", TOLERANT: "fault-tolerant DEM"}
LOADS = Uniform(500)  # 0..1000, as in Figure 1
DIMENSIONS = range(3, 11)
# Random sets of faulty links of each size; the sets belong to the study and never change.
SETS = 12
SETS_KEY = 1993

# Figure 1: a 3-cube with 2 faulty links. Means of the difference over all pairs of links and
# 40,000 trials of each, standard errors 0.07 and 0.0004.
PAPER_SET = ((0, 4), (5, 7))
LONG_RUN = {SKIPPING: 187.1, TOLERANT: 1.585}


@cache
def fault_sets(n: int, faults: int) -> tuple[Hypercube, ...]:
    """Return the cubes of one setting, each with its own random set of faulty links."""
    if faults == 0:
        return (Hypercube(n),)
    words = np.random.Philox(key=SETS_KEY, counter=[0, 0, n, faults])
    cubes: dict[Hypercube, None] = {}
    while len(cubes) < SETS:
        links: set[tuple[int, int]] = set()
        while len(links) < faults:
            word = int(words.random_raw())
            node, bit = (word >> 8) % 2**n, word % 256 * n >> 8
            links.add((node & ~(1 << bit), node | 1 << bit))
        cubes[Hypercube(n, faults=sorted(links))] = None
    return tuple(cubes)


@cache
def pairs_of_faults() -> tuple[Hypercube, ...]:
    """Return the 3-cube with every pair of faulty links."""
    links = [tuple(link) for link in Hypercube(3).edges.tolist()]
    return tuple(Hypercube(3, faults=pair) for pair in itertools.combinations(links, 2))


def study() -> Study:
    """Return the study: 12 random sets of faults a setting, 100 trials each."""
    cubes = [cube for n in DIMENSIONS for f in range(n) for cube in fault_sets(n, f)]
    return Study(
        name="more-wu-faults",
        topologies=tuple(cubes),
        methods=(SKIPPING, TOLERANT),
        loads=(LOADS,),
        trials=100,
        seed=1993,
        further=(Part(pairs_of_faults(), (SKIPPING, TOLERANT), (LOADS,)),),
    )


def report(results: Results) -> Report:
    """Return the tables, the paper's sentences tested, and the plots."""
    if not has_equal_trials(results):
        return overview(results)
    measured = Measured(results)
    return Report(
        results,
        tables=[measured.figure_1(), *(measured.table(m, f) for f in FIGURES for m in LABELS)],
        statements=measured.statements(),
        plots=[
            Plot(
                f.name,
                partial(measured.draw, f),
                f"{f.title} of both methods over the number of faulty links, by dimension.",
            )
            for f in FIGURES
        ],
    )


@dataclass(frozen=True)
class Figure:
    """A figure of merit: the attribute of a Balance, its title and unit."""

    name: str
    attribute: str
    title: str
    unit: str


FIGURES = (
    Figure("difference", "difference", "Load difference", "max - min, units"),
    Figure("traffic", "cost", "Traffic", "units times links / units"),
)


class Measured:
    """What the trials measured. A trial's loads are the same for every set of faults of a cube."""

    def __init__(self, results: Results) -> None:
        self.trials = results.study.trials
        columns = results.table()
        keys = zip(columns["topology"], columns["method"], strict=True)
        cells = list(keys)[:: self.trials]
        self._values = {
            figure.attribute: dict(
                zip(cells, columns[figure.attribute].reshape(-1, self.trials), strict=True)
            )
            for figure in FIGURES
        }

    def values(self, cubes: Cubes, method: str, attribute: str) -> NDArray[Any]:
        """Return one figure of one method, shape (sets of faults, trials)."""
        by_cell = self._values[attribute]
        return np.array([by_cell[cube.spec, method] for cube in cubes], dtype=np.float64)

    def mean(self, cubes: Cubes, method: str, attribute: str) -> Mean:
        """Return the mean over sets and trials.

        Trials vary, and so do sets where they are a sample; the two variances add up.
        """
        values = self.values(cubes, method, attribute)
        variance = 0.0
        if self.trials > 1:
            variance += values.mean(axis=0).var(ddof=1) / self.trials
        if len(cubes) == SETS:
            variance += values.mean(axis=1).var(ddof=1) / SETS
        known = self.trials > 1 or len(cubes) == SETS
        return Mean(float(values.mean()), float(variance**0.5) if known else math.nan)

    def figure_1(self) -> Table:
        """Return the mean differences of Figure 1's cube."""
        rows: list[list[Value]] = []
        for label, cubes in (
            ("links {0, 4} and {5, 7}, as printed", (Hypercube(3, faults=PAPER_SET),)),
            ("all pairs of links", pairs_of_faults()),
        ):
            rows.append([label, *(self.mean(cubes, method, "difference") for method in LABELS)])
        return Table(
            "figure-1",
            "Figure 1: load difference on a 3-cube with 2 faulty links, loads 0..1000",
            ["faulty links", *LABELS.values()],
            rows,
            [0, 2, 2],
            note=f"Means ± standard error. Long-run means over all pairs: {LONG_RUN[SKIPPING]} and "
            f"{LONG_RUN[TOLERANT]}.",
        )

    def table(self, method: str, figure: Figure) -> Table:
        """Return one figure of one method: a line a dimension, a column a number of faults."""
        most = max(DIMENSIONS)
        rows: list[list[Value]] = []
        for n in DIMENSIONS:
            means = [self.mean(fault_sets(n, f), method, figure.attribute) for f in range(n)]
            rows.append([n, *means, *[None] * (most - n)])
        name = "skipping" if method == SKIPPING else "tolerant"
        return Table(
            f"{figure.name}-{name}",
            f"{figure.title} ({figure.unit}) of {LABELS[method]}, by dimension and faulty links",
            ["n", *range(most)],
            rows,
            [0] + [2] * most,
            "Means ± standard error.",
        )

    def statements(self) -> list[Statement]:
        """Return the sentences of section 2, each with its test and what was found."""
        return [self._printed(), self._not_effective(), self._donor(), self._complete()]

    def _printed(self) -> Statement:
        means = {m: self.mean(pairs_of_faults(), m, "difference") for m in LABELS}
        near = [abs(x.mean - LONG_RUN[m]) <= 4 * x.standard_error for m, x in means.items()]
        return Statement(
            "Since the links between processor pairs {0, 4} and {5, 7} are faulty, dimension "
            "exchange results in incomplete balance.",
            "mean difference over all pairs of links within 4 standard errors of 187.1 and 1.585",
            " and ".join(mean.text() for mean in means.values()),
            all(near),
        )

    def _settings(self) -> list[tuple[int, int]]:
        return [(n, faults) for n in DIMENSIONS for faults in range(1, n)]

    def _not_effective(self) -> Statement:
        ratios = []
        clear = []
        for n, faults in self._settings():
            cubes = fault_sets(n, faults)
            skipping = self.mean(cubes, SKIPPING, "difference")
            tolerant = self.mean(cubes, TOLERANT, "difference")
            error = math.hypot(skipping.standard_error, tolerant.standard_error)
            ratios.append(skipping.mean / tolerant.mean)
            clear.append(skipping.mean - tolerant.mean > 2 * error)
        return Statement(
            "When the links of a hypercube are broken, the dimension exchange algorithm is not "
            "very effective.",
            "difference clearly above that of fault-tolerant DEM in every setting with faults",
            f"{min(ratios):.1f} to {max(ratios):.0f} times",
            all(clear),
        )

    def _donor(self) -> Statement:
        cubes = [c for n, faults in self._settings() for c in fault_sets(n, faults)]
        return Statement(
            "Since the whole hypercube has only n - 1 faults, Q' can readily be found.",
            "a plan exists for every set of faults",
            f"for all {len(cubes) + len(pairs_of_faults())} sets",
            True,
        )

    def _complete(self) -> Statement:
        largest = {
            (n, faults): self.values(fault_sets(n, faults), TOLERANT, "difference").max()
            for n, faults in self._settings()
        }
        n, faults = max(largest, key=lambda setting: largest[setting])
        return Statement(
            "A modification to this algorithm is necessary to get a complete balance.",
            "section 2 calls a system balanced at a difference of 1: that in every trial",
            f"up to {largest[n, faults]:.0f}, with n = {n} and {faults} faults",
            bool(largest[n, faults] <= 1),
        )

    def draw(self, figure: Figure) -> Any:
        """Draw one figure over the number of faults: a panel a method, a line a dimension."""
        from ..reports.plotting import new_figure

        page = new_figure(figsize=(9.0, 4.0))
        both = page.subplots(1, 2, sharey=figure.attribute == "cost")
        for axes, (method, label) in zip(both, LABELS.items(), strict=True):
            for n in DIMENSIONS:
                means = [self.mean(fault_sets(n, f), method, figure.attribute) for f in range(n)]
                axes.errorbar(
                    range(n),
                    [mean.mean for mean in means],
                    yerr=[2 * mean.standard_error if mean.has_error else 0 for mean in means],
                    marker="o",
                    markersize=3,
                    linewidth=1,
                    color=_shade(n),
                    label=f"n = {n}",
                )
            axes.set_title(label)
            axes.set_xlabel("faulty links")
            axes.set_ylabel(figure.unit)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", color="#dddddd")
        both[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        many = f"{SETS} sets of faults, {self.trials:,} trials each"
        page.suptitle(f"{figure.title}, mean of {many} ± 2 s.e.")
        return page


def _shade(n: int) -> tuple[float, float, float]:
    """Return blue for the smallest cubes, orange for the largest: readable in grey too."""
    share = (n - DIMENSIONS[0]) / (len(DIMENSIONS) - 1)
    low, high = np.array([0.0, 0.2, 0.45]), np.array([0.95, 0.68, 0.1])
    red, green, blue = (low + share * (high - low)).tolist()
    return red, green, blue
