"""The result of scheduling: a round for each transfer, checked against all limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import card
from ..flows.plan import plain
from .limits import least_rounds, read_limits
from .transfers import OPEN, UNUSED, Transfers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..display.html import Markup
    from .transfers import Integers


@dataclass(frozen=True, eq=False, repr=False)
class Rounds:
    """The rounds of ``T`` transfers; ``for transfers in rounds`` yields those of each round.

    Attributes
    ----------
    round : (T,) int64
        Round of each transfer, from 0 on.
    count : int
        Number of rounds.
    bound : int
        Number of rounds below which no schedule exists: ``max ceil(transfers / limit)`` over the
        nodes and links, where routes have several hops at least the hops of the longest one.
    limits : dict
        The limits that were asked for, by name.
    src, dst : (T,) int64
        Nodes that send and that receive.
    amount : (T,) array or None
        What is transferred.
    route, hop : (T,) int64 or None
        Of the routes of a plan: the route that a transfer belongs to, and which of its hops it is.

    Examples
    --------
    >>> import fastlb as lb
    >>> rounds = lb.schedule([0, 1, 2], [1, 2, 0], per_node=1)
    >>> rounds.count, rounds.bound, rounds.gap  # a triangle
    (3, 2, 0.5)
    >>> [transfers.tolist() for transfers in rounds]
    [[0], [1], [2]]
    """

    round: Integers
    count: int
    bound: int
    limits: Mapping[str, Any]
    _transfers: Transfers

    @property
    def gap(self) -> float:
        """``count / bound - 1``: 0.0 where no schedule has fewer rounds."""
        return self.count / self.bound - 1 if self.bound else 0.0

    @property
    def src(self) -> Integers:
        return self._transfers.src

    @property
    def dst(self) -> Integers:
        return self._transfers.dst

    @property
    def amount(self) -> NDArray[Any] | None:
        return self._transfers.amount

    @property
    def route(self) -> Integers | None:
        return self._transfers.route

    @property
    def hop(self) -> Integers | None:
        return self._transfers.hop

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Integers]:
        order = np.argsort(self.round, kind="stable")
        ends = np.cumsum(np.bincount(self.round, minlength=self.count)).tolist()
        return iter(np.split(order, ends[:-1]) if ends else [])

    def verify(self) -> bool:
        """Check limits, order, rounds and bound anew, from the transfers and limits alone.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        transfers, rounds = self._transfers, self.round
        _require(rounds.shape == (transfers.count,), "each transfer has a round")
        used = np.unique(rounds)
        _require(np.array_equal(used, np.arange(self.count)), "rounds are 0 .. count - 1, all used")
        arguments = dict.fromkeys(("per_node", "send", "receive", "per_link")) | dict(self.limits)
        limits = read_limits(transfers, **arguments)
        for limit in limits:
            group = np.concatenate(limit.columns)
            round_ = np.tile(rounds, len(limit.columns))
            pairs, counts = np.unique(np.stack([group, round_]), axis=1, return_counts=True)
            _require(bool((counts <= limit.most[pairs[0]]).all()), f"{limit.name} holds")
        if transfers.waiting is not None:
            before, after = transfers.waiting.before, transfers.waiting.after
            last = np.full(transfers.waiting.gates, -1)
            np.maximum.at(last, after, rounds)
            last[[OPEN, UNUSED]] = -1
            _require(bool((rounds > last[before]).all()), "no transfer comes before its load")
        _require(self.bound == least_rounds(transfers, limits), "bound is the one of the limits")
        _require(self.bound <= self.count, "bound is at most the number of rounds")
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; Fractions become strings such as "7/2"."""
        columns: dict[str, list[Any]] = {
            "round": self.round.tolist(),
            "src": self.src.tolist(),
            "dst": self.dst.tolist(),
        }
        if self.amount is not None:
            columns["amount"] = [plain(amount) for amount in self.amount.tolist()]
        if self.route is not None and self.hop is not None:
            columns |= {"route": self.route.tolist(), "hop": self.hop.tolist()}
        limits = {name: np.asarray(limit).tolist() for name, limit in self.limits.items()}
        return {
            "count": self.count,
            "bound": self.bound,
            "gap": self.gap,
            "limits": limits,
            **columns,
        }

    def _repr_html_(self) -> Markup:
        about = {"transfers": len(self.src), "rounds": self.count, "bound": self.bound}
        return card("Rounds", {**about, "gap": self.gap, **self.limits, "round": self.round})

    def __repr__(self) -> str:
        limits = "".join(f", {name}={_short(limit)}" for name, limit in self.limits.items())
        return f"<Rounds: {self.count} for {len(self.src)} transfers, bound {self.bound}{limits}>"


def _short(limit: Any) -> str:
    return f"{len(limit)} limits" if np.ndim(limit) else str(limit)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"the rounds are wrong: it does not hold that {what}")
