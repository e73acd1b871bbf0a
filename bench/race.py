"""Programs that run in turn on the same work, and how their times compare.

In every round each program has one stretch, one after the other, so that a machine that slows
down slows all of them. A stretch is as many calls as take ``STRETCH`` seconds of CPU time of this
process and of those it has started and waited for, which does not count what others take. Ratios
are taken within a round; reported are the median of the rounds and the quartiles.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bench import processor

STRETCH = 10e-3
ROW_SECONDS = 1.0
MOST_ROUNDS = 101
COPIED_BYTES = 2**27

Program = Callable[[], Any]


def clock() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass(frozen=True)
class Ratio:
    """Median and quartiles of the ratios of all rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: np.ndarray) -> Ratio:
        low, median, high = np.percentile(ratios, [25, 50, 75])
        return cls(float(median), float(low), float(high))

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``faster_than`` holds peer time / fastlb time, ``times_of`` fastlb time / yardstick time.
    ``targets`` has the least of the first and the most of the second that is aimed at.
    """

    name: str
    rounds: int
    nanoseconds_per_node: float
    faster_than: dict[str, Ratio]
    times_of: dict[str, Ratio]
    targets: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Race:
    """Runs fastlb and its peers; made by the fixture ``race``."""

    def __init__(self, benchmark: Any, rows: list[Row], *, timed: bool) -> None:
        self.benchmark = benchmark
        self.rows = rows
        self.timed = timed

    def __call__(
        self,
        name: str,
        fastlb: Program,
        peers: Mapping[str, Program | None],
        *,
        nodes: int,
        copied: int = 0,
        yardsticks: Mapping[str, Program] | None = None,
        targets: Mapping[str, float] | None = None,
    ) -> None:
        """Check that all programs agree bit for bit, then time them.

        Parameters
        ----------
        name : str
            Of the row.
        fastlb, peers
            Programs that return an array or a tuple of arrays, loads first; a peer that is None is
            left out.
        nodes : int
            Nodes balanced in a call.
        copied : int
            Bytes of the loads, to be set against ``numpy.copyto`` of as many; 0 for no such.
        yardsticks
            Programs whose answers are not compared, only their times.
        targets
            By peer the least ratio aimed at with AVX-512, by yardstick the most; ``aims`` in
            ``processor.py`` says what becomes of them on narrower registers.
        """
        present = {peer: program for peer, program in peers.items() if program is not None}
        expected = fastlb()
        for peer, program in present.items():
            check_agreement(name, peer, expected, program())
        if not self.timed:
            self.benchmark.pedantic(fastlb)
            return
        others = present | dict(yardsticks or {})
        scale = dict.fromkeys(others, 1.0)
        if copied:
            others["copies"], scale["copies"] = copier(), copied / COPIED_BYTES
        calls = {label: calls_in_a_stretch(program) for label, program in others.items()}
        own_calls = calls_in_a_stretch(fastlb)
        times: dict[str, list[float]] = {label: [] for label in others}

        def others_run() -> None:
            for label, program in others.items():
                times[label].append(stretch(program, calls[label]))

        def others_run_first() -> None:
            others_run()
            if own_calls > 1:
                fastlb()

        def fastlb_runs() -> None:
            for _ in range(own_calls):
                fastlb()

        begin = clock()
        others_run()
        fastlb_runs()
        round_takes = clock() - begin
        for label in times:
            times[label].clear()
        rounds = int(np.clip(ROW_SECONDS / round_takes, 5, MOST_ROUNDS)) | 1
        self.benchmark.pedantic(fastlb_runs, setup=others_run_first, rounds=rounds, iterations=1)
        own = np.array(self.benchmark.stats.stats.data) / own_calls
        measured = {label: np.array(times[label]) * scale[label] for label in others}
        first = expected[0] if isinstance(expected, tuple) else expected
        aims = processor.aims(targets or {}, np.asarray(first).itemsize)
        self.record(name, own, measured, nodes=nodes, peers=present, targets=aims)

    def record(
        self,
        name: str,
        own: np.ndarray,
        others: Mapping[str, np.ndarray],
        *,
        nodes: int = 1,
        peers: Collection[str] = (),
        targets: Mapping[str, float] | None = None,
    ) -> None:
        """Add a row of what was measured in rounds: of fastlb, and of peers and yardsticks.

        ``peers`` names those of ``others`` that fastlb should be faster than.
        """
        row = Row(
            name,
            len(own),
            float(np.median(own)) / nodes * 1e9,
            {label: Ratio.of(others[label] / own) for label in others if label in peers},
            {label: Ratio.of(own / others[label]) for label in others if label not in peers},
            dict(targets or {}),
        )
        self.rows.append(row)
        self.benchmark.extra_info.update(row.to_dict())


def check_agreement(name: str, peer: str, expected: Any, answer: Any) -> None:
    """Raise ``AssertionError`` unless two answers are equal to the last bit."""
    ours = expected if isinstance(expected, tuple) else (expected,)
    theirs = answer if isinstance(answer, tuple) else (answer,)
    assert len(ours) == len(theirs), f"{name}: {peer} gives another number of arrays"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        assert np.array_equal(a.reshape(-1), b.reshape(-1)), f"{name}: {peer} differs in array {i}"


def stretch(program: Program, calls: int) -> float:
    """Return the CPU seconds that one of so many calls takes.

    Short programs run once before, untimed: what the program before them did to the caches and
    to freed memory is no merit or fault of theirs.
    """
    if calls > 1:
        program()
    begin = clock()
    for _ in range(calls):
        program()
    return (clock() - begin) / calls


def calls_in_a_stretch(program: Program) -> int:
    """Return how many calls take about ``STRETCH`` seconds."""
    calls = 1
    while (takes := stretch(program, calls) * calls) < STRETCH / 4:
        calls *= 4
    return max(1, round(STRETCH / (takes / calls)))


def copier() -> Program:
    """Return a copy between two arrays of ``COPIED_BYTES``, larger than any cache."""
    source = np.ones(COPIED_BYTES // 8)
    target = np.ones(COPIED_BYTES // 8)
    return lambda: np.copyto(target, source)
