"""What the processor offers that code is compiled for: the one place that knows its registers.

numba compiles for the machine at hand, or for the one that ``NUMBA_CPU_NAME`` and
``NUMBA_CPU_FEATURES`` name; then the features have to be named, too.
"""

from numba.core.registry import cpu_target


def features():
    """Return the processor features that code is compiled for, such as ``"+avx2"``."""
    return frozenset(cpu_target.target_context.codegen().magic_tuple()[2].split(","))


def _register_bytes():
    available = features()
    if {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"} <= available:
        return 64
    return 32 if "+avx2" in available else 16


REGISTER_BYTES = _register_bytes()
# Registers of that width that can be in use at once.
REGISTERS = 32 if REGISTER_BYTES == 64 else 16
