"""Results of a study: one row of figures per trial or none, with summaries and conversions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..display.cards import card
from ..display.numbers import counted, with_error
from ..display.tables import html_table
from ..extras import extra
from .collecting import Rows, Tallies
from .keys import KINDS, spelled_key
from .statistic import QUANTILES, Difference
from .stopping import has_reached_targets
from .summary import MAX_ROWS, Comparison, Summary, count_range

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from numpy.typing import NDArray

    from .grid import Cell
    from .study import Study


# Figures that a notebook shows; all, if no method has any of these.
MAIN_FIGURES = ("difference", "cost", "locality", "sweeps", "steps")


class Results:
    """The figures of a study: those of every trial, or without rows only their summaries. Frozen.

    Means, standard errors, extremes and differences are the same with and without rows.

    Attributes
    ----------
    study : Study
    missing : int
        Number of rows that are still to come: 0 unless a store was read with ``partial=True``.
        With a ``target_error`` it is the largest number possible.
    """

    __slots__ = ("_collected", "missing", "study")

    study: Study
    missing: int
    _collected: Rows | Tallies

    def __init__(self, study: Study, collected: Rows | Tallies, missing: int = 0) -> None:
        object.__setattr__(self, "study", study)
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "_collected", collected)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Results are frozen, cannot set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Results, (self.study, self._collected, self.missing)

    def __len__(self) -> int:
        return sum(self.trials(cell) for cell in self.study.cells)

    def __repr__(self) -> str:
        cells = counted(len(self.study.cells), "combination")
        missing = f", {self.missing:,} rows to come" if self.missing else ""
        return f"<Results of {self.study.name}: {cells}, {self._trials_each}{missing}>"

    def _repr_html_(self) -> str:
        figures = self.figures
        names = [name for name in MAIN_FIGURES if name in figures] or list(figures)
        rows = [
            [*cell.key, *(self._mean_text(cell, name) for name in names)]
            for cell in self.study.cells[:MAX_ROWS]
        ]
        table = html_table([*KINDS, *names], rows, names=len(KINDS))
        counts = f"{counted(len(self.study.cells), 'combination')}, {self._trials_each}"
        missing = f"; not complete, {self.missing:,} rows are to come" if self.missing else ""
        note = f"{counts}; mean, s.e.{missing}"
        return card(f"Results of {self.study.name}", {}, table, note=note)

    def _mean_text(self, cell: Cell, name: str) -> str:
        """Return the mean of a figure with its standard error; empty if the method lacks it."""
        if name not in self._collected.figures(cell):
            return ""
        statistic = self._collected.statistic(cell, name, ())
        return " \N{PLUS-MINUS SIGN} ".join(with_error(statistic.mean, statistic.standard_error))

    @property
    def has_rows(self) -> bool:
        """Whether there are rows of all trials."""
        return isinstance(self._collected, Rows)

    @property
    def trials_text(self) -> str:
        """The number of trials of the combinations as text: ``1,000`` or ``256 to 1,000``."""
        return count_range(self.trials(cell) for cell in self.study.cells)

    @property
    def _trials_each(self) -> str:
        return f"{self.trials_text} trial{'' if self.trials_text == '1' else 's'} each"

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of all figures, in the order of the columns."""
        names = (name for cell in self.study.cells for name in self._collected.figures(cell))
        return tuple(dict.fromkeys(names))

    def trials(self, cell: Cell) -> int:
        """Return the number of trials of one of the study's combinations."""
        return self._collected.trials(cell)

    def unreached(self) -> list[tuple[str, str]]:
        """Return the (topology, loads) that have not reached the study's target errors."""
        if not self.study.target_error:
            return []
        return [
            (topology.spec, loads.spec)
            for topology, loads in self.study.groups
            if not has_reached_targets(self.study, (topology, loads), self._collected)
        ]

    def figure(self, name: str, topology: str, method: str, loads: str) -> NDArray[Any]:
        """Return one figure of one combination, one value per trial.

        Raises
        ------
        KeyError
            If there is no such combination or its method has no such figure.
        ValueError
            If there are no rows.
        """
        cells = {cell.key: cell for cell in self.study.cells}
        key: tuple[str, ...] = topology, method, loads
        if key not in cells:
            key = spelled_key(cells, KINDS, key)
        return self.columns(cells[key])[name]  # type: ignore[index]

    def columns(self, cell: Cell) -> Mapping[str, NDArray[Any]]:
        """Return all figures of one of the study's combinations, one value per trial.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        return self._rows().columns(cell)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table with one row per trial.

        They are ``topology``, ``method`` and ``loads`` (their spellings), ``trial`` and ``seed``
        (int64; text if the seed needs more bits), then the figures by their names. The column of a
        figure that some methods lack is a masked array. Rows are ordered by topology, loads, method
        and trial, in the study's order.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        self._rows()
        study, cells = self.study, self.study.cells
        trials = [self.trials(cell) for cell in cells]
        keys = [cell.key for cell in cells]
        seed = np.int64(study.seed) if study.seed < 2**63 else np.str_(study.seed)
        columns: dict[str, NDArray[Any]] = {
            name: np.repeat(np.array([key[i] for key in keys]), trials)
            for i, name in enumerate(KINDS)
        }
        columns["trial"] = np.concatenate([np.arange(n, dtype=np.int64) for n in trials])
        columns["seed"] = np.full(sum(trials), seed)
        columns |= {name: self._column(name) for name in self.figures}
        return columns

    def summary(self, levels: Iterable[float] = QUANTILES) -> Summary:
        """Return mean, standard error, extremes and quantiles of every figure.

        Parameters
        ----------
        levels : iterable of float
            Levels of the quantiles, from 0 to 1.

        Returns
        -------
        Summary
            A dict by (topology, method, loads), as they are spelled in the table, of dicts of
            :class:`Statistic` by figure. It prints as a table; see its ``to_pandas`` and
            ``to_xarray``.

        Raises
        ------
        ValueError
            If a level is out of range.
        """
        numbers = tuple(float(level) for level in levels)
        if not all(0 <= level <= 1 for level in numbers):
            raise ValueError(f"levels must be between 0 and 1, got {numbers}")
        collected = self._collected
        return Summary(
            {
                cell.key: {
                    name: collected.statistic(cell, name, numbers)
                    for name in collected.figures(cell)
                }
                for cell in self.study.cells
            }
        )

    def compare(
        self, *, confidence: float = 0.95, figures: Iterable[str] | None = None
    ) -> Comparison:
        """Return how each pair of methods differs in each figure on the same random loads.

        A difference is the first method's figure minus the second's in the same trial: its
        standard error leaves out how trials vary in the same way for both. Integers beyond 2**53
        are compared as floats.

        Parameters
        ----------
        confidence : float
            Confidence of each mean's interval, between 0 and 1.
        figures : iterable of str, optional
            Figures to compare; by default all that both methods have.

        Returns
        -------
        Comparison
            A dict by (topology, loads, first method, second method), with methods in the study's
            order, of dicts of :class:`Difference` by figure. It prints as a table; see its
            ``to_pandas`` and ``to_xarray``.

        Raises
        ------
        ValueError
            If the confidence is out of range, or no method has one of the figures.

        Examples
        --------
        >>> from fastlb import Study, run
        >>> study = Study("small", ["ring:8"], ["gde:lam=1/2", "dde"], "uniform:100", trials=50)
        >>> gde_minus_dde = run(study).compare()["ring:8", "uniform:100", "gde:lam=1/2", "dde"]
        >>> gde_minus_dde["difference"].low > 0  # GDE leaves larger differences
        True
        """
        level = float(confidence)
        if not 0 < level < 1:
            raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
        known = self.figures
        names = known if figures is None else tuple(figures)
        for name in names:
            if name not in known:
                raise ValueError(f"figures must be among {', '.join(known)}, got {name!r}")
        collected = self._collected
        return Comparison(
            {
                (topology.spec, loads.spec, first.method, second.method): {
                    name: Difference.of(collected.differences(first, second, name), level)
                    for name in names
                    if name in collected.figures(first) and name in collected.figures(second)
                }
                for (topology, loads), cells in self.study.groups.items()
                for first, second in combinations(cells, 2)
            }
        )

    def to_arrow(self) -> pyarrow.Table:
        """Return :meth:`table` as a ``pyarrow.Table``, with the study in its metadata.

        Figures that a method lacks are null.
        """
        arrow = extra("pyarrow")
        columns = {}
        for name, values in self.table().items():
            if name in KINDS:
                categories, codes = np.unique(values, return_inverse=True)
                columns[name] = arrow.DictionaryArray.from_arrays(
                    arrow.array(codes.astype(np.int32)), arrow.array(categories.tolist())
                )
            else:
                mask = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
                columns[name] = arrow.array(np.ma.getdata(values), mask=mask)
        metadata = {"fastlb.version": __version__}
        with suppress(ValueError):  # general networks have no spelling
            metadata["fastlb.study"] = self.study.to_toml()
        return arrow.table(columns, metadata=metadata)

    def to_pandas(self) -> pandas.DataFrame:
        """Return :meth:`table` as a ``pandas.DataFrame``, with nullable columns where needed."""
        library = extra("pandas")
        columns = {}
        for name, values in self.table().items():
            columns[name] = library.Series(np.ma.getdata(values))
            if name in KINDS:
                columns[name] = columns[name].astype("category")
            elif np.ma.isMaskedArray(values):
                columns[name] = columns[name].convert_dtypes().mask(np.ma.getmaskarray(values))
        frame: pandas.DataFrame = library.DataFrame(columns)
        return frame

    def to_parquet(self, path: str | Path) -> None:
        """Write :meth:`to_arrow` to a Parquet file."""
        extra("pyarrow.parquet").write_table(self.to_arrow(), path)

    def _rows(self) -> Rows:
        if not isinstance(self._collected, Rows):
            raise ValueError(
                f"the rows of {self.study.name} were not kept (rows=False): "
                "summary() and compare() have what there is"
            )
        return self._collected

    def _column(self, name: str) -> NDArray[Any]:
        """Return a figure of all combinations, masked where a method lacks it."""
        parts = [self.columns(cell).get(name) for cell in self.study.cells]
        trials = [self.trials(cell) for cell in self.study.cells]
        dtype = np.result_type(*[part.dtype for part in parts if part is not None])
        column = np.concatenate(
            [
                np.zeros(count, dtype) if part is None else part
                for part, count in zip(parts, trials, strict=True)
            ]
        )
        if all(part is not None for part in parts):
            return column
        mask = np.repeat([part is None for part in parts], trials)
        return np.ma.MaskedArray(column, mask=mask)
