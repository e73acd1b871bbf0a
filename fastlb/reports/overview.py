"""The report of a study in general: means of the main figures, and how methods differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .mean import mean_of
from .report import Report, Table, Value, without_hash

if TYPE_CHECKING:
    from ..montecarlo.results import Results
    from ..montecarlo.statistic import Difference

# The main figures.
MAIN_FIGURES = ("difference", "cost", "locality", "sweeps", "steps")


def overview(results: Results) -> Report:
    """Return the report of a study in general: means of the main figures, and how methods differ.

    What all rows of a table have in common, such as the only distribution, is in its title.
    """
    return Report(results, [_means(results), *_differences(results)])


def has_equal_trials(results: Results) -> bool:
    """Return whether every setting has as many rows, so that trials can be compared one by one.

    With a target error settings stop at different times, and a run may not be complete.
    """
    return results.has_rows and not results.study.target_error and not results.missing


def main_figures(results: Results) -> list[str]:
    """Return the main figures that results have, or all figures if they have none of these."""
    figures = results.figures
    return [name for name in MAIN_FIGURES if name in figures] or list(figures)


def varied(keys: Iterable[tuple[str, ...]], kinds: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the indices of the parts in which keys differ, and the other parts as texts."""
    listed = list(keys)
    differ = [i for i in range(len(kinds)) if len({key[i] for key in listed}) > 1]
    same = [
        f"{kind} {without_hash(listed[0][i])}" for i, kind in enumerate(kinds) if i not in differ
    ]
    return differ, same


def _means(results: Results) -> Table:
    summary, names = results.summary(), main_figures(results)
    kinds = ("topology", "method", "loads")
    differ, same = varied(summary, kinds)
    trials = [results.trials(cell) for cell in results.study.cells]
    counted = ["trials"] if len(set(trials)) > 1 else []
    rows: list[list[Value]] = []
    for count, (key, figures) in zip(trials, summary.items(), strict=True):
        means = [mean_of(figures[name]) if name in figures else None for name in names]
        rows.append([*(key[i] for i in differ), *(count for _ in counted), *means])
    title = f"Means of {results.trials_text} trial{'s' if max(trials) > 1 else ''}"
    return Table(
        "overview",
        "; ".join([f"{title} ± standard error" if max(trials) > 1 else title, *same]),
        [*(kinds[i] for i in differ), *counted, *names],
        rows,
        [*(0 for _ in (*differ, *counted)), *(2 for _ in names)],
    )


def _differences(results: Results) -> Iterator[Table]:
    """Yield the paired differences, a table a main figure and a row a pair of methods."""
    compared = results.compare(figures=main_figures(results))
    several = any(results.trials(cell) > 1 for cell in results.study.cells)
    note = brief_note = "One trial alone has no standard error and no interval."
    if several:
        interval = "The mean's 95 % confidence interval (Student's t) for each line by itself"
        shares = "in how many trials the first method has less, as much, and more"
        note, brief_note = f"{interval}, and {shares}.", f"{interval}."
    is_first = True
    for name in main_figures(results):
        differences = {key: figures[name] for key, figures in compared.items() if name in figures}
        if differences:
            # The first table has the note, and is the only one that a terminal always shows.
            full_note = note if is_first else ""
            yield _difference_table(
                name, differences, full_note, brief_note, secondary=not is_first
            )
            is_first = False


def _difference_table(
    name: str,
    differences: dict[tuple[str, str, str, str], Difference],
    note: str,
    brief_note: str,
    *,
    secondary: bool,
) -> Table:
    kinds = ("topology", "loads", "first", "second")
    differ, same = varied(differences, kinds)
    if 2 not in differ and 3 not in differ:
        _, _, first, second = next(iter(differences))
        same = [*same[:-2], f"{first} minus {second}"]
    else:
        same.append("first method minus second")
    title = "; ".join([f"Paired differences in {name}", *same])
    keys = [kinds[i] for i in differ]
    no_places = [0 for _ in differ]
    places = _places(differences.values())
    rows: list[list[Value]] = []
    brief_rows: list[list[Value]] = []
    for key, difference in differences.items():
        numbers = difference.to_dict()
        names = [key[i] for i in differ]
        mean, error = numbers["mean"], numbers["standard_error"]
        low, high = numbers["low"], numbers["high"]
        percents = [100 * numbers[part] for part in ("less", "equal", "greater")]
        rows.append([*names, mean, error, low, high, *percents])
        brief_rows.append([*names, mean, low, high])
    file_name = f"differences-{name}"
    brief_columns = [*keys, "mean", "from", "to"]
    brief_places = [*no_places, *[places] * 3]
    return Table(
        file_name,
        title,
        [*keys, "mean", "s.e.", "from", "to", "less %", "equal %", "more %"],
        rows,
        [*no_places, *[places] * 4, 1, 1, 1],
        note,
        secondary=secondary,
        brief=Table(file_name, title, brief_columns, brief_rows, brief_places, brief_note),
    )


def _places(differences: Iterable[Difference]) -> int:
    """Return the decimal places that show two digits of the least standard error."""
    errors = [x.standard_error for x in differences if 0 < x.standard_error < math.inf]
    return min(9, max(0, 1 - math.floor(math.log10(min(errors))))) if errors else 2
