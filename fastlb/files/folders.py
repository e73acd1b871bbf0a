"""Folders of files that are written together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from .lbdata import is_rank_file
from .writing import check_free, filling, replacing


def check_folder(path: str | Path, *, force: bool = False) -> Path:
    """Check before any work that a folder can be made or, with ``force``, written into.

    Raises
    ------
    OSError
        If it exists and ``force`` is not set, is no folder, or its parent is not writable.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(20, "is no folder", str(path))
    if folder.exists() and not force:
        raise FileExistsError(17, "is there already (--force writes into it)", str(path))
    place = folder if folder.exists() else folder.resolve().parent
    if not place.is_dir():
        raise FileNotFoundError(2, "no such folder", str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(13, "folder is not writable", str(place))
    return folder


def write_folder(path: Path, files: Mapping[str, bytes], *, force: bool = False) -> None:
    """Write files into a new folder, which appears once all are complete.

    With ``force`` an existing folder is written into, file by file, each of them complete. Files
    of a vt run there that would be mixed with those of ``files`` are refused.
    """
    check_folder(path, force=force)
    if not path.exists():
        with filling(path) as temporary:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
        return
    _check_names(path, files)
    for name, content in files.items():
        with replacing(path / name, force=True) as stream:
            stream.write(content)


def _check_names(folder: Path, names: Iterable[str]) -> None:
    """Check that all files can be replaced, before the first is."""
    new = [folder / name for name in names]
    for path in new:
        check_free(path, force=True)
    if any(map(is_rank_file, new)):
        others = sorted(path for path in folder.iterdir() if is_rank_file(path) and path not in new)
        if others:
            raise FileExistsError(17, "is of another run: choose another folder", str(others[0]))
