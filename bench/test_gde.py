"""Generalized dimension exchange."""

import numpy as np
import pytest

import fastlb as lb
from bench import native, numpy_peers
from bench.native import number, pointer
from fastlb.topologies.colouring import colouring

P, Q = 723, 1000


def programs(loads, mesh, *, metrics):
    """Return fastlb and its peers; with metrics they give loads, moved, local and sweeps."""
    links = colouring(mesh)
    compiled = native.library("gde", loads.dtype.name)
    ours, result = np.empty_like(loads), np.empty_like(loads)
    kept = np.empty(mesh.size, loads.dtype) if metrics else None
    networks = loads.size // mesh.size
    moved, local, sweeps = (np.empty(networks, np.int64) for _ in range(3))

    def fastlb():
        b = lb.gde(loads, mesh, lam=(P, Q), record="metrics" if metrics else "loads", out=ours)
        return (b.loads, b.moved, b.local, b.sweeps) if metrics else b.loads

    def c():
        compiled.gde(
            pointer(loads), pointer(result), pointer(kept), number(networks), number(mesh.size),
            pointer(links.u), pointer(links.v), number(len(links.u)), number(P), number(Q),
            pointer(moved), pointer(local), pointer(sweeps),
        )  # fmt: skip
        return (result, moved, local, sweeps) if metrics else result

    def numpy():
        return numpy_peers.gde_mesh(loads.reshape(-1, *mesh.shape), P, Q, metrics=metrics)

    return fastlb, {"C": c if compiled else None, "NumPy": numpy}


@pytest.mark.parametrize("metrics", [True, False], ids=["metrics", "loads"])
@pytest.mark.parametrize("trials", [1000, 1])
def test_mesh(race, quick, trials, metrics):
    mesh = lb.Mesh(8, 8)
    trials = min(trials, 70) if quick else trials
    loads = np.random.default_rng(1995).integers(0, 2001, (trials, *mesh.shape))
    if trials == 1:
        loads = loads[0]
    race(
        f"GDE 8x8 mesh, batch of {trials}, {'all metrics' if metrics else 'loads only'}",
        *programs(loads, mesh, metrics=metrics),
        nodes=loads.size,
        # One network goes link by link, as in C, on any graph.
        targets={"C": 1 if trials == 1 else 6, "NumPy": 25},
    )


def test_large_mesh(race, quick):
    mesh = lb.Mesh(16, 16, 16)
    loads = np.random.default_rng(1995).integers(0, 2001, (2 if quick else 64, *mesh.shape))
    race(
        f"GDE 16x16x16 mesh, batch of {len(loads)}, all metrics",
        *programs(loads, mesh, metrics=True),
        nodes=loads.size,
    )
