"""A plugin of pytest: counts NetworkX's calls that reach a kernel, by function.

It writes ``{function: [calls, calls that reached a kernel]}`` into the file that the environment
variable ``CALLS`` names.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from fastlb import accelerate
from fastlb.networkx_backend.information import HOME
from fastlb.networkx_backend.interface import backend

calls: Counter[str] = Counter()
reached: Counter[str] = Counter()
requests: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    kernels = accelerate.kernels

    def recorded(name):
        requests.append(name)
        return kernels(name)

    # Functions load kernels through this at every call, and import it when they are loaded below.
    accelerate.kernels = recorded
    for name in HOME:
        setattr(backend, name, counted(name, getattr(backend, name)))


def counted(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        requests.clear()
        calls[name] += 1
        try:
            return function(*args, **kwargs)
        finally:
            reached[name] += bool(requests)

    return call


def pytest_sessionfinish(session: pytest.Session) -> None:
    counts = {name: [calls[name], reached[name]] for name in sorted(calls)}
    Path(os.environ["CALLS"]).write_text(json.dumps(counts))
