"""A balance written to ``.json``, ``.npz`` or ``.csv``; files are complete or absent."""

from __future__ import annotations

import csv
import glob
import io
import json
import math
import os
import re
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..exchange.result import RECORDED_WITH, Balance
from ..memory import require_memory
from ..topologies.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .formats import LoadFile

BALANCE_SCHEMA = "fastlb.balance"
BALANCE_SCHEMA_VERSION = 1
# Memory per number: a Python object in a list, its text, and the joined text.
_JSON_BYTES = 100
SUFFIXES = (".json", ".npz", ".csv")


def check_target(
    path: str | Path,
    *,
    force: bool = False,
    suffixes: tuple[str, ...] = SUFFIXES,
    inputs: Iterable[str] = (),
) -> Path:
    """Check before any work that a path can be written to, and return it.

    ``inputs`` are the files, folders and patterns that the command reads.

    Raises
    ------
    ValueError
        If the suffix is unknown, or the file is one of the inputs.
    OSError
        If the file exists and ``force`` is not set, if it is a folder, a device or a pipe, or if
        its folder does not exist or is not writable.
    """
    target = Path(path)
    if target.suffix not in suffixes:
        raise ValueError(f"out must end in {', '.join(suffixes)}, got {str(path)!r}")
    if target.exists() and any(_reads(name, target) for name in inputs):
        raise ValueError(f"out must not be a file that is read, got {str(path)!r}; name another")
    check_free(target, force)
    return target


def _reads(name: str, target: Path) -> bool:
    """Return whether an input, a file, folder or pattern, is or holds a file."""
    paths = [name] if os.path.exists(name) else glob.glob(name, recursive=True)  # noqa: PTH110, PTH207
    holders = (target, target.resolve().parent)
    return any(Path(path).samefile(holder) for path in paths for holder in holders)


@contextmanager
def replacing(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that replaces it once it is complete.

    After an error the temporary file is removed and ``path`` is unchanged. Temporary files of
    killed runs are removed as well.
    """
    target = check_free(path, force)
    temporary = unfinished(target)
    with naming(path, temporary):
        try:
            with temporary.open("xb") as stream:
                _lock(stream.fileno())
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            check_free(path, force)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Make a temporary folder beside ``folder``, a new name, that gets this name once complete."""
    target = folder.resolve()
    temporary = unfinished(target)
    handle = None
    with naming(folder, temporary):
        temporary.mkdir()
        try:
            with suppress(OSError):  # not every system opens folders
                handle = os.open(temporary, os.O_RDONLY)
                _lock(handle)
            yield temporary
            temporary.rename(target)
        finally:
            if handle is not None:
                os.close(handle)
            shutil.rmtree(temporary, ignore_errors=True)


def unfinished(target: Path) -> Path:
    """Return a new temporary name beside ``target``; remove those of killed runs."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        if re.fullmatch(r"[0-9a-f]{8}", path.name[len(target.name) + 2 : -len(".part")]):
            with suppress(OSError):
                remove_abandoned(path)
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")


@contextmanager
def naming(path: Path, temporary: Path) -> Iterator[None]:
    """Let errors of the operating system name ``path``, not the temporary file beside it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or str(error.filename) not in ("None", str(temporary)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, so that a new file outlives a loss of power."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_abandoned(path: Path) -> None:
    """Remove a temporary file or folder whose writer has ended."""
    mode = path.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        if not _lock(handle):
            return
        if stat.S_ISDIR(mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take the lock that a writer holds until its file is complete; False if it is held."""
    try:
        import fcntl
    except ImportError:  # Windows, where open files cannot be removed
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def balance_head(balance: Balance, load_file: LoadFile, options: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a balance document other than the arrays.

    The document is one JSON object: ``schema`` ("fastlb.balance") and ``version`` (1) of its
    form, ``fastlb`` (the library's version), ``input`` (source, kind, shape and dtype of the
    loads, vt phases and tasks, the quantum or null), ``options`` (those of the method),
    ``reached`` (False where GDE did not converge), ``initial_loads``, and the entries of
    :meth:`Balance.to_dict`: method, topology, ``names`` of the nodes where they have some,
    ``loads``, ``flows`` and the figures; for a network from a file also ``links``, the pairs of
    nodes that ``flows`` are of, positive from the first to the second. A number that is not
    finite, for which JSON has no form, is null.
    """
    source: dict[str, Any] = {
        "source": load_file.source,
        "kind": load_file.kind,
        "shape": list(load_file.loads.shape),
        "dtype": load_file.loads.dtype.name,
        "quantum": load_file.quantum,
    }
    if load_file.kind == "vt":
        source |= {"phases": list(load_file.phases), "tasks": load_file.tasks}
    return {
        "schema": BALANCE_SCHEMA,
        "version": BALANCE_SCHEMA_VERSION,
        "fastlb": __version__,
        "input": source,
        "options": options,
        "reached": reached(balance),
    }


def balance_document(
    balance: Balance, load_file: LoadFile, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the JSON document of a balance, as described in :func:`balance_head`.

    Raises
    ------
    MemoryError
        If its numbers plainly do not fit the memory as Python objects; ``.npz`` needs less.
    """
    arrays = [getattr(balance, name, None) for name in RECORDED_WITH]
    numbers = load_file.loads.size + sum(a.size for a in arrays if isinstance(a, np.ndarray))
    require_memory(_JSON_BYTES * numbers, "the JSON document (.npz needs far less)")
    head = balance_head(balance, load_file, options)
    document = {**head, "initial_loads": load_file.loads.tolist(), **balance.to_dict()}
    if isinstance(balance.topology, Network) and "flows" in document:
        names = balance.topology.names
        document["links"] = [[names[u], names[v]] for u, v in balance.topology.links.tolist()]
    return document


def reached(balance: Balance) -> bool:
    """Return whether the method reached its goal: every network of a GDE converged."""
    return bool(np.all(getattr(balance, "converged", True)))


def write_balance(
    path: Path,
    balance: Balance,
    load_file: LoadFile,
    options: dict[str, Any],
    *,
    force: bool = False,
) -> None:
    """Write a balance in the form that the suffix names.

    ``.json`` holds the document of :func:`balance_head`, ``.npz`` one array an entry and the
    head as JSON text in ``document``, ``.csv`` the final loads in the layout that
    :func:`~fastlb.files.formats.read_csv` reads: a network a line, or a grid, or a single network
    a column; of a single network with names, lines ``node,load``.
    """
    with replacing(path, force=force) as stream:
        if path.suffix == ".json":
            stream.write(as_json(balance_document(balance, load_file, options)).encode())
        elif path.suffix == ".npz":
            _write_npz(stream, balance, load_file, options)
        else:
            _write_csv(stream, balance)


def as_json(document: dict[str, Any]) -> str:
    """Return a document as JSON text: one top-level entry a line, for people and for diff.

    JSON has no infinity and no NaN: they become null.
    """
    entries = [f"{json.dumps(key)}: {_json_value(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _json_value(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_npz(
    stream: IO[bytes], balance: Balance, load_file: LoadFile, options: dict[str, Any]
) -> None:
    head = {
        **balance_head(balance, load_file, options),
        "method": balance.method,
        "topology": balance.topology.spec,
    }
    if hasattr(balance, "lam"):
        head["lam"] = str(balance.lam)
    arrays: dict[str, Any] = {"initial_loads": load_file.loads, "document": json.dumps(head)}
    for name in RECORDED_WITH:
        value = getattr(balance, name, None)
        if isinstance(value, dict):
            arrays |= {f"{name}.{key}": part for key, part in value.items()}
        elif value is not None:
            # The document holds a Fraction exactly; the array holds the nearest float.
            arrays[name] = float(value) if isinstance(value, Fraction) else value
    np.savez(stream, **arrays)


def _write_csv(stream: IO[bytes], balance: Balance) -> None:
    loads, size = balance.loads, balance.topology.size
    single = loads.size == size
    if single and isinstance(balance.topology, Network) and balance.topology.is_named:
        lines = [[str(k), v] for k, v in balance.topology.by_name(loads.reshape(-1)).items()]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([["node", "load"], *lines])
        stream.write(text.getvalue().encode())
        return
    if single:
        rows = loads if loads.ndim == 2 and loads.shape[0] > 1 else loads.reshape(-1, 1)
    else:
        rows = loads.reshape(-1, size)
    for row in rows:
        stream.write((",".join(map(repr, row.tolist())) + "\n").encode())


def check_free(path: Path, force: bool) -> Path:
    """Return ``path`` with symbolic links resolved, if a file can be written there."""
    target = Path(os.path.realpath(path))
    mode = target.lstat().st_mode if os.path.lexists(target) else None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "is a folder", str(path))
    if mode is not None and not stat.S_ISREG(mode):
        raise FileExistsError(17, "is a device, a pipe or the like, no file to replace", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(target.parent))
    if mode is not None and not force:
        raise FileExistsError(17, "is there already (--force overwrites it)", str(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(13, "folder is not writable", str(target.parent))
    return target
