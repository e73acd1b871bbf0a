"""The settings of Wu-Shu section 6, and the paper's own results."""

from __future__ import annotations

from ..topologies.grids import Grid, Mesh, Torus

GDE, DDE = "gde:lam=0.723", "dde"
MEAN = 1000

NETWORKS: dict[str, Grid] = {
    "8x8 mesh": Mesh(8, 8),
    "16x16 torus": Torus(16, 16),
    "8x8x8 mesh": Mesh(8, 8, 8),
    "16x16x16 torus": Torus(16, 16, 16),
}

# Table I: average loads, and mean sweeps of GDE. Those of the paper are means of 100 trials with a
# standard deviation of 0.12. The long-run ones are means of an exact implementation over 20,000
# trials, with a standard error of 0.01.
MEANS = (100, 300, 1000, 3000, 10000)
PRINTED_SWEEPS = (7.28, 9.20, 11.08, 13.02, 14.67)
LONG_RUN_SWEEPS = (7.37, 9.32, 11.28, 12.94, 14.68)
PRINTED_TRIALS = 100
PRINTED_DEVIATION = 0.12

# Sides of square meshes on which GDE, with the optimal lambda of each, needs ever more sweeps.
GROWING = (4, 8, 16)
