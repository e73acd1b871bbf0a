"""Benchmarks against named peers; all run on one thread, NumPy's matrix products too."""

import os

# Read when NumPy is first imported. Else its products take every core, and the CPU time counts it.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
