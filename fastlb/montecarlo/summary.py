"""Summaries of a study as tables: dictionaries that print well and become data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..display.cards import card
from ..display.numbers import percent, shown, with_error
from ..display.tables import html_table, text_table, without_repeats
from ..extras import extra
from .keys import spelled_key
from .statistic import Difference, Statistic

if TYPE_CHECKING:
    import pandas
    import xarray

# What the keys are made of.
KINDS = ("topology", "method", "loads")
PAIR_KINDS = ("topology", "loads", "first", "second")
# Rows printed; data frames have all.
MOST_ROWS = 60
# Quantiles printed.
MOST_LEVELS = 3

Key = tuple[str, ...]
Lines = tuple[str, list[str], list[list[str]]]


class Summary(dict[tuple[str, str, str], dict[str, Statistic]]):
    """Mean, standard error, extremes and quantiles by (topology, method, loads), then figure.

    Prints as a table, a figure's methods one below the other. Keys are also found by another
    spelling, such as ``"one-hot:20000"`` for ``"one-hot:20000,0"``, and by a topology or
    distribution itself; of others the ``KeyError`` names the nearest.
    """

    def __missing__(self, key: Any) -> dict[str, Statistic]:
        topology, method, loads = spelled_key(self, KINDS, key)
        return self[topology, method, loads]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a ``pandas.DataFrame`` with a row a combination and figure.

        Indexed by topology, method, loads and figure; columns ``trials``, ``mean``,
        ``standard_error``, ``minimum``, ``maximum``, ``quantile_error`` and a column a quantile,
        such as ``5%``.
        """
        rows = []
        for _, _, statistic in _flat(self):
            row = _attributes(statistic)
            rows.append(row | {_level(q): x for q, x in row.pop("quantiles").items()})
        return _frame(self, KINDS, rows)

    def to_xarray(self) -> xarray.Dataset:
        """Return an ``xarray.Dataset`` over topology, method, loads and figure.

        Variables are the columns of :meth:`to_pandas`, but for one ``quantile`` with a further
        axis ``level``. A figure that a method does not have is NaN. One method is
        ``.sel({"method": "dde"})``, as ``method=`` means something else to xarray.
        """
        levels = dict.fromkeys(q for _, _, s in _flat(self) for q in s.quantiles)
        frame = self.to_pandas()
        names = [_level(level) for level in levels]
        found = _dataset(frame.drop(columns=names))
        joined = [_dataset(frame[[name]].set_axis(["quantile"], axis=1)) for name in names]
        if joined:
            index = extra("pandas").Index(list(levels), name="level")
            found = found.merge(extra("xarray").concat(joined, dim=index))
        return found

    def __repr__(self) -> str:
        return _text(self._lines())

    def _repr_html_(self) -> str:
        return _html(self._lines())

    def _lines(self) -> Lines:
        several = [s for _, _, s in _flat(self)]
        trials = sorted({s.trials for s in several})
        levels = list(dict.fromkeys(q for s in several for q in s.quantiles))
        if len(levels) > MOST_LEVELS:
            levels = [levels[0], levels[len(levels) // 2], levels[-1]]
        headings = ["mean", "s.e.", *(_level(q) for q in levels)]

        def cells(s: Statistic) -> list[str]:
            return [*with_error(s.mean, s.standard_error), *(shown(s.quantiles[q]) for q in levels)]

        counted = " to ".join(f"{n:,}" for n in dict.fromkeys([trials[0], trials[-1]]))
        title = f"{counted} trial{'s' if trials[-1] > 1 else ''} each"
        rows = [(((t, w), name, (m,)), cells(s)) for (t, m, w), name, s in _flat(self)]
        return _grouped(title, ("topology", "loads"), ("method",), headings, rows)


class Comparison(dict[tuple[str, str, str, str], dict[str, Difference]]):
    """How methods differ by (topology, loads, first, second method), then figure.

    Prints as a table of paired differences with their confidence intervals. Keys are found as
    in a :class:`Summary`; two methods in the other order give the same differences with the
    other sign.
    """

    def __missing__(self, key: Any) -> dict[str, Difference]:
        topology, loads, first, second = spelled_key(self, PAIR_KINDS, key, pairs=True)
        if (topology, loads, first, second) in self:
            return self[topology, loads, first, second]
        turned = self[topology, loads, second, first]
        return {name: -difference for name, difference in turned.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a ``pandas.DataFrame`` with a row a pair of methods and figure.

        Indexed by topology, loads, first, second and figure; the columns are the attributes of
        :class:`Difference`.
        """
        rows = [_attributes(difference) for _, _, difference in _flat(self)]
        return _frame(self, PAIR_KINDS, rows)

    def to_xarray(self) -> xarray.Dataset:
        """Return :meth:`to_pandas` as an ``xarray.Dataset`` over its index; NaN where none is."""
        return _dataset(self.to_pandas())

    def __repr__(self) -> str:
        return _text(self._lines())

    def _repr_html_(self) -> str:
        return _html(self._lines())

    def _lines(self) -> Lines:
        confidences = {d.confidence for _, _, d in _flat(self)} or {0.95}
        headings = ["mean", "s.e.", "from", "to", "less", "equal", "more"]

        def cells(d: Difference) -> list[str]:
            mean, error = with_error(d.mean, d.standard_error)
            ends = [with_error(end, d.standard_error)[0] for end in (d.low, d.high)]
            return [mean, error, *ends, *map(percent, (d.less, d.equal, d.greater))]

        level = " or ".join(f"{100 * c:g} %" for c in sorted(confidences))
        title = f"first method minus second, {level} intervals of the mean"
        rows = [(((t, w), name, (a, b)), cells(d)) for (t, w, a, b), name, d in _flat(self)]
        return _grouped(title, ("topology", "loads"), ("first", "second"), headings, rows)


def _flat(table: Mapping[Any, Mapping[str, Any]]) -> Iterable[tuple[Any, str, Any]]:
    for key, figures in table.items():
        for name, value in figures.items():
            yield key, name, value


def _attributes(value: Statistic | Difference) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _level(quantile: float) -> str:
    return f"{100 * quantile:.6g}%"


def _frame(table: Mapping[Any, Any], kinds: Sequence[str], rows: list[Any]) -> pandas.DataFrame:
    library = extra("pandas")
    keys = [(*key, name) for key, name, _ in _flat(table)]
    index = library.MultiIndex.from_tuples(keys, names=[*kinds, "figure"])
    frame: pandas.DataFrame = library.DataFrame(rows, index=index)
    return frame


def _dataset(frame: pandas.DataFrame) -> xarray.Dataset:
    extra("xarray")
    found = frame.to_xarray()
    # In the study's order, which pandas sorts.
    index: Any = frame.index
    order = {name: list(dict.fromkeys(index.get_level_values(name))) for name in found.dims}
    ordered: xarray.Dataset = found.reindex(order)
    return ordered


def _grouped(
    title: str,
    kinds: tuple[str, ...],
    methods: tuple[str, ...],
    headings: list[str],
    rows: Sequence[tuple[tuple[Key, str, Key], list[str]]],
) -> Lines:
    """Sort rows by what their methods share; what is the same in all of them goes to the title."""
    order = list(dict.fromkeys((key[0], key[1]) for key, _ in rows))
    place = {pair: i for i, pair in enumerate(order)}
    first = list(dict.fromkeys(key[0] for key, _ in rows))
    rows = sorted(rows, key=lambda row: (first.index(row[0][0]), place[row[0][:2]]))
    named = [[*shared, figure, *several] for (shared, figure, several), _ in rows]
    labels = [*kinds, "figure", *methods]
    differ = [
        i for i, label in enumerate(labels)
        if label == "figure" or len({name[i] for name in named}) > 1
    ]  # fmt: skip
    same = [f"{labels[i]} {named[0][i]}" for i in range(len(labels)) if i not in differ and named]
    lines = [
        [name[i] for i in differ] + cells for name, (_, cells) in zip(named, rows, strict=True)
    ]
    return "; ".join([title, *same]), [labels[i] for i in differ] + headings, lines


def _text(lines: Lines) -> str:
    title, headings, rows = lines
    names = headings.index("mean")
    listed = without_repeats(rows[:MOST_ROWS], names)
    return "\n".join([title, text_table(headings, listed, names=names), *_rest(rows)])


def _html(lines: Lines) -> str:
    title, headings, rows = lines
    names = headings.index("mean")
    listed = html_table(headings, without_repeats(rows[:MOST_ROWS], names), names=names)
    return card(title, {}, listed, note=" ".join(_rest(rows)))


def _rest(rows: list[list[str]]) -> list[str]:
    more = len(rows) - MOST_ROWS
    return [f"and {more:,} rows more: to_pandas() has all"] if more > 0 else []
