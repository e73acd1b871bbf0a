"""A study's trials in a folder: killed at any moment, the run goes on from there."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .. import arguments
from .._version import __version__
from ..arguments import yes_or_no
from ..extras import extra
from ..files.writing import as_json, remove_abandoned, sync_folder
from .collecting import collector
from .gathering import gather
from .keeper import PART, Keeper, Memory, Store, put
from .manifest import check_said, describe, differences, digest, study_of
from .parts import Format, Layout, layout_entry, read_layout
from .results import Results
from .study import Study

STORE_SCHEMA = "fastlb.store"
# Version 2 has a checksum of the manifest.
STORE_SCHEMA_VERSION = 2

# Readers of folders of Parquet files pass over names that begin with an underscore or a dot.
MANIFEST, LOCK = "_manifest.json", ".lock"

# What says how many of its trials a study runs, and not what they are.
HOW_MANY = ("target_error", "minimum_trials")

# Folders that this process has open: the system's locks hold against other processes alone, and
# are lost as soon as the process closes their file once.
_OPEN: set[Path] = set()
_OPENING = threading.Lock()


@contextmanager
def open_store(
    folder: Path | None, study: Study, layout: Layout, *, resume: bool
) -> Iterator[Keeper]:
    """Open a folder to keep the trials of a study in; without a folder they are not kept.

    Parameters
    ----------
    folder : path, optional
        It is made if need be.
    study : Study
    layout : by combination, the dtype of each figure
    resume : bool
        Whether to go on with the store that the folder may hold.

    Raises
    ------
    OSError
        If the folder holds a store and ``resume`` is not given, holds files but no store, cannot
        be written to, or is in use.
    ValueError
        If it holds another study, or was written by another version: the message says what
        differs. ``trials`` may be raised; ``target_error`` and ``minimum_trials``, which say how
        many of them are run, may be others.
    MissingExtraError
        If pyarrow is not installed.

    Warns
    -----
    RuntimeWarning
        If a part is damaged; its trials are run again.
    """
    if folder is None:
        yield Memory()
        return
    extra("pyarrow.parquet")
    # With its first array pyarrow imports pandas, where that is installed: now, not while threads
    # are at work, of which one would wait for ever for the lock of an import that Ctrl-C broke off.
    extra("pyarrow").array(np.zeros(1))
    described = describe(study)
    _check_folder(folder, resume)
    if not folder.is_dir():
        # Another run may make it meanwhile: the lock tells.
        folder.mkdir(exist_ok=True)
        sync_folder(folder.resolve().parent)
    with _locked(folder):
        _check_folder(folder, resume)
        for path in folder.glob(".*.part"):
            remove_abandoned(path)
        _settle(folder, described, layout)
        store = Store(folder, Format(study, layout, _identity(described)))
        for path in store.damaged:
            warnings.warn(f"{path} is damaged: its trials are run again", RuntimeWarning, 2)
            path.unlink()
        yield store


def read_store(
    folder: str | Path, study: Study | None = None, *, rows: bool = True, partial: bool = False
) -> Results:
    """Return the results in a store without running anything.

    Of a run that is not complete, or still goes on, ``partial=True`` returns what is there, and
    ``pandas.read_parquet(folder)`` reads its rows.

    Parameters
    ----------
    folder : path
    study : Study, optional
        Needed only where topologies or loads have no spelling, such as general networks.
    rows : bool
        False keeps no rows, as for :func:`run`: the store may be larger than the memory.
    partial : bool
        True takes a store that is not complete: the first trials, as many as all methods of a
        topology and its loads have. ``Results.missing`` counts the rows that are not there, and
        topologies with loads of which there is no trial are left out of ``Results.study``.

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
    described = manifest["study"]
    stored = stored_study(target) if study is None else study
    if changed := differences(described, describe(stored)):
        raise ValueError(f"{target} holds another study; {'; '.join(changed)}")
    try:
        layout = read_layout(manifest["layout"], stored)
    except ValueError as error:
        raise ValueError(f"{target / MANIFEST} is no manifest of a store, its {error}") from None
    store = Store(target, Format(stored, layout, _identity(described)), complete=True)
    if incomplete:
        return _partial(stored, layout, store, rows=with_rows)
    if store.damaged:
        raise ValueError(f"{store.damaged[0]} is damaged (--resume runs its trials again)")
    return gather(stored, collector(stored, layout, rows=with_rows), store)


def _partial(study: Study, layout: Layout, store: Store, *, rows: bool) -> Results:
    """Return what a store has of a study, complete or not."""
    counts = {group: store.trials_from_first(cells) for group, cells in study.groups.items()}
    begun = [group for group, count in counts.items() if count]
    if not begun:
        return gather(study, collector(study, layout, rows=rows), store)  # says what is missing
    part = study if len(begun) == len(counts) else study.only(begun)
    absent = sum(len(study.groups[group]) for group, count in counts.items() if not count)
    collected = collector(part, layout, rows=rows)
    results = gather(part, collected, store, available=counts)
    return Results(part, collected, results.missing + absent * study.trials)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what a store says of itself: its version, fastlb's, the study and its figures.

    Raises
    ------
    OSError
        If there is no store.
    ValueError
        If the store is of a newer version, or this is no manifest.
    """
    path = folder / MANIFEST
    if not os.path.lexists(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(folder))
    if folder.is_dir() and not path.exists():
        raise FileNotFoundError(errno.ENOENT, "holds no store", str(folder))
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        schema, version = manifest["schema"], manifest["version"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is no manifest of a store") from None
    if schema != STORE_SCHEMA or not isinstance(version, int):
        raise ValueError(f"{path} is no manifest of a store, its schema is {schema!r}")
    if version > STORE_SCHEMA_VERSION:
        raise ValueError(
            f"{folder} is a store of version {version}, written by fastlb {manifest.get('fastlb')}:"
            f" this is fastlb {__version__}, which knows version {STORE_SCHEMA_VERSION}"
        )
    entries: dict[str, Any] = manifest
    checksum = entries.pop("sha256", None)
    if version > 1 and checksum != _checksum(entries):
        raise ValueError(f"{path} is damaged or was edited: its checksum is another")
    for key in ("fastlb", "study", "layout"):
        if key not in entries:
            raise ValueError(f"{path} is no manifest of a store, it lacks {key}")
    try:
        check_said(entries["study"])
    except ValueError as error:
        raise ValueError(f"{path} is no manifest of a store, its {error}") from None
    return entries


def stored_study(folder: Path) -> Study:
    """Return the study whose trials a store holds; errors as for :func:`read_manifest`.

    Raises
    ------
    ValueError
        If a topology or distribution has no spelling, or a value is wrong as well.
    """
    described = read_manifest(folder)["study"]
    try:
        return study_of(described)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / MANIFEST}: {error}") from error


def _settle(folder: Path, described: dict[str, Any], layout: Layout) -> None:
    """Write the manifest of a new store, or hold the one that is there against this study."""
    path = folder / MANIFEST
    now: dict[str, Any] = {
        "schema": STORE_SCHEMA,
        "version": STORE_SCHEMA_VERSION,
        "fastlb": __version__,
        "study": described,
        "layout": layout_entry(layout),
    }
    if path.exists():
        manifest = read_manifest(folder)
        stored = manifest["study"]
        before, after = ({"fastlb": m["fastlb"], **m["study"]} for m in (manifest, now))
        before |= {key: described[key] for key in HOW_MANY}
        if stored["trials"] < described["trials"]:
            before["trials"] = described["trials"]
        if changed := differences(before, after):
            raise ValueError(
                f"{folder} holds another study; {'; '.join(changed)} (trials may be raised and "
                "target_error changed, all else needs a folder of its own)"
            )
        if manifest["layout"] != now["layout"]:
            raise ValueError(f"{folder} holds other figures than the methods give now")
        if stored == described:
            return
    put(path, as_json({**now, "sha256": _checksum(now)}).encode())


def _checksum(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest without its own, the same for any layout of the text."""
    return digest(json.dumps(manifest, sort_keys=True))


def _identity(described: dict[str, Any]) -> str:
    """Return what tells the parts of studies apart; how many trials are run is none of it."""
    return digest(json.dumps({**described, **dict.fromkeys(("trials", *HOW_MANY))}))


def _check_folder(folder: Path, resume: bool) -> None:
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
            said = "holds a store already (--resume goes on with it)"
            raise FileExistsError(errno.EEXIST, said, str(folder))
    elif any(not name.startswith(".") for name in names):
        lost = any(map(PART.fullmatch, names))
        said = f"holds parts of a store without {MANIFEST}" if lost else "holds other files"
        raise FileExistsError(errno.EEXIST, said, str(folder))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other runs. A lock ends with its process, however that ends.

    Record locks, unlike those of ``flock``, are not held on by the processes of a pool that
    outlive a killed run.
    """
    real = folder.resolve()
    with _OPENING:
        if real in _OPEN:
            raise BlockingIOError(errno.EAGAIN, "is in use by this process", str(folder))
        _OPEN.add(real)
    try:
        handle = os.open(real / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle, folder)
            yield
        finally:
            os.close(handle)
    finally:
        _OPEN.discard(real)


def _lock(handle: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise OSError(error.errno, f"cannot be locked: {error.strerror}", str(folder)) from None
        owner = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
        raise BlockingIOError(errno.EAGAIN, f"is in use by {owner}", str(folder)) from None
    with suppress(OSError):  # a full disk: the lock holds without its owner's name
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
