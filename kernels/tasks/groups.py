"""Groups of tasks that go together: the movable tasks of a node that use one block.

A node holds a block once for all its tasks, so where memory is short whole groups go or are
exchanged. A group that is split has its block at two nodes. See ``kernels/shared/taskstate.py`` for
the state; sizes alone make up the work here. ``T`` tasks, ``N`` nodes, ``B`` blocks.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import aim, fullest, value_after
from ..shared.taskstate import NONE, put

# Which tasks go: both groups; part of the fullest node's; part of the other node's.
WHOLE, PART_OF_OURS, PART_OF_THEIRS = np.arange(3)
# Steps that putting a task elsewhere counts as.
STEPS_OF_A_TASK = 32


class Groups(NamedTuple):
    """The groups of all nodes; those of block b have the tasks ``members[first[b]:first[b+1]]``."""

    members: np.ndarray  # (T,) movable tasks, by block, each block's longest first
    first: np.ndarray  # (B + 1,)
    peak: np.ndarray  # (B,) the most working memory of a task
    size: np.ndarray  # (N, B) sum of the sizes of a group
    own: np.ndarray  # (N, B) and of its own memory
    count: np.ndarray  # (N, B) how many tasks it has


@kernel
def add_members(state, groups):
    """Count all members at their nodes."""
    for b in range(groups.peak.size):
        for i in range(groups.first[b], groups.first[b + 1]):
            t = groups.members[i]
            groups.peak[b] = max(groups.peak[b], state.working[t])
            _count(state, groups, t, state.node[t], np.int64(1))


@long_kernel
def exchange_groups(state, groups, cap, slowness, effort):
    """Lower the fullest node by groups as long as that works; return the effort that remains.

    A group goes to another node or is exchanged for one there; part of one of them may stay. No
    node is above its limit of memory before, nor after.
    """
    B = groups.peak.size
    N = cap.size
    # ``theirs`` begins with NONE: nothing comes back.
    ours = np.empty(B, np.int64)
    theirs = np.empty(B + 1, np.int64)
    theirs[0] = NONE
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = fullest(state.load, cap, slowness)
        start = value_after(state.load, cap, slowness, u, u, 0)
        if start <= 0:
            break
        our_count = _groups_at(groups, u, ours, 0)
        # The candidate of the least value: of equals that which moves least, of the fewest copies.
        best_value = start
        best_moved = np.int64(0)
        best_copies = 0
        best_v = NONE
        best_g = NONE
        best_h = NONE
        best_kind = WHOLE
        steps = N + B
        for v in range(N):
            own_value = (state.load[v] - cap[v]) * slowness[v]
            if v == u or slowness[v] == 0 or own_value >= best_value:
                continue
            their_count = _groups_at(groups, v, theirs, 1)
            steps += B + our_count * their_count
            low, _ = aim(state.load, cap, slowness, u, v, 0)
            for i in range(our_count):
                g = ours[i]
                for j in range(their_count):
                    h = theirs[j]
                    if g == h:
                        continue
                    back = np.int64(0)
                    if h != NONE:
                        back = groups.size[v, h]
                    for kind in range(3):
                        # Parts are taken as if they could be of any size, and then as they are.
                        amount = groups.size[u, g] - back
                        possible = amount > 0
                        if kind == PART_OF_OURS:
                            possible = 0 < low + back < groups.size[u, g]
                            amount = low
                        elif kind == PART_OF_THEIRS:
                            possible = 0 < groups.size[u, g] - low < back
                            amount = low
                        copies = _new_copies(state, u, v, g, h, kind)
                        moved = amount + 2 * back
                        if kind == PART_OF_THEIRS:
                            moved = 2 * groups.size[u, g] - amount
                        for exactly in range(2):
                            if exactly == 1 and possible and kind != WHOLE:
                                amount = _amount(state, groups, u, v, g, h, kind, low)
                                steps += groups.first[g + 1] - groups.first[g]
                            # No load below the cap is better than another.
                            value = max(value_after(state.load, cap, slowness, u, v, amount), 0.0)
                            better = value < best_value
                            if value == best_value:
                                better = moved < best_moved
                                if moved == best_moved:
                                    better = copies < best_copies
                            possible = possible and better
                        if possible and _fits(state, groups, u, v, g, h, kind):
                            best_value, best_moved, best_copies = value, moved, copies
                            best_v, best_g, best_h, best_kind = v, g, h, kind
        if best_v != NONE:
            count = _carry_out(state, groups, cap, slowness, u, best_v, best_g, best_h, best_kind)
            steps += STEPS_OF_A_TASK * count
            lowered = True
        effort -= steps
        if interrupted(meter, 8 * steps):
            effort = 0
    return effort


@inlined
def _groups_at(groups, u, blocks, begin):
    """List the blocks of the groups of a node from a place on; return how many there are then."""
    place = begin
    for b in range(groups.peak.size):
        if groups.count[u, b] > 0:
            blocks[place] = b
            place += 1
    return place


@inlined
def _new_copies(state, u, v, g, h, kind):
    """Return how many more nodes hold a block once groups g of u and h of v are exchanged."""
    copies = 0
    if state.users[v, g] == 0:
        copies += 1
    if kind != PART_OF_OURS:
        copies -= 1
    if h != NONE:
        if state.users[u, h] == 0:
            copies += 1
        if kind != PART_OF_THEIRS:
            copies -= 1
    return copies


@kernel
def _fits(state, groups, u, v, g, h, kind):
    """Tell whether both nodes keep their limits of memory; too careful, never wrong.

    What is split arrives as a whole and leaves nothing; the most working memory does not fall.
    """
    ours = state.memory[u]
    theirs = state.memory[v] + groups.own[u, g] + max(groups.peak[g] - state.peak[v], 0)
    if state.users[v, g] == 0:
        theirs += state.block_bytes[g]
    if kind != PART_OF_OURS:
        ours -= groups.own[u, g]
        if groups.count[u, g] == state.users[u, g]:
            ours -= state.block_bytes[g]
    if h != NONE:
        ours += groups.own[v, h] + max(groups.peak[h] - state.peak[u], 0)
        if state.users[u, h] == 0:
            ours += state.block_bytes[h]
        if kind != PART_OF_THEIRS:
            theirs -= groups.own[v, h]
            if groups.count[v, h] == state.users[v, h]:
                theirs -= state.block_bytes[h]
    # A node that was above its limit for other reasons may become lighter.
    return (ours <= state.limit[u] or ours <= state.memory[u]) and (
        theirs <= state.limit[v] or theirs <= state.memory[v]
    )


@kernel
def _amount(state, groups, u, v, g, h, kind, low):
    """Return what node u gives away where a group is split, of which the longest that fit go."""
    size = groups.size
    back = np.int64(0)
    if h != NONE:
        back = size[v, h]
    if kind == PART_OF_OURS:
        return _filled(state, groups, g, u, low + back) - back
    return size[u, g] - _filled(state, groups, h, v, size[u, g] - low)


@kernel
def _filled(state, groups, b, u, amount):
    """Return the sum of the longest tasks of a group that fit into an amount."""
    remaining = amount
    for i in range(groups.first[b], groups.first[b + 1]):
        t = groups.members[i]
        if state.node[t] == u and state.size[t] <= remaining:
            remaining -= state.size[t]
    return amount - remaining


@kernel
def _carry_out(state, groups, cap, slowness, u, v, g, h, kind):
    """Exchange group g of node u for group h of v, or parts of them; return how many tasks moved.

    Of what is split the longest tasks that fit go.
    """
    low, _ = aim(state.load, cap, slowness, u, v, 0)
    given = groups.size[u, g]
    back = np.int64(0)
    if h != NONE:
        back = groups.size[v, h]
    if kind == PART_OF_OURS:
        given = low + back
    elif kind == PART_OF_THEIRS:
        back = given - low
    count = 0
    for b, source, target, amount in ((g, u, v, given), (h, v, u, back)):
        if b == NONE:
            continue
        for i in range(groups.first[b], groups.first[b + 1]):
            t = groups.members[i]
            # Tasks of g that went from u to v are not at ``v`` for h, as g and h differ.
            if state.node[t] == source and state.size[t] <= amount:
                amount -= state.size[t]
                _count(state, groups, t, source, np.int64(-1))
                put(state, t, target)
                _count(state, groups, t, target, np.int64(1))
                count += 1
    return count


@kernel
def _count(state, groups, t, u, sign):
    """Add a task to its group at a node, or take it away."""
    b = state.block[t]
    groups.size[u, b] += sign * state.size[t]
    groups.own[u, b] += sign * state.own[t]
    groups.count[u, b] += sign
