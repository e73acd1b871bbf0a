"""``schedule``: the transfers of a plan in as few rounds as the limits of nodes and links allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import yes_or_no
from .limits import least_rounds, read_limits
from .placing import place
from .result import Rounds
from .transfers import read_transfers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..exchange.result import Balance
    from ..flows.plan import MinimaxPlan, Route
    from ..quantities import Numbers
    from ..tasks.assignment import Assignment


def schedule(
    src: ArrayLike | MinimaxPlan | Assignment | Balance | Iterable[Route],
    dst: ArrayLike | None = None,
    *,
    amount: Numbers | None = None,
    per_node: ArrayLike | None = None,
    send: ArrayLike | None = None,
    receive: ArrayLike | None = None,
    per_link: int | None = None,
    hops: bool = True,
) -> Rounds:
    """Put transfers into as few rounds as limits on nodes and links allow.

    A transfer is whole and takes one round. The number of rounds equals its bound

    - for ``send``, ``receive`` and ``per_link``, in any combination;
    - for an even ``per_node``;
    - for any ``per_node``, also with ``per_link``, where the nodes have two sides, such as those
      that send and those that receive.

    Else it may be larger, by ``gap``: three transfers in a triangle take 3 rounds with
    ``per_node=1``, where the bound is 2. Where transfers wait for others, too.

    Parameters
    ----------
    src, dst : array_like of int, shape (T,)
        Nodes that send and that receive, from 0 on; several transfers may have the same two.
        Or, as ``src`` alone, a plan:

        - a ``MinimaxPlan``, or some of its routes, or other objects with a ``path`` of nodes and
          perhaps an ``amount``: each hop of a route is a transfer, in a later round than the hop
          before, as nodes store what they pass on. With ``hops=False`` each route is one transfer
          from its source to its sink, which others pass on unnoticed.
        - a ``Balance`` of one network with flows: each link with a flow is a transfer. A node
          that holds less at first than it has to send waits for all that it receives.
    amount : (T,) numbers, optional
        Larger ones come earlier where it costs no round. By default transfers that come first.
    per_node : int or (N,) of int, optional
        Most transfers in one round at a node, or at each node, sent and received together.
    send, receive : int or (N,) of int, optional
        Most transfers that a node sends, and that it receives, in one round.
    per_link : int, optional
        Most transfers from one node to one other in one round.
    hops : bool, optional
        Whether routes go hop by hop.

    Returns
    -------
    Rounds
        ``round`` (T,), ``count``, ``bound``, ``gap`` and ``verify()``.

    Raises
    ------
    TypeError, ValueError
        If nodes are no node numbers, a transfer has one node twice, an amount is negative, NaN or
        infinite, a limit is no whole number from 1 on, or a plan has no flows.
    OverflowError
        If a node number is 2**63 or more.
    DeadlockError
        If flows of a Balance run in a circle in which each node waits for another.

    Notes
    -----
    First fit, heaviest first, comes first; where it misses the bound, the transfers are coloured
    as the edges of a multigraph (Konig 1916), after Euler's directions for an even ``per_node``,
    and then each goes into the earliest round that has room. Where all senders, or all receivers,
    have as many transfers as the bound allows them, they are coloured at once. Where a transfer
    counts for more than two limits of nodes, or transfers wait for others, first fit goes from the
    end and from the start in turn instead, which closes gaps.

    Examples
    --------
    >>> import fastlb as lb
    >>> rounds = lb.schedule([0, 0, 1, 2], [2, 3, 2, 3], amount=[5, 9, 7, 1], per_node=1)
    >>> rounds.round, rounds.count, rounds.bound
    (array([1, 0, 0, 2]), 3, 3)
    >>> plan = lb.minimax_flow(lb.Chain(3).network(), [5, 0, -5])
    >>> rounds = lb.schedule(plan, per_node=1)
    >>> rounds.src, rounds.dst, rounds.amount, rounds.round
    (array([0, 1]), array([1, 2]), array([5, 5]), array([0, 1]))
    """
    transfers = read_transfers(src, dst, amount, yes_or_no("hops", hops))
    limits = read_limits(transfers, per_node, send, receive, per_link)
    bound = least_rounds(transfers, limits)
    rounds = place(transfers, limits, bound)
    rounds.flags.writeable = False
    asked = {"per_node": per_node, "send": send, "receive": receive, "per_link": per_link}
    count = int(rounds.max(initial=-1)) + 1
    copies = {name: _copy(limit) for name, limit in asked.items() if limit is not None}
    return Rounds(rounds, count, bound, copies, transfers)


def _copy(limit: Any) -> Any:
    """Return a limit that later changes of the caller's array do not reach."""
    if np.ndim(limit):
        own = np.array(limit)
        own.flags.writeable = False
        return own
    return int(limit)
