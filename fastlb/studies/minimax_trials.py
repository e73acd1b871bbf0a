"""Measurements of the minimax study: plans of minimax flow for the loads of its trials."""

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
# Room of a node for entities over its room for divisible load.
ROOM_RATIO = Fraction(5, 4)
# Orders of the entities that routing tries.
ORDERS = 8
SMALL_TRIALS = 20

# Links of two networks that exist or existed, as NODE-NODE.
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
    """Figures of one trial.

    Attributes
    ----------
    contention : float
        beta*, the least contention.
    routed_contention : float or None
        beta* under e-cube or dimension-order routing; None if the network has neither.
    free_traffic : float
        Least traffic of any plan.
    short_traffic, least_traffic : float
        Traffic of the short plan, and of the plan of least traffic, at beta*.
    mean_flow : float
        ``free_traffic`` over the number of links.
    dde_traffic, dde_contention : float or None
        The same of DDE; None if it does not balance the network.
    """

    contention: float
    routed_contention: float | None
    free_traffic: float
    short_traffic: float
    least_traffic: float
    mean_flow: float
    dde_traffic: float | None
    dde_contention: float | None


@dataclass(frozen=True)
class EntityTrial:
    """By method, the contention over its bound, and the share of the load that was routed."""

    ratio: dict[str, float]
    share: dict[str, float]


@dataclass(frozen=True)
class MinimaxMeasurements:
    """All measurements of the study.

    Attributes
    ----------
    trials, entities : dict of list
        By network.
    small : list of dict
        Contention over the exact optimum, by method and for the bound.
    """

    trials: dict[str, list[Trial]]
    entities: dict[str, list[EntityTrial]]
    small: list[dict[str, float]]


def measure(study: Study, networks: dict[str, Topology]) -> MinimaxMeasurements:
    """Measure the study's loads on networks, and small instances."""
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
    small = [_small_trial(study.seed + t) for t in range(min(study.trials, SMALL_TRIALS))]
    return MinimaxMeasurements(trials, entities, small)


def measure_real_networks(study: Study) -> dict[str, list[Trial]]:
    """Measure real loads of 16 processors, and the study's loads on two networks that exist."""
    folder = Path(str(files("fastlb"))) / "data" / "vt-16"
    loads_of_16 = read_load_file([folder]).loads
    trials = {
        f"16 processors, {name}": [_trial(topology.network(), loads_of_16)]
        for name, topology in {
            "4x4 torus": Torus(4, 4),
            "4x4 mesh": Mesh(4, 4),
            "4-cube": Hypercube(4),
        }.items()
    }
    for name, links in {"Abilene": ABILENE, "NSFNET": NSFNET}.items():
        network = _network(links)
        loads = sample_loads(study.loads[0], network, trials=study.trials, seed=study.seed)
        trials[name] = [_trial(network, row) for row in loads]
    return trials


def _network(text: str) -> Network:
    """Return the network of links NODE-NODE, each for both directions."""
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
    # With no link counted, contention is 0 for any plan and only traffic is minimised.
    no_link = np.zeros(network.edge_count, dtype=bool)
    free_traffic = float(_plan(network, excess, counted=no_link, plan="least").traffic)
    least = _plan(network, excess, plan="least")
    topology = network.topology
    routing = _routing(topology)
    routed = None if routing is None else _plan(network, excess, routing=routing)
    balance = None
    if isinstance(topology, Grid | Hypercube):
        balance = dde(loads.reshape(topology.shape), topology, record="flows")
    return Trial(
        contention=float(plan.contention),
        routed_contention=None if routed is None else float(routed.contention),
        free_traffic=free_traffic,
        short_traffic=float(plan.traffic),
        least_traffic=float(least.traffic),
        mean_flow=free_traffic / network.edge_count,
        dde_traffic=None if balance is None else float(balance.moved),
        dde_contention=None if balance is None else float(np.abs(balance.flows).max()),
    )


def _routing(topology: Topology | None) -> str | None:
    """Return the routing scheme of a topology, if it has one."""
    if isinstance(topology, Hypercube):
        return "e-cube"
    is_mesh = isinstance(topology, Grid) and not any(topology.wrap)
    return "dimension-order" if is_mesh else None


def _entity_trial(network: Network, loads: NDArray[Any], seed: int) -> EntityTrial:
    excess = excess_load(loads)
    entities = _random_entities(excess, seed, LARGEST_ENTITY)
    room = [int(ROOM_RATIO * max(-int(x), 0)) for x in excess]
    ratio, share = {}, {}
    total = sum(size for _, size in entities)
    for method in ("budget", "odfs"):
        routes = route_entities(network, entities, room, method=method, orders=ORDERS)
        ratio[method] = _over_bound(routes)
        share[method] = float(routes.eliminated) / total if total else 1.0
    return EntityTrial(ratio, share)


def _random_entities(excess: NDArray[Any], seed: int, largest: int) -> list[tuple[int, int]]:
    """Divide the excess of every node into entities (node, size) of random sizes."""
    rng = np.random.default_rng(seed)
    entities: list[tuple[int, int]] = []
    for node, amount in enumerate(excess.tolist()):
        remaining = amount
        while remaining > 0:
            size = min(remaining, int(rng.integers(1, largest + 1)))
            entities.append((node, size))
            remaining -= size
    return entities


def _over_bound(routes: EntityRoutes) -> float:
    return float(routes.contention) / float(routes.bound) if routes.bound else 1.0


def _small_trial(seed: int) -> dict[str, float]:
    """Return contentions and their bound over the exact optimum, for five entities on a 2-cube."""
    rng = np.random.default_rng(seed)
    network = Hypercube(2).network()
    entities = [(int(rng.integers(2)), int(rng.integers(1, 10))) for _ in range(5)]
    room = [0, 0, 40, 40]
    _, optimum = best_routing(network, entities, room)
    ratios = {}
    for method in ("budget", "odfs"):
        routes = route_entities(network, entities, room, method=method, orders=ORDERS)
        ratios[method] = float(routes.contention) / optimum
    return {**ratios, "bound": float(routes.bound) / optimum}
