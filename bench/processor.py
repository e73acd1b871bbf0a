"""Which processor kernels and C are compiled for: the machine's own, or one that is named.

``pytest bench --cpu NAME`` calls ``compile_for`` before numba is imported, since numba reads
``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` once. The variables also reach child processes, and
the C peers read the name from them.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping

from bench import native
from fastlb.accelerate import kernels

# LLVM's names of what gcc's macros tell. Kernels look for some of them by name, and LLVM's own
# knowledge of a processor does not reach Python, so that all have to be listed.
FEATURES = {
    "__SSE3__": "sse3", "__SSSE3__": "ssse3", "__SSE4_1__": "sse4.1", "__SSE4_2__": "sse4.2",
    "__AVX__": "avx", "__AVX2__": "avx2", "__FMA__": "fma", "__F16C__": "f16c", "__BMI__": "bmi",
    "__BMI2__": "bmi2", "__LZCNT__": "lzcnt", "__POPCNT__": "popcnt", "__MOVBE__": "movbe",
    "__ADX__": "adx", "__GFNI__": "gfni", "__VAES__": "vaes", "__VPCLMULQDQ__": "vpclmulqdq",
    "__AVXVNNI__": "avxvnni", "__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16": "cx16",
} | {
    f"__AVX512{part}__": f"avx512{part.lower()}"
    for part in ("F", "BW", "CD", "DQ", "VL", "IFMA", "VBMI", "VBMI2", "VNNI", "BITALG",
                 "VPOPCNTDQ", "BF16", "FP16")
}  # fmt: skip
# What bytes of a register are called on the processors that the committed tables are made for.
INSTRUCTIONS = {64: "AVX-512", 32: "AVX2", 16: "16-byte registers"}

# Prints nothing for a processor that LLVM knows, else its complaint.
ASK_LLVM = """
import sys
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.Target.from_default_triple().create_target_machine(cpu=sys.argv[1])
"""
# What LLVM knows some processors to have besides, and uses unless it is told not to.
BESIDES = ("sse4a", "xop", "fma4", "tbm")
HOST = """
import llvmlite.binding as llvm
print(*(name for name, present in llvm.get_host_cpu_features().items() if present))
"""


def compile_for(name: str) -> None:
    """Have kernels and C compiled for another processor than the machine's.

    Raises
    ------
    ValueError
        If gcc or LLVM does not know the name, or if the machine could not run such code.
    """
    if "numba" in sys.modules:
        raise ValueError("numba is imported already, and compiles for this machine")
    features = features_of(name)
    complaint = _python(ASK_LLVM, name).stderr
    if "not a recognized processor" in complaint:
        raise ValueError(f"LLVM knows no processor {name!r}")
    present = set(_python(HOST).stdout.split())
    missing = set(features) - present
    if missing:
        raise ValueError(f"code for {name} needs what this machine lacks: {sorted(missing)}")
    os.environ["NUMBA_CPU_NAME"] = name
    told = [f"+{feature}" for feature in features]
    told += [f"-{feature}" for feature in BESIDES if feature not in present]
    os.environ["NUMBA_CPU_FEATURES"] = ",".join(told)


def features_of(name: str) -> list[str]:
    """Return LLVM's names of the features that gcc compiles for on a processor."""
    command = [native.compiler() or "gcc", f"-march={name}", "-dM", "-E", "-x", "c", os.devnull]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ValueError("a C compiler has to say what the processor offers, none found") from None
    if done.returncode:
        raise ValueError(f"{command[0]} knows no processor {name!r}")
    macros = {line.split()[1] for line in done.stdout.splitlines()}
    return [feature for macro, feature in FEATURES.items() if macro in macros]


def name() -> str:
    """Return LLVM's name of the processor that kernels are compiled for."""
    from llvmlite.binding import get_host_cpu_name

    return os.environ.get("NUMBA_CPU_NAME") or str(get_host_cpu_name())


def register_bytes() -> int:
    """Return how wide the registers are that kernels use."""
    return int(kernels("shared.processor").REGISTER_BYTES)


def aims(targets: Mapping[str, float], load_bytes: int) -> dict[str, float]:
    """Return what is aimed at on these registers of what is aimed at with AVX-512.

    C gains less from wide registers than fastlb does. So with AVX2 loads of 64 bits are to be 3
    times as fast as C at most, and with registers of 16 bytes nothing is to be slower than C.
    """
    if "C" not in targets or register_bytes() == 64:
        return dict(targets)
    if register_bytes() == 16:
        return {"C": 1.0}
    return {**targets, "C": min(targets["C"], 3.0)} if load_bytes == 8 else dict(targets)


def file_stem() -> str:
    """Return what the results for registers of this width are called: ``avx512``, ``avx2`` .."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"{platform.machine()}-{register_bytes()}-bytes"
    return {64: "avx512", 32: "avx2", 16: "sse"}[register_bytes()]


def _python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)
