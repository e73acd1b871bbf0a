"""The folder of the compiled kernels."""

from __future__ import annotations

import os
import pkgutil
import sys
from pathlib import Path
from typing import NamedTuple

from ..accelerate import kernels


class CacheFolder(NamedTuple):
    """The common folder of the caches of all loaded kernels; ``path`` is None without any."""

    path: Path | None
    writable: bool
    kernels: int
    bytes: int


def load_all_kernels() -> None:
    """Import every module of kernels, so that :func:`cache_folder` sees all; compile nothing."""
    root = Path(__file__).parents[1] / "kernels"
    for family in pkgutil.iter_modules([str(path) for path in sorted(root.iterdir())]):
        folder = Path(family.module_finder.path).name  # type: ignore[union-attr]
        if not family.name.startswith("_"):
            kernels(f"{folder}.{family.name}")


def cache_folder() -> CacheFolder:
    """Return the folder, number and size of the caches of all loaded kernel modules."""
    folders = {
        Path(stats.cache_path)
        for name, module in list(sys.modules.items())
        if name.startswith("fastlb.kernels.")
        for kernel in vars(module).values()
        if (stats := getattr(kernel, "stats", None)) is not None and stats.cache_path
    }
    if not folders:
        return CacheFolder(None, writable=False, kernels=0, bytes=0)
    files = [path for folder in folders for path in folder.glob("*.nb[ci]") if path.is_file()]
    return CacheFolder(
        Path(os.path.commonpath(folders)),
        writable=all(os.access(folder, os.W_OK) for folder in folders),
        kernels=sum(path.suffix == ".nbc" for path in files),
        bytes=sum(path.stat().st_size for path in files),
    )
