"""Kernels run wherever they are: with a broken cache, a full disk, no home and no folder."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from fastlb import extras
from fastlb.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = "import fastlb as lb; print(lb.exchange_rounds([3, 0, 0], [2, 1, 0])[0])"
# Below a file there is no folder.
NOWHERE = os.path.join(os.devnull, "cache")  # noqa: PTH118


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


def copied(folder):
    """Return a folder with a copy of the package, nothing of it compiled."""
    copy = folder / "site"
    shutil.copytree(ROOT / "fastlb", copy / "fastlb", ignore=shutil.ignore_patterns("__pycache__"))
    return copy


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


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"numba.core.types", b"numba.core.typos"), (numba.__version__.encode(), b"0" * 20)],
    ids=["unknown types", "another numba"],
)
def test_a_cache_of_another_version_is_done_without(tmp_path, old, new):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert rounds(**where) == 2
    indices = list(tmp_path.rglob("*.nbi"))
    assert indices
    for path in indices:
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new[: len(old)]))
    assert rounds(**where) == 2


def test_without_the_compiler_nothing_is_cached(tmp_path):
    assert rounds(NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="1") == 2
    assert not list(tmp_path.iterdir())


def test_a_package_in_a_zip_file_runs(tmp_path):
    packed = shutil.make_archive(str(tmp_path / "site"), "zip", copied(tmp_path))
    code = f"{ROUNDS}\nassert lb.__file__.startswith({packed!r})"
    home = tmp_path / "cache"
    where = {"PYTHONPATH": packed, "XDG_CACHE_HOME": str(home), "NUMBA_CACHE_DIR": ""}
    assert rounds(code, **where) == 2
    assert list(home.rglob("*.nbc"))
    assert rounds(code, **{**where, "XDG_CACHE_HOME": NOWHERE}) == 2


@pytest.mark.parametrize("home", [True, False], ids=["home", "no home"])
@pytest.mark.parametrize("folder", ["", NOWHERE], ids=["", "unwritable NUMBA_CACHE_DIR"])
def test_a_package_that_is_read_only_runs(tmp_path, home, folder):
    """Where a file stands in the place of a folder, nobody can write, the superuser neither."""
    copy, cache = copied(tmp_path), tmp_path / "cache"
    for family in (copy / "fastlb" / "kernels").iterdir():
        (family / "__pycache__").touch()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    where = {
        "PYTHONPATH": str(copy),
        "NUMBA_CACHE_DIR": folder,
        "XDG_CACHE_HOME": str(cache) if home else NOWHERE,
        "TMPDIR": str(temporary),
    }
    code = f"{ROUNDS}\nassert lb.__file__.startswith({str(copy)!r})"
    assert rounds(code, **where) == 2
    assert bool(list(tmp_path.rglob("*.nbc"))) == home
    assert not list(temporary.iterdir())


def test_a_full_disk_is_done_without(tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    assert rounds(prepare=small_files, NUMBA_CACHE_DIR=str(tmp_path)) == 2


def test_a_missing_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    said = r"highspy .* pip install 'fastlb\[mps\]' or, in a clone, pip install '\.\[mps\]'"
    with pytest.raises(MissingExtraError, match=said):
        extras.extra.__wrapped__("highspy")
