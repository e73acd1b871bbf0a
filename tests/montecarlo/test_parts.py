"""Rows of figures as Parquet, and back with the same bits."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb

from .stores import STUDY, parts

pytest.importorskip("pyarrow")


def test_a_part_of_another_study(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path / "a")
    lb.run(dataclasses.replace(STUDY, seed=3), store=tmp_path / "b")
    part = parts(tmp_path / "b")[0]
    part.rename(tmp_path / "a" / part.name)
    with pytest.raises(ValueError, match=f"{part.name} belongs to another study"):
        lb.run(STUDY, store=tmp_path / "a", resume=True)


def dtypes_of(study: lb.Study, number: int) -> dict[str, np.dtype]:  # type: ignore[type-arg]
    from fastlb.montecarlo.measuring import dry_run

    return dict(dry_run(study)[study.cells[number]])


def test_figures_of_different_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one method counts and another measures comes back as each gave it, NaN included."""
    from fastlb.montecarlo.measuring import run_chunk

    def mixed(chunk):  # type: ignore[no-untyped-def]
        first, *rest = run_chunk(chunk)
        cost = np.where(np.arange(chunk.trials) % 2, np.nan, -0.0)
        return [{**first, "cost": cost, "moved": first["moved"].astype(float)}, *rest]

    study = lb.Study("mixed", ["ring:5"], ["dde", "gde"], "uniform:9", trials=20)
    layout = {
        study.cells[0]: {**dtypes_of(study, 0), "moved": np.dtype(float)},
        study.cells[1]: dtypes_of(study, 1),
    }
    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", mixed)
    monkeypatch.setattr("fastlb.montecarlo.runner.dry_run", lambda study: layout)
    found = lb.run(study, store=tmp_path)
    again = lb.read_store(tmp_path)
    for cell in study.cells:
        a, b = found.columns(cell), again.columns(cell)
        assert {n: (v.dtype, v.tobytes()) for n, v in a.items()} == {
            n: (v.dtype, v.tobytes()) for n, v in b.items()
        }


@pytest.mark.parametrize("code", "bhilqBHILQfd?")
def test_every_type_of_figure_comes_back(code: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    from fastlb.montecarlo.parts import Format, Stretch

    dtype = np.dtype(code)
    extremes = np.iinfo(dtype) if dtype.kind in "iu" else None
    values = [0, 1, 3, *((extremes.max, extremes.min) if extremes else (1, 0))]
    column = np.array(values, dtype=dtype)
    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:9", trials=5)
    cell = study.cells[0]
    form = Format(study, {cell: {"x": dtype}}, "")
    content = form.encode([Stretch(cell, 0, 5, {"x": column})])
    table = parquet.read_table(arrow.BufferReader(content))
    found = form.decode(table, cell, 0, 5)["x"]
    assert (found.dtype, found.tobytes()) == (dtype, column.tobytes())


def test_integers_that_other_combinations_have_as_floats_must_fit_them() -> None:
    from fastlb.montecarlo.parts import Format, Stretch

    study = lb.Study("s", ["ring:4"], ["dde", "gde"], "uniform:9", trials=2)
    first, second = study.cells
    form = Format(study, {first: {"x": np.dtype("i8")}, second: {"x": np.dtype("f8")}}, "")
    form.encode([Stretch(first, 0, 2, {"x": np.array([2**53, -(2**53)])})])
    with pytest.raises(OverflowError, match="x must fit float64, as other combinations have it"):
        form.encode([Stretch(first, 0, 2, {"x": np.array([0, 2**53 + 1])})])


def test_figures_unlike_those_of_the_dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastlb.montecarlo.measuring import run_chunk

    def changed(chunk):  # type: ignore[no-untyped-def]
        return [{**columns, "moved": columns["moved"] * 0.5} for columns in run_chunk(chunk)]

    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", changed)
    with pytest.raises(ValueError, match="same figures for all loads, but differs in moved"):
        lb.run(STUDY, store=tmp_path)
