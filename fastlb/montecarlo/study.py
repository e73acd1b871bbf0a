"""A Monte Carlo study: its topologies, methods, distributions of loads, trials and seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import integer
from ..display.cards import card
from ..random_loads.distributions import Distribution
from ..random_loads.sampling import MAX_TRIAL, check_seed
from ..topologies.topology import Topology
from .grid import GRID, Cell, Group, Part, normalise
from .studyfile import read_keys, toml_text
from .studyfile_lines import located
from .targets import Target, read_targets

__all__ = ["Cell", "Group", "Part", "Study"]


@dataclass(frozen=True)
class Study:
    """A Monte Carlo study: every method balances the same random loads on every topology. Frozen.

    The loads of trial ``t`` of a topology and a distribution are the same for all methods; the
    load of a node depends on ``(seed, t, node)`` alone. A study may be a TOML file, whose keys are
    the parameters, with a table ``[[further]]`` for each further part.

    Parameters
    ----------
    name : str
        Name of the study, in results and files.
    topologies : iterable of Topology or str
        Such as ``Mesh(8, 8)``, ``"mesh:8x8"``, or the file of a network's links, ``"links.csv"``.
    methods : iterable of str
        ``name`` or ``name:option=value,option=value``, such as ``"gde:lam=0.723"`` or
        ``"dde:axes=1-0"``. Values are integers, decimals, ``true``, ``false``, ``none``, orders
        such as ``2-0-1``, or other text. Decimals are exact: one that float64 would round stays
        text.
    loads : Distribution or str, or an iterable of these
        Such as ``Uniform(1000)`` or ``"uniform:1000"``.
    trials : int
        Number of trials of each combination.
    seed : int
        From 0 to 2**128 - 1.
    further : iterable of Part
        More grids of combinations; one that occurs twice is run once.
    target_error : dict of float or str, optional
        By figure, the standard error of the mean at which to stop: in the figure's unit, or as
        text in per cent of the mean, ``{"sweeps": 0.01, "cost": "0.5%"}``. ``trials`` is then the
        largest number of trials. For each topology and distribution of loads the errors are
        checked after ``minimum_trials`` trials, twice as many, four times as many and so on,
        whatever the chunks, threads and executors; no more trials are run once all methods have
        reached the targets of all figures they have.

        Stopping early favours trials that happen to vary little, so that intervals are too
        narrow: with ``minimum_trials=256``, 95 % intervals contained the mean of a simulated normal
        figure in 94.9 % of studies, of an exponential one in 93.9 %, and of a log-normal one in
        92 %; with 32, in 94, 90 and 87 %. Where that matters, leave ``target_error`` out.
    minimum_trials : int
        Number of trials before the errors are checked first.

    Raises
    ------
    ValueError, TypeError
        If an argument is empty, repeats itself, cannot be read or is out of range. Options of
        methods are checked when the study is run.

    Examples
    --------
    >>> study = Study("small", topologies=["mesh:4x4"], methods=["dde"], loads="uniform:10")
    >>> [cell.key for cell in study.cells]
    [('mesh:4x4', 'dde', 'uniform:10')]
    """

    name: str
    topologies: tuple[Topology, ...]
    methods: tuple[str, ...]
    loads: tuple[Distribution, ...]
    trials: int = 100
    seed: int = 0
    further: tuple[Part, ...] = ()
    target_error: tuple[Target, ...] = ()
    minimum_trials: int = 256

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            topologies: Iterable[Topology | str],
            methods: Iterable[str],
            loads: Distribution | str | Iterable[Distribution | str],
            trials: int = 100,
            seed: int = 0,
            further: Iterable[Part] = (),
            target_error: Mapping[str, float | str] | Sequence[Target] = (),
            minimum_trials: int = 256,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise ValueError(f"name must be printable text, got {self.name!r}")
        normalise(self)
        further = tuple(self.further)
        if not all(isinstance(part, Part) for part in further):
            raise TypeError(f"further must be parts of a study, got {further!r}")
        trials = integer("trials", self.trials)
        if not 1 <= trials <= MAX_TRIAL:
            raise ValueError(f"trials must be at least 1 and below 2**63, got {trials}")
        minimum_trials = integer("minimum_trials", self.minimum_trials)
        if minimum_trials < 2:
            raise ValueError(f"minimum_trials must be at least 2, got {minimum_trials}")
        values = {
            "further": further,
            "trials": trials,
            "seed": check_seed(self.seed),
            "target_error": read_targets(self.target_error),
            "minimum_trials": minimum_trials,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All combinations, each once, in the order of the results."""
        parts = (Part(self.topologies, self.methods, self.loads), *self.further)
        return tuple(dict.fromkeys(cell for part in parts for cell in part.cells()))

    @cached_property
    def groups(self) -> dict[Group, tuple[Cell, ...]]:
        """The combinations by topology and loads: the methods of a group balance the same loads."""
        groups: dict[Group, list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault((cell.topology, cell.loads), []).append(cell)
        return {group: tuple(cells) for group, cells in groups.items()}

    def _repr_html_(self) -> str:
        about = {
            "topologies": [topology.spec for topology in self.topologies],
            "methods": self.methods,
            "loads": [loads.spec for loads in self.loads],
            "further grids": len(self.further),
            "combinations": len(self.cells),
            "trials": self.trials,
            "seed": self.seed,
        }
        if self.target_error:
            about["stops at"] = [f"{target.figure} {target.spec}" for target in self.target_error]
        return card(f"Study {self.name}", about)

    def covers(self, other: Study) -> bool:
        """Return whether this study has all combinations of another."""
        return set(other.cells) <= set(self.cells)

    def only(self, groups: Iterable[Group]) -> Study:
        """Return the study of some of the groups of topologies and loads, with all their methods.

        It has one grid for each group.
        """
        grids = [
            Part([topology], [cell.method for cell in self.groups[topology, loads]], [loads])
            for topology, loads in groups
        ]
        first = {name: getattr(grids[0], name) for name in GRID}
        return replace(self, **first, further=tuple(grids[1:]))

    def to_toml(self) -> str:
        """Return the study as the text of a TOML file.

        Raises
        ------
        ValueError
            If a topology or distribution has no spelling, as a general network has none.
        """
        return toml_text(
            self.name,
            [Part(self.topologies, self.methods, self.loads), *self.further],
            trials=self.trials,
            seed=self.seed,
            targets=self.target_error,
            minimum_trials=self.minimum_trials,
        )

    @classmethod
    def from_toml(cls, text: str) -> Study:
        """Read a study from the text of a TOML file with the keys of the parameters.

        Raises
        ------
        ValueError, TypeError
            If the text is not valid TOML, a key is missing or unknown, or a value is wrong.
        """
        keys = [field.name for field in fields(cls)]
        return cls(**read_keys(text.removeprefix("\ufeff"), keys))

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Read a study from a TOML file.

        Raises
        ------
        ValueError
            As for :meth:`from_toml`; the message names the file and the line.
        OSError
            If the file cannot be read.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path} is no text (UTF-8)") from None
        try:
            return cls.from_toml(text)
        except (ValueError, TypeError) as error:
            raise located(error, path, text) from error
