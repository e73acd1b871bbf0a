"""Measuring a chunk of trials: loads are drawn and balanced, and figures are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exchange.result import RECORDED_WITH
from ..memory import require_memory
from ..random_loads.distributions import Distribution, Experiment
from ..random_loads.sampling import sample_loads
from ..registry import balance, check_options
from ..topologies.topology import Topology
from .chunks import LOAD_BYTES, ROWS_LOADS, Chunk, subdivide
from .measuring_tiles import measure_in_tiles
from .methodtext import parse_method
from .study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .parts import Layout

FIGURES = tuple(name for name, level in RECORDED_WITH.items() if level == "metrics")

# For each method of a chunk, the values of each figure, one per trial.
MethodColumns = list[dict[str, "NDArray[Any]"]]


def dry_run(study: Study) -> Layout:
    """Return the dtype of each figure, by combination, and raise what the methods would raise.

    Each method balances empty loads on each of its topologies, and measures the first trial of
    each of its experiments.
    """
    dtypes: dict[tuple[Topology, str, Distribution | None], dict[str, np.dtype[Any]]] = {}
    layout = {}
    for cell in study.cells:
        topology, method = cell.topology, cell.method
        experiment = cell.loads if isinstance(cell.loads, Experiment) else None
        key = topology, method, experiment
        if key not in dtypes:
            try:
                if experiment is None:
                    require_memory(LOAD_BYTES * topology.size, f"a trial on {topology.spec}")
                    empty = np.zeros((1, *topology.shape), dtype=np.int64)
                    figures = figure_columns(_balance(empty, topology, method), 1)
                else:
                    figures = experiment.measure(
                        topology, method, seed=study.seed, start=0, trials=1
                    )
            except (ValueError, TypeError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"{method} on {topology.spec}: {error}") from error
            dtypes[key] = {name: values.dtype for name, values in figures.items()}
        layout[cell] = dtypes[key]
    return layout


def run_chunk(chunk: Chunk) -> MethodColumns:
    """Draw the loads of a chunk, let each of its methods balance them, and return the figures."""
    if isinstance(chunk.loads, Experiment):
        return [
            _copy_columns(
                chunk.loads.measure(
                    chunk.topology, method, seed=chunk.seed, start=chunk.start, trials=chunk.trials
                )
            )
            for method in chunk.methods
        ]
    recorded = measure_in_tiles(chunk)
    columns = {name: figure_columns(figures, chunk.trials) for name, figures in recorded.items()}
    if others := tuple(method for method in chunk.methods if method not in columns):
        columns |= zip(others, _measure_in_rows(replace(chunk, methods=others)), strict=True)
    return [columns[method] for method in chunk.methods]


def _measure_in_rows(chunk: Chunk) -> MethodColumns:
    """Return the figures of a chunk whose loads lie in rows, of a few trials at a time."""
    parts: list[MethodColumns] = []
    for part in subdivide(chunk, ROWS_LOADS):
        purpose = f"{part.trials:,} trials on {part.topology.spec}"
        require_memory(LOAD_BYTES * part.trials * part.topology.size, purpose)
        loads = sample_loads(
            part.loads, part.topology, trials=part.trials, seed=part.seed, start=part.start
        )
        parts.append(
            [
                _copy_columns(figure_columns(_balance(loads, part.topology, method), part.trials))
                for method in part.methods
            ]
        )
    if len(parts) == 1:
        return parts[0]
    return [
        {name: np.concatenate([columns[name] for columns in method]) for name in method[0]}
        for method in zip(*parts, strict=True)
    ]


def figure_columns(recorded: Mapping[str, Any], trials: int) -> dict[str, NDArray[Any]]:
    """Return the figures that a method recorded, one value per trial.

    The entries of ``counts`` become figures named ``counts.name``.
    """
    columns: dict[str, Any] = {}
    for name in FIGURES:
        value = recorded.get(name)
        if isinstance(value, dict):
            columns |= {f"{name}.{counter}": values for counter, values in value.items()}
        elif value is not None:
            columns[name] = value
    return {
        name: values if np.shape(values) == (trials,) else np.broadcast_to(values, (trials,))
        for name, values in columns.items()
    }


def _copy_columns(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Copy columns, as a user's method may reuse its arrays.

    One value for all trials is still stored once.
    """
    return {
        name: np.broadcast_to(values[:1].copy(), values.shape)
        if len(values) > 0 and values.strides == (0,)
        else values.copy()
        for name, values in columns.items()
    }


def _balance(loads: NDArray[np.int64], topology: Topology, method: str) -> dict[str, Any]:
    """Return the figures that a method records of these loads."""
    name, options = parse_method(method)
    check_options(name, options)
    result = balance(loads, topology, method=name, **options)
    return {figure: getattr(result, figure, None) for figure in FIGURES}
