"""NetworkX finds the backend where the wheel is installed, far from this tree."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.installed import ROOT, python

pytest.importorskip("setuptools", minversion="77", reason="builds wheels from setuptools 77 on")
BUILD = "from setuptools.build_meta import build_wheel; print(build_wheel({!r}))"
PROGRAM = """
import networkx as nx
graph = nx.DiGraph([("s", "t", {"capacity": 3, "weight": 2})])
print(nx.maximum_flow(graph, "s", "t", backend="fastlb"))
print(nx.max_flow_min_cost(graph, "s", "t", backend="fastlb"))
print(nx.node_connectivity(nx.petersen_graph(), backend="fastlb"))
cycle = nx.cycle_graph(4)
print(nx.stoer_wagner(cycle, backend="fastlb")[0])
import fastlb
print(fastlb.__file__)
"""


def called(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_installed_wheel_is_dispatched_to(tmp_path):
    source, target, elsewhere = (tmp_path / name for name in ("source", "target", "elsewhere"))
    for folder in ("fastlb", "kernels"):
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=unwanted)
    for file in ("pyproject.toml", "setup.cfg", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    wheel = tmp_path / called(python("-c", BUILD.format(str(tmp_path))), cwd=source)[-1]
    pip = python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile")
    called([*pip, "--target", str(target), str(wheel)])
    elsewhere.mkdir()
    rest = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), *rest])}
    assert called(python("-W", "error", "-c", PROGRAM), cwd=elsewhere, env=environment) == [
        "(3, {'s': {'t': 3}, 't': {}})",
        "{'s': {'t': 3}, 't': {}}",
        "3",
        "2",
        str(target / "fastlb" / "__init__.py"),
    ]
