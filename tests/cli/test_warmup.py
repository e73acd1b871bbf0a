"""``fastlb warmup``, and what the command line says while kernels are compiled."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.accelerate import watching_compilation
from fastlb.cli import notice, warmup
from fastlb.warming import _RUNS, parts

from .conftest import Run


def test_kernels_are_compiled_and_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the processes that it starts see the folder: numba has read the variable here.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = run("warmup", "sample_loads", "--jobs", 2)
    assert (done.code, done.err) == (0, "")
    assert list(tmp_path.rglob("*.nbc"))
    said = done.out.splitlines()
    assert said[0].startswith("compiled ") and " kernels, " in said[1]
    done = run("warmup", "sample_loads", "--jobs", 1)
    assert (done.code, done.out.splitlines()[0]) == (0, "all were compiled before")


def test_names_and_dtypes_that_do_not_exist(run: Run) -> None:
    for arguments, said in (
        (["den"], "'den' is not one of 'dem'"),
        (["dem", "--dtype", "int7"], "'int7' is not one of"),
        (["--all", "--dtype", "int8"], "give --all or --dtype, not both"),
    ):
        done = run("warmup", *arguments)
        assert done.code == 2 and said in done.err


def test_there_must_be_something_to_compile(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    done = run("warmup", "dem")
    assert (done.code, done.err) == (2, "fastlb: NUMBA_DISABLE_JIT is set: nothing is compiled\n")


def test_names_are_those_of_the_function() -> None:
    assert set(warmup.NAMES) == set(_RUNS)
    # The backend of NetworkX is warmed up as one.
    assert all(hasattr(lb, name) for name in warmup.NAMES if name != "networkx")
    chosen = parts(["dem", "sample_loads"], warmup.DTYPES)
    assert len(chosen) == len(set(chosen)) == 2 * (len(warmup.DTYPES) + 1)


def test_only_compiling_is_told() -> None:
    from numba import njit

    def caller(x: int) -> int:
        return called(x) + 1

    called = njit(lambda x: 2 * x)
    told: list[tuple[str, bool]] = []
    function = njit(caller)
    with watching_compilation(lambda name, begins: told.append((name.split(".")[-1], begins))):
        assert [function(3), function(4)] == [7, 9]
    assert told == [("caller", True), ("<lambda>", True), ("<lambda>", False), ("caller", False)]
    function(0.5)
    assert len(told) == 4


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_once_that_kernels_are_compiled(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba import njit

    monkeypatch.setattr(notice, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with notice.announcing_compilation():
        for step in (1, 2):
            njit(lambda x, step=step: x + step)(1)
    assert capsys.readouterr().err == (notice.LINE if terminal else "")


def test_compiling_that_takes_little_is_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice, "PATIENCE_SECONDS", 0.2)
    told = notice._Notice()
    told("kernel", True)
    told("helper", True)
    told("helper", False)
    told("kernel", False)
    time.sleep(0.3)
    assert capsys.readouterr().err == ""
    for _ in range(2):  # 0.15 s twice are more than 0.2 s
        told("kernel", True)
        time.sleep(0.15)
        told("kernel", False)
    assert capsys.readouterr().err == notice.LINE
