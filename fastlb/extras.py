"""Optional libraries, imported on first use."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from .errors import MissingExtraError

# The extra of fastlb that installs each library.
EXTRAS = {
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
            f"{name.partition('.')[0]} is needed here and not installed: "
            f"pip install 'fastlb[{group}]'"
        ) from error
