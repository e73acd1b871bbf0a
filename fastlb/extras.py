"""Optional libraries, imported on first use."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from .errors import MissingExtraError

# The extra of fastlb that installs each library.
EXTRAS = {
    "brotli": "vt",
    "click": "cli",
    "distributed": "dask",
    "highspy": "mps",
    "rich": "cli",
    "matplotlib": "plot",
    "networkx": "graph",
    "pyarrow": "table",
    "pandas": "table",
    "xarray": "table",
}


@cache
def extra(name: str) -> ModuleType:
    """Import an optional library, or raise ``MissingExtraError`` saying what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        group = EXTRAS[name.partition(".")[0]]
        raise MissingExtraError(
            f"{name.partition('.')[0]} is needed here and not installed: {how_to_install(group)}"
        ) from error


def how_to_install(group: str) -> str:
    """Return how an extra is installed, from a package index or in a clone.

    Examples
    --------
    >>> print(how_to_install("mps"))
    install the extra [mps], pip install 'fastlb[mps]' or, in a clone, pip install '.[mps]'
    """
    return (
        f"install the extra [{group}], pip install 'fastlb[{group}]' or, in a clone, "
        f"pip install '.[{group}]'"
    )
