"""A store's manifest: the file that says which study's trials the store has."""

from __future__ import annotations

import errno
import json
import os
import warnings
from pathlib import Path
from typing import Any

from .._version import __version__
from ..files.writing import as_json
from ..registry import source_of
from .description import check_description, differences, digest, study_of
from .methodtext import parse_method
from .parts import Layout, layout_entry
from .storage import put
from .study import Study

STORE_SCHEMA = "fastlb.store"
# Version 2 added a checksum of the manifest.
STORE_SCHEMA_VERSION = 2

# Readers of folders of Parquet files ignore names that begin with an underscore.
MANIFEST = "_manifest.json"

# Parameters of a study that decide how many of its trials are run, but not what a trial is.
STOPPING_KEYS = ("target_error", "minimum_trials")

# A key that only a store of registered methods has: the hash of each one's source.
SOURCES = "sources"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return a store's manifest: the versions of its format and of fastlb, the study, the figures.

    Raises
    ------
    OSError
        If there is no store.
    ValueError
        If the store is of a newer version, or the file is no manifest or was changed.
    """
    path = folder / MANIFEST
    if not os.path.lexists(folder):
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(folder))
    if folder.is_dir() and not path.exists():
        raise FileNotFoundError(errno.ENOENT, "holds no store", str(folder))
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
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
    checksum = manifest.pop("sha256", None)
    if version > 1 and checksum != _checksum(manifest):
        raise ValueError(f"{path} is damaged or was edited: its checksum is another")
    for key in ("fastlb", "study", "layout"):
        if key not in manifest:
            raise ValueError(f"{path} is no manifest of a store, it lacks {key}")
    if not isinstance(manifest.get(SOURCES, {}), dict):
        raise ValueError(f"{path} is no manifest of a store, its {SOURCES} are no table")
    try:
        check_description(manifest["study"])
    except ValueError as error:
        raise ValueError(f"{path} is no manifest of a store, its {error}") from None
    return manifest


def stored_study(folder: Path) -> Study:
    """Return the study whose trials a store has.

    Raises
    ------
    OSError, ValueError
        As for :func:`read_manifest`; also if a topology or distribution has no spelling or a value
        is wrong.
    """
    description = read_manifest(folder)["study"]
    try:
        return study_of(description)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / MANIFEST}: {error}") from error


def write_manifest(folder: Path, description: dict[str, Any], layout: Layout) -> None:
    """Write the manifest of a new store, or check that of an existing one and update it.

    Raises
    ------
    ValueError
        If the store has trials of another study or of another version of fastlb. More ``trials``
        and other ``STOPPING_KEYS`` make no other study.

    Warns
    -----
    RuntimeWarning
        If the source of a registered method is another than when the store was begun.
    """
    sources = _sources(description)
    current: dict[str, Any] = {
        "schema": STORE_SCHEMA,
        "version": STORE_SCHEMA_VERSION,
        "fastlb": __version__,
        "study": description,
        "layout": layout_entry(layout),
    }
    if (folder / MANIFEST).exists():
        stored = read_manifest(folder)
        expected = {"fastlb": stored["fastlb"], **stored["study"]}
        expected |= {key: description[key] for key in STOPPING_KEYS}
        expected["trials"] = max(expected["trials"], description["trials"])
        if changed := differences(expected, {"fastlb": __version__, **description}):
            raise ValueError(
                f"{folder} holds another study; {'; '.join(changed)} (trials may be raised and "
                "target_error changed, all else needs a folder of its own)"
            )
        if stored["layout"] != current["layout"]:
            raise ValueError(f"{folder} holds other figures than the methods give now")
        stored_sources = stored.get(SOURCES, {})
        for name in sources:
            if stored_sources.get(name, sources[name]) != sources[name]:
                warnings.warn(
                    f"{folder} has trials of {name} from before its source changed: if it computes "
                    "something else now, register it under a new name or use a new store",
                    RuntimeWarning,
                    2,
                )
        if stored["study"] == description:
            return
        sources |= stored_sources
    if sources:
        current[SOURCES] = sources
    content = as_json({**current, "sha256": _checksum(current)})
    put(folder / MANIFEST, content.encode())


def identity(description: dict[str, Any]) -> str:
    """Return the hash that a store's part files repeat, the same for any number of trials."""
    ignored = dict.fromkeys(("trials", *STOPPING_KEYS))
    return digest(json.dumps({**description, **ignored}))


def _sources(description: dict[str, Any]) -> dict[str, str]:
    """Return the hash of the source of each registered method of a study, where it has one."""
    grids = (description, *description["further"])
    names = {parse_method(method)[0] for grid in grids for method in grid["methods"]}
    sources = {name: source_of(name) for name in sorted(names)}
    return {name: digest(source) for name, source in sources.items() if source is not None}


def _checksum(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest without its own, the same for any layout of the text."""
    return digest(json.dumps(manifest, sort_keys=True))
