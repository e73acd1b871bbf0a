"""The trials of the minimax study: every network, every trial, all figures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exchange.direct_exchange import dde
from ..files.formats import read_load_file
from ..flows.entities import EntityRoutes, route_entities
from ..flows.excess import excess_load
from ..flows.minimax import minimax_flow
from ..flows.plan import MinimaxPlan
from ..random_loads.sampling import sample_loads
from ..topologies.grids import Grid, Mesh, Torus
from ..topologies.hypercube import Hypercube
from ..topologies.network import Network
from ..topologies.topology import Topology
from .minimax_exact import best_routing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..montecarlo.study import Study

LARGEST_ENTITY = 500
ROOM_TO_SPARE = Fraction(5, 4)
ORDERS = 8
SMALL_TRIALS = 20

ABILENE = (
    "Seattle-Sunnyvale Seattle-Denver Sunnyvale-LosAngeles Sunnyvale-Denver LosAngeles-Houston "
    "Denver-KansasCity KansasCity-Houston KansasCity-Indianapolis Houston-Atlanta "
    "Indianapolis-Chicago Indianapolis-Atlanta Chicago-NewYork Atlanta-Washington "
    "NewYork-Washington"
)
NSFNET = (
    "1-2 1-3 1-8 2-3 2-4 3-6 4-5 4-11 5-6 5-7 6-10 6-14 7-8 8-9 9-10 9-12 9-13 11-12 11-13 "
    "12-14 13-14"
)


@dataclass(frozen=True)
class Trial:
    """Figures of one trial, as plain numbers.

    ``contention`` is beta*, ``mean_flow`` the least traffic without any limit over the links,
    ``routed`` beta* under e-cube or dimension-order routing (None where there is no such).
    """

    contention: float
    mean_flow: float
    routed: float | None
    free_traffic: float
    short_traffic: float
    least_traffic: float
    exchanged: float | None
    exchange_contention: float | None


@dataclass(frozen=True)
class EntityTrial:
    """Contention over the bound, and the share of the load that was routed, by method."""

    ratio: dict[str, float]
    share: dict[str, float]


@dataclass(frozen=True)
class Measured:
    """All trials by network; entities by network; small instances against the exact optimum."""

    trials: dict[str, list[Trial]]
    entities: dict[str, list[EntityTrial]]
    small: list[dict[str, float]]


def measure(study: Study, networks: dict[str, Topology]) -> Measured:
    """Run the trials on the loads that the study's own methods balance."""
    trials: dict[str, list[Trial]] = {}
    entities: dict[str, list[EntityTrial]] = {}
    for name, topology in networks.items():
        loads = sample_loads(
            study.loads[0], topology, trials=study.trials, seed=study.seed
        ).reshape(study.trials, -1)
        network = topology.network()
        trials[name] = [_trial(network, row) for row in loads]
        if topology.size <= 64:
            entities[name] = [
                _entity_trial(network, row, study.seed + t) for t, row in enumerate(loads)
            ]
    small = [_small(study.seed + t) for t in range(min(study.trials, SMALL_TRIALS))]
    return Measured(trials, entities, small)


def measure_real(study: Study) -> dict[str, list[Trial]]:
    """Measured loads on networks of 16, and random ones on two networks that were built."""
    folder = Path(str(files("fastlb"))) / "data" / "vt-16"
    measured = read_load_file([folder]).loads
    real = {
        f"16 processors, {name}": [_trial(topology.network(), measured)]
        for name, topology in {
            "4x4 torus": Torus(4, 4),
            "4x4 mesh": Mesh(4, 4),
            "4-cube": Hypercube(4),
        }.items()
    }
    for name, listed in {"Abilene": ABILENE, "NSFNET": NSFNET}.items():
        network = _listed(listed)
        loads = sample_loads(study.loads[0], network, trials=study.trials, seed=study.seed)
        real[name] = [_trial(network, row) for row in loads]
    return real


def _listed(text: str) -> Network:
    pairs = [pair.split("-") for pair in text.split()]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    ends = np.array([[names.index(u), names.index(v)] for u, v in pairs])
    return Network(np.concatenate([ends, ends[:, ::-1]]), n=len(names))


def _plan(network: Network, excess: NDArray[Any], **options: Any) -> MinimaxPlan:
    plan = minimax_flow(network, excess, integral=False, **options)
    assert isinstance(plan, MinimaxPlan)
    return plan


def _trial(network: Network, loads: NDArray[Any]) -> Trial:
    excess = excess_load(loads)
    plan = _plan(network, excess)
    nothing = np.zeros(network.edge_count, dtype=bool)
    free = float(_plan(network, excess, counted=nothing, plan="least").traffic)
    least = _plan(network, excess, plan="least")
    moved = contention = None
    topology = network.topology
    if isinstance(topology, Grid | Hypercube):
        balanced = dde(loads.reshape(topology.shape), topology, record="flows")
        moved, contention = float(balanced.moved), float(np.abs(balanced.flows).max())
    routing = _routing(topology)
    routed = None if routing is None else _plan(network, excess, routing=routing).contention
    return Trial(
        float(plan.contention),
        free / network.edge_count,
        None if routed is None else float(routed),
        free,
        float(plan.traffic),
        float(least.traffic),
        moved,
        contention,
    )


def _routing(topology: Topology | None) -> str | None:
    if isinstance(topology, Hypercube):
        return "e-cube"
    plain = isinstance(topology, Grid) and not any(topology.wrap)
    return "dimension-order" if plain else None


def _entity_trial(network: Network, loads: NDArray[Any], seed: int) -> EntityTrial:
    excess = excess_load(loads)
    entities = _pieces(excess, seed, LARGEST_ENTITY)
    room = [int(ROOM_TO_SPARE * max(-int(x), 0)) for x in excess]
    ratio, share = {}, {}
    total = sum(size for _, size in entities)
    for method in ("budget", "odfs"):
        routes = route_entities(network, entities, room, method=method, orders=ORDERS)
        ratio[method] = _over(routes)
        share[method] = float(routes.eliminated) / total if total else 1.0
    return EntityTrial(ratio, share)


def _pieces(excess: NDArray[Any], seed: int, largest: int) -> list[tuple[int, int]]:
    """Cut the excess of every node into entities of random sizes."""
    draws = np.random.default_rng(seed)
    entities: list[tuple[int, int]] = []
    for node, amount in enumerate(excess.tolist()):
        left = amount
        while left > 0:
            size = min(left, int(draws.integers(1, largest + 1)))
            entities.append((node, size))
            left -= size
    return entities


def _over(routes: EntityRoutes) -> float:
    return float(routes.contention) / float(routes.bound) if routes.bound else 1.0


def _small(seed: int) -> dict[str, float]:
    """Contention of both methods over the exact optimum, on a 2-cube with a few entities."""
    draws = np.random.default_rng(seed)
    network = Hypercube(2).network()
    entities = [(int(draws.integers(2)), int(draws.integers(1, 10))) for _ in range(5)]
    room = [0, 0, 40, 40]
    _, optimum = best_routing(network, entities, room)
    ratios = {}
    for method in ("budget", "odfs"):
        routes = route_entities(network, entities, room, method=method, orders=ORDERS)
        ratios[method] = float(routes.contention) / optimum
    return {**ratios, "bound": float(routes.bound) / optimum}
