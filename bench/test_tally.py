"""Running statistics of a study without rows, against rows that are kept and summarised."""

import importlib.util

import numpy as np

from fastlb.montecarlo.histogram import Histogram
from fastlb.montecarlo.moments import Column, Moments
from fastlb.montecarlo.statistic import QUANTILES

CHUNK = 4096


def test_statistics_of_a_figure(race, quick):
    """Mean, error and quantiles of counts; sketches are a yardstick, and approximate."""
    trials = CHUNK * (4 if quick else 128)
    figure = np.random.default_rng(1).integers(0, 5000, trials)
    chunks = figure.reshape(-1, CHUNK)

    def fastlb():
        moments, histogram = Moments(), Histogram()
        for chunk in chunks:
            column = Column.of(chunk)
            moments.add(column)
            histogram.add(column)
        found, _ = histogram.quantiles(QUANTILES, moments.minimum, moments.maximum)
        assert moments.standard_error > 0
        return np.array([moments.mean]), np.array(found)

    def numpy():
        rows = np.concatenate(list(chunks))
        assert rows.std(ddof=1) > 0
        return np.array([rows.mean()]), np.quantile(rows, QUANTILES)

    sketches = {}
    if importlib.util.find_spec("datasketches"):
        import datasketches

        def filled(sketch):
            for chunk in chunks:
                sketch.update(chunk.astype(np.float64))
            return sketch

        sketches = {
            "KLL sketch": lambda: filled(datasketches.kll_doubles_sketch(800)),
            "t-digest": lambda: filled(datasketches.tdigest_double(200)),
        }
    race(
        "statistics of a figure, trial by trial",
        fastlb,
        {"NumPy, all rows kept": numpy},
        nodes=trials,
        yardsticks=sketches,
    )
