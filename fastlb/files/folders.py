"""Folders of files that are written together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .writing import filling, replacing


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

    With ``force`` an existing folder is written into, file by file, each of them complete.
    """
    check_folder(path, force=force)
    if not path.exists():
        with filling(path) as temporary:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
        return
    for name, content in files.items():
        with replacing(path / name, force=True) as stream:
            stream.write(content)
