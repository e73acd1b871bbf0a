"""What all commands share: help, lazy loading, one-line errors, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from fastlb import __version__
from fastlb.cli import terminal
from fastlb.cli.commands import COMMANDS, commands, one_line
from fastlb.reports.progress import rows_bar

from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
    )


def test_help_lists_the_commands(run: Run) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        done = run(*arguments)
        assert done.code == 0
        assert all(f"\n  {name} " in done.out for name in COMMANDS)
        assert "pip" not in done.out + done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_examples(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: fastlb {name}" in done.out
    assert "Examples:" in done.out
    assert "--debug" in done.out
    assert max(map(len, done.out.splitlines())) <= 90


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"fastlb {__version__}\n", "")


def test_help_loads_no_numerical_library() -> None:
    code = (
        "import json, sys\n"
        "from fastlb.cli.commands import commands\n"
        "for args in (['--help'], ['balance', '--help'], ['doctor', '--help']):\n"
        "    try: commands.main(args)\n"
        "    except SystemExit: pass\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    loaded = set(json.loads(python("-c", code).stdout.splitlines()[-1]))
    assert not loaded & {"numpy", "numba", "scipy", "rich", "matplotlib"}


def test_python_dash_m() -> None:
    done = python("-m", "fastlb", "--version")
    assert (done.returncode, done.stdout) == (0, f"fastlb {__version__}\n")


@pytest.mark.parametrize("name", ["click", "rich"])
def test_a_missing_library_gives_one_line(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; from fastlb.cli import main; main()"
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stderr == (
        f"fastlb: the command line needs {name}: install the extra [cli], "
        "pip install 'fastlb[cli]' or, in a clone, pip install '.[cli]'\n"
    )


def test_a_misspelled_command(run: Run) -> None:
    done = run("balanc")
    assert (done.code, done.out) == (2, "")
    assert done.err == "fastlb: no command 'balanc'; did you mean balance? (see fastlb --help)\n"


def test_a_misspelled_option(run: Run) -> None:
    done = run("topologies", "--node", "4", "--nodez", "3")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("fastlb topologies: ")
    assert done.err.count("\n") == 1


def failing(error: BaseException) -> click.Command:
    @click.command("fail")
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("loads must be\nfinite"), "fastlb: loads must be finite\n"),
        (FileNotFoundError(2, "no such file", "a.npy"), "fastlb: a.npy: no such file\n"),
        (OverflowError("too large"), "fastlb: too large\n"),
        (ImportError("pip install 'fastlb[plot]'"), "fastlb: pip install 'fastlb[plot]'\n"),
        (KeyError("x"), "fastlb: unexpected KeyError: 'x' (--debug shows where)\n"),
        (ValueError(), "fastlb: unexpected ValueError: (--debug shows where)\n"),
    ],
)
def test_errors_are_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, says: str
) -> None:
    monkeypatch.setattr(type(commands), "get_command", lambda *_: failing(error))
    assert run("balance") == (2, "", says)


def test_debug_shows_the_traceback(run: Run) -> None:
    done = run("topologies", "mehs:3", "--debug")
    assert done.code == 2
    assert done.err.startswith("Traceback (most recent call last):")
    assert done.err.endswith("did you mean mesh?\n")


def test_an_interrupt_is_told_in_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(commands), "get_command", lambda *_: failing(KeyboardInterrupt()))
    done = run("balance")
    assert done == (130, "", "fastlb: interrupted\n")


def test_a_real_interrupt_is_told_in_a_line() -> None:
    code = (
        "import os, signal, sys, fastlb.files.formats as formats\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "formats.read_load_file = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['fastlb', 'balance', 'a.npy', '-t', 'ring:4']\n"
        "from fastlb.cli import main\n"
        "main()\n"
    )
    done = python("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "fastlb: interrupted\n")


def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "fastlb", "topologies", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert process.returncode == 1


def test_one_line_of_an_operating_system_error() -> None:
    assert one_line(PermissionError(13, "Permission denied", "/x")) == "/x: Permission denied"


@pytest.mark.parametrize("columns", ["0", "00"])
def test_a_width_of_nothing_is_none(
    run: Run, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("topologies").out
    monkeypatch.setenv("COLUMNS", columns)
    assert run("topologies").out == shown


def test_no_progress_bar_in_a_pipe_that_is_to_be_coloured(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with terminal.working() as work:
        assert work._progress.disable
    with rows_bar("rows", 3) as tell:
        tell(1, 3)
    assert run("topologies").err == ""
