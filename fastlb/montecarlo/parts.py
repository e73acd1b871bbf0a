"""The Parquet files of a store: rows of figures as bytes, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..extras import extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .grid import Cell
    from .study import Study

Layout = Mapping["Cell", Mapping[str, "np.dtype[Any]"]]


@dataclass(frozen=True)
class Stretch:
    """The trials ``start, start + 1, ..`` of one combination: a column a figure."""

    cell: Cell
    start: int
    trials: int
    columns: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Span:
    """Where a part has the trials ``start .. stop - 1`` of one combination: from row ``row``."""

    cell: Cell
    start: int
    stop: int
    row: int


@dataclass(frozen=True)
class Format:
    """How the parts of one study's store are laid out.

    All parts have all columns of :meth:`Results.to_arrow`, so that any Parquet reader takes the
    folder for one table. A figure that a method lacks is null. The footer says which trials of
    which combinations, numbered in the study's order, the rows are.

    Attributes
    ----------
    study : Study
    layout : by combination, the dtype of each figure
    identity : str
        What the footer of each part repeats, so that a part of another study is told apart.
    """

    study: Study
    layout: Layout
    identity: str

    @cached_property
    def figures(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each figure's column, one that holds those of all combinations."""
        kinds: dict[str, set[np.dtype[Any]]] = {}
        for figures in self.layout.values():
            for name, dtype in figures.items():
                kinds.setdefault(name, set()).add(dtype)
        return {name: np.result_type(*dtypes) for name, dtypes in kinds.items()}

    @cached_property
    def _numbers(self) -> dict[Cell, int]:
        return {cell: number for number, cell in enumerate(self.study.cells)}

    def encode(self, stretches: Iterable[Stretch]) -> bytes:
        """Return rows as the bytes of a part, in the order of the results.

        Raises
        ------
        ValueError
            If a combination's figures are not those that its rehearsal found.
        OverflowError
            If integers do not fit the floats that other combinations have for this figure.
        """
        arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
        listed = sorted(stretches, key=lambda rows: (self._numbers[rows.cell], rows.start))
        for rows in listed:
            self._check(rows)
        counts = [rows.trials for rows in listed]
        columns = {
            name: _dictionary([rows.cell.key[i] for rows in listed], counts)
            for i, name in enumerate(("topology", "method", "loads"))
        }
        trials = [np.arange(rows.start, rows.start + rows.trials) for rows in listed]
        columns["trial"] = arrow.array(np.concatenate(trials))
        seed = self.study.seed
        columns["seed"] = arrow.repeat(seed if seed < 2**63 else str(seed), sum(counts))
        columns |= {name: self._figure(name, listed) for name in self.figures}
        described = {
            "fastlb.version": __version__,
            "fastlb.store": self.identity,
            "fastlb.spans": json.dumps(self._joined(listed)),
        }
        integers = [name for name, dtype in self.figures.items() if dtype.kind in "iu"]
        stream = arrow.BufferOutputStream()
        # As small as with zstd and three times as fast: integers as the bits of their differences,
        # and floats, nearly all different, as they are.
        parquet.write_table(
            arrow.table(columns, metadata=described),
            stream,
            compression="none",
            use_dictionary=["topology", "method", "loads", "seed"],
            column_encoding=dict.fromkeys(["trial", *integers], "DELTA_BINARY_PACKED"),
        )
        content: bytes = stream.getvalue().to_pybytes()
        return content

    def spans(self, content: bytes) -> Iterator[Span]:
        """Return which trials a part has, from its bytes.

        Raises
        ------
        ValueError
            If the part belongs to another study.
        """
        arrow, parquet = extra("pyarrow"), extra("pyarrow.parquet")
        described = parquet.read_schema(arrow.BufferReader(content)).metadata or {}
        if described.get(b"fastlb.store") != self.identity.encode():
            raise ValueError("belongs to another study")
        row = 0
        for number, start, trials in json.loads(described[b"fastlb.spans"]):
            yield Span(self.study.cells[number], start, start + trials, row)
            row += trials

    def decode(self, table: Any, cell: Cell, row: int, trials: int) -> dict[str, NDArray[Any]]:
        """Return the figures of some rows of a part that was read as an Arrow table."""
        return {
            name: table.column(name).slice(row, trials).to_numpy().astype(dtype)
            for name, dtype in self.layout[cell].items()
        }

    def _joined(self, listed: Sequence[Stretch]) -> list[list[int]]:
        """Return (number, start, trials) of the rows, those that follow one another as one."""
        spans: list[list[int]] = []
        for rows in listed:
            number = self._numbers[rows.cell]
            if spans and spans[-1][0] == number and sum(spans[-1][1:]) == rows.start:
                spans[-1][2] += rows.trials
            else:
                spans.append([number, rows.start, rows.trials])
        return spans

    def _check(self, rows: Stretch) -> None:
        known = self.layout[rows.cell]
        dtypes = {name: values.dtype for name, values in rows.columns.items()}
        changed = [n for n in {**known, **dtypes} if known.get(n) != dtypes.get(n)]
        if changed:
            topology, method, _ = rows.cell.key
            raise ValueError(
                f"{method} on {topology} must give the figures of its rehearsal, but differs in "
                f"{', '.join(changed)}"
            )

    def _figure(self, name: str, listed: Sequence[Stretch]) -> Any:
        dtype = self.figures[name]
        total = sum(rows.trials for rows in listed)
        values, absent = np.zeros(total, dtype), np.ones(total, dtype=bool)
        row = 0
        for rows in listed:
            column = rows.columns.get(name)
            if column is not None:
                here = slice(row, row + rows.trials)
                values[here] = column
                # Of all common types, only float64 for int64 cannot hold every value.
                if dtype.kind == "f" != column.dtype.kind and not np.array_equal(
                    values[here].astype(column.dtype), column
                ):
                    raise OverflowError(f"{name} must fit {dtype}, as other combinations have it")
                absent[here] = False
            row += rows.trials
        mask = absent if absent.any() else None
        return extra("pyarrow").array(values, mask=mask, from_pandas=False)


def layout_entry(layout: Layout) -> dict[str, Any]:
    """Return a layout JSON-ready: the different sets of figures, and each combination's number."""
    sets: list[dict[str, str]] = []
    numbers = []
    for figures in layout.values():
        named = {name: dtype.str for name, dtype in figures.items()}
        if named not in sets:
            sets.append(named)
        numbers.append(sets.index(named))
    return {"figures": sets, "of_combinations": numbers}


def read_layout(entry: Mapping[str, Any], study: Study) -> Layout:
    """Return the layout that :func:`layout_entry` described.

    Raises
    ------
    ValueError
        If it is none, or one of other combinations.
    """
    try:
        sets = [
            {name: np.dtype(text) for name, text in figures.items()} for figures in entry["figures"]
        ]
        numbers = entry["of_combinations"]
        return {cell: sets[number] for cell, number in zip(study.cells, numbers, strict=True)}
    except (AttributeError, LookupError, TypeError, ValueError):
        raise ValueError(f"layout must be one of {len(study.cells)} combinations") from None


def _dictionary(texts: Sequence[str], counts: Sequence[int]) -> Any:
    arrow = extra("pyarrow")
    kinds = list(dict.fromkeys(texts))
    codes = np.repeat(np.array([kinds.index(text) for text in texts], np.int32), counts)
    return arrow.DictionaryArray.from_arrays(arrow.array(codes), arrow.array(kinds, arrow.string()))
