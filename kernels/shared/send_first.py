"""Send-before-receive of the flows of DDE along lines, round by round (Wu-Shu Fig. 6).

Legend: ``k`` length of a line.

A node sends a link's whole flow once it holds as much, its lower link's before its upper one's.
Units that have come to it leave before its own. What arrives is usable in the next round. Flows of
DDE never deadlock. (Rounds of receive-before-send follow from the flows: ``lines.py``.)

Lines are ``Rows``, a lane for each line. Only the nodes of a line are looked at again to which
something has come in one of the lanes.
"""

from .lines import noise_level
from .rows import Rows
from .tracing import cond, fori, while_loop
from .vectors import any_lane, maximum, minimum, select, spread


def rows_to_send(longest):
    """Return how many rows ``Sending`` needs for lines of up to ``longest`` nodes."""
    return 3 * longest


class Sending:
    """Send-before-receive along a bundle of lines: k rows each of loads, of flows and of arrivals.

    Make it before the bundle is balanced, as it copies the loads; let the balancing write its flows
    to ``pending``, then call ``send``. The rows begin at ``memory[at]``; ``changed`` (3 k,) int64
    is a workspace.
    """

    def __init__(self, memory, at, bundle, k, changed):
        size = bundle.size
        self.held, self.pending, self.arrived = (
            Rows(memory, at + part * k * size, size, size) for part in range(3)
        )
        self.k, self.changed = k, changed

        def copy(i):
            self.held[i] = bundle[i]

        fori(k, copy)

    def send(self, least):
        """Send all flows; update ``least``, Rows of the least loads so far; return the rounds."""
        return _simulate(self.held, least, self.pending, self.arrived, self.changed, self.k)


def _simulate(held, least, pending, arrived, changed, k):
    """Send the flows ``pending`` of lines of k nodes; return the rounds, a lane for each line.

    The others are Rows of k rows: ``held``, the loads, ``least``, the least loads so far, and
    ``arrived``, what has come in this round. ``changed`` (3 k,) int64 is one array in three parts
    of k elements: the nodes to look at now and those of the next round, which change places after
    each round, and in which round each node was last listed.
    """
    slack = noise_level(held, k)
    zero, start = spread(0, held[0]), spread(0, k)

    def begin(i):
        changed[i] = i
        changed[2 * k + i] = start
        arrived[i] = zero

    def make_round(count, round_number, now, rounds):
        """Look at the ``count`` nodes listed from ``changed[now]`` on; ``now`` is 0 or k."""
        following = k - now
        round_number = round_number + 1

        def visit(c, reached, sending):
            """Let a node send; return how many nodes are reached, and which lines send."""
            node = changed[now + c]
            below = select(node > 0, node - 1, k - 1)
            above = select(node < k - 1, node + 1, 0)
            for to, link in ((below, below), (above, node)):
                remaining = pending[link]
                flow = remaining if link is node else -remaining
                goes = (flow > 0) & (held[node] + slack >= flow)

                def send(
                    to=to, link=link, remaining=remaining, flow=flow, goes=goes,
                    reached=reached, sending=sending,
                ):  # fmt: skip
                    sent = select(goes, flow, 0)
                    held[node] = held[node] - sent
                    pending[link] = select(goes, 0, remaining)
                    arrived[to] = arrived[to] + sent
                    first_to_come = changed[2 * k + to] < round_number

                    def list_node():
                        changed[2 * k + to] = round_number
                        changed[following + reached] = to

                    cond(first_to_come, list_node)
                    return [reached + first_to_come.astype("int64"), sending | goes]

                reached, sending = cond(
                    any_lane(goes), send, lambda same=(reached, sending): [*same]
                )
            least[node] = minimum(least[node], maximum(held[node], 0))
            return [reached, sending]

        reached, sending = fori(count, visit, start, zero < zero)

        def arrive(c):
            node = changed[following + c]
            held[node], arrived[node] = held[node] + arrived[node], zero

        fori(reached, arrive)
        return [reached, round_number, following, select(sending, rounds + 1, rounds)]

    fori(k, begin)
    _, _, _, rounds = while_loop(lambda count, *_: count > 0, make_round, k, start, start, zero)
    return rounds
