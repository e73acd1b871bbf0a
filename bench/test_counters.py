"""The algorithms do exactly as much work as they did."""

import json

import pytest

from bench.counters import COUNTERS, FILE


@pytest.mark.parametrize("name", COUNTERS)
def test_counter(name):
    assert COUNTERS[name]() == json.loads(FILE.read_text())[name]
