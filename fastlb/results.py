"""Results of a study: one row of figures a trial, with summaries and conversions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._version import __version__
from .accelerate import extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .study import Cell, Study

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Statistic:
    """One figure over the trials of one combination.

    Attributes
    ----------
    trials : int
    mean, minimum, maximum : float
    standard_error : float
        Of the mean; NaN with a single trial.
    quantiles : dict of float
        By level, with linear interpolation.
    """

    trials: int
    mean: float
    standard_error: float
    minimum: float
    maximum: float
    quantiles: dict[float, float]

    @classmethod
    def of(cls, values: NDArray[Any], levels: Sequence[float] = QUANTILES) -> Statistic:
        """Summarise one value a trial."""
        trials = len(values)
        numbers = values.astype(np.float64)
        spread = float(numbers.std(ddof=1)) if trials > 1 else float("nan")
        return cls(
            trials=trials,
            mean=float(numbers.mean()),
            standard_error=spread / trials**0.5,
            minimum=float(numbers.min()),
            maximum=float(numbers.max()),
            quantiles=dict(zip(levels, np.quantile(numbers, levels).tolist(), strict=True)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statistic JSON-ready; NaN becomes None and levels become text."""
        known = self.trials > 1
        return {
            "trials": self.trials,
            "mean": self.mean,
            "standard_error": self.standard_error if known else None,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "quantiles": {str(level): value for level, value in self.quantiles.items()},
        }


class Results:
    """The figures of every trial of a study. Frozen.

    Attributes
    ----------
    study : Study
    """

    __slots__ = ("_cells", "study")

    study: Study
    _cells: dict[Cell, dict[str, NDArray[Any]]]

    def __init__(self, study: Study, figures: Mapping[Cell, Mapping[str, NDArray[Any]]]) -> None:
        object.__setattr__(self, "study", study)
        object.__setattr__(self, "_cells", {cell: dict(figures[cell]) for cell in study.cells})

    @classmethod
    def from_chunks(
        cls, study: Study, chunks: Mapping[Cell, Sequence[Mapping[str, NDArray[Any]]]]
    ) -> Results:
        """Join the columns of consecutive chunks of each combination."""
        joined = {
            cell: {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            for cell, parts in chunks.items()
        }
        return cls(study, joined)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Results are frozen, cannot set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Results, (self.study, self._cells)

    def __len__(self) -> int:
        return self.study.trials * len(self.study.cells)

    def __repr__(self) -> str:
        cells, trials = len(self.study.cells), self.study.trials
        return f"<Results of {self.study.name}: {cells} combinations, {trials} trials each>"

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of all figures, in the order of the columns."""
        found = (name for columns in self._cells.values() for name in columns)
        return tuple(dict.fromkeys(found))

    def figure(self, name: str, topology: str, method: str, loads: str) -> NDArray[Any]:
        """Return one figure of one combination, one value a trial.

        Raises
        ------
        KeyError
            If the combination was not run or its method has no such figure.
        """
        for cell, columns in self._cells.items():
            if cell.key == (topology, method, loads):
                return columns[name]
        raise KeyError((topology, method, loads))

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table with one row a trial.

        ``topology``, ``method``, ``loads`` (text, by their spelling), ``trial`` and ``seed``
        (int64; text where the seed needs more), then the figures by their names. Where a method
        of the study lacks a figure that others have, the column is a masked array. Rows go by
        topology, loads, method and trial, in the study's order.
        """
        study, cells = self.study, list(self._cells)
        trials = study.trials
        keys = [cell.key for cell in cells]
        seed = np.int64(study.seed) if study.seed < 2**63 else np.str_(study.seed)
        columns: dict[str, NDArray[Any]] = {
            name: np.repeat(np.array([key[i] for key in keys]), trials)
            for i, name in enumerate(("topology", "method", "loads"))
        }
        columns["trial"] = np.tile(np.arange(trials, dtype=np.int64), len(cells))
        columns["seed"] = np.full(len(self), seed)
        columns |= {name: self._column(name) for name in self.figures}
        return columns

    def summary(
        self, levels: Iterable[float] = QUANTILES
    ) -> dict[tuple[str, str, str], dict[str, Statistic]]:
        """Return mean, standard error, extremes and quantiles of every figure.

        Parameters
        ----------
        levels : iterable of float
            Levels of the quantiles, from 0 to 1.

        Returns
        -------
        dict
            By (topology, method, loads), each as spelled in the table, then by figure.
        """
        wanted = tuple(levels)
        return {
            cell.key: {name: Statistic.of(values, wanted) for name, values in columns.items()}
            for cell, columns in self._cells.items()
        }

    def to_arrow(self) -> Any:
        """Return :meth:`table` as a ``pyarrow.Table``, with the study in its metadata.

        Figures that a method lacks are null.
        """
        arrow = extra("pyarrow")
        columns = {}
        for name, values in self.table().items():
            if name in ("topology", "method", "loads"):
                kinds, codes = np.unique(values, return_inverse=True)
                columns[name] = arrow.DictionaryArray.from_arrays(
                    arrow.array(codes.astype(np.int32)), arrow.array(kinds.tolist())
                )
            else:
                mask = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else None
                columns[name] = arrow.array(np.ma.getdata(values), mask=mask)
        described = {"fastlb.version": __version__}
        with suppress(ValueError):  # general networks have no spelling
            described["fastlb.study"] = self.study.to_toml()
        return arrow.table(columns, metadata=described)

    def to_pandas(self) -> Any:
        """Return :meth:`table` as a ``pandas.DataFrame``, with nullable columns where needed."""
        pandas = extra("pandas")
        columns = {}
        for name, values in self.table().items():
            columns[name] = pandas.Series(np.ma.getdata(values))
            if name in ("topology", "method", "loads"):
                columns[name] = columns[name].astype("category")
            elif np.ma.isMaskedArray(values):
                columns[name] = columns[name].convert_dtypes().mask(np.ma.getmaskarray(values))
        return pandas.DataFrame(columns)

    def to_parquet(self, path: str | Path) -> None:
        """Write :meth:`to_arrow` to a Parquet file."""
        extra("pyarrow.parquet").write_table(self.to_arrow(), path)

    def _column(self, name: str) -> NDArray[Any]:
        parts = [columns.get(name) for columns in self._cells.values()]
        dtype = np.result_type(*[part.dtype for part in parts if part is not None])
        absent = np.zeros(self.study.trials, dtype)
        column = np.concatenate([absent if part is None else part for part in parts])
        if all(part is not None for part in parts):
            return column
        mask = np.repeat([part is None for part in parts], self.study.trials)
        return np.ma.MaskedArray(column, mask=mask)
