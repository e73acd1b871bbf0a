"""The files of a DARMA/vt run: ``PREFIX.RANK.json``, one ``LBDatafile`` a processor.

The files are JSON, which vt compresses with brotli unless told not to, under the name
``PREFIX.RANK.json.br`` or under the plain name: what a file holds is seen from its bytes.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..arguments import written
from ..errors import MissingExtraError
from ..extras import extra
from ..memory import require_memory
from .textfiles import once

_NAME = re.compile(r"(?P<prefix>.+)\.(?P<rank>[+-]?\d+)\.json(\.br)?")
LARGEST_RANK = 10**9 - 1
# If more ranks are missing than this, the number in the largest name is hardly a rank.
MISSING_LISTED = 10**4
# A compressed file may unpack to no more: a few bytes of brotli can hold gigabytes of blanks.
UNPACKED_BYTES_MAX = 2**30
_CHUNK_BYTES = 2**24
# Bytes that Python takes for an object or list of JSON, and for each further entry of one.
_OBJECT_BYTES, _ENTRY_BYTES = 240, 64


def is_rank_file(path: Path) -> bool:
    """Return whether a file is named as that of a rank."""
    return _NAME.fullmatch(path.name) is not None


def folder_files(folder: Path) -> list[Path]:
    """Return the data files of the one run that a folder holds.

    Raises
    ------
    ValueError
        If there are none, or they belong to several runs.
    """
    entries = sorted(folder.iterdir())
    paths = [path for path in entries if is_rank_file(path)]
    if not paths:
        raise ValueError(f"{folder} holds no PREFIX.RANK.json files, got {len(entries)} entries")
    prefixes = sorted({rank_of(path)[0] for path in paths})
    if len(prefixes) > 1:
        raise ValueError(
            f"{folder} holds the files of {len(prefixes)} runs ({', '.join(prefixes[:4])}): "
            f"choose one, such as '{folder / prefixes[0]}.*.json'"
        )
    return paths


def by_rank(paths: Iterable[Path]) -> list[Path]:
    """Return the files in the order of their ranks, ``0 .. N-1``.

    Raises
    ------
    ValueError
        If a rank is missing or doubled.
    """
    files: dict[int, Path] = {}
    for path in paths:
        rank = rank_of(path)[1]
        if rank in files:
            raise ValueError(f"rank {rank} must have one file, got {files[rank]} and {path}")
        files[rank] = path
    last = max(files)
    missing = last + 1 - len(files)
    if missing > MISSING_LISTED:
        raise ValueError(
            f"{files[last]} is named as rank {last}, which must be below the number of files, "
            f"got {len(files)}"
        )
    if missing:
        raise ValueError(
            f"{files[last].parent} must hold a file for every rank 0..{last}, "
            f"missing {listed(set(range(last)) - files.keys())}"
        )
    return [files[rank] for rank in range(len(files))]


def rank_of(path: Path) -> tuple[str, int]:
    """Return the prefix and the rank that a file is named by."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path} must be named PREFIX.RANK.json, such as data.0.json")
    # The length is checked before int(), which refuses thousands of digits with another message.
    rank = match["rank"].lstrip("0") or "0"
    if not rank.isdecimal() or len(rank) > len(str(LARGEST_RANK)):
        raise ValueError(f"{path} must be named by a rank from 0 to {LARGEST_RANK}")
    return match["prefix"], int(rank)


def read_document(path: Path, rank: int) -> tuple[dict[str, Any], bool]:
    """Return the JSON object of a rank's file, and whether it was compressed.

    Raises
    ------
    ValueError
        If the file is no ``LBDatafile`` of this rank, names something twice in an object, or
        unpacks to more than ``UNPACKED_BYTES_MAX``; the message names it.
    MemoryError
        If its content needs more memory than there is.
    ImportError
        If it is compressed and brotli is not installed.
    """
    status = path.stat()
    # A pipe would keep the reader waiting.
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} must be a file, got a folder, a pipe or a device")
    require_memory(2 * status.st_size, str(path))
    data: bytes | bytearray = path.read_bytes()
    text = _utf8(data)
    is_compressed = text is None
    if text is None:
        data = _unpacked(path, data)
        require_memory(len(data), str(path))
        text = _utf8(data)
    if text is None:
        raise ValueError(f"{path} is no JSON: it unpacks to what is not UTF-8 text")
    del data
    content = _parsed(path, text)
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no LBDatafile: got a JSON {type(content).__name__}")
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = content.get("type", metadata.get("type", "LBDatafile"))
    if kind != "LBDatafile":
        raise ValueError(f"{path} must have type 'LBDatafile', got {written(kind)}")
    if metadata.get("rank", rank) != rank:
        raise ValueError(
            f"{path} must be of rank {rank}, its metadata say {written(metadata['rank'])}"
        )
    return content, is_compressed


def phases_of(path: Path, content: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the phases of a document by their ids; each has a list of tasks."""
    phases = content.get("phases")
    if not isinstance(phases, list) or not phases:
        raise ValueError(f"{path} must have a list of phases, got {written(phases)}")
    result: dict[int, dict[str, Any]] = {}
    for phase in phases:
        number = phase.get("id") if isinstance(phase, dict) else None
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{path} must give every phase an integer id, got {written(phase)}")
        if number in result:
            raise ValueError(f"{path} must have every phase once, got phase {number} twice")
        tasks = phase.get("tasks")
        if not isinstance(tasks, list):
            raise ValueError(f"{path} must list the tasks of phase {number}, got {written(tasks)}")
        result[number] = phase
    return result


def listed(numbers: Iterable[int]) -> str:
    """Return numbers for a message, the first six of them."""
    ordered = sorted(numbers)
    shown = ", ".join(map(str, ordered[:6]))
    return shown + (f" and {len(ordered) - 6} more" if len(ordered) > 6 else "")


def _utf8(data: bytes | bytearray) -> str | None:
    """Return the text that UTF-8 bytes hold, None if they are no text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _parsed(path: Path, text: str) -> Any:
    objects = text.count("{") + text.count("[")
    require_memory(_OBJECT_BYTES * objects + _ENTRY_BYTES * text.count(","), f"the JSON of {path}")
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: once(str(path), pairs))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise ValueError(f"{path} is cut off or no JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise ValueError(f"{path} is no LBDatafile: nested too deeply") from None
    except ValueError as error:
        if str(error).startswith(f"{path}:"):
            raise
        raise ValueError(f"{path} must hold numbers that fit float64, got a longer one") from None


def _unpacked(path: Path, data: bytes | bytearray) -> bytearray:
    """Return what brotli unpacks bytes to, in parts, so that a limit is heeded on the way."""
    try:
        brotli = extra("brotli")
    except MissingExtraError as error:
        raise MissingExtraError(f"{path} is no text, perhaps compressed: {error}") from None
    decoder = brotli.Decompressor()
    unpacked = bytearray()
    chunk = bytes(data)
    try:
        while not decoder.is_finished():
            part = decoder.process(chunk, output_buffer_limit=_CHUNK_BYTES)
            chunk = b""
            unpacked += part
            if len(unpacked) > UNPACKED_BYTES_MAX:
                raise ValueError(
                    f"{path} must unpack to at most {UNPACKED_BYTES_MAX} bytes, got more"
                )
            if not part and not decoder.is_finished():
                raise ValueError(f"{path} is cut off: its compressed data do not end")
    except brotli.error:
        raise ValueError(f"{path} is neither UTF-8 text nor compressed with brotli") from None
    return unpacked
