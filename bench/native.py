"""Plain C peers: one ``.c`` file an algorithm, compiled when a compiler is there."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC")
LOADS = {
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "float32": "float",
    "float64": "double",
}


def compiler() -> str | None:
    """Return the path of the C compiler, or None without one."""
    return shutil.which(os.environ.get("CC", "gcc"))


def processor() -> str:
    """Return what C is compiled for: what kernels are, by default the machine at hand."""
    return os.environ.get("NUMBA_CPU_NAME") or "native"


@cache
def library(name: str, dtype: str = "int64") -> ctypes.CDLL | None:
    """Return ``<name>.c`` compiled for one dtype of loads, or None without a compiler."""
    command = compiler()
    if command is None:
        return None
    built = Path(_build_folder().name, f"{name}-{dtype}.so")
    real = int(np.dtype(dtype).kind == "f")
    options = [*FLAGS, f"-march={processor()}", f"-DLOAD={LOADS[dtype]}", f"-DREAL={real}"]
    source = str(FOLDER / f"{name}.c")
    subprocess.run([command, *options, "-o", str(built), source], check=True)
    return ctypes.CDLL(str(built))


def version() -> str:
    """Return the first line of the compiler's version, or that there is none."""
    command = compiler()
    if command is None:
        return "no C compiler"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def pointer(array: np.ndarray | None) -> ctypes.c_void_p:
    """Return what a C function takes for an array in C order; NULL for None."""
    assert array is None or array.flags.c_contiguous
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def number(value: int) -> ctypes.c_int64:
    """Return what a C function takes for an ``int64_t``."""
    return ctypes.c_int64(value)


@cache
def _build_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fastlb-bench-")
