"""Model files, MPS and LP: how they are read, and which are refused."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.programs import mps
from tests.oracles import binary

from .conftest import Run
from .models import HEAD


def test_rows_of_every_kind_and_fixed_variables(tmp_path: Path) -> None:
    path = tmp_path / "fixed.mps.gz"
    text = (
        HEAD.format(sense="MIN", least=0) + " FX BND       X  1\n BV BND       Y\n BV BND       Z\n"
    )
    path.write_bytes(gzip.compress((text + "ENDATA\n").encode()))
    given = mps.read_mps(path)
    assert (given.variables, given.rows, given.maximise, given.offset) == (
        ["X", "Y", "Z"],
        4,
        False,
        10.0,
    )
    best = binary.brute_force(given.c.tolist(), given.A.toarray().tolist(), given.b.tolist())
    s = lb.solve_binary(given.c, given.A, given.b)
    assert s.objective == float(best[0]) == 0.5
    assert s.x.tolist() == [1, 0, 1]
    assert given.value(s.objective) == 10.5


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (" UP BND       X  4\n BV BND       Y\n BV BND       Z\n", r"got integer X in \[0, 4\]"),
        (" BV BND       Y\n FR BND       Z\n BV BND       X\n", r"got integer Z in \[-inf, inf\]"),
    ],
)
def test_integers_beyond_0_and_1_are_named(
    run: Run, tmp_path: Path, bounds: str, text: str
) -> None:
    path = tmp_path / "wide.mps"
    path.write_text(HEAD.format(sense="MAX", least=1) + bounds + "ENDATA\n")
    with pytest.raises(ValueError, match=text):
        mps.read_mps(path)
    assert run("solve", path).code == 2


def test_continuous_variables_are_named(tmp_path: Path, small: Path) -> None:
    path = tmp_path / "continuous.mps"
    text = "".join(line for line in small.read_text().splitlines(True) if "MARKER" not in line)
    path.write_text(text.replace(" BV BND       X\n", "").replace(" BV BND       Y\n", ""))
    with pytest.raises(ValueError, match="variables must be binary, got continuous X, Y"):
        mps.read_mps(path)


@pytest.mark.parametrize(
    ("row", "line", "text"),
    [
        ("r: x + y >= 3 >= 5", 4, "got none before '>=': write a row with two ends as two rows"),
        ("r: x + y >= 1\n >= 5", 5, "got none before '>='"),
        ("r: 0 <= x + y <= 1", 4, "got none before '<='"),
        ("r: x + 2 >= 1", 4, "its constant behind the comparison, got 2 before it"),
        ("r: x + 2 - y >= 1", 4, "got 2 before it, which HiGHS drops"),
    ],
)
def test_rows_of_an_lp_file_that_highs_would_read_otherwise_are_refused(
    run: Run, tmp_path: Path, row: str, line: int, text: str
) -> None:
    model = tmp_path / "rows.lp"
    model.write_text(f"min\n obj: x + y + 3\nst\n {row}\nbinary\n x y\nend\n")
    done = run("solve", model)
    assert done.code == 2
    assert done.err.startswith(f"fastlb: {model}:{line}: a row must have ")
    assert text in done.err


def test_rows_of_an_lp_file_in_all_their_forms(tmp_path: Path) -> None:
    model = tmp_path / "rows.lp"
    model.write_text(
        "max\n obj: 2 x + y + 3\nSubject To r: x\n + 2y >=\n - 1\n x >= 1 s1: x + y = 1\n"
        "t: y <= inf\nbounds\n 0 <= x <= 1\nbinary\n x y\nend\n"
    )
    given = mps.read_mps(model)
    assert given.A.toarray().tolist() == [[1, 2], [1, 0], [1, 1], [-1, -1]]
    assert given.b.tolist() == [-1, 1, 1, -1]
    assert given.offset == 3


def test_what_is_no_model_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.mps"
    path.write_text("hello\n")
    done = run("solve", path)
    assert done.code == 2
    assert done.err == f"fastlb: {path}:1: 'hello' stands in no section of a 0-1 program\n"
    model = tmp_path / "bad.lp"
    model.write_text("min\n x\nst\n x >= >=\nend\n")
    done = run("solve", model)
    assert (done.code, done.err) == (2, f"fastlb: {model}: HiGHS cannot read it as a model\n")
    assert run("solve", tmp_path / "missing.mps").err.endswith("No such file or directory\n")


def test_a_file_of_which_entries_would_be_dropped_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tiny.lp"
    path.write_text("min\n obj: x + y\nst\n r: x + 1e-10 y >= 1\nbinary\n x y\nend\n")
    done = run("solve", path)
    assert done.code == 2
    assert "HiGHS drops tiny, repeated or misplaced entries" in done.err


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("Y         EQ                1", "Y         EQ            1e-10", 15, "entries must be 0"),
        ("Y         EQ                1", "Y         EQ            1e+15", 15, "entries must be 0"),
        ("EQ                1  ", "EQ              one  ", 15, "'one' is no number"),
        ("EQ                1  ", "EQ              1D1  ", 15, "'1D1' is no number"),
        ("Y         EQ ", "Y         EX ", 15, "there is no row EX"),
        ("Y         EQ ", "Y         COST ", 15, "column Y has row COST twice"),
        ("Y         EQ ", "Y  EQ 1   EQ ", 15, "a column must have one or two rows and numbers"),
        ("    Y         EQ ", "    Z EQ 1\n    Y EQ ", 16, "column Y stands there twice, apart"),
        ("LIM1              2", "LIM1            abc", 19, "'abc' is no number"),
        ("RHS       EQ  ", "RHS       LIM1", 20, "RHS has row LIM1 twice"),
        ("RHS       EQ  ", "RHS2      EQ  ", 20, "RHS must be of one name, got 'RHS' and 'RHS2'"),
        ("R         RNG", "R         RNX", 23, "there is no row RNX"),
        ("BV BND       Y", "BV BND       W", 26, "there is no column W"),
        ("BV BND       Y", "XX BND       Y", 26, "bounds of a 0-1 program are UP, .* got XX"),
        ("BV BND       Y", "UP 1", 26, "a bound must be UP, a set and a column and"),
        ("BV BND       Y", "BV BND       X", 26, "column X has an end of its interval set twice"),
        ("BV BND       Y", "BV BNE       Y", 26, "BOUNDS must be of one name"),
        ("OBJSENSE\n    MAX\n", "OBJSENSE MAXIMIZE\n", 2, "in one line must be MAX or MIN"),
        ("OBJSENSE\n    MAX\n", "OBJSENSE\n    UP\n", 3, "OBJSENSE must be MIN or MAX, got 'UP'"),
        ("OBJSENSE\n    MAX\n", "MAX\n", 2, "'MAX' stands in no section"),
        (" L  LIM1", " X  LIM1", 6, "a row must be N, L, G or E and a name"),
        (" L  LIM1", " L  LIM2", 7, "row LIM2 stands there twice"),
        ("RANGES", "RHS", 22, "section RHS stands there twice"),
        ("RANGES", "RANGES FREE", 22, "RANGES must stand alone in its line"),
        ("ENDATA", "SOS\n S1 S s 1\nENDATA", 28, "sections of a 0-1 program are .*, got SOS"),
        ("ENDATA", "QUADOBJ\n X X 1\nENDATA", 28, "the objective must be linear"),
        ("ENDATA\n", "", 27, "the file ends without ENDATA"),
        ("'INTEND'", "'SOSEND'", 17, "a marker must be 'INTORG' or 'INTEND'"),
        ("    X  ", "    RHS", 12, "RHS names a section and must stand at the start"),
    ],
)
def test_what_highs_would_read_otherwise_is_refused_with_its_line(
    run: Run, small: Path, old: str, new: str, line: int, text: str
) -> None:
    whole = small.read_text()
    assert old in whole
    small.write_text(whole.replace(old, new))
    with pytest.raises(ValueError, match=text) as caught:
        mps.read_mps(small)
    assert str(caught.value).startswith(f"{small}:{line}: ")
    assert "\n" not in str(caught.value)
    assert run("solve", small).code == 2


def test_a_row_that_highs_mistakes_for_a_section_is_refused(small: Path) -> None:
    small.write_text(small.read_text().replace("LIM2", "RHS "))
    with pytest.raises(ValueError, match="HiGHS reads another program than the text says"):
        mps.read_mps(small)


def test_crossed_bounds_are_an_infeasible_program(run: Run, small: Path) -> None:
    text = small.read_text()
    small.write_text(text.replace(" BV BND       Y", " LO BND       Y  1\n UP BND       Y  0"))
    assert run("solve", small).err == "fastlb: small: no solution exists\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("\n    ", "\n"),
        ("\n    ", "\n\t"),
        ("RHS       ", ""),
        (" BND  ", ""),
        ("OBJSENSE\n    MAX", "OBJSENSE MAX"),
        ("OBJSENSE\n    MAX", "OBJSENSE\n    MAXIMIZE"),
        ("ROWS\n", "* a comment\n\nrows\n N  OTHER\n"),
        ("\nRANGES", " $ a comment\nRANGES"),
        (" BV BND       X\n BV BND       Y\n BV BND       Z\n", ""),
        (" BV BND       X\n", " UP BND       X  1\n LO BND       X  0\n"),
        ("BV BND       X", "BV BND       X  1"),
        (" R         RNG               1", " R         RNG              -1"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, small: Path, old: str, new: str) -> None:
    same = tmp_path / "same.mps"
    text = small.read_text()
    assert old in text
    if "OTHER" in new:
        text = text.replace(" N  COST\n", "").replace(" L  LIM1", " N  COST\n L  LIM1")
        new = new.replace(" N  OTHER", " N  COST\n N  OTHER")
        text = text.replace(" N  COST\n L", " L")
    same.write_bytes(text.replace(old, new).encode())
    given, expected = mps.read_mps(same), mps.read_mps(small)
    assert (given.variables, given.rows) == (expected.variables, expected.rows)
    assert (given.offset, given.maximise) == (expected.offset, expected.maximise)
    assert np.array_equal(given.A.toarray(), expected.A.toarray())
    for name in ("c", "b"):
        assert np.array_equal(getattr(given, name), getattr(expected, name))


def test_names_with_spaces_in_the_fixed_format(tmp_path: Path) -> None:
    path = tmp_path / "fixed.mps"
    path.write_text(
        "NAME          TWO WORDS\n"
        "ROWS\n N  THE COST\n L  LIM 1\n G  LIM 2\n"
        "COLUMNS\n"
        "    M1        'MARKER'                 'INTORG'\n"
        "    X 1       THE COST           1.5   LIM 1              1\n"
        "    X 1       LIM 2                1\n"
        "    Y 1       THE COST             2   LIM 1              1\n"
        "    M2        'MARKER'                 'INTEND'\n"
        "RHS\n"
        "    RHS       LIM 1                2   LIM 2              1\n"
        "BOUNDS\n BV BND       X 1\n BV BND       Y 1\nENDATA\n"
    )
    given = mps.read_mps(path)
    assert given.variables == ["X 1", "Y 1"]
    assert given.c.tolist() == [1.5, 2]
    assert given.A.toarray().tolist() == [[-1, -1], [1, 0]]
    assert given.b.tolist() == [-2, 1]


def test_empty_lines_in_the_fixed_format(tmp_path: Path) -> None:
    """HiGHS's own reader of it never gets past one."""
    path = tmp_path / "gaps.mps"
    path.write_text(
        "\nNAME          T\n\nROWS\n N  obj\n G  a row\n\n"
        "COLUMNS\n    M1        'MARKER'                 'INTORG'\n"
        "    a b0      obj                  5   a row              1\n\n"
        "    M2        'MARKER'                 'INTEND'\n"
        "RHS\n    RHS       a row            1\nBOUNDS\n\n BV B         a b0\n\nENDATA\n\n"
    )
    given = mps.read_mps(path)
    assert (given.name, given.variables) == ("gaps", ["a b0"])
    assert (given.c.tolist(), given.A.toarray().tolist(), given.b.tolist()) == ([5], [[1]], [1])


def test_what_highs_prints_while_reading_is_no_output(tmp_path: Path) -> None:
    path = tmp_path / "indicator.lp"
    path.write_text("Minimize\n x\nSubject To\n c: x = 1 -> x + y >= 1\nBinary\n x y\nEnd\n")
    command = [sys.executable, "-m", "fastlb", "solve", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_files_that_are_packed_badly_or_empty(small: Path, tmp_path: Path, run: Run) -> None:
    packed = gzip.compress(small.read_bytes())
    for name, content, message in (
        ("junk.mps.gz", b"junk", "must be whole and packed by gzip, got Not a gzipped file"),
        ("short.mps.gz", packed[:80], "must be whole and packed by gzip, got Compressed file"),
        ("bits.mps.gz", packed[:40] + bytes(40), "must be whole and packed by gzip, got Error"),
        ("none.mps", b"", "must hold a model, got an empty file"),
        ("none.lp", b"", "must hold a model, got an empty file"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        done = run("solve", path)
        assert done.code == 2
        assert done.err.startswith(f"fastlb: {path}: {message}")
        assert done.err.count("\n") == 1
    loud = tmp_path / "LOUD.MPS.GZ"
    loud.write_bytes(gzip.compress(b"\xef\xbb\xbf" + small.read_bytes()))
    assert mps.read_mps(loud).variables == ["X", "Y", "Z"]


@pytest.mark.parametrize("number", ["0.1000000000000000001", "1e-400", "9007199254740993", "1e400"])
def test_numbers_that_float64_cannot_hold_are_refused(
    run: Run, tmp_path: Path, number: str
) -> None:
    model = tmp_path / "fine.lp"
    model.write_text(
        f"min\n obj: 2 x1 + x2\nst\n r: {number} x1 + 0.1 x2 >= 0.1\nbinary\n x1 x2\nend\n"
    )
    done = run("solve", model)
    assert done.code == 2
    assert done.err.startswith(f"fastlb: {model}:4: {number} is a number that float64 cannot hold")
    path = tmp_path / "fine.mps"
    path.write_text(
        HEAD.format(sense="MIN", least=number) + " BV BND       X\n BV BND       Y\nENDATA\n"
    )
    with pytest.raises(ValueError, match=r"fine\.mps:\d+: .* is a number that float64 cannot hold"):
        mps.read_mps(path)


def test_large_whole_numbers_are_read_exactly(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "large.lp"
    row = "9007199254740992 x + 9007199254740990 y >= 9007199254740991"
    path.write_text(f"min\n obj: 2 x + y\nst\n r: {row}\nbinary\n x y\nend\n")
    done = run("solve", path)
    assert done.code == 0
    assert "objective  2\n" in done.out


def test_names_with_digits_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "names.lp"
    path.write_text(
        "min\n obj: x1e-400 + _2.50000000000000000001 + 0.50 z1\\ 1e-400\nst\n"
        " r9007199254740993: x1e + z1 >= 1.00\nbinary\n x1e z1 _2.50000000000000000001\nend\n"
    )
    mps.check_lp(path)


def test_a_model_without_variables_is_none(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "nothing.lp"
    model.write_text("min\n obj:\nst\nend\n")
    done = run("solve", model)
    assert (done.code, done.err) == (
        2, f"fastlb: {model}: must have variables, got a model without any\n"
    )  # fmt: skip
