"""Worked tables, exchanges along a line and recursive doubling, beyond the paper's cases."""

import numpy as np
import pytest

import fastlb as lb


def test_flows_of_unsigned_integers_do_not_wrap():
    with pytest.raises(OverflowError, match="flows must fit int64"):
        lb.exchange_rounds([0, 10], np.array([2**64 - 5, 0], np.uint64))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "int64"])
def test_lines_full_of_the_largest_load_stay_full(dtype):
    """Where there is nothing more, one unit more may not fit the dtype."""
    full = np.full((2, 1), np.iinfo(dtype).max, dtype)
    assert lb.dde(full, lb.Chain(1), record="loads").loads.tolist() == full.tolist()
    if dtype != "int64":
        full = np.full((2, 5), np.iinfo(dtype).max, dtype)
        assert lb.dde(full, lb.Chain(5), record="loads").loads.tolist() == full.tolist()


@pytest.mark.parametrize("ring", [False, True])
@pytest.mark.parametrize("k", [3, 7, 10, 49])
def test_equal_real_loads_do_not_move(k, ring):
    table = lb.dde_line([0.1] * k, ring=ring)
    assert not table.flows.any()
    assert lb.exchange_rounds([0.1] * k, table.flows, ring=ring)[0] == 0
    assert lb.recursive_doubling([0.1] * k).exchange_steps == 0


@pytest.mark.parametrize("ring", [False, True])
def test_tables_and_dde_agree_on_real_loads(ring):
    rng = np.random.default_rng(7)
    for k in (1, 2, 3, 8, 15):
        loads = rng.random(k)
        line = lb.Ring(k) if ring else lb.Chain(k)
        whole = lb.dde(loads, line, record="flows")
        table = lb.dde_line(loads, ring=ring)
        assert table.flows == pytest.approx(whole.flows[0], abs=1e-12)
        assert lb.exchange_rounds(loads, table.flows, ring=ring)[0] == whole.rounds


def test_the_largest_float_load():
    largest = np.finfo(np.float64).max
    table = lb.dde_line([largest, 0.0, 0.0])
    assert np.isfinite(table.suffix_quotas).all()
    assert table.flows.tolist() == pytest.approx([largest / 3 * 2, largest / 3, 0])
    assert lb.recursive_doubling([largest, 0.0, 0.0]).loads == pytest.approx([largest / 3] * 3)


def test_ragged_tables_are_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^loads must be .*$"):
        lb.dde_line([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"^flows must be .*$"):
        lb.exchange_rounds([1, 2], [[1, 2], [3]])
