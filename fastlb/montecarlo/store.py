"""A study's trials in a folder, from which a run that was killed at any moment goes on."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .. import arguments
from ..arguments import yes_or_no
from ..extras import extra
from ..files.writing import remove_abandoned, sync_folder
from .collecting import collector
from .description import describe, differences
from .gathering import gather
from .manifest import MANIFEST, identity, read_manifest, stored_study, write_manifest
from .parts import Format, Layout, read_layout
from .results import Results
from .storage import NoStorage, Storage, Store
from .store_lock import locked
from .stored_trials import PART_NAME
from .study import Study


@contextmanager
def open_store(
    folder: Path | None, study: Study, layout: Layout, *, resume: bool
) -> Iterator[Storage]:
    """Open a folder that stores the trials of a study; without a folder they are not stored.

    Parameters
    ----------
    folder : path, optional
        It is made if it does not exist.
    study : Study
    layout : mapping
        The dtype of each figure, by combination.
    resume : bool
        Whether to go on with the store that the folder may hold.

    Raises
    ------
    OSError
        If the folder holds a store and ``resume`` is False, holds files but no store, cannot be
        written to, or is in use.
    ValueError
        If it holds another study, or was written by another version: the message says what
        differs. ``trials`` may be larger, and ``target_error`` and ``minimum_trials``, which decide
        how many of them are run, may differ.
    MissingExtraError
        If pyarrow is not installed.

    Warns
    -----
    RuntimeWarning
        If a part file is damaged; its trials are run again.
    """
    if folder is None:
        yield NoStorage()
        return
    extra("pyarrow.parquet")
    # pyarrow imports pandas, if it is installed, with its first array. That must not happen on a
    # thread: if Ctrl-C broke off the import, another thread would wait for its lock for ever.
    extra("pyarrow").array(np.zeros(1))
    description = describe(study)
    _check_folder(folder, resume)
    if not folder.is_dir():
        # Another run may have made it meanwhile; then the lock fails.
        folder.mkdir(exist_ok=True)
        sync_folder(folder.resolve().parent)
    with locked(folder):
        _check_folder(folder, resume)
        for path in folder.glob(".*.part"):
            remove_abandoned(path)
        write_manifest(folder, description, layout)
        store = Store(folder, Format(study, layout, identity(description)))
        for path in store.trials.damaged:
            warnings.warn(f"{path} is damaged: its trials are run again", RuntimeWarning, 2)
            path.unlink()
        yield store


def read_store(
    folder: str | Path, study: Study | None = None, *, rows: bool = True, partial: bool = False
) -> Results:
    """Return the results in a store without running anything.

    If the run is not complete, or still goes on, ``partial=True`` returns the trials so far, and
    ``pandas.read_parquet(folder)`` reads their rows.

    Parameters
    ----------
    folder : path
    study : Study, optional
        Needed only where topologies or loads have no spelling, such as general networks.
    rows : bool
        False keeps no rows, as for :func:`run`: the store may be larger than the memory.
    partial : bool
        True accepts a store that is not complete, and returns the first trials, as many as all
        methods of a topology and its loads have. ``Results.missing`` counts the rows that are not
        there, and topologies with loads that have no trial are left out of ``Results.study``.

    Raises
    ------
    OSError
        If the folder holds no store or cannot be read.
    ValueError
        If the run is not complete or a part is damaged, unless ``partial``; if there is no trial,
        the store is of a newer version, or ``study`` is another one.
    TypeError
        If an argument is of another kind.
    MemoryError
        If the rows plainly do not fit in memory.
    MissingExtraError
        If pyarrow is not installed.
    """
    extra("pyarrow.parquet")
    target, with_rows = arguments.folder("folder", folder), yes_or_no("rows", rows)
    incomplete = yes_or_no("partial", partial)
    if not (study is None or isinstance(study, Study)):
        raise TypeError(f"study must be a Study, got {study!r}")
    manifest = read_manifest(target)
    description = manifest["study"]
    stored = stored_study(target) if study is None else study
    if changed := differences(description, describe(stored)):
        raise ValueError(f"{target} holds another study; {'; '.join(changed)}")
    try:
        layout = read_layout(manifest["layout"], stored)
    except ValueError as error:
        raise ValueError(f"{target / MANIFEST} is no manifest of a store, its {error}") from None
    store = Store(target, Format(stored, layout, identity(description)), read_only=True)
    if incomplete:
        return _partial(stored, layout, store, rows=with_rows)
    if damaged := store.trials.damaged:
        raise ValueError(f"{damaged[0]} is damaged (--resume runs its trials again)")
    return gather(stored, collector(stored, layout, rows=with_rows), store)


def _partial(study: Study, layout: Layout, store: Store, *, rows: bool) -> Results:
    """Return the results of a study that a store has, complete or not."""
    counts = {group: store.trials.trials_from_first(cells) for group, cells in study.groups.items()}
    begun = [group for group, count in counts.items() if count]
    if not begun:
        return gather(study, collector(study, layout, rows=rows), store)  # raises ValueError
    part = study if len(begun) == len(counts) else study.only(begun)
    absent_cells = sum(len(study.groups[group]) for group, count in counts.items() if not count)
    collected = collector(part, layout, rows=rows)
    results = gather(part, collected, store, available=counts)
    return Results(part, collected, results.missing + absent_cells * study.trials)


def _check_folder(folder: Path, resume: bool) -> None:
    """Raise ``OSError`` unless a folder can be made, or is one that may become or be a store."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is no folder", str(folder))
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(parent))
    written = folder if folder.is_dir() else parent
    if not os.access(written, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "folder is not writable", str(written))
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if MANIFEST in names:
        if not resume:
            reason = "holds a store already (--resume goes on with it)"
            raise FileExistsError(errno.EEXIST, reason, str(folder))
    elif any(not name.startswith(".") for name in names):
        has_parts = any(map(PART_NAME.fullmatch, names))
        reason = f"holds parts of a store without {MANIFEST}" if has_parts else "holds other files"
        raise FileExistsError(errno.EEXIST, reason, str(folder))
