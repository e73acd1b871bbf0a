"""The least contention of a maximum flow: push-relabel (Goldberg and Tarjan 1988), run once.

First-in-first-out, with exact labels from a breadth-first search now and then. In the paper's
network N(beta) (Minimax section 2.2) links carry at most beta that counts as contention. The
search starts with the least beta. When a global relabelling shows nodes with load that reach no
room, the links around them are saturated: a cut. beta then rises, by a step of Newton's method as
in the paper's MMC01, until as much may pass through that cut as has to; flow and labels stay, as
capacities have only grown.

There is no super source or sink: ``balance[u]`` is load to place (> 0) or room for it (< 0).
Room looks for load against the arcs just as load looks for room along them: the run turns round
where the other end has far fewer nodes, so that fewer labels rise until a cut shows.

The residual graph and its arrays are those of ``shared/residual.py``. All amounts are int64.
"""

import numpy as np
from numba import types

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.push_relabel import discharge
from ..shared.residual import number, set_levels
from ..shared.tracing import cond, fori, traced, while_loop
from ..shared.vectors import maximum, select, spread

# The run turns round where the other end has this many times fewer nodes: a 13-cube takes 0.43 of
# the time of one direction alone; turning at half the nodes already, a mesh takes 1.6.
FEWER = 3
# The traffic of an arc whose contention does not count, so that beta never limits it.
UNCOUNTED = np.int64(-(2**62))


def fused_search(graph, usable, base, counted, excess, room, target, beta):
    """Find the least beta, from the one given on, at which ``target`` units pass.

    Parameters
    ----------
    usable : (E,) int64
        Capacity left for load, at most ``target``.
    base : (E,) int64
        Traffic that counts as contention already (C1), 0 otherwise (C2).
    counted : (E,) bool
        Links whose contention counts.
    excess, room : (N,) int64
        Load to give away, load a node can take.

    Returns
    -------
    (value, beta, raises, side, before, short, rho)
        ``value`` is less than the target only where capacities forbid more. ``beta`` was rounded
        up to whole units in each of the ``raises``; the last was made at ``before`` because the
        cut ``side`` (N,) was ``short`` units too small, with ``rho`` arcs across that can grow.
    """
    # Arrays are made by NumPy: numba would compile ``empty`` once more for each dtype.
    n, link = graph.start.size - 1, graph.link
    arc_usable = np.where(link >= 0, usable[link], 0)
    arc_base = np.where((link >= 0) & counted[link], base[link], UNCOUNTED)
    ahead = np.minimum(arc_usable, np.maximum(beta - arc_base, 0))
    arcs = arc_usable, arc_base, ahead, ahead[graph.rev]
    arrived = np.minimum(excess, room).sum()
    # Load and room that may stay behind.
    slack, spare = excess.sum() - target, room.sum() - target
    part_sums = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.float64)
    queues = np.empty(n + 1, np.uint32), np.empty(n, np.uint32)
    nodes = excess - room, np.empty(n, np.int32), np.zeros(n, np.bool_)
    return _search(graph, arcs, nodes, (*queues, *part_sums), target, beta, arrived, slack, spare)


@long_kernel
def _search(graph, arcs, nodes, workspace, target, beta, arrived, slack, spare):
    """Carry the search out on its arrays; the results are those of ``fused_search``.

    ``arcs`` : usable, base, ahead, behind, (A,) each; ``nodes`` : balance, level, side, (N,) each;
    ``arrived`` : load that stays at its node, as there is room.
    """
    _, head, rev, _ = graph
    arc_usable, arc_base, ahead, behind = arcs
    balance, level, side = nodes
    queue, current, _, _, _ = workspace
    n = balance.size
    before = np.int64(0)
    short = np.int64(0)
    rho = np.int64(0)
    raises = np.int64(0)
    reverse = False
    progress, meter = True, new_meter()
    while arrived < target and not interrupted(meter, 8 * (n + head.size)):
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
            units, growing = _worst_cut(
                graph, arc_usable, arc_base, beta, reverse, balance, level, slack, side, workspace
            )
            if growing > 0:
                before, short, rho = beta, units, growing
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
        moved = discharge(
            graph, ahead, behind, balance, level, queue, current, waiting, target - arrived
        )
        arrived += moved
        progress = moved > 0
    return min(arrived, target), beta, raises, side, before, short, rho


@traced(returns=types.UniTuple(types.int64, 2))
def _worst_cut(graph, usable, base, beta, reverse, balance, level, slack, side, workspace):
    """Return (units short, arcs that grow) of the trapped parts that ask for the largest beta.

    The nodes that reach no room fall into connected parts, and every union of parts is a
    saturated cut. Together they ask for an average; the parts that ask for most give a longer
    step, and a search a quarter shorter (half on random networks). ``side`` (N,) marks the parts
    chosen, unless no arc grows.
    """
    start, head, rev, _ = graph
    queue, part, trapped, growing, ratio = workspace
    n = level.shape[0]

    def no_part(u):
        part[u] = n

    def fill_part(parts, root):
        part[root] = parts
        queue[0] = root

        def visit(done, reached, held, arcs):
            u = number(queue, done)

            def look(a, reached, arcs):
                v, back = number(head, a), number(rev, a)
                b = select(reverse, back, a)
                outside = number(level, v) < n
                grows = outside & (beta - base[b] < usable[b])
                old = number(part, v)
                new = (number(level, v) == n) & (old == n)
                part[v] = select(new, parts, old)
                queue[reached] = v
                return reached + new.astype(np.int64), arcs + grows.astype(np.int64)

            end = number(start, u + 1)
            reached, arcs = fori(end, look, reached, arcs, start=number(start, u))
            return done + 1, reached, held + balance[u], arcs

        *_, trapped[parts], growing[parts] = while_loop(
            lambda done, reached, held, arcs: done < reached, visit, root * 0, 1, 0, 0
        )
        return [parts + 1]

    def visit_root(root, parts):
        new = (number(level, root) == n) & (number(part, root) == n)
        return cond(new, lambda: fill_part(parts, root), lambda: [parts])

    # A part asks for what it holds over what grows. One where nothing grows uses up the slack.
    def ask(i, top, slack):
        grows = growing[i] > 0
        asked = trapped[i].astype(np.float64) / growing[i].astype(np.float64)
        top = select(grows & ((top < 0) | (asked > ratio[maximum(top, 0)])), i, top)
        ratio[i] = select(grows, asked, spread(np.inf, asked))
        return top, select(grows, slack, slack - trapped[i])

    def choose(top, slack):
        # Without slack the part that asks for most, alone.
        alone = slack <= 0
        most = ratio[top]
        ratio[top] = select(alone, spread(np.inf, most), most)
        bound = select(alone, most, spread(-1, most))

        # Dinkelbach's method: the parts that ask for more than they do together, until none asks
        # for less.
        def narrow(going, bound, short, rho):
            def join(i, held, arcs):
                chosen = (growing[i] > 0) & (ratio[i] > bound)
                held = held + select(chosen, trapped[i], 0)
                return held, arcs + select(chosen, growing[i], 0)

            held, arcs = fori(parts, join, -slack, 0)
            together = held.astype(np.float64) / arcs.astype(np.float64)
            going = (arcs > 0) & (together > bound)
            short, rho = select(arcs > 0, held, short), select(arcs > 0, arcs, rho)
            return going, select(going, together, bound), short, rho

        going, short, rho = slack > 0, trapped[top] - slack, growing[top]
        _, bound, short, rho = while_loop(lambda going, *_: going, narrow, going, bound, short, rho)

        def mark(u):
            side[u] = (number(level, u) == n) & (ratio[number(part, u)] > bound)

        fori(n, mark)
        return short, rho

    fori(n, no_part)
    [parts] = fori(n, visit_root, 0)
    top, slack = fori(parts, ask, -1, slack)
    return cond(top >= 0, lambda: choose(top, slack), lambda: (slack * 0, slack * 0))
