"""Tasks whose places depend on each other: by the memory of nodes, shared blocks, and messages.

``T`` tasks, ``N`` nodes, ``B`` blocks, ``A`` neighbours of tasks. All numbers are int64: sizes and
costs in units of load, memory in units of its own.
"""

from typing import NamedTuple

import numpy as np

from .compiling import inlined, kernel

# An int64, as numba would compile a function once more for each literal.
NONE = np.int64(-1)


class State(NamedTuple):
    """Where tasks are, and what nodes have then; ``put`` keeps it up to date."""

    node: np.ndarray  # (T,) the node of each task, NONE of one that has none yet
    size: np.ndarray  # (T,)
    own: np.ndarray  # (T,) memory
    working: np.ndarray  # (T,) memory while it runs; tasks of a node run one after the other
    block: np.ndarray  # (T,) the block that it uses, or NONE
    first: np.ndarray  # (T + 1,) the neighbours of task t are first[t] .. first[t+1]-1
    other: np.ndarray  # (A,) the task it exchanges messages with
    out: np.ndarray  # (A,) the cost of what it sends there
    into: np.ndarray  # (A,) the cost of what it gets from there
    block_bytes: np.ndarray  # (B,) memory
    home: np.ndarray  # (B,) the node where it is at home, or NONE
    home_cost: np.ndarray  # (B,) what it costs to hold it elsewhere
    load: np.ndarray  # (N,) sizes, and the costs of blocks away from home
    sent: np.ndarray  # (N,)
    received: np.ndarray  # (N,)
    memory: np.ndarray  # (N,)
    peak: np.ndarray  # (N,) the most working memory of a task, part of ``memory``
    limit: np.ndarray  # (N,) most memory
    users: np.ndarray  # (N, B) how many tasks of a node use a block


@kernel
def put(state, t, v):
    """Move task t to node v, from the node where it is; either may be NONE, no node at all."""
    u = state.node[t]
    if u != NONE:
        state.node[t] = NONE
        _count(state, t, u, np.int64(-1))
    if v != NONE:
        _count(state, t, v, np.int64(1))
        state.node[t] = v


@kernel
def _count(state, t, u, sign):
    """Add what task t brings to node u (``sign`` 1), or subtract it (-1).

    Meanwhile ``state.node[t]`` is NONE, so that t itself is no user or neighbour there.
    """
    state.load[u] += sign * state.size[t]
    state.memory[u] += sign * state.own[t]
    if state.working[t] > 0:
        peak = max(state.peak[u], state.working[t])
        if sign < 0 and peak == state.working[t]:
            # It may have been the only one with so much: the largest of the others is searched.
            peak = 0
            for s in range(state.node.size):
                if state.node[s] == u and state.working[s] > peak:
                    peak = state.working[s]
                    if peak == state.peak[u]:
                        break
        state.memory[u] += peak - state.peak[u]
        state.peak[u] = peak
    b = state.block[t]
    if b != NONE:
        # The first user brings the block, the last one takes it away.
        before = state.users[u, b]
        state.users[u, b] = before + sign
        if before == 0 or before + sign == 0:
            state.memory[u] += sign * state.block_bytes[b]
            if state.home[b] != u:
                state.load[u] += sign * state.home_cost[b]
    for a in range(state.first[t], state.first[t + 1]):
        v = state.node[state.other[a]]
        if v != NONE and v != u:
            state.sent[u] += sign * state.out[a]
            state.received[v] += sign * state.out[a]
            state.received[u] += sign * state.into[a]
            state.sent[v] += sign * state.into[a]


@inlined
def work_of(state, u):
    """Return the load of a node with the costs of its messages and blocks."""
    return state.load[u] + max(state.sent[u], state.received[u])
