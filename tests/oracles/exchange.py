"""Task exchange in synchronous rounds, all ports, full duplex (Wu-Shu Figs 5, 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Transfer = tuple[int, int, Any]  # sender, taker, amount > 0


class Deadlock(Exception):
    """No transfer that is left can ever start."""


def link_transfers(flows: Sequence[Any]) -> list[Transfer]:
    """`flows[i]` goes from i to its successor; the last one is the wrap link.

    A node's link to its predecessor stands before its link to its successor, as in Fig. 6.
    """
    k = len(flows)
    transfers: list[Transfer] = []
    for node in range(k):
        if flows[node - 1] < 0:
            transfers.append((node, (node - 1) % k, -flows[node - 1]))
        if flows[node] > 0:
            transfers.append((node, (node + 1) % k, flows[node]))
    return transfers


def run(
    loads: Sequence[Any],
    transfers: Sequence[Transfer],
    mode: str,
    local: Sequence[Any] | None = None,
) -> tuple[int, list[Any]]:
    """Rounds until all is sent, and each node's units that never left it.

    "rbs": a node sends once nothing is on its way to it. "sbr": a transfer starts as soon as the
    sender holds that much, "sbr-strict" more than that. What arrives is usable in the next round;
    a sender gives away foreign units first.
    """
    final = list(loads)
    for sender, taker, amount in transfers:
        final[sender] -= amount
        final[taker] += amount
    if min(final) < 0:
        raise ValueError("overdrawn")
    held = list(loads)
    local = list(loads if local is None else local)
    pending = list(transfers)
    rounds = 0
    while pending:
        waiting = {taker for _, taker, _ in pending}
        sent, kept = [], []
        for transfer in pending:
            sender, _, amount = transfer
            if mode == "rbs":
                starts = sender not in waiting
            elif mode == "sbr":
                starts = held[sender] >= amount
            elif mode == "sbr-strict":
                starts = held[sender] > amount
            else:
                raise ValueError(mode)
            if starts:
                held[sender] -= amount
                local[sender] = min(local[sender], held[sender])
                sent.append(transfer)
            else:
                kept.append(transfer)
        if not sent:
            raise Deadlock(pending)
        for _, taker, amount in sent:
            held[taker] += amount
        pending = kept
        rounds += 1
    return rounds, local


def exchange_rounds(
    loads: Sequence[Any],
    flows: Sequence[Any],
    mode: str = "rbs",
    local: Sequence[Any] | None = None,
) -> tuple[int, list[Any]]:
    """Exchange along one chain (last flow 0) or ring."""
    return run(loads, link_transfers(flows), mode, local)
