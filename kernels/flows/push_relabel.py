"""The least contention of a maximum flow: push-relabel (Goldberg and Tarjan 1988), run once.

Nodes are discharged first-in-first-out, and a breadth-first search makes all labels exact now and
then: a global relabelling. In the paper's network N(beta) (Minimax section 2.2) a link carries at
most beta that counts as contention. The search starts at the beta it is called with. When a global
relabelling shows that nodes with load reach no room, the links around them are saturated: a cut.
Then beta rises by a step of Newton's method, as in the paper's MMC01, to where as much may pass
through that cut as has to. Flow and labels stay, as capacities have only grown.

There is no super source or sink: ``balance[u]`` is load to send (> 0) or room for it (< 0). Room
looks for load against the arcs just as load looks for room along them, so the search turns round
where the other end has far fewer nodes: fewer labels then rise until a cut shows.

The residual graph and its arrays are those of ``shared/residual.py``; a label is what is called a
level there. ``N`` nodes, ``E`` links, ``A`` arcs. All amounts are int64.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.residual import ONE, set_levels

# A global relabelling follows WORK_PER_NODE * N + A steps of work, of which relabelling one node is
# its degree + RELABEL_COST. Half or twice as many steps take up to a fifth longer.
WORK_PER_NODE = 6
RELABEL_COST = 12
# The search turns round where the other end has this many times fewer nodes: a 13-cube then takes
# 0.43 of the time of one direction alone. If 2 times were enough, a mesh would take 1.6.
FEWER = 3
# The traffic of an arc whose contention does not count, so that beta never limits it.
UNCOUNTED = np.int64(-(2**62))


@kernel
def fused_search(graph, usable, base, counted, excess, room, target, beta):
    """Find the least beta, from ``beta`` up, at which ``target`` units pass.

    Parameters
    ----------
    usable : (E,) int64
        Capacity left for load, at most ``target``.
    base : (E,) int64
        Traffic that counts as contention already (C1), 0 otherwise (C2).
    counted : (E,) bool
        Links whose contention counts.
    excess, room : (N,) int64
        Load that a node has to send, load that it can take.

    Returns
    -------
    (value, beta, raises, side, before, short, rho)
        ``value`` units passed, fewer than the target only where capacities forbid more. ``beta``
        was raised ``raises`` times, each time rounded up to whole units. The last raise was from
        ``before``, as the cut ``side`` (N,) bool was ``short`` units too small, with ``rho`` arcs
        across it that grow with beta.
    """
    start, head, rev, link = graph
    n = start.size - 1
    arc_usable = np.empty(head.size, np.int64)
    arc_base = np.empty(head.size, np.int64)
    ahead = np.empty(head.size, np.int64)
    behind = np.empty(head.size, np.int64)
    for a in range(head.size):
        k = link[a]
        arc_usable[a] = usable[k] if k >= 0 else 0
        arc_base[a] = base[k] if k >= 0 and counted[k] else UNCOUNTED
        ahead[a] = min(arc_usable[a], max(beta - arc_base[a], np.int64(0)))
        behind[rev[a]] = ahead[a]
    balance = np.empty(n, np.int64)
    side = np.empty(n, np.bool_)
    arrived = np.int64(0)
    # Load and room that may stay behind.
    slack = -target
    spare = -target
    for u in range(n):
        balance[u] = excess[u] - room[u]
        side[u] = False
        arrived += min(excess[u], room[u])
        slack += excess[u]
        spare += room[u]
    level = np.empty(n, np.int32)
    queue = np.empty(n + 1, np.uint32)
    current = np.empty(n, np.uint32)
    before = np.int64(0)
    short = np.int64(0)
    rho = np.int64(0)
    raises = np.int64(0)
    reverse = False
    progress = True
    while arrived < target:
        # Labels grow while the direction stays. Turning only after progress, the search ends.
        giving = taking = np.int64(0)
        for u in range(n):
            giving += balance[u] > 0
            taking += balance[u] < 0
        if progress and FEWER * taking < giving:
            reverse = not reverse
            ahead, behind = behind, ahead
            slack, spare = spare, slack
            for u in range(n):
                balance[u] = -balance[u]
        set_levels(graph, behind, balance, None, None, level, queue, np.int64(n + 1))
        trapped = np.int64(0)
        for u in range(n):
            if level[u] == n:
                trapped += balance[u]
        if trapped > slack:
            # What an arc takes at most, on the network turned round that of the arc back.
            wanted, growing = _worst_cut(
                graph,
                arc_usable,
                arc_base,
                beta,
                reverse,
                balance,
                level,
                slack,
                side,
                queue,
                current,
            )
            if growing > 0:
                before = beta
                short = wanted
                rho = growing
                beta += (short + rho - 1) // rho
                raises += 1
                for a in range(head.size):
                    b = rev[a] if reverse else a
                    if before - arc_base[b] < arc_usable[b]:
                        more = min(arc_usable[b], max(beta - arc_base[b], np.int64(0)))
                        more -= max(before - arc_base[b], np.int64(0))
                        ahead[a] += more
                        behind[rev[a]] += more
                if reverse:
                    for u in range(n):
                        side[u] = not side[u]
                progress = True
                continue
            # A cut of links at full capacity: no beta lets more through.
            slack = trapped
        waiting = np.int64(0)
        for u in range(n):
            if balance[u] > 0 and level[u] < n:
                queue[waiting] = u
                waiting += 1
        if waiting == 0:
            if raises == 0:
                for u in range(n):
                    side[u] = (level[u] >= n) != reverse
            break
        moved = _discharge(
            graph, ahead, behind, balance, level, queue, current, waiting, target - arrived
        )
        arrived += moved
        progress = moved > 0
    return min(arrived, target), beta, raises, side, before, short, rho


@inlined
def _other_end_is_smaller(balance):
    here = 0
    there = 0
    for u in range(balance.size):
        here += balance[u] > 0
        there += balance[u] < 0
    return FEWER * there < here


@inlined
def _worst_cut(graph, usable, base, beta, reverse, balance, level, slack, side, queue, part):
    """Return (units short, arcs that grow) of the cut that asks for the largest beta.

    The nodes that reach no room fall into connected parts, and every union of parts is a saturated
    cut. A cut asks beta to rise by its units short over its arcs that grow with beta. All parts
    together ask for an average; the union that asks for most gives a longer step, which shortens
    the search by a quarter (by half on random networks). ``side`` (N,) marks the nodes of the parts
    chosen, unless no arc grows; ``queue`` and ``part`` (N,) are scratch.
    """
    start, head, rev, _ = graph
    n = level.size
    none = np.uint32(n)
    trapped = np.empty(n, np.int64)
    growing = np.empty(n, np.int64)
    for u in range(n):
        part[u] = none
    parts = 0
    for root in range(n):
        if level[root] < n or part[root] != none:
            continue
        trapped[parts] = 0
        growing[parts] = 0
        part[root] = parts
        queue[0] = root
        reached = 1
        done = 0
        while done < reached:
            u = queue[done]
            done += 1
            trapped[parts] += balance[u]
            for a in range(start[u], start[u + ONE]):
                v = head[a]
                if level[v] < n:
                    b = rev[a] if reverse else a
                    growing[parts] += beta - base[b] < usable[b]
                elif part[v] == none:
                    part[v] = parts
                    queue[reached] = v
                    reached += 1
        parts += 1
    # A part asks for what it holds over what grows. One where nothing grows uses up the slack.
    asked = np.empty(parts)
    top = -1
    for i in range(parts):
        if growing[i] == 0:
            asked[i] = np.inf
            slack -= trapped[i]
        else:
            asked[i] = trapped[i] / growing[i]
            top = i if top < 0 or asked[i] > asked[top] else top
    short = np.int64(0)
    rho = np.int64(0)
    if top >= 0:
        bound = -1.0
        if slack <= 0:
            # The part that asks for most, alone.
            short = trapped[top] - slack
            rho = growing[top]
            bound = asked[top]
            asked[top] = np.inf
        # Dinkelbach's method: the parts that ask for more than they do together, until none asks
        # for less.
        while slack > 0:
            held = -slack
            arcs = np.int64(0)
            for i in range(parts):
                if growing[i] > 0 and asked[i] > bound:
                    held += trapped[i]
                    arcs += growing[i]
            if arcs == 0:
                break
            short = held
            rho = arcs
            if held / arcs <= bound:
                break
            bound = held / arcs
        for u in range(n):
            side[u] = level[u] >= n and asked[part[u]] > bound
    return short, rho


@inlined
def _discharge(graph, ahead, behind, balance, label, queue, current, waiting, wanted):
    """Discharge first-in-first-out until the work allowed is done; return the units that arrived.

    The nodes to discharge are the first ``waiting`` of the queue, a ring of N places. It also ends
    once ``wanted`` units have arrived.
    """
    start, head, rev, _ = graph
    n = np.uint32(label.size)
    far = np.int32(label.size)
    allowed = WORK_PER_NODE * label.size + head.size
    count = np.uint32(waiting)
    first = np.uint32(0)
    arrived = np.int64(0)
    for u in range(n):
        current[u] = start[u]
    performed = np.int64(0)
    while count > 0 and performed < allowed and arrived < wanted:
        u = queue[first]
        first += ONE
        if first == n:
            first = np.uint32(0)
        count -= ONE
        amount = balance[u]
        a = current[u]
        end = start[u + ONE]
        lower = np.int32(label[u] - 1)
        while True:
            if a == end:
                # Relabel; arcs before the first that leads to the lowest neighbour are of no use.
                a = start[u]
                lower = far
                for b in range(start[u], end):
                    d = label[head[b]]
                    better = (d < lower) & (ahead[b] > 0)
                    lower = d if better else lower
                    a = b if better else a
                performed += np.int64(end - start[u]) + RELABEL_COST
                label[u] = min(lower + 1, far)
                if label[u] == far:
                    break
            v = head[a]
            if label[v] == lower and ahead[a] > 0:
                back = rev[a]
                moved = min(amount, ahead[a])
                ahead[a] -= moved
                behind[back] -= moved
                ahead[back] += moved
                behind[a] += moved
                amount -= moved
                held = balance[v]
                balance[v] = held + moved
                if held <= 0:
                    arrived += min(-held, moved)
                    if held + moved > 0:
                        place = first + count
                        queue[place - n if place >= n else place] = v
                        count += ONE
                if amount == 0:
                    break
            a += ONE
        current[u] = a
        balance[u] = amount
    return arrived
