"""Plots of the means of a study in general."""

import pytest

import fastlb as lb
from fastlb.montecarlo.grid import Part
from fastlb.reports.meanplots import MOST_LINES, mean_plots
from fastlb.reports.plotting import image

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def sparse():
    """Return results of ten grids of one combination each, all with methods of their own."""
    further = [Part([f"ring:{n}"], [f"gde:lam=0.{n}"], "uniform:9") for n in range(11, 20)]
    return lb.run(lb.Study("sparse", ["ring:8"], ["dde"], "uniform:9", trials=2, further=further))


def test_combinations_are_counted_as_they_are(sparse):
    assert len(sparse.study.cells) ** 2 > MOST_LINES
    assert {plot.name for plot in mean_plots(sparse)} >= {"mean-difference", "mean-cost"}


def test_lines_of_a_label_do_not_overlap_those_of_others(sparse):
    plot = mean_plots(sparse)[0]
    axes = plot.draw().axes[0]
    heights = [y for container in axes.containers for y in container.lines[0].get_ydata()]
    assert len(set(heights)) == len(heights) == len(sparse.study.cells)
    assert list(axes.get_yticks()) == sorted(heights)
    assert image(plot.draw, "png").startswith(b"\x89PNG")


def test_labels_have_no_hash(tmp_path):
    file = tmp_path / "loads.csv"
    file.write_text("3\n1\n4\n")
    loads = [f"resampled:{file}", "uniform:9"]
    results = lb.run(lb.Study("hashed", ["ring:8"], ["dde"], loads, trials=2))
    axes = mean_plots(results)[0].draw().axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == loads
