"""What is said of the backend is what it does."""

import inspect
import re

import networkx as nx
import pytest

from fastlb.networkx_backend.information import HOME, information
from fastlb.networkx_backend.interface import backend
from tests.installed import ROOT


def original(name):
    function = getattr(nx, name, None) or getattr(nx.algorithms.connectivity, name)
    return inspect.signature(function.orig_func)


@pytest.mark.parametrize("name", HOME)
def test_parameters_are_those_of_networkx(name):
    own, theirs = inspect.signature(getattr(backend, name)), original(name)
    assert list(own.parameters) == list(theirs.parameters)
    for parameter in theirs.parameters.values():
        if parameter.name != "heap":
            assert own.parameters[parameter.name].default == parameter.default


def test_the_page_lists_every_function():
    page = (ROOT / "docs" / "networkx.md").read_text()
    served = page.partition("## What is served")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", served, re.M)) == sorted(HOME)


def test_networkx_learns_of_every_function():
    assert information()["functions"].keys() == HOME.keys()
    assert set(HOME) <= set(dir(backend))
    assert not hasattr(backend, "pagerank")
