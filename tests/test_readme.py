"""Every example of the README runs as it stands, each in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)


def printed(code):
    """Return what each line's comment says it prints, up to a colon that begins an explanation."""
    told = re.findall(r"^print\(.*\) +# (.*)$", code, re.M)
    return [text.split(": ")[0].split(" ~ ")[0] for text in told]


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_example_prints_what_it_says(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for told in printed(code):
        assert " ".join(told.split()) in shown


def test_there_is_an_example_for_every_method():
    import fastlb as lb

    text = "".join(EXAMPLES)
    assert all(f"lb.{method}(" in text for method in lb.methods())
