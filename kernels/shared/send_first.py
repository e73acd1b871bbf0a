"""Send-before-receive of the flows of DDE along lines, round by round (Wu-Shu Fig. 6).

A node sends a link's whole flow once it holds as much, its lower link's before its upper one's,
and gives away foreign units first. What arrives is usable in the next round. Flows of DDE never
deadlock. (What receive-before-send makes of them is known without this: see ``lines.py``.)

Lines are ``Rows``, one a lane; only the nodes are looked at again to which something has come in
one of them.
"""

from .lines import noise_level
from .rows import Rows
from .tracing import cond, fori, while_loop
from .vectors import any_lane, maximum, minimum, select


def rows_to_send(longest):
    """Return how many rows ``send_first`` needs for lines of up to so many nodes."""
    return 3 * longest


class Sending:
    """Rows for the loads, flows and arrivals of a bundle of lines that send first.

    Made before the bundle is balanced, as the loads are copied. ``changed`` (3 k,) is a workspace.
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
        """Send all flows; update the least loads of the nodes so far; return the rounds."""
        return _simulate(self.held, least, self.pending, self.arrived, self.changed, self.k)


def _simulate(held, least, pending, arrived, changed, k):
    """Send the flows ``pending`` of lines of k nodes; return the rounds.

    ``changed`` (3 k,) lists the nodes to look at now and in the next round, from 0 or k on, and
    from 2 k on in which round each was last listed.
    """
    slack = noise_level(held, k)
    zero = held[0] - held[0]
    none = k - k

    def begin(i):
        changed[i] = i
        changed[2 * k + i] = none
        arrived[i] = zero

    def make_round(count, made, now, rounds):
        following = k - now
        made = made + 1

        def visit(c, reached, sending):
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
                    first_to_come = changed[2 * k + to] < made

                    def list_node():
                        changed[2 * k + to] = made
                        changed[following + reached] = to

                    cond(first_to_come, list_node)
                    return [reached + first_to_come.astype("int64"), sending | goes]

                reached, sending = cond(
                    any_lane(goes), send, lambda same=(reached, sending): [*same]
                )
            least[node] = minimum(least[node], maximum(held[node], 0))
            return [reached, sending]

        reached, sending = fori(count, visit, none, zero < zero)

        def arrive(c):
            node = changed[following + c]
            held[node], arrived[node] = held[node] + arrived[node], zero

        fori(reached, arrive)
        return [reached, made, following, select(sending, rounds + 1, rounds)]

    fori(k, begin)
    _, _, _, rounds = while_loop(lambda count, *_: count > 0, make_round, k, none, none, zero)
    return rounds
