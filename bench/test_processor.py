"""``pytest bench --cpu NAME`` compiles for the processor that is named, or says why not."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from bench import native, processor

pytestmark = pytest.mark.skipif(
    native.compiler() is None or platform.machine() != "x86_64", reason="gcc's names of x86-64"
)


def bench(*arguments):
    command = [sys.executable, "-m", "pytest", "bench/test_counters.py", "--collect-only"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(("name", "width"), [("x86-64-v2", 16), ("znver3", 32)])
def test_kernels_use_the_registers_of_the_processor(name, width):
    features = set(processor.features_of(name))
    if not features <= set(processor.features_of("native")):
        pytest.skip("this machine cannot run what is compiled for it")
    assert {"sse4.2", "popcnt"} <= features and ("avx2" in features) == (width >= 32)
    assert f"compiled for {name}, registers of {width} bytes" in bench("--cpu", name)


def test_a_name_that_no_compiler_knows():
    assert "knows no processor 'znver0'" in bench("--cpu", "znver0")


def test_what_the_machine_could_not_run(monkeypatch):
    monkeypatch.setattr(processor, "features_of", lambda _: ["sse3", "avx1024f"])
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    with pytest.raises(ValueError, match="avx1024f"):
        processor.compile_for("znver3")
