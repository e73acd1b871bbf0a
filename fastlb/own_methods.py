"""Balancing methods of one's own: what they are called with, and a Balance of what they return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import as_array, written
from .exchange.figures import figures, per_batch
from .exchange.loads import LoadRows, check_record, read_loads, survey
from .exchange.outputs import finished, output_rows
from .exchange.result import RECORDED_WITH, Balance
from .topologies.parse import read_topology

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .topologies.topology import Topology

# Figures that only the method can tell, with what follows from them; the others are those of the
# loads before and after.
OPTIONAL_FIGURES = {"moved": ("cost",), "local": ("locality",)} | dict.fromkeys(
    ("sweeps", "steps", "rounds", "simulated_steps", "stalled", "converged"), ()
)
# Totals of real loads may change by rounding, by this part of them.
ROUNDING = 1e-6


def own_method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that makes a Balance of what a user's function returns.

    See :func:`fastlb.register_method` for how the function is called and what it may return.
    """
    takes = _arguments(function)

    @wraps(function)
    def balanced(loads: ArrayLike, topology: Topology | str, **options: Any) -> Any:
        where = read_topology(topology)
        inputs = read_loads(loads, where)
        record = options.get("record", "metrics")
        check_record(record)
        if takes is not None and "record" not in takes:
            if record == "flows":
                raise ValueError(f"record must not be 'flows': {name} does not take record")
            options.pop("record", None)
        out = None if takes is not None and "out" in takes else options.pop("out", None)
        # A copy, which the function may change in place.
        try:
            returned = function(inputs.rows.reshape(inputs.shape).copy(), where, **options)
        except Exception as error:
            error.add_note(f"raised by the method {name} on {where!r}")
            raise
        balance = _as_balance(name, where, record, inputs, returned)
        if out is None:
            return balance
        result, rows = output_rows(out, loads, inputs)
        np.copyto(rows, balance.loads.reshape(rows.shape), casting="same_kind")
        return Balance(name, where, record, {**vars(balance), "loads": finished(result, rows)})

    return balanced


def _arguments(function: Callable[..., Any]) -> set[str] | None:
    """Return the names of a function's arguments, or None if it takes any or does not tell."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return None
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return None if takes_any else set(parameters)


def _as_balance(
    name: str, topology: Topology, record: str, inputs: LoadRows, returned: Any
) -> Balance | Any:
    """Return a Balance of final loads, alone or in a dict beside figures.

    A Balance, and any other object with figures as attributes, stays what it is.
    """
    values: Mapping[str, Any] = returned if isinstance(returned, Mapping) else {"loads": returned}
    if not isinstance(returned, Mapping | np.ndarray | list | tuple):
        if any(hasattr(returned, figure) for figure in RECORDED_WITH):
            return returned
        raise TypeError(
            f"{name} must return the final loads, a dict of them and figures, or a Balance, "
            f"got {type(returned).__name__}"
        )
    unknown = [figure for figure in values if figure != "loads" and figure not in OPTIONAL_FIGURES]
    if unknown or "loads" not in values:
        raise TypeError(
            f"{name} must return a dict with loads and any of {', '.join(OPTIONAL_FIGURES)}, "
            f"got {', '.join(map(str, values)) or 'an empty one'}"
        )
    final = _final(name, values["loads"], inputs.shape)
    try:
        rows = read_loads(final, topology).rows
        after = survey(rows)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name} returned what no loads are: {error}") from None
    before = survey(inputs.rows)
    _check_totals(name, before.total, after.total)
    if record == "loads":
        return Balance(name, topology, record, {"loads": final})
    counted = {
        figure: _values(name, figure, value, inputs.batch)
        for figure, value in values.items()
        if figure != "loads"
    }
    nothing = np.zeros(len(rows), np.int64)
    moved, local = (counted.get(figure, nothing) for figure in ("moved", "local"))
    known = figures(before, after, topology.size, moved, local)
    for figure, following in OPTIONAL_FIGURES.items():
        if figure not in counted:
            known = {n: v for n, v in known.items() if n not in (figure, *following)}
    fields = per_batch({**known, **counted}, inputs.batch)
    return Balance(name, topology, record, {"loads": final, **fields})


def _final(name: str, loads: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the final loads as an array, masked where they are; raise on another shape."""
    try:
        final = loads if isinstance(loads, np.ndarray) else as_array("loads", loads)
    except (ValueError, OverflowError) as error:
        raise type(error)(f"{name} must return loads as one array: {error}") from None
    if final.shape != shape:
        raise ValueError(
            f"{name} must return loads of the shape {shape} it was given, got {final.shape}"
        )
    return final


def _values(name: str, figure: str, value: Any, batch: tuple[int, ...]) -> NDArray[Any]:
    """Return a figure of every network; raise if it is no number, or not one for each."""
    rule = f"{name} must return {figure} as a number, or an array of them of shape {batch}"
    try:
        values = np.asarray(value)
        of_each = np.broadcast_to(values, batch).reshape(-1)
    except ValueError:
        raise ValueError(f"{rule}, got {written(value)}") from None
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{rule}, got {written(value)}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            f"{name} must return {figure} finite and not negative, got {written(value)}"
        )
    return of_each


def _check_totals(name: str, before: NDArray[Any], after: NDArray[Any]) -> None:
    """Raise ``ValueError`` if a network's total has changed."""
    exact = before.dtype.kind != "f" and after.dtype.kind != "f"
    same = before == after if exact else np.isclose(before, after, rtol=ROUNDING, atol=0)
    if not same.all():
        row = int(np.argmin(same))
        raise ValueError(
            f"{name} must return loads with the total it was given, got {after[row]} "
            f"for {before[row]} in network {row}"
        )
