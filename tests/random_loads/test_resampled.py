"""Loads resampled from one's own: files, hashes, and the bits they are held in."""

import copy
import pickle

import numpy as np
import pytest

import fastlb as lb
from tests.random_loads.regenerated import numpy_loads


def test_loads_of_a_file(tmp_path):
    values = np.array([[5, 0], [9, 9]], dtype=np.int32)
    np.save(tmp_path / "loads.npy", values)
    (tmp_path / "loads.csv").write_text("5,0\n9,9\n")
    for file in ("loads.npy", "loads.csv"):
        law = lb.parse_distribution(f"resampled:{tmp_path / file}")
        assert law.values.tolist() == [5, 0, 9, 9]
        assert law.sha256 == lb.Resampled(values).sha256
        assert lb.parse_distribution(law.spec) == law
    spec = lb.Resampled(file=tmp_path / "loads.npy").spec
    np.save(tmp_path / "loads.npy", values + 1)
    with pytest.raises(ValueError, match=r"loads.npy of sha256 [0-9a-f]{16}, got other values"):
        lb.parse_distribution(spec)


def test_values_cannot_be_changed_behind_their_hash():
    given = np.array([3, 1, 4])
    law = lb.Resampled(given)
    given[0] = 9
    for found in (law, copy.copy(law), copy.deepcopy(law), pickle.loads(pickle.dumps(law))):
        assert found.values.tolist() == [3, 1, 4]
        assert found == law
        with pytest.raises(ValueError, match="read-only"):
            found.values[0] = 9
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            found.values.flags.writeable = True
        assert lb.sample_loads(found, "ring:9", trials=3, seed=1).max() == 4


@pytest.mark.parametrize(
    ("largest", "bits"),
    [
        (0, 8),
        (2**8 - 1, 8),
        (2**8, 16),
        (2**15, 16),
        (2**16 - 1, 16),
        (2**16, 32),
        (2**31, 32),
        (2**32 - 1, 32),
        (2**32, 64),
        (2**63 - 1, 64),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 1000])
def test_values_lie_in_as_few_bits_as_hold_them(largest, bits, count):
    # The largest lies last, in what may be the middle of a 64-bit word.
    values = [min(largest, 3 * i) for i in range(count - 1)] + [largest]
    law = lb.Resampled(values)
    assert law.values.dtype == np.int64
    assert law.values.tolist() == values
    narrow = law.law()[0].values
    assert narrow.dtype == f"u{bits // 8}"
    assert narrow.tolist() == values
    for again in (law, pickle.loads(pickle.dumps(law))):
        assert again.values.dtype == np.int64
        assert again.values.tolist() == values
        rows = lb.sample_loads(again, lb.Chain(37), trials=32, seed=2**90 + 7, start=11)
        assert np.array_equal(rows, [numpy_loads(law, 2**90 + 7, 11 + t, 37) for t in range(32)])
    for dtype in (np.int16, np.int32, np.int64):
        if largest <= np.iinfo(dtype).max:
            tiles = np.empty((2, 37, 16), dtype)
            law.fill_tiles(tiles, seed=2**90 + 7, start=11)
            assert np.array_equal(tiles.transpose(0, 2, 1).reshape(32, 37), rows)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", "<u8"])
def test_values_of_any_whole_dtype_are_the_same_law(dtype):
    law, again = lb.Resampled([3, 1, 4, 127]), lb.Resampled(np.array([3, 1, 4, 127], dtype))
    assert again == law
    assert hash(again) == hash(law)
    assert repr(again) == repr(law)
    assert again.spec == law.spec == "resampled:3-1-4-127"
    assert np.array_equal(again.law()[0].values, law.law()[0].values)


def test_copies_for_other_processes_travel_in_few_bits():
    values = np.arange(10_000) % 2001
    small, large = (len(pickle.dumps(lb.Resampled(v))) for v in (values, values + 2**40))
    assert small < 2 * len(values) + 1000
    assert large > 8 * len(values)


def test_a_study_of_ones_own_data(tmp_path):
    np.save(tmp_path / "loads.npy", np.arange(10))
    text = (
        'name = "own"\ntopologies = ["ring:8"]\nmethods = ["dde"]\n'
        f'loads = ["resampled:{tmp_path / "loads.npy"}", "poisson:3", "one-hot:9"]\n'
    )
    study = lb.Study.from_toml(text)
    assert lb.Study.from_toml(study.to_toml()) == study
    assert "sha256=" in study.to_toml()
    assert lb.run(study).figure("difference", *study.cells[2].key).max() <= 1
