"""The one place through which the face reaches the jitted kernels and optional libraries.

Kernels are imported on first use, so ``import fastlb`` loads neither numba nor scipy.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from .errors import MissingExtraError

EXTRAS = {
    "click": "cli",
    "rich": "cli",
    "matplotlib": "plot",
    "networkx": "graph",
    "pyarrow": "table",
    "pandas": "table",
}


@cache
def kernels(name: str) -> ModuleType:
    """Import the kernel module ``fastlb.kernels.<name>`` with a usable cache folder.

    numba raises while decorating when it finds no writable folder for its cache; a
    read-only installation without a home folder must still run, so a private temporary
    folder steps in.
    """
    from numba import config

    # Empty unless NUMBA_CACHE_DIR is set, or a kernel module before this one needed a folder.
    configured: str = config.CACHE_DIR  # type: ignore[attr-defined]
    if not configured and not _default_cache_is_writable():
        config.CACHE_DIR = tempfile.mkdtemp(prefix="fastlb-numba-")  # type: ignore[attr-defined]
    return importlib.import_module(f".kernels.{name}", __package__)


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


def _default_cache_is_writable() -> bool:
    beside = Path(__file__).parent / "kernels"
    home = Path(os.environ.get("XDG_CACHE_HOME", Path("~/.cache").expanduser()))
    return any(_writable(folder) for folder in (beside, home))


def _writable(folder: Path) -> bool:
    while not folder.exists():
        if folder == folder.parent:
            return False
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
