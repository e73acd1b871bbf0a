"""The format of a store's part files: rows of figures to the bytes of a Parquet file, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..display.numbers import counted
from ..extras import extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .grid import Cell
    from .study import Study

# By combination, the dtype of each figure.
Layout = Mapping["Cell", Mapping[str, "np.dtype[Any]"]]


@dataclass(frozen=True)
class Stretch:
    """The trials ``start .. start + trials - 1`` of one combination, one value per figure each."""

    cell: Cell
    start: int
    trials: int
    columns: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Span:
    """The rows of a file, from ``row`` on, of one combination's trials ``start .. stop - 1``."""

    cell: Cell
    start: int
    stop: int
    row: int


@dataclass(frozen=True)
class Format:
    """The format of the part files of one study's store.

    All files have all columns of :meth:`Results.to_arrow`, so that any Parquet reader reads the
    folder as one table. Figures that a method does not have are null. The footer lists the trials
    of the rows, by the numbers of the combinations in the study.

    Attributes
    ----------
    study : Study
    layout : Layout
    identity : str
        A hash in the footer of each file, which the files of another study do not have.
    """

    study: Study
    layout: Layout
    identity: str

    @cached_property
    def figures(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each figure's column: the common type of all combinations."""
        dtypes: dict[str, set[np.dtype[Any]]] = {}
        for figures in self.layout.values():
            for name, dtype in figures.items():
                dtypes.setdefault(name, set()).add(dtype)
        return {name: np.result_type(*each) for name, each in dtypes.items()}

    @cached_property
    def _numbers(self) -> dict[Cell, int]:
        return {cell: number for number, cell in enumerate(self.study.cells)}

    def encode(self, stretches: Iterable[Stretch]) -> bytes:
        """Return trials as the bytes of a file, with rows in the order of the results.

        Raises
        ------
        ValueError
            If a combination's figures are not those of the layout.
        OverflowError
            If integers do not fit the floats that other combinations have for this figure.
        """
        arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
        ordered = sorted(stretches, key=lambda part: (self._numbers[part.cell], part.start))
        for stretch in ordered:
            self._check_figures(stretch)
        counts = [stretch.trials for stretch in ordered]
        columns = {
            name: _dictionary([stretch.cell.key[i] for stretch in ordered], counts)
            for i, name in enumerate(("topology", "method", "loads"))
        }
        trials = [np.arange(stretch.start, stretch.start + stretch.trials) for stretch in ordered]
        columns["trial"] = arrow.array(np.concatenate(trials))
        seed = self.study.seed
        columns["seed"] = arrow.repeat(seed if seed < 2**63 else str(seed), sum(counts))
        columns |= {name: self._figure_column(name, ordered) for name in self.figures}
        metadata = {
            "fastlb.version": __version__,
            "fastlb.store": self.identity,
            "fastlb.spans": json.dumps(self._listed_spans(ordered)),
        }
        integers = [name for name, dtype in self.figures.items() if dtype.kind in "iu"]
        stream = arrow.BufferOutputStream()
        # Integers are written as the bits of their differences and floats, nearly all of which
        # differ, as they are: the files are as small as with zstd, in a third of the time.
        parquet.write_table(
            arrow.table(columns, metadata=metadata),
            stream,
            compression="none",
            use_dictionary=["topology", "method", "loads", "seed"],
            column_encoding=dict.fromkeys(["trial", *integers], "DELTA_BINARY_PACKED"),
        )
        content: bytes = stream.getvalue().to_pybytes()
        return content

    def spans(self, content: bytes) -> Iterator[Span]:
        """Yield the places of the trials in a file, from the file's bytes.

        Raises
        ------
        ValueError
            If the file belongs to another study.
        """
        arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
        metadata = parquet.read_schema(arrow.BufferReader(content)).metadata or {}
        if metadata.get(b"fastlb.store") != self.identity.encode():
            raise ValueError("belongs to another study")
        row = 0
        for number, start, trials in json.loads(metadata[b"fastlb.spans"]):
            yield Span(self.study.cells[number], start, start + trials, row)
            row += trials

    def decode(self, table: Any, cell: Cell, row: int, trials: int) -> dict[str, NDArray[Any]]:
        """Return the figures of some rows of a file that was read as an Arrow table."""
        return {
            name: table.column(name).slice(row, trials).to_numpy().astype(dtype)
            for name, dtype in self.layout[cell].items()
        }

    def _listed_spans(self, ordered: Sequence[Stretch]) -> list[list[int]]:
        """Return (combination's number, start, trials) of the rows, adjacent trials joined."""
        spans: list[list[int]] = []
        for stretch in ordered:
            number = self._numbers[stretch.cell]
            if spans and spans[-1][0] == number and sum(spans[-1][1:]) == stretch.start:
                spans[-1][2] += stretch.trials
            else:
                spans.append([number, stretch.start, stretch.trials])
        return spans

    def _check_figures(self, stretch: Stretch) -> None:
        expected = self.layout[stretch.cell]
        dtypes = {name: values.dtype for name, values in stretch.columns.items()}
        changed = [n for n in {**expected, **dtypes} if expected.get(n) != dtypes.get(n)]
        if changed:
            topology, method, _ = stretch.cell.key
            raise ValueError(
                f"{method} on {topology} must give the same figures for all loads, but differs in "
                f"{', '.join(changed)}"
            )

    def _figure_column(self, name: str, ordered: Sequence[Stretch]) -> Any:
        """Return the Arrow column of a figure, null where a method does not have it."""
        dtype = self.figures[name]
        total = sum(stretch.trials for stretch in ordered)
        values, absent = np.zeros(total, dtype), np.ones(total, dtype=bool)
        row = 0
        for stretch in ordered:
            column = stretch.columns.get(name)
            if column is not None:
                rows = slice(row, row + stretch.trials)
                values[rows] = column
                # The common type of int64 and float64 does not hold every integer.
                if dtype.kind == "f" != column.dtype.kind and not np.array_equal(
                    values[rows].astype(column.dtype), column
                ):
                    raise OverflowError(f"{name} must fit {dtype}, as other combinations have it")
                absent[rows] = False
            row += stretch.trials
        mask = absent if absent.any() else None
        return extra("pyarrow").array(values, mask=mask, from_pandas=False)


def layout_entry(layout: Layout) -> dict[str, Any]:
    """Return a layout JSON-ready: the distinct sets of figures, and each combination's number."""
    sets: list[dict[str, str]] = []
    numbers = []
    for figures in layout.values():
        entry = {name: dtype.str for name, dtype in figures.items()}
        if entry not in sets:
            sets.append(entry)
        numbers.append(sets.index(entry))
    return {"figures": sets, "of_combinations": numbers}


def read_layout(entry: Mapping[str, Any], study: Study) -> Layout:
    """Return the layout of an entry that :func:`layout_entry` returned.

    Raises
    ------
    ValueError
        If it is no such entry, or that of a study with other combinations.
    """
    try:
        sets = [
            {name: np.dtype(text) for name, text in figures.items()} for figures in entry["figures"]
        ]
        numbers = entry["of_combinations"]
        return {cell: sets[number] for cell, number in zip(study.cells, numbers, strict=True)}
    except (AttributeError, LookupError, TypeError, ValueError):
        cells = counted(len(study.cells), "combination")
        raise ValueError(f"layout must be one of {cells}") from None


def _dictionary(texts: Sequence[str], counts: Sequence[int]) -> Any:
    """Return an Arrow column with each text repeated by its count."""
    arrow = extra("pyarrow")
    distinct = list(dict.fromkeys(texts))
    codes = np.repeat(np.array([distinct.index(text) for text in texts], np.int32), counts)
    categories = arrow.array(distinct, arrow.string())
    return arrow.DictionaryArray.from_arrays(arrow.array(codes), categories)
