"""Send-before-receive of the flows of DDE, round by round, a trial in each lane (Wu-Shu Fig. 6).

Legend: ``B`` trials, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

A node sends a link's whole flow once it holds as much, its lower link's before its upper one's,
and gives away foreign units first. What arrives is usable in the next round. Flows of DDE never
deadlock. (What receive-before-send makes of them is known without this: see ``shared/lines.py``.)

Row i of a workspace holds node i of as many trials as a register has lanes; of a line, only the
nodes are looked at again to which something has come in one of the trials.
"""

from ..shared.compiling import kernel
from ..shared.lines import rounding
from ..shared.rows import Rows, lines_to_rows, sum_and_extremes
from ..shared.tracing import cond, fori, register_lanes, traced, while_loop
from ..shared.vectors import any_lane, lanes, maximum, minimum, select
from ..shared.views import CACHE_LINE, aligned


def room(N, longest, size):
    """Return how many elements of workspace the kernel needs, with ``size`` lanes.

    Rows of what is held, least loads so far and flows; then those of a line of what arrives.
    """
    return (3 * N + longest) * size + CACHE_LINE


def _simulate(held, least, pending, arrived, changed, k):
    """Send the flows ``pending`` of lines of k nodes; return the rounds.

    ``changed`` (3 k,) lists the nodes to look at now and in the next round, from 0 or k on, and
    from 2 k on in which round each was last listed.
    """
    slack = rounding(held, k)
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


@traced()
def _load(source, first, step, last, N, workspace, row):
    """Copy networks, lines of ``source``, to rows of the workspace from number ``row`` on."""
    size = lanes(workspace.dtype)
    lines_to_rows(source, first, step, last, N, Rows(workspace, row * size, size, size))


@traced()
def _send_axis(workspace, changed, N, k, stride, s, trial, rounds):
    """Send along all lines of an axis; set the rounds of the trials."""
    size = lanes(workspace.dtype)
    zero = workspace.load(0, size) - workspace.load(0, size)

    def send_line(line, longest):
        node = line // stride * (stride * k) + line % stride
        held, least, pending = (
            Rows(workspace, (part * N + node) * size, stride * size, size) for part in range(3)
        )
        arrived = Rows(workspace, 3 * N * size, size, size)
        made = _simulate(held, least, pending, arrived, changed, k)
        return [maximum(longest, made)]

    (longest,) = fori(N // k, send_line, zero)
    rounds.store((s, trial), longest)


@traced()
def _sum_up(workspace, N, trial, local):
    """Set the sums of the least loads of the trials."""
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
