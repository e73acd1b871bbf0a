"""Loads from files: ``.npy``, ``.csv``, tables by node, and vt ``LBDatafile`` JSON."""

from __future__ import annotations

import glob
import io
import math
import re
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import written
from ..topologies.topology import Topology
from .attributes import check_ignored
from .lbdata import folder_files
from .namednetwork import NamedNetwork, named_topology
from .nodeloads import json_list, loads_in_order
from .nodetables import GRAPH_SUFFIXES, read_node_table
from .npyfile import read_npy
from .textfiles import read_text, refuse
from .vt import read_task_loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from ..quantities import Number

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *GRAPH_SUFFIXES, ".json")
_KINDS = (
    "a .npy or .csv file, loads by node in .csv, .json, .graphml or .gml, or a folder or list of "
    "vt PREFIX.RANK.json files"
)


@dataclass(frozen=True)
class LoadFile:
    """Loads from a file.

    Attributes
    ----------
    loads : array
        Axes as in the file; vt data have (phases, ranks), or (ranks,) with a single phase.
    source : str
        The file or folder.
    kind : {"npy", "csv", "json", "graphml", "gml", "vt"}
    phases : tuple of int
        vt: the phase numbers along the first axis.
    tasks : int
        vt: number of tasks summed.
    quantum : float or None
        Size of a load unit, where loads were rounded to whole units.
    by_node : bool
        Whether the file lists loads by the names of nodes.
    """

    loads: NDArray[Any]
    source: str
    kind: str
    phases: tuple[int, ...] = ()
    tasks: int = 0
    quantum: float | None = None
    by_node: bool = False


def read_load_file(
    paths: Sequence[str | Path],
    *,
    phase: int | None = None,
    quantum: float | None = None,
    network: NamedNetwork | Topology | None = None,
    column: str | None = None,
    ignore: Sequence[str] = (),
    other: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> LoadFile:
    """Read loads from a file, a folder, a glob pattern or a list of files.

    Parameters
    ----------
    paths : sequence of str or Path
        One ``.npy`` or ``.csv`` file, one file of loads by node, one folder or pattern, or vt
        files; ``"-"`` reads CSV from standard input.
    phase : int, optional
        vt data: read this phase alone.
    quantum : float, optional
        Round float loads to whole units of this size; the loads become int64.
    network : NamedNetwork or Topology, optional
        The network whose nodes a table names; the loads are in its order. Default: the order
        of the file.
    column, ignore : optional
        Tables by node: the column of the loads, and columns to leave out.
    other : optional
        Tables by node: columns to leave out if there are any of these names.
    progress : callable, optional
        Called as ``progress(files read, files in all)`` while reading many files.

    Raises
    ------
    ValueError
        If a file cannot be read as what it says it is; the message names it.
    OSError
        If a file is not there or not readable.

    Examples
    --------
    >>> from importlib.resources import files
    >>> read_load_file([files("fastlb") / "data" / "vt-16"]).loads.shape
    (16,)
    """
    files = [path for item in paths for path in _expanded(str(item))]
    if not files:
        raise ValueError(f"loads must be {_KINDS}, got nothing")
    many = f"{len(files)} files in {Path(files[0] or '.').parent}"
    label = str(paths[0]) if len(paths) == 1 else many
    result = _read_table(files, network, column, ignore, other) if len(files) == 1 else None
    if result is None:
        for option, value in (("column", column), ("ignore", next(iter(ignore), None))):
            if value is not None:
                raise ValueError(f"{option} is for loads by node alone, got {value!r} for {label}")
        result = _read(files, label, progress)
    if phase is not None:
        result = _one_phase(result, phase)
    return result if quantum is None else _in_units(result, quantum)


def read_csv(lines: Iterable[str], source: str) -> NDArray[Any]:
    """Read plain numbers, one network (or one row of a grid) a line.

    Integers stay integers; one decimal anywhere makes all float64. Cells are separated by
    commas, semicolons, tabs or blanks. Empty lines, lines that begin with ``#`` and one header
    line of words are skipped. A single line or a single column is one-dimensional.

    Returns
    -------
    array, shape (rows, columns) or (numbers,), int64, uint64 or float64

    Raises
    ------
    ValueError
        If a cell is no finite number of at least 0, or lines have different lengths; the
        message names source, line and text.
    """
    rows: list[list[int] | list[float]] = []
    all_integers, first, has_header = True, 0, False
    for number, line in enumerate(lines, start=1):
        text = line.removeprefix("\ufeff").strip() if number == 1 else line.strip()
        if not text or text.startswith("#"):
            continue
        cells = _cells(text)
        if not rows and not has_header and all(map(_is_word, cells)):
            has_header = True
            continue
        row, integers = _numbers(cells, source, number)
        if rows and len(row) != len(rows[0]):
            raise ValueError(
                f"{source} line {number} must have {len(rows[0])} numbers as line {first} has, "
                f"got {len(row)}"
            )
        first = first or number
        all_integers = all_integers and integers
        rows.append(row)
    if not rows:
        raise ValueError(f"{source} holds no numbers")
    values = _as_array(rows, all_integers, source)
    return values.reshape(-1) if 1 in values.shape else values


def _expanded(pattern: str) -> list[Path | None]:
    """Return the paths that a pattern matches; None stands for standard input."""
    if pattern == "-":
        return [None]
    path = Path(pattern)
    if path.exists():
        return [path]
    if not glob.has_magic(pattern):
        raise FileNotFoundError(2, "no such file or folder", pattern)
    matches = sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not matches:
        raise ValueError(f"no file matches {pattern!r}")
    return list(matches)


def _read_table(
    paths: list[Path | None],
    network: NamedNetwork | Topology | None,
    column: str | None,
    ignore: Sequence[str],
    other: Sequence[str],
) -> LoadFile | None:
    """Return loads by node or plain numbers of a text file; None for other files."""
    path = paths[0]
    if path is not None and (path.suffix.lower() not in TABLE_SUFFIXES or path.is_dir()):
        return None
    if path is not None and re.search(r"\.-?\d+\.json(\.br)?$", path.name):
        return None  # a file of a vt run
    text = _text(path) if path is None or path.suffix.lower() in TEXT_SUFFIXES else None
    source = "standard input" if path is None else str(path)
    # Two columns of numbers are a table where they name the nodes of a file, else a grid.
    nodes = network.ids if isinstance(network, NamedNetwork) else ()
    table = read_node_table(
        path or Path(source), column=column, ignore=(*ignore, *other), nodes=nodes, text=text
    )
    if table is not None:
        check_ignored(ignore, table.labels, source)
        named = named_topology(network, network.spec) if isinstance(network, Topology) else network
        numbers = loads_in_order(table, named)
        return LoadFile(_number_array(numbers, source), source, table.kind, by_node=True)
    if column is not None:
        refuse(source, f"has no column {column!r}: it does not name its nodes")
    check_ignored(ignore, (), source)
    if text is not None:
        return LoadFile(read_csv(io.StringIO(text), source), source, "csv")
    assert path is not None
    return LoadFile(_number_array(json_list(path), source), source, "json")


def _number_array(numbers: Sequence[Number], source: str) -> NDArray[Any]:
    """Return numbers as int64, uint64 or float64."""
    for number in numbers:
        if isinstance(number, Fraction):
            refuse(source, f"loads must be whole numbers or decimals, got {number}")
    if not numbers:
        refuse(source, "holds no loads")
    whole = all(isinstance(number, int) for number in numbers)
    listed: Any = [list(numbers)]
    return _as_array(listed, whole, source).reshape(-1)


def _read(
    paths: list[Path | None], label: str, progress: Callable[[int, int], object] | None
) -> LoadFile:
    only = paths[0] if len(paths) == 1 else None
    if only is not None and only.is_dir():
        return _read_vt(folder_files(only), str(only), progress)
    if only is not None and only.suffix.lower() == ".npy":
        return LoadFile(read_npy(only), str(only), "npy")
    files = [path for path in paths if path is not None and not path.is_dir()]
    for path in files:
        if not path.name.endswith((".json", ".json.br")):
            raise ValueError(f"loads must be {_KINDS}, got {path}")
    if len(files) < len(paths):
        raise ValueError(f"loads must be {_KINDS}, got a mixture of {len(paths)}")
    if only is not None:
        _refuse_one_of_many(only)
    return _read_vt(files, label, progress)


def _read_vt(
    files: list[Path], source: str, progress: Callable[[int, int], object] | None
) -> LoadFile:
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, len(files))

    run = read_task_loads(files, progress=count)
    loads = run.loads[0] if len(run.phases) == 1 else run.loads
    return LoadFile(loads, source, "vt", run.phases, run.tasks)


def _refuse_one_of_many(path: Path) -> None:
    """Refuse a single rank's file if the files of other ranks lie beside it."""
    prefix = path.name.rsplit(".", 2)[0]
    siblings = list(path.parent.glob(f"{glob.escape(prefix)}.*.json"))
    if len(siblings) > 1:
        raise ValueError(
            f"{path} is one of {len(siblings)} ranks: give the folder {path.parent} "
            f"or '{path.parent / prefix}.*.json'"
        )


def _text(path: Path | None) -> str:
    """Return the text of a file or of standard input."""
    if path is not None:
        return read_text(path)
    if sys.stdin is None:
        raise ValueError("standard input must hold numbers, but it is closed")
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ValueError("standard input is no text (UTF-8)") from None


def _cells(text: str) -> list[str]:
    for separator in ";,\t":
        if separator in text:
            return text.split(separator)
    return text.split()


def _is_word(cell: str) -> bool:
    bare = cell.strip().strip('"')
    try:
        float(bare)
    except ValueError:
        return bare[:1].isalpha() or bare[:1] == "_"
    return False


def _numbers(cells: list[str], source: str, line: int) -> tuple[list[int] | list[float], bool]:
    """Return the numbers of a line, and whether all are integers."""
    ascii_digits = not any("_" in cell or not cell.isascii() for cell in cells)
    if ascii_digits:
        try:
            integers = [int(cell) for cell in cells]
            if min(integers) >= 0:
                return integers, True
        except ValueError:
            try:
                decimals = [float(cell) for cell in cells]
                if min(decimals) >= 0 and all(map(math.isfinite, decimals)):
                    return decimals, False
            except ValueError:
                pass
    bad = next(cell for cell in cells if not _is_load(cell))
    raise ValueError(
        f"{source} line {line} must hold finite numbers of at least 0, got {written(bad.strip())}"
    )


def _is_load(cell: str) -> bool:
    try:
        return cell.isascii() and "_" not in cell and 0 <= float(cell) < math.inf
    except ValueError:
        return False


def _as_array(rows: list[list[int] | list[float]], whole: bool, source: str) -> NDArray[Any]:
    largest = max(max(row) for row in rows)
    if not whole:
        try:
            return np.array(rows, dtype=np.float64)
        except OverflowError:
            raise OverflowError(
                f"{source} must hold numbers that fit float64, got {written(largest)}"
            ) from None
    if largest >= 2**64:
        raise OverflowError(f"{source} must hold integers below 2**64, got {written(largest)}")
    return np.array(rows, dtype=np.int64 if largest < 2**63 else np.uint64)


def _one_phase(file: LoadFile, phase: int) -> LoadFile:
    if file.kind != "vt":
        raise ValueError(f"phase must be given for vt data alone, got {phase} for {file.source}")
    if phase not in file.phases:
        listed = ", ".join(map(str, file.phases[:8])) + (", .." if len(file.phases) > 8 else "")
        raise ValueError(f"phase must be one of {listed} in {file.source}, got {phase}")
    loads = file.loads if file.loads.ndim == 1 else file.loads[file.phases.index(phase)]
    return replace(file, loads=loads, phases=(phase,))


def _in_units(file: LoadFile, quantum: float) -> LoadFile:
    if not 0 < quantum < math.inf:
        raise ValueError(f"quantum must be a finite number above 0, got {quantum}")
    if file.loads.dtype.kind != "f":
        raise ValueError(
            f"quantum must be left out for integer loads, got {file.loads.dtype} in {file.source}"
        )
    finite = np.isfinite(file.loads)
    if not finite.all():
        raise ValueError(f"loads must be finite, got {file.loads[~finite][0]} in {file.source}")
    with np.errstate(over="ignore"):
        units = np.rint(np.asarray(file.loads, np.float64) / quantum)
    if np.abs(units).max(initial=0) >= 2**63:
        raise OverflowError(f"quantum must leave loads that fit int64, got {quantum}")
    return replace(file, loads=units.astype(np.int64), quantum=quantum)
