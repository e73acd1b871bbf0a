"""Balancing that takes long: interrupted, on long lines, and at the ends of floats."""

import dataclasses
import signal
import time

import numpy as np
import pytest

import fastlb as lb


def test_an_endless_balancing_is_interrupted():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        lb.gde([1.0, 0.0], lb.Chain(2), lam=1 - 1e-16, max_sweeps=1)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            lb.gde([1.0, 0.0], lb.Chain(2), lam=1 - 1e-16)
        assert time.monotonic() - began < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_study_is_interrupted(threads):
    """Threads hear no interrupt of their own, and a pool waits for them."""

    def interrupt(*_):
        raise KeyboardInterrupt

    endless = "gde:lam=0.999999999999999999"
    loads = f"uniform:{2**40}"
    study = lb.Study("endless", ["mesh:8x8"], [endless], loads, trials=300)
    # What is compiled is compiled here: the alarm is to ring in the midst of balancing.
    short = dataclasses.replace(study, methods=[f"{endless},max_sweeps=1"])
    lb.run(short, threads=threads)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            lb.run(study, threads=threads)
        assert time.monotonic() - began < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("network", [lb.Chain(2), lb.Mesh(2, 2)])
def test_sweeps_at_shares_near_the_ends_are_as_documented(apart, network):
    loads = np.array([10**6] + [0] * (network.size - 1))
    expected = (1 + np.log(apart * 10**6)) / (2 * apart)
    for lam in (apart, 1 - apart):
        b = lb.gde(loads, network, lam=f"{lam:.6f}")
        assert b.sweeps == pytest.approx(expected, rel=0.2)
        assert b.stalled is not b.converged


def test_a_share_too_small_for_a_float_stalls():
    b = lb.gde([1.0, 0.0], lb.Chain(2), lam="1e-400")
    assert (b.converged, b.stalled, b.sweeps) == (False, True, 1)


def test_small_real_flows_on_a_long_line_are_no_noise():
    loads = np.tile([1.00001, 0.99999], 50_000)
    for line in (lb.Chain(100_000), lb.Ring(100_000)):
        b = lb.dde(loads, line, record="flows")
        assert b.rounds >= 1
        assert b.moved == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("k", [3, 10, 49, 1000])
def test_equal_real_loads_stay(k):
    for line in (lb.Chain(k), lb.Ring(k)):
        assert lb.dde(np.full(k, 0.1), line).moved == 0


def test_the_largest_float_loads():
    b = lb.dde([1e308, 0, 0, 0], lb.Chain(4))
    assert b.moved == pytest.approx(1.5e308)
    largest = np.array([np.finfo(np.float64).max, 0, 0])
    assert np.isfinite(lb.dde(largest, lb.Ring(3)).difference)
    held = largest.copy()
    with pytest.raises(OverflowError, match="moved must fit float64"):
        lb.gde(held, lb.Ring(3), out=held)
    assert (held == largest).all()


def test_the_least_float_load():
    b = lb.dde([5e-324, 0.0, 0.0, 0.0], lb.Chain(4))
    assert np.isfinite([b.imbalance, b.initial_imbalance, b.cost]).all()


def test_units_that_do_not_fit_leave_the_input_alone():
    loads = np.zeros((3, 3), np.int64)
    loads[0, 0] = 2**62 + 2**61
    for method in (lb.dde, lb.gde):
        held = loads.copy()
        with pytest.raises(OverflowError, match="moved must fit int64"):
            method(held, lb.Mesh(3, 3), out=held)
        assert (held == loads).all()


def test_send_before_receive_over_a_long_line():
    loads = np.zeros(30_000, np.int64)
    loads[0] = 30_000
    b = lb.dde(loads, lb.Chain(30_000), exchange="sbr")
    rounds, local = lb.exchange_rounds(loads, lb.dde_line(loads).flows, mode="sbr")
    assert (b.rounds, b.local) == (rounds, local.sum())


def test_faulty_links_move_no_real_load():
    cube = lb.Hypercube(2, faults=[(0, 1), (1, 3), (0, 2)])
    assert lb.dem([0.1, 0.7, 0.3, 0.3], cube).moved == 0
    cube = lb.Hypercube(2, faults=[(0, 1), (0, 2)])
    assert lb.dem([1e300, 0.0, 2.0, 0.0], cube).moved == 1.5


def test_masked_loads_are_refused():
    with pytest.raises(TypeError, match="loads must not be a masked array"):
        lb.dde(np.ma.array([8, 0, 0, 0], mask=[1, 0, 0, 0]), lb.Chain(4))


def test_adjacency_counts_walks():
    star = [(i, 0) for i in range(1, 301)] + [(0, i) for i in range(1, 301)]
    walks = lb.Network(star).adjacency()
    assert (walks @ walks)[0, 0] == 300
