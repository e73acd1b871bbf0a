"""Chunks of trials: what a study is divided into, to be run here or sent away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..exchange.tiling import LANES, VECTOR
from ..random_loads.distributions import Experiment
from .grid import Cell

if TYPE_CHECKING:
    from ..random_loads.distributions import Distribution
    from ..topologies.topology import Topology
    from .grid import Group
    from .study import Study

# Loads of a chunk: 4 milliseconds of work or more, beside which the Python around it and the
# statistics, a fifth of a millisecond, do not show. Few trials are divided further, so that there
# is something for all workers, but not below the time of that Python. Shorter chunks at the end of
# a group gain nothing: on two threads runs of 0.1 to 0.8 s took as long, or 2 % longer.
CHUNK_LOADS = 2**22
LEAST_LOADS = 2**20
PIECES = 32

# Loads of a chunk of an experiment, of which a trial may take long, whatever its network.
EXPERIMENT_LOADS = 2**19

# Loads of a chunk of which only statistics come back from another process: these are half a
# megabyte, however many trials it has.
TALLY_LOADS = 2**25

# Rows of results that a chunk may have: some 7 MB, however small the network.
CHUNK_ROWS = 2**16

# Loads that are balanced at a time where they lie in rows: 4 MiB.
ROWS_LOADS = 2**19

# Memory of a chunk: loads in rows, their copy in tiles and the balanced ones are 24 bytes a load.
CHUNK_BYTES = 2**30
LOAD_BYTES = 24


@dataclass(frozen=True)
class Chunk:
    """Some trials of one topology and distribution, for all methods; small enough to send away."""

    topology: Topology
    loads: Distribution
    methods: tuple[str, ...]
    seed: int
    start: int
    trials: int

    @property
    def group(self) -> Group:
        """Of which group of the study it has trials."""
        return self.topology, self.loads

    @property
    def cells(self) -> list[Cell]:
        """Of which combinations it has trials."""
        return [Cell(self.topology, method, self.loads) for method in self.methods]


def plan(
    study: Study,
    size: int | None = None,
    *,
    groups: Iterable[Group] | None = None,
    trials: range | None = None,
    tallied: bool = False,
) -> Iterator[Chunk]:
    """Divide trials into chunks of ``size`` trials, or of a fitting size.

    All trials of all of the study's groups, or those ``trials`` of those ``groups``; ``tallied``
    where other processes send back statistics alone.
    """
    chosen = range(study.trials) if trials is None else trials
    for topology, loads in study.groups if groups is None else groups:
        methods = tuple(cell.method for cell in study.groups[topology, loads])
        least, most, rows = LEAST_LOADS, CHUNK_LOADS, CHUNK_ROWS
        if isinstance(loads, Experiment):
            least = most = EXPERIMENT_LOADS
        elif tallied:
            least, most, rows = CHUNK_LOADS, TALLY_LOADS, TALLY_LOADS
        fair = min(max(len(chosen) * topology.size // PIECES, least), most)
        step = size or fitting(fair, topology.size, rows // len(methods))
        for start in chosen[::step]:
            count = min(step, chosen.stop - start)
            yield Chunk(topology, loads, methods, study.seed, start, count)


def pieces(chunk: Chunk, loads: int, rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
    """Divide a chunk into chunks of about so many loads, and at most so many rows."""
    step = fitting(loads, chunk.topology.size, rows // len(chunk.methods))
    for first in range(0, chunk.trials, step):
        count = min(step, chunk.trials - first)
        yield replace(chunk, start=chunk.start + first, trials=count)


def fitting(loads: int, N: int, most: int) -> int:
    """Return how many trials of ``N`` nodes make about so many loads, at most ``most``.

    Whole tiles, or a vector at least, beside which single trials take up to six times as long;
    fewer where that would take more than ``CHUNK_BYTES``.
    """
    trials = min(loads // N, most)
    unit = LANES if trials >= LANES else VECTOR
    room = CHUNK_BYTES // (LOAD_BYTES * N)
    return max(1, min(max(trials // unit, 1) * unit, room))
