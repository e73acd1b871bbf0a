"""The repair of a stuck subcube, number by number, against its plain twin."""

import numpy as np
import pytest

from fastlb.kernels.shared.repair import NOTES, repair_links
from tests.oracles import fault_tolerant_dem as twin


@pytest.mark.parametrize("with_flows", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_repair_is_that_of_the_twin(seed: int, with_flows: bool) -> None:
    n = 5
    rng = np.random.default_rng(seed)
    base, free, bit = ((0, 0b00101, 1), (16, 0b01010, 2), (3, 0b11100, 0))[seed % 3]
    loads = rng.integers(0, 1000, 32) * rng.integers(0, 2, 32)
    run = twin.Run(loads.tolist(), n)
    bits = tuple(b for b in range(n) if free >> b & 1)
    twin._repair(run, twin.Subcube(base, bits, ()), bit, real=False)
    resident_min = loads.copy()
    flows = np.zeros(n * 32, np.int64) if with_flows else None
    notes = np.empty(NOTES << len(bits), np.int64)
    moved, largest = repair_links(
        loads, resident_min, flows, notes, np.int64(7), (base, free, bit), True, False
    )
    assert loads.tolist() == run.loads
    assert resident_min.tolist() == run.least
    assert moved == 7 + run.moved
    nodes = twin.Subcube(base ^ 1 << bit, bits, ()).nodes
    assert largest == max(run.loads[node] for node in nodes)
    if flows is not None:
        assert flows.reshape(n, 32).tolist() == run.flows


def test_units_that_do_not_fit_are_told() -> None:
    loads = np.array([2**62, 0])
    notes = np.empty(NOTES, np.int64)
    units, largest = repair_links(
        loads, None, None, notes, np.int64(2**62 + 1), (0, 0, 0), True, True
    )
    assert (units, largest) == (-1, 2**62)
    assert loads.tolist() == [0, 2**62]
