"""``fastlb study --store``: processes that are killed, interrupted or out of room."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.montecarlo.manifest import _checksum

from ..montecarlo.stores import broken_off, parts, same
from .conftest import Run

pytest.importorskip("pyarrow")

ROOT = Path(lb.__file__).parents[1]
TOML = """
name = "mine"
topologies = ["mesh:8x8", "ring:16"]
methods = ["gde:lam=0.723,max_sweeps=4", "dde"]
loads = ["uniform:1000", "uniform:7"]
trials = 60000
seed = 3
"""
# Stops after 16,000 trials of the mesh and all of the ring.
STOPPING = TOML + 'target_error = { cost = "0.15%" }\nminimum_trials = 1000\n'
# The command line, but with a part after every chunk.
COMMAND = """
from fastlb.montecarlo import chunks, storage
from fastlb.cli import main
storage.MIN_INTERVAL = storage.INTERVAL_SHARE = 0.0
chunks.MIN_LOADS = 2**16
main()
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return path


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "study", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_parts(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    while len(parts(folder)) < count and process.poll() is None:
        time.sleep(0.002)


@pytest.mark.slow
@pytest.mark.parametrize(("toml", "options"), [(TOML, []), (STOPPING, ["--no-rows"])])
def test_killed_at_random_moments_nothing_is_lost(
    toml: str, options: list[str], tmp_path: Path, full: bool
) -> None:
    mine, folder = tmp_path / "mine.toml", tmp_path / "store"
    mine.write_text(toml)
    expected = lb.run(lb.Study.read(mine))
    chance = random.Random(1993)
    killed = 0
    for _ in range(40 if full else 4):
        before = {path.name: path.read_bytes() for path in parts(folder)}
        threads = chance.choice([1, 2])
        arguments = (mine, "--store", folder, "--resume", "--threads", threads, *options)
        with started(*arguments) as process:
            # Now and then while it starts, mostly somewhere between two parts.
            more = chance.choice([0, 1, 1, 2])
            wait_for_parts(process, folder, len(before) + more)
            time.sleep(chance.uniform(0, 0.8 if more == 0 else 0.02))
            seen = {path.name for path in parts(folder)}
            process.kill()
        killed += process.returncode == -signal.SIGKILL
        after = {path.name: path.read_bytes() for path in parts(folder)}
        assert seen <= set(after)
        assert {name: after[name] for name in before} == before
    assert killed >= (5 if full else 3)
    with started("--store", folder, "--resume", "--json", *options) as process:
        resumed, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    with started(mine, "--json", *options) as process:
        undisturbed, _ = process.communicate()
    assert resumed == undisturbed
    assert same(lb.read_store(folder), expected)


def test_interrupted_it_says_how_to_go_on(mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a store"
    with started(mine, "--store", folder, "--no-rows") as process:
        wait_for_parts(process, folder, 3)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
    assert (process.returncode, out) == (130, "")
    command = f"fastlb study --store '{folder}' --resume --no-rows"
    assert errors == f"fastlb: interrupted; {command} goes on from here\n"
    with started("--store", folder, "--resume") as process:
        out, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert same(lb.read_store(folder), lb.run(lb.Study.read(mine)))


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files")
def test_no_room_is_told_in_a_line(mine: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "store"
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + COMMAND, "study", str(mine), "--store", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "File too large; what was kept before is safe, --resume goes on" in done.stderr
    assert not list(folder.glob(".*.part"))
    assert run("study", "--store", folder).code == 2
    assert run("study", "--store", folder, "--resume").code == 0


def test_a_store_is_shown_and_its_trials_raised(run: Run, mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    first = run("study", mine, "--trials", 20, "--store", folder, "--json")
    assert first == run("study", mine, "--trials", 20, "--json")
    assert run("study", "--store", folder, "--json") == first
    more = run("study", "--store", folder, "--resume", "--trials", 30, "--json")
    assert more == run("study", mine, "--trials", 30, "--json")
    assert run("study", "--store", folder, "--json", "--out", tmp_path / "out") == more


def test_targets_rows_and_pages_of_a_store(run: Run, mine: Path, tmp_path: Path) -> None:
    folder, page = tmp_path / "store", tmp_path / "page.html"
    asked = ("--trials", 4000, "--no-rows", "--json")
    target = ("--target-error", "cost=1%")
    first = run("study", mine, *asked, *target, "--store", folder, "--report", page)
    assert (first.code, first.err) == (0, "")
    assert first == run("study", mine, *asked, *target)
    assert "1%" in page.read_text()
    written = page.read_bytes()
    again = run("study", "--store", folder, "--no-rows", "--json", "--report", page, "--force")
    assert again == first
    assert page.read_bytes() == written
    missed = run("study", "--store", folder, "--resume", *asked, "--target-error", "cost=0.01%")
    assert missed == run("study", mine, *asked, "--target-error", "cost=0.01%")
    assert missed.code == 1
    assert run("study", "--store", folder, "--no-rows", "--json") == missed
    with_rows = run("study", "--store", folder)
    assert (with_rows.code, with_rows.err) == (1, "")
    assert len(lb.read_store(folder)) == 4000 * 8


def test_a_bundled_study_is_shown_as_such(run: Run, tmp_path: Path) -> None:
    arguments = ("wu-shu", "--trials", 3)
    shown = run("study", *arguments, "--store", tmp_path)
    assert "Average Number of Sweeps: paper" in shown.out
    assert run("study", "--store", tmp_path) == shown
    target = ("--target-error", "difference=50")
    asked = run("study", "--store", tmp_path, "--resume", *target)
    assert asked == run("study", *arguments, *target)
    assert asked == run("study", "--store", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine.toml", "--resume"], "--resume needs --store DIR"),
        (["--store", "old", "--seed", "3"], "NAME or FILE.toml is needed"),
        (["--store", "old", "--dask", "local"], "NAME or FILE.toml is needed"),
        (["--store", "old", "--target-error", "cost=1"], "NAME or FILE.toml is needed"),
        (["mine.toml", "--store", "new", "--target-error", "cots=1"], "did you mean cost?"),
        (["mine.toml", "--dask", "tcp://a:1", "--threads", "2"], "--dask ADDRESS has its own"),
        (["mine.toml", "--store", "old"], "old: holds a store already (--resume goes on with it)"),
        (["mine.toml", "--store", "."], ".: holds other files"),
        (["mine.toml", "--store", "none/store"], "none: no such folder"),
        (["mine.toml", "--store", "old", "--resume"], "trials: 60000 in the store, 5 now"),
        (["--store", "none"], "none: no such folder"),
        (["--store", "none", "--resume"], "none holds no store to go on with: NAME or FILE.toml"),
        (["--store", ".", "--resume"], ". holds no store to go on with: NAME or FILE.toml"),
        (["--store", "."], ".: holds no store"),
        (["--store", "cut"], "cut holds 0 rows of 40: the run is not complete (--resume goes on"),
    ],
)
def test_bad_input_is_told_in_a_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(TOML.replace("60000", "5"))
    study = lb.Study.read("mine.toml")
    lb.run(study, store="cut")
    parts(Path("cut"))[0].unlink()
    lb.run(study, store="old")
    if "60000" in message:
        manifest = json.loads(Path("old", "_manifest.json").read_text())
        manifest["study"]["trials"] = 60000
        del manifest["sha256"]
        manifest["sha256"] = _checksum(manifest)
        Path("old", "_manifest.json").write_text(json.dumps(manifest))
    before = {path.name for path in tmp_path.rglob("*")}
    done = run("study", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert {path.name for path in tmp_path.rglob("*")} == before


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_a_damaged_part_is_told_in_a_line(run: Run, mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    first = run("study", mine, "--trials", 20, "--store", folder)
    part = parts(folder)[0]
    part.write_bytes(part.read_bytes()[:-1])
    done = run("study", "--store", folder, "--resume")
    assert (done.code, done.out) == (0, first.out)
    assert done.err == f"fastlb: {part} is damaged: its trials are run again\n"


@pytest.mark.usefixtures("often")
def test_a_store_that_is_not_complete_shows_what_it_has(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    study = lb.Study.from_toml(TOML.replace("60000", "40"))
    broken_off(folder, 1, study, chunk=20)
    done = run("study", "--store", folder)
    assert (done.code, done.err) == (1, "")
    has = re.search(r"NOT COMPLETE: what follows is of (\d+) of 320 rows", done.out)
    assert has is not None
    assert "--resume runs the rest" in " ".join(done.out.split())
    assert "Means of " in done.out
    document = json.loads(run("study", "--store", folder, "--json").out)
    assert document["complete"] is False
    assert document["rows"] == int(has[1]) == 320 - lb.read_store(folder, partial=True).missing
    assert run("study", "--store", folder, "--resume").code == 0
    again = run("study", "--store", folder)
    assert again.code == 0
    assert "NOT COMPLETE" not in again.out
