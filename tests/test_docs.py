"""Every example of the pages in docs/ and examples/ runs, and prints what it says."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .documents import ROOT, examples, libraries, printed, run

PAGES = sorted((ROOT / "docs").glob("*.md"))
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{i}")
    for page in PAGES
    for i, code in enumerate(examples(page.read_text()))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_prints_what_it_says(code: str, tmp_path: Path) -> None:
    missing = [name for name in libraries(code) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    lines = run(code, tmp_path)
    expected = printed(code)
    assert expected
    assert [line for line in expected if line not in lines] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_event_loop_loses_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "event_loop.py"), "2000"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2,000 events, each rebalanced" in done.stdout
    assert "largest difference between two nodes: 2" in done.stdout
