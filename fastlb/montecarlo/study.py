"""What a Monte Carlo study is: topologies, methods, distributions of loads, trials and a seed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..arguments import integer
from ..random_loads.distributions import Distribution
from ..random_loads.sampling import MAX_TRIAL, check_seed, read_distribution
from ..topologies.network import Network
from ..topologies.parse import parse_topology
from ..topologies.topology import Topology
from .stopping import Target, read_targets

if TYPE_CHECKING:
    from ..reports.report import Report
    from .results import Results

# Results are long tables of figures: what is recorded, and where it goes, is not a method's option.
RESERVED_OPTIONS = ("record", "out")

# Options that are orders: a single number is an order of one.
ORDERS = ("axes", "dims")


@dataclass(frozen=True)
class Cell:
    """One combination of a study: its trials make up one group of rows of the results."""

    topology: Topology
    method: str
    loads: Distribution

    @property
    def key(self) -> tuple[str, str, str]:
        """Its spelling, (topology, method, loads)."""
        return self.topology.spec, self.method, self.loads.spec


# What combinations share that balance the same loads.
Group = tuple[Topology, Distribution]


@dataclass(frozen=True)
class Part:
    """A grid of topologies x methods x loads; parameters and errors as for :class:`Study`."""

    topologies: tuple[Topology, ...]
    methods: tuple[str, ...]
    loads: tuple[Distribution, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            topologies: Iterable[Topology | str],
            methods: Iterable[str],
            loads: Distribution | str | Iterable[Distribution | str],
        ) -> None: ...

    def __post_init__(self) -> None:
        _normalise(self)

    def cells(self) -> list[Cell]:
        """Return the combinations of the grid, topologies first and methods last."""
        return [
            Cell(topology, method, loads)
            for topology in self.topologies
            for loads in self.loads
            for method in self.methods
        ]


@dataclass(frozen=True)
class Study:
    """A Monte Carlo study: every method balances the same random loads on every topology. Frozen.

    A study is also a TOML file whose keys are the parameters, ``[[further]]`` a table a part.
    Trial ``t`` of a topology and a distribution is the same for all methods, and depends on
    ``(seed, t, node)`` alone.

    Parameters
    ----------
    name : str
        What the study is called.
    topologies : iterable of Topology or str
        Such as ``Mesh(8, 8)``, ``"mesh:8x8"`` or ``"links.csv"``, a file of links.
    methods : iterable of str
        ``name`` or ``name:option=value,option=value``, such as ``"gde:lam=0.723"`` or
        ``"dde:axes=1-0"``. Values are integers, decimals, ``true``, ``false``, ``none``, orders
        ``2-0-1`` or other text. Decimals are exact: one that float64 would round stays text.
    loads : Distribution or str, or an iterable of these
        Such as ``Uniform(1000)`` or ``"uniform:1000"``.
    trials : int
        Trials of every combination.
    seed : int
        From 0 to 2**128 - 1.
    further : iterable of Part
        More grids to run; a combination that occurs twice is run once.
    target_error : dict of float or str, optional
        Largest standard error of the mean that is small enough, by figure: in the figure's unit,
        or as text in per cent of the mean, ``{"sweeps": 0.01, "cost": "0.5%"}``. A topology with
        a distribution of loads stops once all its methods are there in all these figures that
        they have; ``trials`` is then the most it runs. It looks after ``minimum_trials`` trials,
        twice, four times as many and so on, whatever the chunks, threads and executors. Stopping
        when the trials happen to look alike favours trials that do: at 256 trials of a simulated
        normal figure 95 % intervals still held the mean in 94.9 % of studies, of an exponential
        one in 93.9 %, of a log-normal one in 92 %; at 32 in 94, 90 and 87 %. Where that matters,
        fix ``trials``.
    minimum_trials : int
        Trials before the first look.

    Raises
    ------
    ValueError, TypeError
        If an argument is empty, repeats itself, cannot be read or is out of range; options of a
        method are checked when the study is run.

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

    # Optional libraries that the files of the report need.
    needs: ClassVar[tuple[str, ...]] = ()

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
            target_error: Mapping[str, float | str] | Iterable[Target] = (),
            minimum_trials: int = 256,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise ValueError(f"name must be printable text, got {self.name!r}")
        _normalise(self)
        further = tuple(self.further)
        if not all(isinstance(part, Part) for part in further):
            raise TypeError(f"further must be parts of a study, got {further!r}")
        trials = integer("trials", self.trials)
        if not 1 <= trials <= MAX_TRIAL:
            raise ValueError(f"trials must be at least 1 and below 2**63, got {trials}")
        least = integer("minimum_trials", self.minimum_trials)
        if least < 2:
            raise ValueError(f"minimum_trials must be at least 2, got {least}")
        values = {
            "further": further,
            "trials": trials,
            "seed": check_seed(self.seed),
            "target_error": read_targets(self.target_error),
            "minimum_trials": least,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The combinations to run, each once, in the order of the results."""
        parts = (Part(self.topologies, self.methods, self.loads), *self.further)
        return tuple(dict.fromkeys(cell for part in parts for cell in part.cells()))

    @cached_property
    def groups(self) -> dict[Group, tuple[Cell, ...]]:
        """The combinations by topology and loads: all methods of a group see the same loads."""
        groups: dict[Group, list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault((cell.topology, cell.loads), []).append(cell)
        return {group: tuple(cells) for group, cells in groups.items()}

    def covers(self, other: Study) -> bool:
        """Return whether this study has all combinations of another."""
        return set(other.cells) <= set(self.cells)

    def report(self, results: Results) -> Report:
        """Return the tables that ``fastlb study`` prints of the results of this study."""
        from ..reports.report import overview

        return overview(results)

    def to_toml(self) -> str:
        """Return the study as the text of a TOML file.

        Raises
        ------
        ValueError
            If a topology has no spelling, such as a general network.
        """
        from .studyfile import written

        return written(self)

    @classmethod
    def from_toml(cls, text: str) -> Study:
        """Read a study from the text of a TOML file with the keys of the parameters.

        Raises
        ------
        ValueError, TypeError
            If the text is no TOML, a key is missing or unknown, or a value is wrong.
        """
        from .studyfile import read

        return read(text.removeprefix("\ufeff"), cls)

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Read a study from a TOML file.

        Raises
        ------
        ValueError
            As :meth:`from_toml`, with the file and the line.
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
            from .studyfile import located

            raise located(error, path, text) from error


def parse_method(text: str) -> tuple[str, dict[str, Any]]:
    """Read a method's spelling, ``name:option=value,option=value``, as its name and options.

    Examples
    --------
    >>> parse_method("gde:lam=723/1000,order=interleaved")
    ('gde', {'lam': '723/1000', 'order': 'interleaved'})
    """
    if not isinstance(text, str):
        raise TypeError(f"methods must be spelled like 'gde:lam=0.723', got {text!r}")
    name, _, listed = text.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, map(str.strip, listed.split(","))):
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and value and option.isidentifier()) or option in options:
            raise ValueError(f"methods must be spelled like 'gde:lam=0.723', got {text!r}")
        if option in RESERVED_OPTIONS:
            raise ValueError(f"methods of a study cannot set {option}, got {text!r}")
        options[option] = _value(value)
        if option in ORDERS and type(options[option]) is int:
            options[option] = (options[option],)
    return name.strip(), options


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    if re.fullmatch(r"[+-]?\d{1,4000}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"\d{1,18}(-\d{1,18})+", text, re.ASCII):
        return tuple(int(i) for i in text.split("-"))
    try:
        nearest = float(text)
    except ValueError:
        return text
    # Rationals are read from text: a decimal that a float would round stays as it is spelled.
    plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", text, re.ASCII | re.IGNORECASE)
    return text if plain and Decimal(text) != Decimal(repr(nearest)) else nearest


def _normalise(part: Study | Part) -> None:
    """Replace spellings by what they mean, and methods by one spelling each."""
    given = (part.loads,) if isinstance(part.loads, Distribution | str) else part.loads
    topologies = tuple(read_topology(t) for t in _several("topologies", part.topologies))
    methods = tuple(read_method(m) for m in _several("methods", part.methods))
    loads = tuple(read_distribution(distribution) for distribution in _several("loads", given))
    for name, values in {"topologies": topologies, "methods": methods, "loads": loads}.items():
        seen: set[object] = set()
        for value in values:
            # Two of one spelling would be one column of the results.
            same = {value, getattr(value, "spec", value)}
            if seen & same:
                hint = " (label= tells networks apart)" if isinstance(value, Network) else ""
                raise ValueError(f"{name} must differ, got {value} twice{hint}")
            seen |= same
        object.__setattr__(part, name, values)


def _several(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, got {values!r}")
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must not be empty")
    return listed


def read_topology(topology: Any) -> Topology:
    """Return a topology given as such or by its spelling."""
    if isinstance(topology, Topology):
        return topology
    if isinstance(topology, str):
        return parse_topology(topology)
    raise TypeError(f"topologies must be topologies or spellings of them, got {topology!r}")


def read_method(text: str) -> str:
    """Return the method's spelling without spaces, once its name is known to exist."""
    from ..registry import methods

    name, _ = parse_method(text)
    if name not in methods():
        close = difflib.get_close_matches(name, methods(), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"methods must be among {', '.join(methods())}, got {text!r}{hint}")
    return "".join(text.split())
