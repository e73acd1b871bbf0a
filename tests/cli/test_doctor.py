"""``fastlb doctor``."""

from __future__ import annotations

import json
import sys
import types
from importlib import metadata
from pathlib import Path

import numba
import pytest

from fastlb.cli import answers
from fastlb.cli import doctor as module
from fastlb.cli.cachefolder import cache_folder
from fastlb.extras import EXTRAS

from .conftest import Run


def test_a_healthy_installation(run: Run) -> None:
    done = run("doctor")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\nhealthy\n")
    for name in ("python", "fastlb", "numpy", "numba", "scipy", *EXTRAS, "threads", "folder"):
        assert f"\n  {name} " in done.out
    for name in answers.ANSWERS:
        assert f"  {name}" in done.out


def test_json(run: Run) -> None:
    found = json.loads(run("doctor", "--json").out)
    assert (found["schema"], found["version"], found["healthy"]) == ("fastlb.doctor", 1, True)
    assert set(found) == {
        "schema", "version", "versions", "extras", "networkx", "machine", "cache", "checks",
        "healthy",
    }  # fmt: skip
    assert found["machine"]["threads"] >= 1
    assert [check["passed"] for check in found["checks"]] == [True] * len(answers.ANSWERS)
    for check in found["checks"]:
        assert set(check) == {"name", "passed", "detail", "compiled", "seconds"}
    assert set(found["cache"]) == {"folder", "writable", "kernels", "bytes"}


@pytest.mark.parametrize(
    ("version", "registered", "said"),
    [
        (None, True, "networkx is not installed"),
        ("3.3", True, "networkx 3.3 is too old: from 3.4 on it uses fastlb"),
        ("3.4rc0", False, "not registered: install fastlb with pip, a clone is not enough"),
        ("10.0", True, 'functions take backend="fastlb"'),
    ],
)
def test_whether_networkx_sees_the_backend(
    version: str | None, registered: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"networkx": version}
    entries = [metadata.EntryPoint("fastlb", "somewhere", "networkx.backends")] * registered
    monkeypatch.setattr(module, "_version", lambda name: versions.get(name, "1.0"))
    monkeypatch.setattr(module.metadata, "entry_points", lambda **_: entries)
    text, _ = module._backend(module._networkx())
    assert said in text


def test_what_is_compiled_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiling() -> int:
        def plus_one(x: int) -> int:
            return x + 1

        plus_one.__module__, plus_one.__qualname__ = "fastlb.kernels.dem.small", "plus_one"
        return int(numba.njit(plus_one)(1))

    monkeypatch.setattr(answers, "ANSWERS", {"one and one": (compiling, 2)})
    told: list[str] = []
    (check,) = answers.run_checks(told.append)
    assert check["passed"] and check["compiled"] == ["dem.small.plus_one"]
    assert told == ["one and one", "one and one: compiling dem.small.plus_one"]
    assert "one and one  ok, compiled 1 kernel in " in run("doctor").out


def test_kernels_lie_in_a_folder_for_each_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for family, kept in (("dem", 2), ("dde", 1)):
        folder = tmp_path / family / "__pycache__"
        folder.mkdir(parents=True)
        for i in range(kept):
            (folder / f"a.{i}.nbc").write_bytes(b"12345")
        (folder / "a.nbi").write_bytes(b"1")
        stats = types.SimpleNamespace(cache_path=str(folder))
        module = types.ModuleType(f"fastlb.kernels.{family}.one")
        vars(module)["kernel"] = types.SimpleNamespace(stats=stats)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in list(sys.modules):
        if name.startswith("fastlb.kernels.") and not name.endswith(".one"):
            monkeypatch.delitem(sys.modules, name)
    assert cache_folder() == (tmp_path, True, 3, 17)
    for family in ("dem", "dde"):
        monkeypatch.delitem(sys.modules, f"fastlb.kernels.{family}.one")
    assert cache_folder() == (None, False, 0, 0)


def test_a_wrong_answer_is_seen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(answers.ANSWERS, "DEM on a 2-cube", (lambda: [4, 4, 1, 1], [3, 3, 2, 2]))
    done = run("doctor")
    assert done.code == 1
    assert "expected [3, 3, 2, 2], got [4, 4, 1, 1]" in " ".join(done.out.split())
    assert done.out.endswith("\nnot healthy\n")


def test_a_broken_kernel_is_seen(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("no such instruction")

    monkeypatch.setitem(answers.ANSWERS, "DEM on a 2-cube", (broken, 0))
    done = run("doctor", "--json")
    assert done.code == 1
    failed = [check for check in json.loads(done.out)["checks"] if not check["passed"]]
    assert [check["detail"] for check in failed] == ["RuntimeError: no such instruction"]


def test_missing_extras_say_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = module._version
    monkeypatch.setattr(
        module, "_version", lambda name: None if name == "matplotlib" else known(name)
    )
    done = run("doctor")
    assert done.code == 0
    said = (
        "matplotlib not installed; for plots of studies install the extra [plot], "
        "pip install 'fastlb[plot]' or, in a clone, pip install '.[plot]'"
    )
    assert said in " ".join(done.out.split())


def test_a_missing_core_library_is_an_illness(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = module._version
    monkeypatch.setattr(module, "_version", lambda name: None if name == "scipy" else known(name))
    done = run("doctor")
    assert done.code == 1
    assert "scipy     missing: pip install fastlb" in done.out
