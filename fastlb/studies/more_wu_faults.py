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
# Number of random sets of faulty links in each setting. They do not depend on the study's seed.
SETS = 12
SETS_KEY = 1993

# Figure 1: a 3-cube with 2 faulty links. LONG_RUN are mean differences over all pairs of links with
# 40,000 trials each; their standard errors are 0.07 and 0.0004.
PAPER_SET = ((0, 4), (5, 7))
LONG_RUN = {SKIPPING: 187.1, TOLERANT: 1.585}


@cache
def fault_sets(n: int, faults: int) -> tuple[Hypercube, ...]:
    """Return n-cubes with different random sets of ``faults`` faulty links."""
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
    """Return the 3-cubes with two faulty links."""
    links = [tuple(link) for link in Hypercube(3).edges.tolist()]
    return tuple(Hypercube(3, faults=pair) for pair in itertools.combinations(links, 2))


def study() -> Study:
    """Return the study with 12 random sets of faults per setting and 100 trials of each."""
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
    """Return tables and plots of difference and traffic, and tests of the paper's statements."""
    if not has_equal_trials(results):
        return overview(results)
    measured = FaultMeasurements(results)
    return Report(
        results,
        tables=[measured.figure_1(), *(measured.table(m, q) for q in QUANTITIES for m in LABELS)],
        statements=measured.statements(),
        plots=[
            Plot(
                quantity.name,
                partial(measured.draw, quantity),
                f"{quantity.title} of both methods over the number of faulty links, by dimension.",
            )
            for quantity in QUANTITIES
        ],
    )


@dataclass(frozen=True)
class Quantity:
    """A quantity that is tabulated and plotted: an attribute of ``Balance``."""

    name: str
    attribute: str
    title: str
    unit: str


QUANTITIES = (
    Quantity("difference", "difference", "Load difference", "max - min, units"),
    Quantity("traffic", "cost", "Traffic", "units times links / units"),
)


class FaultMeasurements:
    """Figures of the trials, and their means over sets of faults.

    The loads of a trial are the same for all sets of faults of a cube.
    """

    def __init__(self, results: Results) -> None:
        self.trials = results.study.trials
        columns = results.table()
        rows = zip(columns["topology"], columns["method"], strict=True)
        cells = list(rows)[:: self.trials]
        # By attribute and (topology, method), one value per trial.
        self._values = {
            quantity.attribute: dict(
                zip(cells, columns[quantity.attribute].reshape(-1, self.trials), strict=True)
            )
            for quantity in QUANTITIES
        }

    def values(self, cubes: Cubes, method: str, attribute: str) -> NDArray[Any]:
        """Return one attribute of one method, (cubes, trials)."""
        by_cell = self._values[attribute]
        return np.array([by_cell[cube.spec, method] for cube in cubes], dtype=np.float64)

    def mean(self, cubes: Cubes, method: str, attribute: str) -> Mean:
        """Return the mean over cubes and trials.

        Its variance is that of the trials, plus that of the sets of faults if these are a sample.
        """
        values = self.values(cubes, method, attribute)
        variance = 0.0
        if self.trials > 1:
            variance += values.mean(axis=0).var(ddof=1) / self.trials
        if len(cubes) == SETS:
            variance += values.mean(axis=1).var(ddof=1) / SETS
        is_known = self.trials > 1 or len(cubes) == SETS
        return Mean(float(values.mean()), float(variance**0.5) if is_known else math.nan)

    def figure_1(self) -> Table:
        """Return the mean differences on the cube of Figure 1, and on all like it."""
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

    def table(self, method: str, quantity: Quantity) -> Table:
        """Return the means of a quantity: a row per dimension, a column per number of faults."""
        columns = max(DIMENSIONS)
        rows: list[list[Value]] = []
        for n in DIMENSIONS:
            means = [self.mean(fault_sets(n, f), method, quantity.attribute) for f in range(n)]
            rows.append([n, *means, *[None] * (columns - n)])
        name = "skipping" if method == SKIPPING else "tolerant"
        return Table(
            f"{quantity.name}-{name}",
            f"{quantity.title} ({quantity.unit}) of {LABELS[method]}, by dimension and faulty "
            "links",
            ["n", *range(columns)],
            rows,
            [0] + [2] * columns,
            "Means ± standard error.",
        )

    def statements(self) -> list[Statement]:
        """Return the statements of section 2, each with its test and the outcome."""
        return [self._printed(), self._not_effective(), self._donor(), self._complete()]

    def _printed(self) -> Statement:
        means = {m: self.mean(pairs_of_faults(), m, "difference") for m in LABELS}
        is_near = [abs(x.mean - LONG_RUN[m]) <= 4 * x.standard_error for m, x in means.items()]
        return Statement(
            "Since the links between processor pairs {0, 4} and {5, 7} are faulty, dimension "
            "exchange results in incomplete balance.",
            "mean difference over all pairs of links within 4 standard errors of 187.1 and 1.585",
            " and ".join(mean.text() for mean in means.values()),
            all(is_near),
        )

    def _settings(self) -> list[tuple[int, int]]:
        return [(n, faults) for n in DIMENSIONS for faults in range(1, n)]

    def _not_effective(self) -> Statement:
        ratios, is_clear = [], []
        for n, faults in self._settings():
            cubes = fault_sets(n, faults)
            skipping = self.mean(cubes, SKIPPING, "difference")
            tolerant = self.mean(cubes, TOLERANT, "difference")
            error = math.hypot(skipping.standard_error, tolerant.standard_error)
            ratios.append(skipping.mean / tolerant.mean)
            is_clear.append(skipping.mean - tolerant.mean > 2 * error)
        return Statement(
            "When the links of a hypercube are broken, the dimension exchange algorithm is not "
            "very effective.",
            "difference clearly above that of fault-tolerant DEM in every setting with faults",
            f"{min(ratios):.1f} to {max(ratios):.0f} times",
            all(is_clear),
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

    def draw(self, quantity: Quantity) -> Any:
        """Draw a quantity over the number of faults: a panel per method, a line per dimension."""
        from ..reports.plotting import new_figure

        page = new_figure(figsize=(9.0, 4.0))
        panels = page.subplots(1, 2, sharey=quantity.attribute == "cost")
        for axes, (method, label) in zip(panels, LABELS.items(), strict=True):
            for n in DIMENSIONS:
                means = [self.mean(fault_sets(n, f), method, quantity.attribute) for f in range(n)]
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
            axes.set_ylabel(quantity.unit)
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", color="#dddddd")
        panels[1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        sample = f"{SETS} sets of faults, {self.trials:,} trials each"
        page.suptitle(f"{quantity.title}, mean of {sample} ± 2 s.e.")
        return page


def _shade(n: int) -> tuple[float, float, float]:
    """Return a colour from blue for the smallest cubes to orange, whose brightness increases."""
    share = (n - DIMENSIONS[0]) / (len(DIMENSIONS) - 1)
    low, high = np.array([0.0, 0.2, 0.45]), np.array([0.95, 0.68, 0.1])
    red, green, blue = (low + share * (high - low)).tolist()
    return red, green, blue
