"""Summaries and comparisons print as tables, become data frames, and stay dictionaries."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb

STUDY = lb.Study(
    "small", ["mesh:4x4", "chain:8"], ["gde:lam=3/4", "dde"], "uniform:100", trials=40, seed=8
)


@pytest.fixture(scope="module")
def results() -> lb.Results:
    return lb.run(STUDY)


def test_a_summary_is_still_a_dictionary(results: lb.Results) -> None:
    summary = results.summary()
    assert isinstance(summary, dict)
    assert summary == dict(summary) == results.summary()
    assert list(summary) == [cell.key for cell in STUDY.cells]
    for made in (copy.deepcopy(summary), pickle.loads(pickle.dumps(summary))):
        assert made == summary
        assert repr(made) == repr(summary)
    compared = results.compare()
    assert isinstance(compared, dict)
    assert pickle.loads(pickle.dumps(compared)) == compared


def test_keys_are_found_by_another_spelling(tmp_path: Path) -> None:
    values = tmp_path / "loads.txt"
    values.write_text("\n".join(map(str, range(40))))
    network = lb.Network([(0, 1), (1, 2)], label="Ring:3")
    laws = ["one-hot:20", f"resampled:{values}"]
    methods = ["gde:lam=1/2,order=interleaved", "dde"]
    study = lb.Study("respelled", ["ring:3"], methods, laws, trials=4)
    results = lb.run(study)
    summary, compared = results.summary(), results.compare()
    for law, cells in zip(laws, (study.cells[:2], study.cells[2:]), strict=True):
        known = summary[cells[0].key]
        assert summary["Ring:3", "gde: order=interleaved, lam=1/2", law] is known  # type: ignore[index]
        assert summary[lb.Ring(3), methods[0], cells[0].loads] is known  # type: ignore[index]
        pair = compared["ring:3", cells[0].loads.spec, methods[0], "dde"]
        assert compared["ring:3", law, methods[0], "dde"] is pair
        turned = compared["ring:3", law, "dde", methods[0]]
        assert turned == {name: -difference for name, difference in pair.items()}
        figure = results.figure("difference", "ring:3", "dde", law)
        assert figure is results.columns(cells[1])["difference"]
    labelled = lb.run(lb.Study("label", [network], ["gde"], "one-hot:20", trials=4)).summary()
    assert labelled["Ring:3", "gde", "one-hot:20"]


def test_of_an_unknown_key_the_nearest_are_told(results: lb.Results) -> None:
    summary, compared = results.summary(), results.compare()
    with pytest.raises(KeyError, match=r"nearest of 4: \('mesh:4x4', 'dde', 'uniform:100'\)"):
        summary["mesh:4x4", "dde", "uniform:10"]
    with pytest.raises(KeyError, match=r"key must be \(topology, method, loads\), got 'dde'"):
        summary["dde"]  # type: ignore[index]
    with pytest.raises(
        KeyError,
        match=r"no \(topology, loads, first, second\) is .*; the nearest of 2: \('mesh:4x4', ",
    ):
        compared["mesh:4x4", "uniform:100", "dde", "dde"]
    with pytest.raises(KeyError, match=r"no .* is"):
        type(summary)()["a", "b", "c"]


def test_it_prints_as_a_table(results: lb.Results) -> None:
    lines = repr(results.summary()).splitlines()
    assert lines[0] == "40 trials each; loads uniform:100"
    assert lines[1].split()[:3] == ["topology", "figure", "method"]
    assert lines[1].split()[3:] == ["mean", "s.e.", "5%", "50%", "95%"]
    gde, dde = lines[2].split(), lines[3].split()
    assert gde[:3] == ["mesh:4x4", "difference", "gde:lam=3/4"]
    assert dde[0] == "dde"
    found = results.summary()["mesh:4x4", "dde", "uniform:100"]["difference"]
    assert abs(float(dde[1]) - found.mean) <= found.standard_error
    assert not any(" 0.000 " in line for line in lines)
    assert max(map(len, lines)) <= 100
    levels = repr(results.summary([0.999])).splitlines()[1]
    assert levels.split()[-1] == "99.9%"


def test_a_long_table_is_cut() -> None:
    study = lb.Study("many", [f"ring:{k}" for k in range(2, 12)], ["dde"], "uniform:9", trials=2)
    text = repr(lb.run(study).summary())
    assert len(text.splitlines()) == 63
    assert text.endswith("rows more: to_pandas() has all")


def test_a_comparison_prints_its_intervals(results: lb.Results) -> None:
    lines = repr(results.compare(figures=["cost"], confidence=0.9)).splitlines()
    assert lines[0] == (
        "first method minus second, 90 % intervals of the mean; loads uniform:100; "
        "first gde:lam=3/4; second dde"
    )
    assert lines[1].split()[-5:] == ["from", "to", "less", "equal", "more"]
    assert len(lines) == 4


def test_data_frames(results: lb.Results) -> None:
    summary = results.summary()
    frame = summary.to_pandas()
    assert list(frame.index.names) == ["topology", "method", "loads", "figure"]
    assert len(frame) == sum(map(len, summary.values()))
    row: Any = frame.loc[("chain:8", "dde", "uniform:100", "rounds")]
    statistic = summary["chain:8", "dde", "uniform:100"]["rounds"]
    assert (row["mean"], row["95%"]) == (statistic.mean, statistic.quantiles[0.95])
    assert frame["trials"].dtype == np.int64
    compared = results.compare()
    pairs = compared.to_pandas()
    assert list(pairs.index.names) == ["topology", "loads", "first", "second", "figure"]
    other: Any = pairs.loc[("chain:8", "uniform:100", "gde:lam=3/4", "dde", "cost")]
    assert other["low"] == compared["chain:8", "uniform:100", "gde:lam=3/4", "dde"]["cost"].low


def test_labelled_arrays(results: lb.Results) -> None:
    pytest.importorskip("xarray")
    found = results.summary([0.5, 0.9]).to_xarray()
    assert found["topology"].values.tolist() == ["mesh:4x4", "chain:8"]
    assert found["method"].values.tolist() == ["gde:lam=3/4", "dde"]
    at = {"topology": "chain:8", "loads": "uniform:100", "figure": "rounds"}
    statistic = results.summary([0.5, 0.9])["chain:8", "dde", "uniform:100"]["rounds"]
    dde = found.sel({"method": "dde", **at})
    assert dde["mean"].item() == statistic.mean
    assert dde["quantile"].sel(level=0.9).item() == statistic.quantiles[0.9]
    assert np.isnan(found["mean"].sel({"method": "gde:lam=3/4", **at}).item())
    assert "level" not in results.summary([]).to_xarray().dims
    assert results.compare().to_xarray()["mean"].dims[-1] == "figure"


def test_one_trial_tells_no_error() -> None:
    summary = lb.run(lb.Study("one", ["ring:4"], ["dde"], "uniform:3", trials=1)).summary()
    lines = repr(summary).splitlines()
    assert lines[0].startswith("1 trial each; topology ring:4; loads uniform:3; method dde")
    assert {line.split()[2] for line in lines[2:]} == {"-"}
    json.dumps(next(iter(summary.values()))["moved"].to_dict(), allow_nan=False)


def test_a_single_trial_has_dashes_in_place_of_errors_and_intervals():
    results = lb.run(lb.Study("one", ["ring:8"], ["gde:lam=1/2", "dde"], "uniform:9", trials=1))
    for table in (results.compare(), results.summary()):
        assert "nan" not in repr(table)
        assert "nan" not in table._repr_html_()
