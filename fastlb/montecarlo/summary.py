"""Summaries of a study: dictionaries that print as tables and convert to data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from ..display.cards import card
from ..display.numbers import percent, shown, with_error
from ..display.tables import html_table, text_table, without_repeats
from ..extras import extra
from .keys import KINDS, PAIR_KINDS, spelled_key
from .statistic import Difference, Statistic

if TYPE_CHECKING:
    import pandas
    import xarray

# Most rows and quantiles that are printed; data frames have all.
MAX_ROWS = 60
MAX_LEVELS = 3

# The combination that a row is for, (topology, loads), its figure, and its method or methods.
RowKey = tuple[tuple[str, str], str, tuple[str, ...]]


class _Table(NamedTuple):
    """A table of texts; the columns before ``mean`` name its rows."""

    title: str
    headings: list[str]
    rows: list[list[str]]


class Summary(dict[tuple[str, str, str], dict[str, Statistic]]):
    """Mean, standard error, extremes and quantiles by (topology, method, loads), then figure.

    It prints as a table in which the methods of a figure follow each other. Keys may have another
    spelling than the study's, such as ``"one-hot:20000"`` for ``"one-hot:20000,0"``, or topologies
    and distributions themselves. A ``KeyError`` names the nearest keys.
    """

    def __missing__(self, key: Any) -> dict[str, Statistic]:
        topology, method, loads = spelled_key(self, KINDS, key)
        return self[topology, method, loads]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a ``pandas.DataFrame`` with one row per combination and figure.

        Its index is topology, method, loads and figure. Its columns are ``trials``, ``mean``,
        ``standard_error``, ``minimum``, ``maximum``, ``quantile_error`` and one per quantile, such
        as ``5%``.
        """
        rows = []
        for _, _, statistic in _flat(self):
            row = _attributes(statistic)
            rows.append(row | {_level_name(q): x for q, x in row.pop("quantiles").items()})
        return _frame(self, KINDS, rows)

    def to_xarray(self) -> xarray.Dataset:
        """Return an ``xarray.Dataset`` over topology, method, loads and figure.

        Its variables are the columns of :meth:`to_pandas`, with all quantiles in one ``quantile``
        that has a further axis ``level``. Figures that a method does not have are NaN. Select a
        method with ``.sel({"method": "dde"})``, as ``method=`` means something else to xarray.
        """
        levels = dict.fromkeys(q for _, _, s in _flat(self) for q in s.quantiles)
        frame = self.to_pandas()
        names = [_level_name(level) for level in levels]
        dataset = _dataset(frame.drop(columns=names))
        quantiles = [_dataset(frame[[name]].set_axis(["quantile"], axis=1)) for name in names]
        if quantiles:
            index = extra("pandas").Index(list(levels), name="level")
            dataset = dataset.merge(extra("xarray").concat(quantiles, dim=index))
        return dataset

    def __repr__(self) -> str:
        return _text(self._table())

    def _repr_html_(self) -> str:
        return _html(self._table())

    def _table(self) -> _Table:
        statistics = [s for _, _, s in _flat(self)]
        levels = list(dict.fromkeys(q for s in statistics for q in s.quantiles))
        if len(levels) > MAX_LEVELS:
            levels = [levels[0], levels[len(levels) // 2], levels[-1]]
        headings = ["mean", "s.e.", *(_level_name(q) for q in levels)]

        def cells(s: Statistic) -> list[str]:
            return [*with_error(s.mean, s.standard_error), *(shown(s.quantiles[q]) for q in levels)]

        trials = [s.trials for s in statistics]
        title = f"{count_range(trials)} trial{'s' if max(trials) > 1 else ''} each"
        rows = [(((t, w), name, (m,)), cells(s)) for (t, m, w), name, s in _flat(self)]
        return _sorted_table(title, ("method",), headings, rows)


class Comparison(dict[tuple[str, str, str, str], dict[str, Difference]]):
    """How methods differ by (topology, loads, first, second method), then figure.

    It prints as a table of paired differences with their confidence intervals. Keys may be spelled
    as those of a :class:`Summary`. With two methods in the other order, the differences have the
    other sign.
    """

    def __missing__(self, key: Any) -> dict[str, Difference]:
        topology, loads, first, second = spelled_key(self, PAIR_KINDS, key)
        if (topology, loads, first, second) in self:
            return self[topology, loads, first, second]
        opposite = self[topology, loads, second, first]
        return {name: -difference for name, difference in opposite.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a ``pandas.DataFrame`` with one row per pair of methods and figure.

        Its index is topology, loads, first, second and figure; its columns are the attributes of
        :class:`Difference`.
        """
        rows = [_attributes(difference) for _, _, difference in _flat(self)]
        return _frame(self, PAIR_KINDS, rows)

    def to_xarray(self) -> xarray.Dataset:
        """Return :meth:`to_pandas` as an ``xarray.Dataset`` over its index; absent rows are NaN."""
        return _dataset(self.to_pandas())

    def __repr__(self) -> str:
        return _text(self._table())

    def _repr_html_(self) -> str:
        return _html(self._table())

    def _table(self) -> _Table:
        confidences = {d.confidence for _, _, d in _flat(self)} or {0.95}
        headings = ["mean", "s.e.", "from", "to", "less", "equal", "more"]

        def cells(d: Difference) -> list[str]:
            mean, error = with_error(d.mean, d.standard_error)
            ends = [with_error(end, d.standard_error)[0] for end in (d.low, d.high)]
            return [mean, error, *ends, *map(percent, (d.less, d.equal, d.greater))]

        level = " or ".join(f"{100 * c:g} %" for c in sorted(confidences))
        title = f"first method minus second, {level} intervals of the mean"
        rows = [(((t, w), name, (a, b)), cells(d)) for (t, w, a, b), name, d in _flat(self)]
        return _sorted_table(title, ("first", "second"), headings, rows)


def count_range(counts: Iterable[int]) -> str:
    """Return the range of numbers of trials as text: ``256 to 1,000``, or ``1,000`` if equal."""
    numbers = set(counts)
    return " to ".join(f"{count:,}" for count in sorted({min(numbers), max(numbers)}))


def _flat(table: Mapping[Any, Mapping[str, Any]]) -> Iterable[tuple[Any, str, Any]]:
    """Yield (key, figure, value) of a summary or comparison."""
    for key, figures in table.items():
        for name, value in figures.items():
            yield key, name, value


def _attributes(value: Statistic | Difference) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _level_name(quantile: float) -> str:
    return f"{100 * quantile:.6g}%"


def _frame(table: Mapping[Any, Any], kinds: Sequence[str], rows: list[Any]) -> pandas.DataFrame:
    library = extra("pandas")
    keys = [(*key, name) for key, name, _ in _flat(table)]
    index = library.MultiIndex.from_tuples(keys, names=[*kinds, "figure"])
    frame: pandas.DataFrame = library.DataFrame(rows, index=index)
    return frame


def _dataset(frame: pandas.DataFrame) -> xarray.Dataset:
    """Return a frame as a dataset over its index, in the study's order."""
    extra("xarray")
    dataset = frame.to_xarray()  # in alphabetical order
    index: Any = frame.index
    order = {name: list(dict.fromkeys(index.get_level_values(name))) for name in dataset.dims}
    ordered: xarray.Dataset = dataset.reindex(order)
    return ordered


def _sorted_table(
    title: str,
    method_labels: tuple[str, ...],
    headings: list[str],
    rows: Sequence[tuple[RowKey, list[str]]],
) -> _Table:
    """Return a table in which all methods of a combination and figure follow each other.

    A name that is the same in all rows moves from its column to the title.
    """
    combinations = list(dict.fromkeys(combination for (combination, _, _), _ in rows))
    figures = list(dict.fromkeys((combination, figure) for (combination, figure, _), _ in rows))
    combination_order = {combination: i for i, combination in enumerate(combinations)}
    figure_order = {figure: i for i, figure in enumerate(figures)}
    rows = sorted(rows, key=lambda row: (combination_order[row[0][0]], figure_order[row[0][:2]]))
    names = [[*combination, figure, *methods] for (combination, figure, methods), _ in rows]
    labels = ["topology", "loads", "figure", *method_labels]
    varying = [
        i for i, label in enumerate(labels)
        if label == "figure" or len({name[i] for name in names}) > 1
    ]  # fmt: skip
    fixed = [i for i in range(len(labels)) if i not in varying]
    common = [f"{labels[i]} {names[0][i]}" for i in fixed if names]
    return _Table(
        "; ".join([title, *common]),
        [labels[i] for i in varying] + headings,
        [[name[i] for i in varying] + cells for name, (_, cells) in zip(names, rows, strict=True)],
    )


def _text(table: _Table) -> str:
    names = table.headings.index("mean")
    rows = without_repeats(table.rows[:MAX_ROWS], names)
    listed = text_table(table.headings, rows, names=names)
    return "\n".join([table.title, listed, *_omitted(table.rows)])


def _html(table: _Table) -> str:
    names = table.headings.index("mean")
    rows = without_repeats(table.rows[:MAX_ROWS], names)
    listed = html_table(table.headings, rows, names=names)
    return card(table.title, {}, listed, note=" ".join(_omitted(table.rows)))


def _omitted(rows: list[list[str]]) -> list[str]:
    """Return the line that says how many rows are not printed, if there are any."""
    more = len(rows) - MAX_ROWS
    return [f"and {more:,} rows more: to_pandas() has all"] if more > 0 else []
