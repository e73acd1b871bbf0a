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
from .lp_check import check_lp
from .mps_check import Contents, check_mps
from .silence import silent_stdout

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from ..quantities import Number, Vector

_MAX_LISTED = 3
# The largest entry of a row that is read.
LARGEST_ENTRY = 1e300


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A 0-1 program min c.x, A x >= b as :func:`solve_binary` takes it, with its names.

    Attributes
    ----------
    name : str
    variables : list of str, (n,)
    c : (n,) float64, negated for a problem to be maximised
    A : (m, n) scipy.sparse.csr_array of float64
    b : (m,) float64
        In the file's order; an equation or a row with two ends gives two rows, one after the
        other, and a fixed variable one more at the end.
    rows : int
        Rows of the file, without free ones.
    maximise : bool
    offset : float
        Constant of the file's objective.
    """

    name: str
    variables: list[str]
    c: Vector
    A: csr_array
    b: Vector
    rows: int
    maximise: bool
    offset: float

    def __repr__(self) -> str:
        sense = "max" if self.maximise else "min"
        return (
            f"<ProgramFile {self.name}: {len(self.variables)} variables, {self.rows} rows, {sense}>"
        )

    def value(self, objective: Number | None) -> float | None:
        """Return the file's objective for one of the program."""
        if objective is None:
            return None
        exact = Fraction(repr(float(objective))) * (-1 if self.maximise else 1)
        return float(exact + Fraction(repr(self.offset)))


def read_mps(path: str | Path) -> ProgramFile:
    r"""Read a 0-1 program from an MPS file (plain or .gz), or another format of HiGHS, such as LP.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ProgramFile
        ``c``, ``A`` and ``b`` for :func:`solve_binary`, with the names in the file.

    Raises
    ------
    MissingExtraError
        Without highspy.
    OSError
        If the file cannot be opened.
    ValueError
        If HiGHS cannot read the file or reads another program than its text says, or if it is
        no 0-1 program; the message names variables that are not binary.

    Examples
    --------
    >>> import fastlb as lb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.lp"
    ...     _ = path.write_text("min\n 3 x + 2 y\nst\n r: x + y >= 1\nbinary\n x y\nend\n")
    ...     file = lb.read_mps(path)
    >>> s = lb.solve_binary(file.c, file.A, file.b, time_limit=60)
    >>> dict(zip(file.variables, s.x.tolist())), file.value(s.objective)
    ({'x': 0, 'y': 1}, 2.0)
    """
    highspy = extra("highspy")
    path = Path(path)
    with path.open("rb") as file:
        if not file.read(1):
            raise ValueError(f"{path}: must hold a model, got an empty file")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    contents = check_mps(path) if ".mps" in suffixes else None
    if ".lp" in suffixes:
        check_lp(path)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    # By default it refuses entries of 1e15 and more.
    highs.setOptionValue("large_matrix_value", LARGEST_ENTRY)
    with _without_empty_lines(path, contents) as plain, silent_stdout():
        status = highs.readModel(str(plain))
    if status == highspy.HighsStatus.kError:
        raise ValueError(f"{path}: HiGHS cannot read it as a model")
    if highs.getModel().hessian_.dim_:
        raise ValueError(f"{path}: the objective must be linear, got a quadratic one")
    lp = highs.getLp()
    n = lp.num_col_
    if n == 0:
        raise ValueError(f"{path}: must have variables, got a model without any")
    names = list(lp.col_names_) or [f"x{j + 1}" for j in range(n)]
    if contents is None and status == highspy.HighsStatus.kWarning:
        raise ValueError(f"{path}: HiGHS drops tiny, repeated or misplaced entries of it")
    _check_binary(path, lp, names, highspy)
    if contents is not None and not _agrees(contents, lp, highspy):
        raise ValueError(f"{path}: HiGHS reads another program than the text says")
    row_bounds = np.array([lp.row_lower_, lp.row_upper_])
    A, b = _rows_at_least(
        _matrix(lp, highspy), row_bounds, np.array([lp.col_lower_, lp.col_upper_])
    )
    maximise = lp.sense_ == highspy.ObjSense.kMaximize
    costs = np.array(lp.col_cost_, dtype=np.float64)
    return ProgramFile(
        name=str(lp.model_name_) or Path(path).name,
        variables=names,
        c=(-costs if maximise else costs) + 0.0,
        A=A,
        b=b,
        rows=int(np.isfinite(row_bounds).any(axis=0).sum()),
        maximise=maximise,
        offset=float(lp.offset_),
    )


@contextmanager
def _without_empty_lines(path: Path, contents: Contents | None) -> Iterator[Path]:
    """Yield the path of a copy of an MPS file without empty lines; for other files their own path.

    HiGHS may fall back to the fixed format, whose reader never ends at an empty line.
    """
    if contents is None:
        yield path
        return
    with TemporaryDirectory(prefix="fastlb-") as folder:
        # HiGHS derives the format, and the name of a model without one, from the file's name.
        file = Path(folder) / (path.stem if path.suffix.lower() == ".gz" else path.name)
        file.write_text(contents.text, encoding="utf-8", newline="")
        yield file


def _agrees(contents: Contents, lp: Any, highspy: Any) -> bool:
    """Return whether HiGHS read the program that the file's text says."""
    columns = contents.columns
    rows = [row for row, kind in contents.rows.items() if kind != "N"]
    maximise = lp.sense_ == highspy.ObjSense.kMaximize
    names = list(lp.col_names_), list(lp.row_names_)
    if (*names, maximise) != (columns, rows, contents.maximise):
        return False
    matrix, costs = _text_arrays(contents, rows)
    row_lower, row_upper = np.array([contents.interval(row) for row in rows]).reshape(-1, 2).T
    lower = dict(zip(columns, lp.col_lower_, strict=True))
    upper = dict(zip(columns, lp.col_upper_, strict=True))
    return bool(
        _equal(_matrix(lp, highspy), matrix)
        and np.array_equal(lp.col_cost_, costs)
        and np.array_equal(lp.row_lower_, row_lower)
        and np.array_equal(lp.row_upper_, row_upper)
        and all(lower[name] == end for name, end in contents.lower.items())
        and all(upper[name] == end for name, end in contents.upper.items())
        and lp.offset_ == -contents.right.get(contents.objective or "", 0.0)
    )


def _check_binary(path: Path, lp: Any, names: list[str], highspy: Any) -> None:
    """Raise ``ValueError`` naming variables that are continuous, or integer but not binary."""
    # HiGHS lists no types where all variables are continuous.
    types = list(lp.integrality_) or [highspy.HighsVarType.kContinuous] * len(names)
    continuous, not_binary = [], []
    for name, kind, low, high in zip(names, types, lp.col_lower_, lp.col_upper_, strict=True):
        if kind != highspy.HighsVarType.kInteger:
            continuous.append(name)
        elif low not in (0, 1) or high not in (0, 1):
            not_binary.append(f"{name} in [{low:g}, {high:g}]")
    problems = [_listed("continuous", continuous)] if continuous else []
    problems += [_listed("integer", not_binary)] if not_binary else []
    if problems:
        raise ValueError(f"{path}: variables must be binary, got {' and '.join(problems)}")


def _listed(kind: str, names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"{kind} {', '.join(names[:_MAX_LISTED])}{more}"


def _matrix(lp: Any, highspy: Any) -> Any:
    """Return the matrix (m, n), which HiGHS holds by columns or by rows, as a CSR array."""
    from scipy.sparse import csc_array, csr_array

    stored = lp.a_matrix_
    by_columns = stored.format_ == highspy.MatrixFormat.kColwise
    parts = np.array(stored.value_), np.array(stored.index_), np.array(stored.start_)
    shape = lp.num_row_, lp.num_col_
    return csr_array((csc_array if by_columns else csr_array)(parts, shape=shape))


def _text_arrays(contents: Contents, rows: list[str]) -> tuple[Any, NDArray[np.float64]]:
    """Return the matrix (m, n), a CSR array, and the costs (n,) in the text of an MPS file."""
    from scipy.sparse import csr_array

    row_number = {row: i for i, row in enumerate(rows)}
    column_number = {name: j for j, name in enumerate(contents.columns)}
    costs, objective = np.zeros(len(column_number)), contents.objective
    numbers, positions = [], []
    for (column, row), number in contents.entries.items():
        if row == objective:
            costs[column_number[column]] = number
        elif row in row_number:
            numbers.append(number)
            positions.append((row_number[row], column_number[column]))
    at = np.array(positions, dtype=np.int64).reshape(-1, 2).T
    shape = len(rows), len(column_number)
    return csr_array((np.array(numbers, dtype=np.float64), (at[0], at[1])), shape=shape), costs


def _equal(first: Any, second: Any) -> bool:
    """Return whether two CSR arrays have the same entries."""
    for matrix in (first, second):
        matrix.eliminate_zeros()
        matrix.sort_indices()
    return first.shape == second.shape and all(
        np.array_equal(getattr(first, part), getattr(second, part))
        for part in ("indptr", "indices", "data")
    )


def _rows_at_least(
    matrix: Any, row_bounds: NDArray[np.float64], column_bounds: NDArray[np.float64]
) -> tuple[Any, NDArray[np.float64]]:
    """Return A (CSR) and b such that A x >= b is what a file's rows and bounds demand.

    Parameters
    ----------
    matrix : (m, n) CSR array
    row_bounds : (2, m)
        Least and largest left side of each row.
    column_bounds : (2, n)
        Least and largest value of each variable.
    """
    from scipy.sparse import csr_array, diags_array, vstack

    row_lower, row_upper = row_bounds
    at_least = np.flatnonzero(np.isfinite(row_lower))
    at_most = np.flatnonzero(np.isfinite(row_upper))
    ones, zeros = np.flatnonzero(column_bounds[0] == 1), np.flatnonzero(column_bounds[1] == 0)
    rows = np.concatenate([at_least, at_most])
    order = np.argsort(rows, kind="stable")
    signs = np.repeat([1.0, -1.0], [at_least.size, at_most.size])[order]
    ends = np.concatenate([row_lower[at_least], -row_upper[at_most]])[order]
    fixed = np.concatenate([ones, zeros])
    units = np.repeat([1.0, -1.0], [ones.size, zeros.size])
    shape = fixed.size, matrix.shape[1]
    A = vstack(
        [
            diags_array(signs) @ matrix[rows[order]],
            csr_array((units, (np.arange(fixed.size), fixed)), shape=shape),
        ],
        format="csr",
    )
    A.eliminate_zeros()
    b = np.concatenate([ends, np.repeat([1.0, 0.0], [ones.size, zeros.size])])
    return csr_array(A), b + 0.0
