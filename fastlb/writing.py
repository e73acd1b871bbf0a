"""A balance in a file: ``.json``, ``.npz`` and ``.csv``, whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ._version import __version__
from .memory import require_memory
from .result import RECORDED_WITH, Balance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .formats import LoadFile

BALANCE_SCHEMA = "fastlb.balance"
BALANCE_SCHEMA_VERSION = 1
# What a number takes as a Python object in a list, as text, and as joined text.
_JSON_BYTES = 100
SUFFIXES = (".json", ".npz", ".csv")


def check_target(
    path: str | Path, *, force: bool = False, suffixes: tuple[str, ...] = SUFFIXES
) -> Path:
    """Return the path to write to, before any work is done for it.

    Raises
    ------
    ValueError
        If the suffix is unknown.
    FileExistsError, FileNotFoundError, IsADirectoryError
        If the file is there and ``force`` is not given, its folder is not there, or it is one.
    """
    target = Path(path)
    if target.suffix not in suffixes:
        raise ValueError(f"out must end in {', '.join(suffixes)}, got {str(path)!r}")
    _check_free(target, force)
    return target


@contextmanager
def replacing(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` that takes its place once it is complete.

    After an error nothing is left, and what stood at ``path`` stands there still.
    """
    _check_free(path, force)
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with partial.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _check_free(path, force)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def balance_head(balance: Balance, given: LoadFile, options: dict[str, Any]) -> dict[str, Any]:
    """Return what a balance document says beside the arrays.

    The document is one JSON object: ``schema`` ("fastlb.balance") and ``version`` (1) of its
    form, ``fastlb`` (the library's version), ``input`` (source, kind, shape and dtype of the
    loads, vt phases and tasks, the quantum or null), ``options`` (those given to the method),
    ``reached`` (False where GDE did not converge), ``initial_loads``, and the entries of
    :meth:`Balance.to_dict`: method, topology, ``loads``, ``flows`` and the figures.
    """
    source: dict[str, Any] = {
        "source": given.source,
        "kind": given.kind,
        "shape": list(given.loads.shape),
        "dtype": given.loads.dtype.name,
        "quantum": given.quantum,
    }
    if given.kind == "vt":
        source |= {"phases": list(given.phases), "tasks": given.tasks}
    return {
        "schema": BALANCE_SCHEMA,
        "version": BALANCE_SCHEMA_VERSION,
        "fastlb": __version__,
        "input": source,
        "options": options,
        "reached": reached(balance),
    }


def balance_document(balance: Balance, given: LoadFile, options: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON document of a balance, as described in :func:`balance_head`.

    Raises
    ------
    MemoryError
        If its numbers plainly do not fit the memory as Python objects; ``.npz`` is for those.
    """
    arrays = [getattr(balance, name, None) for name in RECORDED_WITH]
    numbers = given.loads.size + sum(a.size for a in arrays if isinstance(a, np.ndarray))
    require_memory(_JSON_BYTES * numbers, "the JSON document (.npz needs far less)")
    head = balance_head(balance, given, options)
    return {**head, "initial_loads": given.loads.tolist(), **balance.to_dict()}


def reached(balance: Balance) -> bool:
    """Return whether the method ended as it should: every network of a GDE converged."""
    return bool(np.all(getattr(balance, "converged", True)))


def write_balance(
    path: Path,
    balance: Balance,
    given: LoadFile,
    options: dict[str, Any],
    *,
    force: bool = False,
) -> None:
    """Write a balance in the form that the suffix names.

    ``.json`` holds the document of :func:`balance_head`, ``.npz`` one array an entry and the
    head as JSON text in ``document``, ``.csv`` the final loads in the layout that
    :func:`~fastlb.formats.read_csv` reads: a network a line, or a grid, or a single network
    a column.
    """
    with replacing(path, force=force) as stream:
        if path.suffix == ".json":
            stream.write(as_json(balance_document(balance, given, options)).encode())
        elif path.suffix == ".npz":
            _write_npz(stream, balance, given, options)
        else:
            _write_csv(stream, balance)


def as_json(document: dict[str, Any]) -> str:
    """Return a document as JSON text: one top-level entry a line, for people and for diff."""
    entries = [
        f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _write_npz(
    stream: IO[bytes], balance: Balance, given: LoadFile, options: dict[str, Any]
) -> None:
    head = {
        **balance_head(balance, given, options),
        "method": balance.method,
        "topology": balance.topology.spec,
    }
    arrays: dict[str, Any] = {"initial_loads": given.loads, "document": json.dumps(head)}
    for name in RECORDED_WITH:
        value = getattr(balance, name, None)
        if isinstance(value, dict):
            arrays |= {f"{name}.{key}": part for key, part in value.items()}
        elif value is not None:
            arrays[name] = value
    np.savez(stream, **arrays)


def _write_csv(stream: IO[bytes], balance: Balance) -> None:
    loads, size = balance.loads, balance.topology.size
    single = loads.size == size
    if single:
        rows = loads if loads.ndim == 2 and loads.shape[0] > 1 else loads.reshape(-1, 1)
    else:
        rows = loads.reshape(-1, size)
    for row in rows:
        stream.write((",".join(map(repr, row.tolist())) + "\n").encode())


def _check_free(path: Path, force: bool) -> None:
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder", str(path))
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(path.resolve().parent))
    if path.exists() and not force:
        raise FileExistsError(17, "is there already (--force overwrites it)", str(path))
