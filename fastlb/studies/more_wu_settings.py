"""The settings of More-Wu section 5: sizes of cubes and programs, and variants of balancing."""

from __future__ import annotations

import numpy as np

from ..topologies.hypercube import Hypercube
from .more_wu_programs import FREE

DIMENSIONS = (2, 3, 4, 5, 6)
ROWS = (10, 20, 30, 40, 50)
COLUMNS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
PRINTED_TRIALS = 100

# Methods of balancing that are compared on one cube, with their names in tables.
VARIANTS = {
    FREE: "rows",
    f"{FREE}:round_cost=5": "rows, R5",
    f"{FREE}:unit_cost=0.1": "rows, U.1",
    f"{FREE}:granularity=sequence": "seq.",
    f"{FREE}:granularity=sequence,round_cost=5": "seq., R5",
    f"{FREE}:assignment=central": "central",
}
VARIANTS_NOTE = (
    "rows: items are split by rows; seq.: whole sequences move; central: sequences are handed out "
    "one by one. Balancing is free, or costs 5 tests a round (R5) or 0.1 test a test moved (U.1)."
)
VARIED_DIMENSION, VARIED_ROWS = 4, 30


def faulty_cube(n: int, faults: int) -> Hypercube:
    """Return an n-cube whose first ``faults`` links, in a fixed random order, are faulty."""
    links = Hypercube(n).edges
    order = np.argsort(np.random.Philox(key=n).random_raw(len(links)), kind="stable")
    return Hypercube(n, faults=[(int(u), int(v)) for u, v in links[order[:faults]]])
