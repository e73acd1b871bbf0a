"""A report as files: a page for a browser, or a folder of tables, plots and JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..files.writing import as_json, check_target, filling, replacing
from .meanplots import plots_of
from .plotting import image
from .webpage import page

if TYPE_CHECKING:
    from .report import Report

# A folder with the first and without the last is not complete.
FIRST, LAST = "study.toml", "report.json"


def write_html(report: Report, path: str | Path, *, force: bool = False) -> Path:
    """Write the page of a report to a file, which appears whole or not at all.

    Raises
    ------
    ValueError
        If the path does not end in ``.html``.
    OSError
        If the file is there and ``force`` is not given, or it cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    target = check_target(path, force=force, suffixes=(".html",))
    text = page(report)
    with replacing(target, force=force) as stream:
        stream.write(text.encode())
    return target


def write_folder(report: Report, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Write a report to a folder, which is made if need be, and return the files.

    ``report.json`` (``Report.to_dict``), ``study.toml``, ``NAME.csv`` of every table, ``NAME.png``
    and ``NAME.svg`` of every plot (of the means, ``mean-FIGURE``, where the report has none of its
    own), ``examples.txt``. A new folder appears with all its files; in
    one that is there already, ``report.json`` comes last.

    Raises
    ------
    OSError
        As for :func:`check_folder`.
    MissingExtraError
        If there are plots to draw and matplotlib is not installed.
    """
    target = check_folder(folder, force=force)
    contents = dict(_files(report))
    if target.is_dir():
        for name in sorted(contents, key=LAST.__eq__):
            with replacing(target / name, force=force) as stream:
                stream.write(contents[name])
    else:
        with filling(target) as partial:
            for name, content in contents.items():
                (partial / name).write_bytes(content)
    return [target / name for name in contents]


def check_folder(folder: str | Path, *, force: bool = False) -> Path:
    """Return the folder to write to, before any work is done for it.

    Raises
    ------
    OSError
        If it holds files and ``force`` is not given, is no folder, has no parent, or cannot be
        written to.
    """
    target = Path(folder)
    if os.path.lexists(target) and not target.is_dir():
        raise NotADirectoryError(20, "is no folder", str(target))
    names = {path.name for path in target.iterdir()} if target.is_dir() else set()
    if names and not force:
        part = "part of a report" if FIRST in names and LAST not in names else "files already"
        raise FileExistsError(17, f"holds {part} (--force overwrites them)", str(target))
    parent = target.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(parent))
    written = target if target.is_dir() else parent
    if not os.access(written, os.W_OK | os.X_OK):
        raise PermissionError(13, "folder is not writable", str(written))
    return target


def _files(report: Report) -> Iterator[tuple[str, bytes]]:
    yield LAST, as_json(report.to_dict()).encode()
    with suppress(ValueError):  # general networks have no spelling
        yield FIRST, report.results.study.to_toml().encode()
    for table in report.tables:
        yield f"{table.name}.csv", table.to_csv().encode()
    if report.examples:
        yield "examples.txt", "\n\n".join(report.examples).encode() + b"\n"
    for plot in plots_of(report):
        for suffix in ("png", "svg"):
            yield f"{plot.name}.{suffix}", image(plot.draw, suffix)
