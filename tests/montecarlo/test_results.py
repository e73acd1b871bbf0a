import json
import math
import pickle

import numpy as np
import pyarrow.parquet
import pytest

import fastlb as lb

STUDY = lb.Study("small", ["mesh:4x4", "ring:8"], ["gde", "dde"], "uniform:100", trials=40, seed=8)


@pytest.fixture(scope="module")
def results():
    return lb.run(STUDY)


def test_the_table_has_a_row_a_trial(results):
    table = results.table()
    assert list(table)[:5] == ["topology", "method", "loads", "trial", "seed"]
    assert {"difference", "moved", "cost", "sweeps", "steps", "locality"} <= set(table)
    assert {len(column) for column in table.values()} == {len(results)} == {160}
    assert table["topology"].tolist() == ["mesh:4x4"] * 80 + ["ring:8"] * 80
    assert table["method"].tolist() == (["gde"] * 40 + ["dde"] * 40) * 2
    assert set(table["loads"]) == {"uniform:100"}
    assert table["trial"].tolist() == list(range(40)) * 4
    assert table["seed"].tolist() == [8] * 160
    assert table["moved"].dtype == np.int64
    assert results.figures == tuple(table)[5:]


def test_figures_of_some_methods_are_masked_for_the_others(results):
    table = results.table()
    assert not np.ma.isMaskedArray(table["moved"])
    rounds, stalled = table["rounds"], table["stalled"]
    assert (rounds.dtype, stalled.dtype) == (np.int64, np.bool_)
    assert np.array_equal(np.ma.getmaskarray(rounds), table["method"] == "gde")
    assert np.array_equal(np.ma.getmaskarray(stalled), table["method"] == "dde")


def test_a_seed_beyond_int64_is_text():
    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:3", trials=2, seed=2**63)
    found = lb.run(study)
    assert found.table()["seed"].tolist() == ["9223372036854775808"] * 2
    assert found.to_arrow()["seed"].to_pylist() == ["9223372036854775808"] * 2


def test_the_summary(results):
    summary = results.summary((0.5, 0.9))
    assert list(summary) == [cell.key for cell in STUDY.cells]
    values = results.figure("moved", "ring:8", "dde", "uniform:100")
    found = summary["ring:8", "dde", "uniform:100"]["moved"]
    assert found.trials == 40
    assert found.mean == values.mean()
    assert math.isclose(found.standard_error, values.std(ddof=1) / 40**0.5)
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.quantiles == {0.5: np.median(values), 0.9: np.quantile(values, 0.9)}
    assert "rounds" not in summary["ring:8", "gde", "uniform:100"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_trial_has_no_standard_error():
    found = lb.run(lb.Study("s", ["ring:4"], ["dde"], "uniform:3", trials=1))
    statistic = found.summary()["ring:4", "dde", "uniform:3"]["moved"]
    assert math.isnan(statistic.standard_error)
    assert statistic.to_dict()["standard_error"] is None


def test_what_was_not_run(results):
    with pytest.raises(KeyError):
        results.figure("moved", "ring:9", "dde", "uniform:100")
    with pytest.raises(KeyError):
        results.figure("rounds", "ring:8", "gde", "uniform:100")


def test_arrow_and_parquet(results, tmp_path):
    table, arrow = results.table(), results.to_arrow()
    assert arrow.column_names == list(table)
    for name, column in table.items():
        assert arrow[name].to_pylist() == column.tolist()
    path = tmp_path / "trials.parquet"
    results.to_parquet(path)
    back = pyarrow.parquet.read_table(path)
    assert back.equals(arrow)
    assert lb.Study.from_toml(back.schema.metadata[b"fastlb.study"].decode()) == STUDY


def test_pandas(results):
    table, frame = results.table(), results.to_pandas()
    assert list(frame) == list(table)
    assert frame["method"].dtype == "category"
    means = frame.groupby(["topology", "method"], observed=True)["moved"].mean()
    assert means["ring:8", "dde"] == results.figure("moved", "ring:8", "dde", "uniform:100").mean()
    assert frame["rounds"].isna().tolist() == np.ma.getmaskarray(table["rounds"]).tolist()
    assert frame["rounds"].dropna().tolist() == table["rounds"].compressed().tolist()
    assert frame["stalled"].dtype == "boolean"


def test_results_are_frozen_and_travel(results):
    with pytest.raises(AttributeError, match="frozen"):
        results.study = None
    back = pickle.loads(pickle.dumps(results))
    assert np.array_equal(back.table()["moved"], results.table()["moved"])
    assert repr(results) == "<Results of small: 4 combinations, 40 trials each>"
    single = lb.run(lb.Study("single", ["ring:4"], ["dde"], "uniform:10", trials=1))
    assert repr(single) == "<Results of single: 1 combination, 1 trial each>"
