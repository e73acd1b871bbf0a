"""The figures of DDE on integer loads, from what its kernel found of each network.

Legend: ``B`` networks, ``S`` axes.

In NumPy they are thirty steps, most of what a call takes on one 16x16x16 torus.
"""

import numpy as np
from numba import njit

LARGEST = np.int64(2**63 - 1)


@njit(cache=True, nogil=True)
def figures(found, moved, rounds, size, steps, information, whole, real):
    """Work out the figures, as ``result.figures`` has them; False where units pass int64.

    ``found`` (6, B): units that never left, least and largest load, and before balancing total,
    least and largest load. ``moved``, ``rounds`` (B, S) of each axis; ``size`` nodes, ``steps``
    by formula, and those in which loads are told. ``whole`` (8, B) int64 receives the differences
    after and before, units moved and local, 1 sweep, steps, rounds and simulated steps; ``real``
    (4, B) the imbalances after and before, cost and locality.
    """
    for b in range(found.shape[1]):
        units = taken = np.int64(0)
        for s in range(moved.shape[1]):
            if moved[b, s] > LARGEST - units:
                return False
            units += moved[b, s]
            taken += rounds[b, s]
        local, least, most, total, first_least, first_most = found[:, b]
        whole[0, b] = most - least
        whole[1, b] = first_most - first_least
        whole[2, b] = units
        whole[3, b] = local
        whole[4, b] = 1
        whole[5, b] = steps
        whole[6, b] = taken
        whole[7, b] = taken + information
        if total == 0:
            real[:, b] = 0.0, 0.0, 0.0, 1.0
            continue
        mean = np.float64(total) / size
        real[0, b] = np.float64(most) / mean - 1.0
        real[1, b] = np.float64(first_most) / mean - 1.0
        real[2, b] = np.float64(units) / np.float64(total)
        real[3, b] = np.float64(local) / np.float64(total)
    return True
