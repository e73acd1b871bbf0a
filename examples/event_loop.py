"""A discrete-event simulation that rebalances an 8x8 mesh after every event.

Work arrives at random nodes and leaves from random nodes, as a Poisson process has it; after each
event direct dimension exchange levels the mesh in place. The loop is plain Python, so what it
shows is what a program of yours would get.

    python examples/event_loop.py [EVENTS]
"""

import heapq
import sys
import time

import numpy as np

import fastlb as lb


def simulate(events: int, seed: int = 0) -> tuple[np.ndarray, int, int]:
    """Run so many events.

    Returns
    -------
    loads : (8, 8) int64
        The loads at the end.
    arrived, left : int
        Units of work that came, and units that were done.
    """
    mesh = lb.Mesh(8, 8)
    loads = np.zeros(mesh.shape, dtype=np.int64)
    node = loads.reshape(-1)  # the same memory, by number
    rng = np.random.default_rng(seed)
    waits = rng.exponential(1.0, events).tolist()
    nodes = rng.integers(0, mesh.size, events).tolist()
    amounts = rng.integers(1, 100, events).tolist()

    # The queue holds (time, is a departure, node, amount); an arrival of work schedules the end
    # of as much work at the same node.
    queue: list[tuple[float, bool, int, int]] = [(0.0, False, nodes[0], amounts[0])]
    arrived = left = 0
    for i in range(events):
        now, departs, where, amount = heapq.heappop(queue)
        if departs:
            done = min(amount, int(node[where]))
            node[where] -= done
            left += done
        else:
            node[where] += amount
            arrived += amount
            heapq.heappush(queue, (now + 2 * waits[i], True, where, amount))
            heapq.heappush(queue, (now + waits[i], False, nodes[i], amounts[i]))
        lb.dde(loads, mesh, record="loads", out=loads)
    return loads, arrived, left


def main() -> None:
    """Run the simulation, and print how fast it was."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    simulate(1)  # the first call compiles
    begin = time.perf_counter()
    loads, arrived, left = simulate(events)
    seconds = time.perf_counter() - begin
    if loads.sum() != arrived - left:
        raise AssertionError("units of work were lost or made")
    rate = events / seconds
    print(f"{events:,} events, each rebalanced, in {seconds:.2f} s: {rate:,.0f} a second")
    print(f"{arrived:,} units arrived, {left:,} left, {loads.sum():,} are there")
    print(f"largest difference between two nodes: {loads.max() - loads.min()}")


if __name__ == "__main__":
    main()
