"""Division of a study into chunks of trials, which are run here or sent to workers."""

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

# Most loads of a chunk: 4 milliseconds of work or more, against which the fifth of a millisecond
# of Python and statistics around it does not show. A group with few trials is divided into
# MIN_CHUNKS, so that all workers have something to do, unless a chunk would have fewer loads than
# MIN_LOADS. Shorter chunks at the end of a group gain nothing: runs of 0.1 to 0.8 s on two threads
# took as long, or 2 % longer.
MAX_LOADS = 2**22
MIN_LOADS = 2**20
MIN_CHUNKS = 32

# Loads of a chunk of an experiment, whose trials may take long on any network.
EXPERIMENT_LOADS = 2**19

# Loads of a chunk of which another process sends back statistics alone. These are half a megabyte
# for any number of trials.
TALLY_LOADS = 2**25

# Rows of results of a chunk: at most some 7 MB, however small the network.
MAX_ROWS = 2**16

# Loads in rows that are balanced at a time: 4 MiB.
ROWS_LOADS = 2**19

# Memory of a chunk. A load takes 24 bytes: in a row, in a tile and balanced.
CHUNK_BYTES = 2**30
LOAD_BYTES = 24


@dataclass(frozen=True)
class Chunk:
    """The trials ``start .. start + trials - 1`` of one topology and distribution, for all methods.

    It is small enough to be sent to another process.
    """

    topology: Topology
    loads: Distribution
    methods: tuple[str, ...]
    seed: int
    start: int
    trials: int

    @property
    def group(self) -> Group:
        """The group of the study that the trials belong to."""
        return self.topology, self.loads

    @property
    def cells(self) -> list[Cell]:
        """The combinations of the study that the trials belong to, in the order of the methods."""
        return [Cell(self.topology, method, self.loads) for method in self.methods]

    @property
    def rows(self) -> int:
        """The number of rows of results: one per trial and method."""
        return self.trials * len(self.methods)


def divide(
    study: Study,
    size: int | None = None,
    *,
    groups: Iterable[Group] | None = None,
    trials: range | None = None,
    tallied: bool = False,
) -> Iterator[Chunk]:
    """Divide trials of a study into chunks.

    Parameters
    ----------
    study : Study
    size : int, optional
        Trials of a chunk; by default as many as suit the network and the methods.
    groups : iterable of Group, optional
        By default all of the study.
    trials : range, optional
        By default all of the study.
    tallied : bool
        Whether other processes run the chunks and send back statistics alone.
    """
    numbers = range(study.trials) if trials is None else trials
    for topology, loads in study.groups if groups is None else groups:
        methods = tuple(cell.method for cell in study.groups[topology, loads])
        min_loads, max_loads, max_rows = MIN_LOADS, MAX_LOADS, MAX_ROWS
        if isinstance(loads, Experiment):
            min_loads = max_loads = EXPERIMENT_LOADS
        elif tallied:
            min_loads, max_loads, max_rows = MAX_LOADS, TALLY_LOADS, TALLY_LOADS
        share = len(numbers) * topology.size // MIN_CHUNKS
        chunk_loads = min(max(share, min_loads), max_loads)
        step = size or trials_of(chunk_loads, topology.size, max_rows // len(methods))
        for start in numbers[::step]:
            count = min(step, numbers.stop - start)
            yield Chunk(topology, loads, methods, study.seed, start, count)


def subdivide(chunk: Chunk, loads: int, max_rows: int = MAX_ROWS) -> Iterator[Chunk]:
    """Divide a chunk into chunks of about ``loads`` loads and at most ``max_rows`` rows."""
    step = trials_of(loads, chunk.topology.size, max_rows // len(chunk.methods))
    for first in range(0, chunk.trials, step):
        count = min(step, chunk.trials - first)
        yield replace(chunk, start=chunk.start + first, trials=count)


def trials_of(loads: int, N: int, max_trials: int) -> int:
    """Return how many trials of ``N`` nodes have about ``loads`` loads, at most ``max_trials``.

    They make up whole tiles, or at least a vector: single trials take up to six times as long. They
    are fewer if their memory would exceed ``CHUNK_BYTES``.
    """
    trials = min(loads // N, max_trials)
    unit = LANES if trials >= LANES else VECTOR
    max_in_memory = CHUNK_BYTES // (LOAD_BYTES * N)
    return max(1, min(max(trials // unit, 1) * unit, max_in_memory))
