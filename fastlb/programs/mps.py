"""0-1 programs from model files, which HiGHS reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import extra
from .mps_check import Contents, check_lp, check_mps

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 10**8
_SHOWN = 3


@dataclass(frozen=True)
class ProgramFile:
    """A 0-1 program min c.x, A x >= b as :func:`solve_binary` takes it, with its names.

    Attributes
    ----------
    name : str
    variables : list of str, (n,)
    c : (n,) float64, negated for a problem to be maximised
    A : (m, n) float64
    b : (m,) float64
        An equation or a row with two ends gives two rows, a fixed variable one more.
    rows : int
        Rows of the file, without free ones.
    maximise : bool
    offset : float
        Constant of the file's objective.
    """

    name: str
    variables: list[str]
    c: NDArray[np.float64]
    A: NDArray[np.float64]
    b: NDArray[np.float64]
    rows: int
    maximise: bool
    offset: float

    def value(self, objective: float | None) -> float | None:
        """Return the file's objective for one of the program."""
        if objective is None:
            return None
        exact = Fraction(repr(float(objective))) * (-1 if self.maximise else 1)
        return float(exact + Fraction(repr(self.offset)))


def read_mps(path: str | Path) -> ProgramFile:
    """Read a 0-1 program from an MPS file (plain or .gz), or another format of HiGHS.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    MissingExtraError
        Without highspy.
    OSError
        If the file cannot be opened.
    ValueError
        If HiGHS cannot read it, or would read something else than its text says, or it is no
        0-1 program; the variables that are not binary are named.
    """
    highspy = extra("highspy")
    path = Path(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise ValueError(f"{path}: must hold a model, got an empty file")
    kinds = [suffix.lower() for suffix in path.suffixes]
    contents = check_mps(path) if ".mps" in kinds else None
    if ".lp" in kinds:
        check_lp(path)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    with _without_empty_lines(path, contents) as plain:
        read = highs.readModel(str(plain))
    if read == highspy.HighsStatus.kError:
        raise ValueError(f"{path}: HiGHS cannot read it as a model")
    if highs.getModel().hessian_.dim_:
        raise ValueError(f"{path}: the objective must be linear, got a quadratic one")
    lp = highs.getLp()
    n = lp.num_col_
    if n == 0:
        raise ValueError(f"{path}: must have variables, got a model without any")
    names = list(lp.col_names_) or [f"x{j + 1}" for j in range(n)]
    lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
    if contents is None and read == highspy.HighsStatus.kWarning:
        raise ValueError(f"{path}: HiGHS drops tiny, repeated or misplaced entries of it")
    _check_binary(path, highspy, names, list(lp.integrality_), lower, upper)
    least, most = np.array(lp.row_lower_), np.array(lp.row_upper_)
    if n * len(least) > MOST_ENTRIES:
        raise ValueError(f"{path}: must have at most {MOST_ENTRIES} entries, rows times variables")
    if contents is not None:
        _check_reading(path, contents, lp, highspy)
    matrix = _dense(lp, highspy, len(least), n)
    at_least, at_most = np.isfinite(least), np.isfinite(most)
    unit = np.eye(n)
    maximise = lp.sense_ == highspy.ObjSense.kMaximize
    costs = np.array(lp.col_cost_, dtype=np.float64)
    return ProgramFile(
        name=str(lp.model_name_) or Path(path).name,
        variables=names,
        c=(-costs if maximise else costs) + 0.0,
        A=np.vstack([matrix[at_least], -matrix[at_most], unit[lower == 1], -unit[upper == 0]])
        + 0.0,
        b=np.concatenate(
            [
                least[at_least],
                -most[at_most],
                np.ones((lower == 1).sum()),
                np.zeros((upper == 0).sum()),
            ]
        ),
        rows=int((at_least | at_most).sum()),
        maximise=maximise,
        offset=float(lp.offset_),
    )


@contextmanager
def _without_empty_lines(path: Path, contents: Contents | None) -> Iterator[Path]:
    """Give an MPS file that HiGHS gets through.

    In the fixed format, which it falls back to, its reader goes round for ever at an empty line.
    """
    if contents is None:
        yield path
        return
    with TemporaryDirectory(prefix="fastlb-") as folder:
        # HiGHS goes by the name, and calls a model without one by it.
        file = Path(folder) / (path.stem if path.suffix.lower() == ".gz" else path.name)
        file.write_text(contents.text, encoding="utf-8", newline="")
        yield file


def _check_reading(path: Path, contents: Contents, lp: Any, highspy: Any) -> None:
    """Raise ``ValueError`` if HiGHS holds another program than the file's text."""
    names, objective = contents.columns, contents.objective
    rows = [row for row, kind in contents.rows.items() if kind != "N"]
    held = list(lp.col_names_), list(lp.row_names_), lp.sense_ == highspy.ObjSense.kMaximize
    agree = held == (names, rows, contents.maximise)
    if agree:
        row_number = {row: i for i, row in enumerate(rows)}
        column_number = {name: j for j, name in enumerate(names)}
        matrix, costs = np.zeros((len(rows), len(names))), np.zeros(len(names))
        for (column, row), number in contents.entries.items():
            if row == objective:
                costs[column_number[column]] = number
            elif row in row_number:
                matrix[row_number[row], column_number[column]] = number
        least, most = np.array([contents.interval(row) for row in rows]).reshape(-1, 2).T
        lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
        agree = (
            np.array_equal(_dense(lp, highspy, *matrix.shape), matrix)
            and np.array_equal(lp.col_cost_, costs)
            and np.array_equal(lp.row_lower_, least)
            and np.array_equal(lp.row_upper_, most)
            and all(lower[column_number[name]] == end for name, end in contents.lower.items())
            and all(upper[column_number[name]] == end for name, end in contents.upper.items())
            and lp.offset_ == -contents.right.get(objective or "", 0.0)
        )
    if not agree:
        raise ValueError(f"{path}: HiGHS reads another program than the text says")


def _check_binary(
    path: str | Path,
    highspy: Any,
    names: list[str],
    kinds: list[Any],
    lower: NDArray[Any],
    upper: NDArray[Any],
) -> None:
    """Raise ``ValueError`` naming what is continuous, or integer beyond 0 and 1."""
    kinds = kinds or [highspy.HighsVarType.kContinuous] * len(names)
    whole = [kind == highspy.HighsVarType.kInteger for kind in kinds]
    others = [name for name, is_whole in zip(names, whole, strict=True) if not is_whole]
    bounds = zip(names, whole, lower.tolist(), upper.tolist(), strict=True)
    wide = [
        f"{name} in [{low:g}, {high:g}]"
        for name, is_whole, low, high in bounds
        if is_whole and not (low in (0, 1) and high in (0, 1))
    ]
    found = [_listed("continuous", others)] if others else []
    found += [_listed("integer", wide)] if wide else []
    if found:
        raise ValueError(f"{path}: variables must be binary, got {' and '.join(found)}")


def _listed(kind: str, names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{kind} {', '.join(names[:_SHOWN])}{more}"


def _dense(lp: Any, highspy: Any, m: int, n: int) -> NDArray[np.float64]:
    """Return the matrix (m, n), which HiGHS holds by columns or by rows."""
    held = lp.a_matrix_
    start, index = np.array(held.start_, dtype=np.int64), np.array(held.index_, dtype=np.int64)
    by_columns = held.format_ == highspy.MatrixFormat.kColwise
    lines = np.repeat(np.arange(n if by_columns else m), np.diff(start))
    matrix = np.zeros((m, n))
    where = (index, lines) if by_columns else (lines, index)
    matrix[where] = np.array(held.value_)
    return matrix
