"""GDE of one network in registers, against links in Python's numbers, and against shifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numba import njit

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.exchange import gde_single
from fastlb.rational import floor_share

KERNEL = kernels("gde.single")
WORD = 2**16 - 1
NETWORKS: list[Any] = [
    lb.Mesh(8, 8),
    lb.Torus(5, 3, 2),
    lb.Chain(64),
    lb.Ring(9),
    lb.Mesh(1),
    lb.Hypercube(6),
    lb.Hypercube(4, faults=[(0, 1), (5, 7)]),
    lb.HyperHexaCell(3),
]
_plain = KERNEL._sweep


@njit
def _vectors(loads: Any, kept: Any, partners: Any, C: Any, share: Any) -> Any:
    return _plain(loads, kept, partners, C, share)


def halves(share: Fraction) -> tuple[np.uint16, np.uint16]:
    m = (share.numerator << 32) // share.denominator
    return np.uint16(m >> 16), np.uint16(m & WORD)


def some_partners(rng: np.random.Generator, C: int) -> Any:
    partners = np.tile(np.arange(KERNEL.NODES, dtype=np.int8), (C, 1))
    for row in partners:
        pairs = rng.permutation(KERNEL.NODES)[: 2 * int(rng.integers(33))].reshape(-1, 2)
        row[pairs] = pairs[:, ::-1]
    return partners


@pytest.mark.parametrize("sweep", [_plain, _vectors], ids=["plain", "vectors"])
@pytest.mark.parametrize("top", [3, 2001, WORD + 1])
def test_a_sweep(sweep: Any, top: int) -> None:
    rng = np.random.default_rng(top)
    for C in (0, 1, 2, 5, 9):
        q = int(rng.integers(2, 10**6))
        share = floor_share(Fraction(int(rng.integers(1, q)), q), WORD)
        partners = some_partners(rng, C)
        loads = rng.integers(0, top, KERNEL.NODES).astype(np.uint16)
        expected, least, units = loads.tolist(), loads.tolist(), 0
        for row in partners.tolist():
            for i, j in enumerate(row):
                if i < j:
                    d = expected[i] - expected[j]
                    sent = share.numerator * abs(d) // share.denominator
                    units += sent
                    expected[i] -= sent if d > 0 else -sent
                    expected[j] += sent if d > 0 else -sent
            least = [min(pair) for pair in zip(least, expected, strict=True)]
        alone, measured, kept = loads.copy(), loads.copy(), loads.copy()
        assert bool(sweep(alone, None, partners.ravel(), C, halves(share))) == (units > 0)
        assert sweep(measured, kept, partners.ravel(), C, halves(share)) == units
        assert alone.tolist() == measured.tolist() == expected
        assert kept.tolist() == least


@pytest.mark.parametrize(
    "lam", ["1/2", "723/1000", "65534/65535", "65535/65536", "1/65535", "1/10000000", "32767/65535"]
)
def test_every_difference_sends_its_floor(lam: str) -> None:
    share = floor_share(Fraction(lam), WORD)
    high, low = (int(half) for half in halves(share))
    d = np.arange(WORD + 1)
    sent = (d * high + (d * low >> 16) + 1) >> 16
    given = Fraction(lam)
    assert np.array_equal(sent, d * given.numerator // given.denominator)


def forget() -> None:
    gde_single._plan.cache_clear()
    gde_single._last[0] = (None,) * len(gde_single._last[0])


@pytest.fixture
def permuting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Let the machine be one that permutes registers, or is not."""

    def set_to(able: bool) -> None:
        monkeypatch.setattr(KERNEL, "permutes", lambda: able)
        forget()

    yield set_to
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("order", ["dimension", "interleaved"])
@pytest.mark.parametrize("topology", NETWORKS, ids=str)
def test_in_registers_as_by_shifts(
    topology: Any, order: str, permuting: Callable[[bool], None]
) -> None:
    rng = np.random.default_rng(7)
    answers: dict[bool, list[Any]] = {True: [], False: []}
    calls = [
        (rng.integers(0, top, topology.shape), {"lam": lam, "max_sweeps": most, "order": order})
        for top in (2, 2001, WORD + 1, WORD + 2)
        for lam in ((1, 2), "723/1000", (65534, 65535), "1/70000", Fraction(1, 3))
        for most in (0, 1, 40)
    ]
    for able, found in answers.items():
        permuting(able)
        for loads, options in calls:
            b = lb.gde(loads, topology, **options)
            ends = lb.gde(loads, topology, record="loads", **options).loads
            found.append((b.to_dict(), ends.tolist()))
    assert answers[True] == answers[False]


def test_any_network_that_fits_goes_in_registers(permuting: Callable[[bool], None]) -> None:
    permuting(True)
    for leaves, fits in ((39, True), (63, True), (64, False)):
        star = lb.Network([(0, i) for i in range(1, leaves + 1)])
        assert gde_single.shifts(star, "dimension") is None
        planned = gde_single._plan(
            "loads", star, "dimension", 9, np.dtype(np.int64), star.shape, 1, 2
        )
        assert (planned is not None) == fits
        for top in (WORD, WORD + 1):
            loads = np.linspace(0, top, star.size).astype(np.int64)
            both = lb.gde(np.stack([loads, loads]), star, lam=(1, 2), max_sweeps=9)
            b = lb.gde(loads, star, lam=(1, 2), max_sweeps=9)
            assert np.array_equal(b.loads, both.loads[0])
            assert (b.moved, b.local) == (both.moved[0], both.local[0])


def test_a_share_given_anew_is_read_anew() -> None:
    loads, mesh = np.arange(64) * 31, lb.Mesh(8, 8)
    for lam in ((1, 2), (1, 3), (2, 3), 0.5, "1/3", (2, 3), None):
        once = lb.gde(loads, mesh, lam=lam)
        expected = lb.gde(np.stack([loads, loads]), mesh, lam=lam)
        for b in (once, lb.gde(loads, mesh, lam=lam)):
            assert np.array_equal(b.loads, expected.loads[0])
    for bad in ((2, gde_single), (1, 2, 3)):
        with pytest.raises((TypeError, ValueError), match="lam"):
            lb.gde(loads, mesh, lam=bad)
