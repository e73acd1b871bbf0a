"""What a terminal shows of a running study."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import fastlb as lb
from fastlb.cli import terminal
from fastlb.cli.live import MARGIN, Summary

STUDY = lb.Study(
    "mine", ["mesh:4x4", "ring:8"], ["gde:lam=0.7", "dde"], "uniform:100", trials=300, seed=3
)


def drawn(summary: Summary, height: int = 25) -> list[str]:
    console = Console(file=io.StringIO(), width=90, height=height, force_terminal=False)
    console.print(summary)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


def test_a_line_a_combination_with_the_mean_and_its_error() -> None:
    summary = Summary(STUDY)
    assert drawn(summary) == []
    results = lb.run(STUDY, chunk=100, watch=summary.watch)
    heading, *lines = drawn(summary)
    assert heading.split() == ["topology", "method", "loads", "figure", "trials", "mean", "s.e."]
    for line, (key, figures) in zip(lines, results.summary().items(), strict=True):
        found = figures["difference"]
        shown = [*key, "difference", "300", f"{found.mean:,.5g}", "±"]
        assert line.split()[:-1] == shown
        assert float(line.split()[-1]) == pytest.approx(found.standard_error, rel=0.06)


def test_the_target_is_what_is_shown() -> None:
    study = lb.Study("s", ["ring:8"], ["gde:lam=0.7", "dde"], "uniform:9", 9, 3, (), {"rounds": 1})
    summary = Summary(study)
    lb.run(study, watch=summary.watch)
    assert [line.split()[3] for line in drawn(summary)[1:]] == ["difference", "rounds"]


def test_the_last_lines_are_shown_where_not_all_fit() -> None:
    summary = Summary(STUDY)
    for cell in STUDY.cells[::-1]:
        summary.watch(cell, {"difference": np.array([1])})
    shown = drawn(summary, height=MARGIN + 2)[1:]
    assert [line.split()[:2] for line in shown] == [
        ["mesh:4x4", "gde:lam=0.7"],
        ["mesh:4x4", "dde"],
    ]


def test_nothing_is_watched_in_a_pipe() -> None:
    with terminal.working() as work:
        work.step("a step")
        assert work.summary(STUDY) is None


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_it_is_shown_on_a_terminal_and_leaves_no_trace_in_the_output(tmp_path: Path) -> None:
    import pty

    path = tmp_path / "mine.toml"
    path.write_text(STUDY.to_toml().replace("300", "40000"))
    main, side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    with subprocess.Popen(
        [sys.executable, "-m", "fastlb", "study", str(path), "--threads", "1"],
        cwd=Path(__file__).resolve().parents[2],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=side,
    ) as process:
        os.close(side)
        shown = b""
        while True:
            try:
                part = os.read(main, 2**16)
            except OSError:  # Linux: the other side is closed
                break
            if not part:
                break
            shown += part
        out = process.stdout.read() if process.stdout else b""
    os.close(main)
    assert process.returncode == 0
    assert re.search(rb"mesh:4x4 +gde:lam=0.7 +uniform:100 +difference +[\d,]+", shown)
    assert b"\n\nmine: 40,000 trials of each of 4 combinations" in out
    assert b"\x1b" not in out
