"""``fastlb doctor``."""

from __future__ import annotations

import json

import pytest

from fastlb.accelerate import EXTRAS
from fastlb.cli import answers
from fastlb.cli import doctor as module

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
        "schema", "version", "versions", "extras", "machine", "cache", "checks", "healthy",
    }  # fmt: skip
    assert found["machine"]["threads"] >= 1
    assert [check["passed"] for check in found["checks"]] == [True] * len(answers.ANSWERS)


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
    said = "matplotlib not installed: pip install 'fastlb[plot]' for plots of studies"
    assert said in " ".join(done.out.split())


def test_a_missing_core_library_is_an_illness(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    known = module._version
    monkeypatch.setattr(module, "_version", lambda name: None if name == "scipy" else known(name))
    done = run("doctor")
    assert done.code == 1
    assert "scipy     missing: pip install fastlb" in done.out
