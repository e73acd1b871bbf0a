"""The settings of Wu-Shu section 6, and what the paper prints of them."""

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

# Table I. The paper's figures are means of 100 trials, whose standard deviation is 0.12; the
# long-run means are those of an exact implementation over 20,000 trials, standard error 0.01.
MEANS = (100, 300, 1000, 3000, 10000)
PRINTED_SWEEPS = (7.28, 9.20, 11.08, 13.02, 14.67)
LONG_RUN_SWEEPS = (7.37, 9.32, 11.28, 12.94, 14.68)
PRINTED_TRIALS = 100
PRINTED_DEVIATION = 0.12

# Square meshes on which the sweeps of GDE, each with its own optimal lambda, are seen to grow.
GROWING = (4, 8, 16)
