"""What the processor offers that code is compiled for: the one place that knows its registers.

numba compiles for the machine at hand, or for the one that ``NUMBA_CPU_NAME`` and
``NUMBA_CPU_FEATURES`` name: both, as the features do not follow from the name.
"""

from numba.core.registry import cpu_target


def features():
    """Return the processor features that code is compiled for, such as ``"+avx2"``."""
    # The tuple is (triple, name of the processor, its features joined by commas).
    return frozenset(cpu_target.target_context.codegen().magic_tuple()[2].split(","))


def _register_bytes():
    """Return 64 with AVX-512 for every width of integers, 32 with AVX2, else 16 (SSE, NEON)."""
    available = features()
    if {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"} <= available:
        return 64
    return 32 if "+avx2" in available else 16


REGISTER_BYTES = _register_bytes()
# How many registers of that width the processor has, or fewer: NEON has 32.
REGISTERS = 32 if REGISTER_BYTES == 64 else 16
