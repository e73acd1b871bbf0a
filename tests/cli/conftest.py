"""Running the command line inside the test's own process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fastlb.cli.commands import commands

from .models import BINARY, HEAD
from .plans import LOADS


class Done(NamedTuple):
    """How a command ended and what it said."""

    code: object
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A call of ``fastlb`` with the given arguments, in a pipe of 80 columns."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object) -> Done:
        with pytest.raises(SystemExit) as left:
            commands.main([str(argument) for argument in arguments], prog_name="fastlb")
        out, err = capsys.readouterr()
        return Done(left.value.code, out, err)

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.mps"
    path.write_text(HEAD.format(sense="MAX", least=1) + BINARY)
    return path


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    path = tmp_path / "loads.csv"
    path.write_text(LOADS)
    return path
