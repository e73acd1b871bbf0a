"""Kernels run wherever they are: with a broken cache, a full disk, no home and no folder."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fastlb import accelerate
from fastlb.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = "import fastlb as lb; print(lb.exchange_rounds([3, 0, 0], [2, 1, 0])[0])"
LENT = """
import fastlb as lb, numpy as np
print(lb.dem(np.array([3, 0]), lb.Hypercube(1), record="loads").loads[0])
"""


def rounds(code=ROUNDS, prepare=None, **environment):
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        preexec_fn=prepare,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_broken_cache_files_are_done_without(tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert rounds(**where) == 2
    broken = [path for suffix in ("nbc", "nbi") for path in tmp_path.rglob(f"*.{suffix}")]
    assert len(broken) >= 2
    whole = [path.read_bytes() for path in broken]
    for size in (100, 0):
        for path, content in zip(broken, whole, strict=True):
            path.write_bytes(content[:size])
        assert rounds(**where) == 2


def test_a_cache_with_types_of_another_version_is_done_without(tmp_path):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert rounds(LENT, **where) == 2
    indices = list(tmp_path.rglob("*.checked-*.nbi"))
    assert indices
    for path in indices:
        content = path.read_bytes()
        assert b"fastlb.lending" in content
        path.write_bytes(content.replace(b"fastlb.lending", b"fastlb.borrows"))
    assert rounds(LENT, **where) == 2


def test_a_package_in_a_zip_file_runs(tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(ROOT / "fastlb", copy / "fastlb", ignore=shutil.ignore_patterns("__pycache__"))
    packed = shutil.make_archive(str(copy), "zip", copy)
    where = {"PYTHONPATH": packed, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    code = f"{LENT}\nassert lb.__file__.startswith({packed!r})"
    assert rounds(code, **where) == 2


def test_a_full_disk_is_done_without(tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    assert rounds(prepare=small_files, NUMBA_CACHE_DIR=str(tmp_path)) == 2


def test_no_home_and_no_writable_folder_leave_nothing_behind(tmp_path):
    code = (
        "import os, fastlb.accelerate as a\n"
        "a._writable = lambda folder: False\n"
        "os.path.expanduser = lambda path: path\n" + ROUNDS
    )
    assert rounds(code, TMPDIR=str(tmp_path), XDG_CACHE_HOME="") == 2
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingExtraError, match=r"highspy .* pip install 'fastlb\[mps\]'"):
        accelerate.extra.__wrapped__("highspy")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signals between processes here")
def test_long_kernels_let_an_interrupt_through() -> None:
    over = threading.Event()
    interrupt = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            accelerate.heeding(accelerate.SMALL, over.wait, 60.0)
        assert not over.is_set()
    finally:
        over.set()
        interrupt.join()


@pytest.mark.parametrize("size", [0, accelerate.SMALL])
def test_kernels_give_their_results_and_errors(size: int) -> None:
    assert accelerate.heeding(size, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        accelerate.heeding(size, divmod, 7, 0)
