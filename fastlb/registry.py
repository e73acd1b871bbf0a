"""Balancing methods by name, and the options each takes."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from .arguments import written
from .exchange.dimension_exchange import dem
from .exchange.direct_exchange import dde
from .exchange.fault_tolerance import fault_tolerant_dem
from .exchange.generalized_exchange import gde
from .exchange.result import Balance
from .hexa_cells.hexa_cell_exchange import hexa_cell
from .own_methods import own_method

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .topologies.topology import Topology

Method = Callable[..., Balance]

_METHODS: dict[str, Method] = {
    "dem": dem,
    "gde": gde,
    "dde": dde,
    "hexa_cell": hexa_cell,
    "fault_tolerant_dem": fault_tolerant_dem,
}

BUILT_IN = frozenset(_METHODS)

# By name, the source of a registered function when it was registered, or None where it has none.
_SOURCES: dict[str, str | None] = {}

# Arguments of every method; they are no options of one.
SHARED = ("loads", "topology", "record", "out")


def methods() -> tuple[str, ...]:
    """Return the names that :func:`balance` knows."""
    return tuple(_METHODS)


def register_method(name: str, function: Callable[..., Any]) -> None:
    """Add a balancing method of your own; registered again, it replaces the one before.

    Parameters
    ----------
    name : str
        A Python identifier, as it is also spelled in studies; not that of a method of fastlb.
    function : callable
        Called as ``function(loads, topology, **options)`` with an array of shape
        ``(*batch, *topology.shape)`` or ``(*batch, topology.size)``, its own copy, and a
        :class:`Topology`; the options are those that the caller gives, ``record`` and ``out``
        only if it takes them. Returns the final loads, of the same shape and total; or a dict
        with ``loads`` and any of ``moved``, ``local``, ``sweeps``, ``steps``, ``rounds``,
        ``simulated_steps``, ``stalled`` and ``converged``, one value or one a network; or a
        :class:`Balance`. Figures that it does not tell are not recorded. To an exception of its
        own a note is added that names the method.

    Raises
    ------
    ValueError, TypeError
        If the name is that of a method of fastlb or no identifier, or the function cannot be
        called; when it is called, if what it returns is not as above.

    Notes
    -----
    The store of a study knows a method by its name and options. A resumed run warns if the
    function's own source is another than when the store was begun, and would add new figures to
    those of the old one; what the function calls, and functions without a source, are not
    compared. Register a changed function under a new name, or use a new store.

    Examples
    --------
    >>> import fastlb as lb
    >>> def to_the_first(loads, topology):
    ...     final = 0 * loads
    ...     final[..., 0] = loads.sum(axis=-1)
    ...     return final
    >>> lb.register_method("to_the_first", to_the_first)  # doctest: +SKIP
    >>> lb.balance([1, 2, 3], "chain:3", "to_the_first").difference  # doctest: +SKIP
    6
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name must be an identifier, got {name!r}")
    if name in BUILT_IN:
        raise ValueError(f"name must not be that of a method of fastlb, got {name!r}")
    if not callable(function):
        raise TypeError(f"function must be callable, got {function!r}")
    _METHODS[name] = own_method(name, function)
    _SOURCES[name] = _source(function)


def balance(
    loads: ArrayLike, topology: Topology | str, method: str = "dde", **options: Any
) -> Balance:
    """Balance loads by the method of this name.

    Parameters
    ----------
    loads, topology
        As for the method.
    method : str
        One of :func:`methods`.
    **options
        The method's own keyword arguments.

    Raises
    ------
    ValueError
        If there is no such method.
    TypeError
        If it does not take one of the options.

    Examples
    --------
    >>> import fastlb as lb
    >>> lb.balance([4, 0, 0, 0], lb.Ring(4), "dde").loads
    array([1, 1, 1, 1])
    """
    if not isinstance(method, str) or method not in _METHODS:
        # A study spells dde:exchange=sbr what is two arguments here.
        name, _, spelled = str(method).partition(":")
        close = difflib.get_close_matches(name, _METHODS, n=1)
        apart = ", its options given apart" if spelled else ""
        hint = f"; did you mean {close[0]}{apart}?" if close else ""
        raise ValueError(
            f"method must be one of {', '.join(_METHODS)}, got {written(method)}{hint}"
        )
    try:
        return _METHODS[method](loads, topology, **options)
    except TypeError:
        # Python's own message does not say what the method takes.
        check_options(method, options)
        raise


def function_of(method: str) -> Method | None:
    """Return the function of this name, or None if there is none."""
    return _METHODS.get(method)


def source_of(method: str) -> str | None:
    """Return the source of a registered function, or None if it has none or is of fastlb."""
    return _SOURCES.get(method)


def options_of(method: str) -> tuple[str, ...] | None:
    """Return the names of a method's options, or None if it may take any or does not tell."""
    try:
        parameters = list(inspect.signature(_METHODS[method]).parameters.values())[2:]
    except ValueError:
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(p.name for p in parameters if p.name not in SHARED)


def default_of(method: str, option: str) -> object:
    """Return what an option is when it is not given."""
    return inspect.signature(_METHODS[method]).parameters[option].default


def check_options(method: str, options: Iterable[str]) -> None:
    """Raise ``TypeError`` if a method is given an option that it does not take."""
    known = options_of(method)
    for name in options:
        if known is not None and name not in (*known, *SHARED):
            listed = f"takes {', '.join(known)}" if known else "takes no options"
            raise TypeError(f"{method} {listed}, got {name}")


def _source(function: Callable[..., Any]) -> str | None:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError, SyntaxError, TokenError):
        return None
