"""fastlb assign killed at any step of its writing: files are as before or complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Forks a process for each step, such as opening a file or renaming it, and kills it at this step.
SCRIPT = """
import os, signal, sys
from pathlib import Path
import json
from fastlb.cli.commands import commands

folder, arguments = sys.argv[1], sys.argv[2:]


def content():
    files = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def run(step):
    steps = 0

    def watch(event, values):
        nonlocal steps
        if event not in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            return
        reads = event == "open" and not (isinstance(values[2], int) and values[2] & os.O_ACCMODE)
        if reads or not str(values[0]).startswith(folder):
            return
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    commands.main(arguments, standalone_mode=False)


# What is loaded and compiled before the first fork is so in all.
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
commands.main(arguments[:2], standalone_mode=False)
states = []
for step in range(1, 100):
    child = os.fork()
    if child == 0:
        run(step)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    states.append(content())
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, status
os.write(out, json.dumps(states).encode())
"""


def document(rank: int) -> str:
    tasks = [
        {"entity": {"id": 10 * rank + i, "migratable": True}, "node": rank, "time": 4.0 - 3 * rank}
        for i in range(3)
    ]
    return json.dumps({"metadata": {"rank": rank}, "phases": [{"id": 0, "tasks": tasks}]})


def states(folder: Path, *arguments: object) -> list[dict[str, str]]:
    """Return the files after every kill, and in the end, without unfinished ones."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(folder), "assign"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    listed: list[dict[str, str]] = json.loads(done.stdout)
    assert len(listed) > 3
    assert not any(name.endswith(".part") for name in listed[-1])
    return [{name: text for name, text in state.items() if ".part" not in name} for state in listed]


@pytest.fixture
def run_of_vt(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in range(2):
        (folder / f"run.{rank}.json").write_text(document(rank))
    return folder


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill")


def test_new_files_are_complete_or_absent(tmp_path: Path, run_of_vt: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    *killed, final = states(
        target, run_of_vt, "--out", target / "out", "--plan", target / "plan.json", "--force"
    )
    assert sorted(final) == ["out/run.0.json", "out/run.1.json", "plan.json"]
    assert any(map(len, killed)) and not all(map(len, killed))
    for state in killed:
        folder = {name for name in state if name.startswith("out")}
        assert len(folder) in (0, 2)
        assert state == {name: final[name] for name in state}
    owners = {
        task["entity"]["id"]: rank
        for rank in range(2)
        for task in json.loads(final[f"out/run.{rank}.json"])["phases"][0]["tasks"]
    }
    moves = json.loads(final["plan.json"])["phases"][0]["moves"]
    expected = {i: i // 10 for i in (0, 1, 2, 10, 11, 12)}
    expected |= {int(move["task"]): int(move["to"]) for move in moves}
    assert owners == expected and moves


def test_files_that_are_overwritten_are_old_or_new(tmp_path: Path, run_of_vt: Path) -> None:
    target = tmp_path / "target"
    (target / "out").mkdir(parents=True)
    old: dict[str, Any] = {"out/run.0.json": "{}", "out/run.1.json": "{}", "plan.json": "old"}
    for name, text in old.items():
        (target / name).write_text(text)
    *killed, final = states(
        target, run_of_vt, "--out", target / "out", "--plan", target / "plan.json", "--force"
    )
    assert all(final[name] != old[name] for name in old)
    assert old in killed
    for state in killed:
        assert state.keys() == old.keys()
        assert all(state[name] in (old[name], final[name]) for name in state)
