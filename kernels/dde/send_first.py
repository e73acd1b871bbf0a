"""Send-before-receive of the flows of DDE, round by round, a trial in each lane (Wu-Shu Fig. 6).

Legend: ``B`` trials, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

A node sends a link's whole flow once it holds as much, its lower link's before its upper one's.
Units that have come to it leave before its own. What arrives is usable in the next round. Flows of
DDE never deadlock. (Rounds of receive-before-send follow from the flows: ``shared/lines.py``.)

Row i of each part of a workspace holds node i of as many trials as a register has lanes; a line of
an axis is a row every ``stride`` rows. Only the nodes of a line are looked at again to which
something has come in one of the trials.
"""

from ..shared.compiling import kernel
from ..shared.lines import noise_level
from ..shared.rows import Rows, lines_to_rows, sum_and_extremes
from ..shared.tracing import cond, fori, register_lanes, traced, while_loop
from ..shared.vectors import any_lane, lanes, maximum, minimum, select
from ..shared.views import CACHE_LINE, aligned


def room(N, longest, size):
    """Return how many elements of workspace the kernel needs, with ``size`` lanes.

    N rows each of loads, of least loads so far and of flows, then a line's rows of arrivals.
    """
    return (3 * N + longest) * size + CACHE_LINE


def _simulate(held, least, pending, arrived, changed, k):
    """Send the flows ``pending`` of lines of k nodes; return the rounds, a lane for each trial.

    The others are Rows of k rows: ``held``, the loads, ``least``, those so far, and ``arrived``,
    what has come in this round. ``changed`` (3 k,) int64 is one array in three parts of k elements:
    the nodes to look at now and those of the next round, which change places after each round, and
    in which round each node was last listed.
    """
    slack = noise_level(held, k)
    zero = held[0] - held[0]
    # Loops carry values of the kernel: an integer 0, and no trial.
    start, no_trial = k - k, zero < zero

    def begin(i):
        changed[i] = i
        changed[2 * k + i] = start
        arrived[i] = zero

    def make_round(count, round_number, now, rounds):
        """Look at the ``count`` nodes listed from ``changed[now]`` on; ``now`` is 0 or k."""
        following = k - now
        round_number = round_number + 1

        def visit(c, reached, sending):
            """Let a node send; return how many nodes are reached, and which trials send."""
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

        reached, sending = fori(count, visit, start, no_trial)

        def arrive(c):
            node = changed[following + c]
            held[node], arrived[node] = held[node] + arrived[node], zero

        fori(reached, arrive)
        return [reached, round_number, following, select(sending, rounds + 1, rounds)]

    fori(k, begin)
    _, _, _, rounds = while_loop(lambda count, *_: count > 0, make_round, k, start, start, zero)
    return rounds


@traced()
def _load(source, first, step, last, N, workspace, row):
    """Copy networks, lines of ``source``, to N rows of the workspace from number ``row`` on.

    Where they begin in ``source`` tell ``first``, ``step`` and ``last``: see ``lines_to_rows``.
    """
    size = lanes(workspace.dtype)
    lines_to_rows(source, first, step, last, N, Rows(workspace, row * size, size, size))


@traced()
def _send_axis(workspace, changed, N, k, stride, s, trial, rounds):
    """Send along all lines of axis s; set ``rounds[s]`` of the trials from ``trial`` on."""
    size = lanes(workspace.dtype)
    zero = workspace.load(0, size) - workspace.load(0, size)

    def send_line(line, longest):
        node = line // stride * (stride * k) + line % stride
        held, least, pending = (
            Rows(workspace, (part * N + node) * size, stride * size, size) for part in range(3)
        )
        arrived = Rows(workspace, 3 * N * size, size, size)
        line_rounds = _simulate(held, least, pending, arrived, changed, k)
        return [maximum(longest, line_rounds)]

    (longest,) = fori(N // k, send_line, zero)
    rounds.store((s, trial), longest)


@traced()
def _sum_up(workspace, N, trial, local):
    """Set ``local`` of the trials from ``trial`` on to the sums of their least loads."""
    size = lanes(workspace.dtype)
    least = Rows(workspace, N * size, size, size)
    local.store(trial, sum_and_extremes(least, least, N)[0])


@kernel
def send_first(loads, stages, flows, axes, local, rounds, workspace, changed):
    """Count what send-before-receive makes of the flows of networks that DDE has balanced.

    Parameters
    ----------
    loads, stages : (B, N), (S, B, N) int64 or float64
        Before balancing and after each axis.
    flows : (B, S, N) of the same dtype
        Of each axis by its number.
    axes : (S, 3 or more) int64
        The number of each, its length, and its stride in nodes.
    local, rounds : (B',), (S, B') int64 or float64
        Receive the units that never left, and the rounds of each axis; B' is B in whole registers.
    workspace, changed : (room(..),) of the same dtype or int32, (3 longest,) int64
    """
    workspace = aligned(workspace)
    B, N = loads.shape
    S, size = axes.shape[0], register_lanes(workspace)
    for trial in range(0, B, size):
        last = min(size, B - trial) - 1
        _load(loads, trial * N, N, last, N, workspace, N)
        for s in range(S):
            if s == 0:
                _load(loads, trial * N, N, last, N, workspace, 0)
            else:
                _load(stages, ((s - 1) * B + trial) * N, N, last, N, workspace, 0)
            first = (trial * S + axes[s, 0]) * N
            _load(flows, first, S * N, last, N, workspace, 2 * N)
            _send_axis(workspace, changed, N, axes[s, 1], axes[s, 2], s, trial, rounds)
        _sum_up(workspace, N, trial, local)
