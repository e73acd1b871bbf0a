"""Bundled studies: the experiments of the papers, and reports of their results."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from ..arguments import did_you_mean, written
from .questions import QUESTIONS, question

if TYPE_CHECKING:
    from ..montecarlo.results import Results
    from ..montecarlo.study import Study
    from ..reports.report import Report

# By name: the module, and the line of `fastlb study` about it.
_BUNDLED = {
    "wu-shu": ("wu_shu", "DDE against GDE on meshes and tori: Table I, Figures 11-16"),
    "hexa-cell": ("hexa_cell", "Algorithms A, B and C on hyper hexa-cells: Figures 3-11, errata"),
    "more-wu": ("more_wu", "Branch and bound with and without balancing: the speedup"),
    "more-wu-faults": ("more_wu_faults", "DEM on hypercubes with faulty links: Figure 1"),
    "minimax": ("minimax", "Minimax flow: contention, routing schemes, traffic, entities"),
    "tasks": ("tasks", "Whole tasks: gap, moves and time over sizes, networks and ways"),
}

# Parameters with which a bundled study can be run by its name.
_OPTIONS = ("trials", "seed", "target_error")


def names() -> dict[str, str]:
    """Return a line about each bundled study, by name."""
    return {name: about for name, (_, about) in _BUNDLED.items()}


def load(name: str) -> Study:
    """Return a bundled study.

    Change its trials and seed with ``dataclasses.replace``, run it with ``fastlb.run``, and pass
    its results to :func:`report`.

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
        raise ValueError(
            f"study must be one of {', '.join(_BUNDLED)}, got {written(name)}"
            f"{did_you_mean(str(name), _BUNDLED)}"
        )
    study: Study = _module(name).study()
    return study


def report(results: Results) -> Report:
    """Return the report that ``fastlb study`` prints: tables, plots and tested statements.

    It is that of the paper if the results have the name and all combinations of a bundled study.
    Otherwise it has the means of the main figures and the differences between the methods.

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
    bundled_report: Report = _module(study.name).report(results)
    options: dict[str, Any] = {option: getattr(study, option) for option in _OPTIONS}
    command: list[str] = []
    if dataclasses.replace(bundled, **options) == study:
        command = ["fastlb", "study", study.name]
        command += ["--trials", str(study.trials), "--seed", str(study.seed)]
        for target in study.target_error:
            command += ["--target-error", f"{target.figure}={target.spec}"]
    return dataclasses.replace(bundled_report, about=QUESTIONS[study.name], command=command)


def _module(name: str) -> Any:
    module, _ = _BUNDLED[name]
    return importlib.import_module(f".{module}", __name__)
