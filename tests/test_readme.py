"""Every example of the README runs as it stands, each in a process of its own."""

import os
import re
import subprocess
import sys

import pytest

import fastlb as lb

from .documents import ROOT, examples, printed, run

README = (ROOT / "README.md").read_text()
EXAMPLES = examples(README)


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_example_prints_what_it_says(code, tmp_path):
    lines = run(code, tmp_path)
    assert [line for line in printed(code) if line not in lines] == []


def test_there_is_an_example_for_every_method():
    text = "".join(EXAMPLES)
    assert all(f"lb.{method}(" in text for method in lb.methods())


def test_the_main_command_prints_what_is_shown():
    command = re.search(r"^\.venv/bin/fastlb (balance .*)$", README, re.M)[1]
    shown = re.search(r"^## What it shows\n\n```\n(.*?)^```$", README, re.M | re.S)[1]
    done = subprocess.run(
        [sys.executable, "-m", "fastlb", *command.split()],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown.splitlines()


def test_a_migration_plan_from_csv_is_pasted_and_prints_what_is_shown(tmp_path):
    task = re.search(r"^```bash\n(cat > servers.*?)^```\n\n```\n(.*?)^```$", README, re.M | re.S)
    command = task[1].replace(".venv/bin/fastlb", f"{sys.executable} -m fastlb")
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == task[2].splitlines()
    assert (tmp_path / "plan.json").exists()


def test_tasks_are_assigned_as_shown(tmp_path):
    task = re.search(
        r"^```bash\n\.venv/bin/fastlb (assign .*?)\n```\n\n```\n(.*?)^```$", README, re.M | re.S
    )
    (tmp_path / "fastlb").mkdir()
    (tmp_path / "fastlb" / "data").symlink_to(ROOT / "fastlb" / "data")
    code = f"import sys; sys.argv[1:] = {task[1].split()!r}; from fastlb.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rstrip() for line in done.stdout.splitlines()] == task[2].splitlines()
    assert len(list((tmp_path / "balanced").iterdir())) == 16


def test_the_hexa_cell_table_is_what_the_library_finds():
    found = [
        f"| {e.place}: {e.printed} | {e.right} | {e.example}: {e.shown} |"
        for e in lb.hexa_cell_errata()
    ]
    heading = "| Hexa-Cell | here | smallest example |\n|---|---|---|\n"
    assert heading + "\n".join(found) + "\n\n" in README
