"""Bundled studies: the experiments of the papers, ready to be run, and what they say."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from typing import TYPE_CHECKING, Any

from ..arguments import written
from .questions import QUESTIONS, question

if TYPE_CHECKING:
    from ..montecarlo.results import Results
    from ..montecarlo.study import Study
    from ..reports.report import Report

# Name, module, and what `fastlb study` says of it.
_BUNDLED = {
    "wu-shu": ("wu_shu", "DDE against GDE on meshes and tori: Table I, Figures 11-16"),
    "hexa-cell": ("hexa_cell", "Algorithms A, B and C on hyper hexa-cells: Figures 3-11, errata"),
    "more-wu": ("more_wu", "Branch and bound with and without balancing: the speedup"),
    "more-wu-faults": ("more_wu_faults", "DEM on hypercubes with faulty links: Figure 1"),
    "minimax": ("minimax", "Minimax flow: contention, routing schemes, traffic, entities"),
    "tasks": ("tasks", "Whole tasks: gap, moves and time over sizes, networks and ways"),
}

# What a bundled study may be asked for and still be run by its name.
_OPTIONS = ("trials", "seed", "target_error")


def names() -> dict[str, str]:
    """Return the names of the bundled studies, each with a line about it."""
    return {name: about for name, (_, about) in _BUNDLED.items()}


def load(name: str) -> Study:
    """Return a bundled study.

    Its trials and seed are changed with ``dataclasses.replace``; it is run by ``fastlb.run``, and
    :func:`report` says what its results mean.

    Raises
    ------
    ValueError
        If there is no study of this name.

    Examples
    --------
    >>> load("wu-shu").trials
    100
    """
    if not isinstance(name, str) or name not in _BUNDLED:
        close = difflib.get_close_matches(str(name), _BUNDLED, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"study must be one of {', '.join(_BUNDLED)}, got {written(name)}{hint}")
    study: Study = _module(name).study()
    return study


def report(results: Results) -> Report:
    """Return the tables, plots and sentences that ``fastlb study`` prints of results.

    Those of the paper if they are of a bundled study, by name and with all its combinations;
    otherwise means of the main figures and how the methods differ.

    Examples
    --------
    >>> import fastlb as lb
    >>> study = lb.Study("mine", ["ring:8"], ["gde:lam=1/2", "dde"], "uniform:100", trials=20)
    >>> [table.name for table in lb.studies.report(lb.run(study)).tables][:2]
    ['overview', 'differences-difference']
    """
    from ..reports.overview import overview

    study = results.study
    if study.name not in _BUNDLED or not study.covers(bundled := load(study.name)):
        return dataclasses.replace(
            overview(results), about=question(cell.method for cell in study.cells)
        )
    statements: Report = _module(study.name).report(results)
    asked: dict[str, Any] = {option: getattr(study, option) for option in _OPTIONS}
    command: list[str] = []
    if dataclasses.replace(bundled, **asked) == study:
        command = ["fastlb", "study", study.name]
        command += ["--trials", str(study.trials), "--seed", str(study.seed)]
        for target in study.target_error:
            command += ["--target-error", f"{target.figure}={target.spec}"]
    return dataclasses.replace(statements, about=QUESTIONS[study.name], command=command)


def _module(name: str) -> Any:
    module, _ = _BUNDLED[name]
    return importlib.import_module(f".{module}", __name__)
