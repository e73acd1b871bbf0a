"""Options of ``pytest bench``, the fixtures ``race`` and ``quick``, and the table at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import processor
from bench.race import Race, Row, clock
from bench.table import as_json, as_markdown, fallen, measurement

# A program of its own: it imports highspy, which excludes OR-tools from the process.
collect_ignore = ["miplib.py"]

ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fastlb benchmarks")
    group.addoption(
        "--quick", action="store_true", help="small sizes, check agreement, time nothing"
    )
    group.addoption(
        "--cpu", metavar="NAME", help="compile kernels and C for another processor: znver3, .."
    )
    group.addoption("--table", metavar="DIR", help="write avx512.json, avx2.json or such into DIR")
    group.addoption("--gate", metavar="FILE", help="fail where a ratio fell 25 %% below FILE's")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = []
    asked = "--benchmark-disable" in config.invocation_params.args or config.getoption("--quick")
    config.option.benchmark_disable = bool(asked)
    if config.getoption("--cpu"):
        try:
            processor.compile_for(config.getoption("--cpu"))
        except ValueError as error:
            raise pytest.UsageError(f"--cpu: {error}") from error


def pytest_report_header() -> str:
    width = processor.register_bytes()
    return f"kernels and C: compiled for {processor.name()}, registers of {width} bytes"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.benchmark(timer=clock, disable_gc=True))


@pytest.fixture
def quick(request: pytest.FixtureRequest) -> bool:
    """Whether to run small sizes only."""
    return bool(request.config.getoption("--quick"))


@pytest.fixture
def race(benchmark: Any, request: pytest.FixtureRequest) -> Race:
    """Run fastlb and its peers on the same work."""
    timed = not request.config.option.benchmark_disable
    return Race(benchmark, request.config.stash[ROWS], timed=timed)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    rows = config.stash[ROWS]
    if not rows:
        return
    terminalreporter.section("ratios")
    measured = measurement(rows)
    terminalreporter.write_line(as_markdown([measured]))
    if config.getoption("--table"):
        folder = Path(config.getoption("--table"))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{processor.file_stem()}.json").write_text(as_json(measured))
    for line in _fallen(config, rows):
        terminalreporter.write_line(line, red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    rows = session.config.stash[ROWS]
    if rows and session.exitstatus == 0 and _fallen(session.config, rows):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _fallen(config: pytest.Config, rows: list[Row]) -> list[str]:
    if not config.getoption("--gate"):
        return []
    return fallen(rows, json.loads(Path(config.getoption("--gate")).read_text()))
