"""What is done with a chunk of trials: loads are drawn and balanced, and the figures taken."""

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
from .chunks import LOAD_BYTES, ROWS_LOADS, Chunk, pieces
from .methodtext import parse_method
from .study import Study
from .trials import measure_in_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .parts import Layout

FIGURES = tuple(name for name, level in RECORDED_WITH.items() if level == "metrics")

MethodColumns = list[dict[str, "NDArray[Any]"]]  # for each method of a chunk, a column a figure


def rehearse(study: Study) -> Layout:
    """Let each method balance empty loads on each of its topologies, so that errors come first.

    Of an experiment the first trial is measured. Returns the dtype of each figure.
    """
    known: dict[tuple[Topology, str, Distribution | None], dict[str, np.dtype[Any]]] = {}
    layout = {}
    for cell in study.cells:
        topology, method = cell.topology, cell.method
        experiment = cell.loads if isinstance(cell.loads, Experiment) else None
        key = topology, method, experiment
        if key not in known:
            try:
                if experiment is None:
                    require_memory(LOAD_BYTES * topology.size, f"a trial on {topology.spec}")
                    empty = np.zeros((1, *topology.shape), dtype=np.int64)
                    figures = figure_columns(_balanced(empty, topology, method), 1)
                else:
                    figures = experiment.measure(
                        topology, method, seed=study.seed, start=0, trials=1
                    )
            except (ValueError, TypeError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"{method} on {topology.spec}: {error}") from error
            known[key] = {name: values.dtype for name, values in figures.items()}
        layout[cell] = known[key]
    return layout


def run_chunk(chunk: Chunk) -> MethodColumns:
    """Draw the loads of a chunk and balance them: for each method, a column a figure."""
    if isinstance(chunk.loads, Experiment):
        return [
            _copied(
                chunk.loads.measure(
                    chunk.topology, method, seed=chunk.seed, start=chunk.start, trials=chunk.trials
                )
            )
            for method in chunk.methods
        ]
    recorded = measure_in_tiles(chunk)
    columns = {name: figure_columns(figures, chunk.trials) for name, figures in recorded.items()}
    if others := tuple(method for method in chunk.methods if method not in columns):
        columns |= zip(others, _in_rows(replace(chunk, methods=others)), strict=True)
    return [columns[method] for method in chunk.methods]


def _in_rows(chunk: Chunk) -> MethodColumns:
    """Do so with loads in rows, of a few trials at a time."""
    parts: list[MethodColumns] = []
    for piece in pieces(chunk, ROWS_LOADS):
        what = f"{piece.trials:,} trials on {piece.topology.spec}"
        require_memory(LOAD_BYTES * piece.trials * piece.topology.size, what)
        loads = sample_loads(
            piece.loads, piece.topology, trials=piece.trials, seed=piece.seed, start=piece.start
        )
        parts.append(
            [
                _copied(figure_columns(_balanced(loads, piece.topology, method), piece.trials))
                for method in piece.methods
            ]
        )
    if len(parts) == 1:
        return parts[0]
    return [
        {name: np.concatenate([part[name] for part in method]) for name in method[0]}
        for method in zip(*parts, strict=True)
    ]


def figure_columns(recorded: Mapping[str, Any], trials: int) -> dict[str, NDArray[Any]]:
    """Return the figures that a method recorded, one value a trial; counters as ``counts.name``."""
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


def _copied(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns that nobody else has: a user's method may use its arrays again.

    One value for all is still kept once.
    """
    return {
        name: np.broadcast_to(values[:1].copy(), values.shape)
        if len(values) > 0 and values.strides == (0,)
        else values.copy()
        for name, values in columns.items()
    }


def _balanced(loads: NDArray[np.int64], topology: Topology, method: str) -> dict[str, Any]:
    """Return the figures that a method records of these loads."""
    name, options = parse_method(method)
    check_options(name, options)
    balanced = balance(loads, topology, method=name, **options)
    return {figure: getattr(balanced, figure, None) for figure in FIGURES}
