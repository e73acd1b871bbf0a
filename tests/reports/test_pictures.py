"""Terminal pictures: what is drawn, that it fits, and that it needs no colour."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import fastlb as lb
from fastlb.reports.pictures import LoadPicture, bin_counts, bins, block_maxima, short_number

WIDTHS = (12, 20, 31, 40, 60, 80, 120, 200)
TOPOLOGIES = (
    lb.Mesh(4, 4),
    lb.Torus(16, 16),
    lb.Mesh(100, 300),
    lb.Mesh(1, 7),
    lb.Ring(16),
    lb.Chain(1),
    lb.Chain(33),
    lb.Torus(8, 8, 8),
    lb.Hypercube(0),
    lb.Hypercube(5),
)


def drawn(
    before: object,
    after: object,
    topology: lb.Topology,
    *,
    width: int = 80,
    colour: str | None = None,
    encoding: str = "utf-8",
) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(
        file=stream, width=width, color_system=colour, force_terminal=colour is not None,
        no_color=colour is None, legacy_windows=False,
    )  # fmt: skip
    console.print(LoadPicture(np.asarray(before), np.asarray(after), topology))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def ramp(topology: lb.Topology) -> tuple[object, object]:
    before = np.arange(topology.size) * 7 % 1000
    return before, np.full(topology.size, before.sum() // topology.size)


def test_small_maps_show_their_numbers() -> None:
    picture = drawn([[1, 2], [3000, 4]], [[751, 752], [752, 752]], lb.Mesh(2, 2))
    assert picture == (
        "before            after\n"
        "     1      2        751    752\n"
        " 3,000      4        752    752\n"
    )


def test_large_maps_are_shaded_on_one_scale() -> None:
    before = np.zeros((20, 20))
    before[0, 0], before[19, 19] = 400, 100
    picture = drawn(before, np.full((20, 20), 100.0), lb.Torus(20, 20), width=90).splitlines()
    assert len(picture) == 22
    assert picture[1].startswith("██" + "  " * 19)
    assert picture[20].startswith("  " * 19 + "░░")
    assert picture[10].endswith("    " + "░░" * 20)
    assert picture[21] == "0  ░▒▓█ 400"


def test_maps_that_do_not_fit_show_the_largest_of_each_block() -> None:
    before = np.zeros((100, 100), dtype=int)
    before[50, 50] = 9
    picture = drawn(before, np.zeros_like(before), lb.Mesh(100, 100), width=60)
    assert picture.count("██") == 1
    assert "each the largest of 4x8 nodes" in picture


def test_maps_are_stacked_where_only_one_fits() -> None:
    before, after = ramp(lb.Torus(16, 16))
    lines = drawn(before, after, lb.Torus(16, 16), width=34).splitlines()
    assert lines[0] == "before"
    assert lines[18] == "after"


def test_bars_of_few_nodes() -> None:
    picture = drawn([8, 0, 4, 0], [3, 3, 3, 3], lb.Hypercube(2), width=40)
    assert picture == (
        "node  before            after\n"
        "  00  ██████████████ 8  █████▎ 3\n"
        "  01  0                 █████▎ 3\n"
        "  10  ███████ 4         █████▎ 3\n"
        "  11  0                 █████▎ 3\n"
    )


def test_bars_of_many_nodes_count_them_by_load() -> None:
    before = np.arange(64)
    picture = drawn(before, np.full(64, 31), lb.Ring(64)).splitlines()
    assert len(picture) == 17
    assert picture[0].split() == ["load", "before,", "nodes", "after,", "nodes"]
    assert [line.split()[4] for line in picture[1:]] == ["4"] * 16
    assert [line.split()[-1] for line in picture[1:]] == ["0"] * 7 + ["64"] + ["0"] * 8


def test_nothing_to_draw_is_drawn() -> None:
    assert drawn([0, 0, 0], [0, 0, 0], lb.Chain(3), width=40).splitlines()[1:] == [
        f"   {i}  0                 0" for i in range(3)
    ]
    assert "5" in drawn(np.full(40, 5), np.full(40, 5), lb.Ring(40))


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(topology: lb.Topology, width: int) -> None:
    lines = drawn(*ramp(topology), topology, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= 2 * 33 + 3


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
def test_without_colour_there_are_no_escapes_and_the_picture_remains(topology: lb.Topology) -> None:
    plain = drawn(*ramp(topology), topology)
    assert "\x1b" not in plain
    assert "before" in plain
    assert not any(line.endswith(" ") for line in plain.splitlines())


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
def test_ascii_terminals_get_ascii(topology: lb.Topology) -> None:
    assert drawn(*ramp(topology), topology, encoding="ascii").isascii()


@pytest.mark.parametrize("colour", ["standard", "256", "truecolor"])
@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
def test_colours(topology: lb.Topology, colour: str) -> None:
    assert "\x1b[" in drawn(*ramp(topology), topology, colour=colour)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, np.float32, np.float64])
def test_loads_up_to_the_limit_of_their_type(dtype: type) -> None:
    limit = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else np.finfo(dtype).max / 4
    for topology in (lb.Ring(40), lb.Chain(4), lb.Mesh(2, 20)):
        before = np.zeros(topology.size, dtype)
        before[1] = limit
        assert drawn(before, before, topology)


def test_blocks_and_bins() -> None:
    assert block_maxima(np.arange(10), (4,)).tolist() == [2, 5, 8, 9]
    assert block_maxima(np.arange(4), (4,)).tolist() == [0, 1, 2, 3]
    assert bins(3, 5, whole=True) == [(3, 3), (4, 4), (5, 5)]
    assert bins(0, 31, whole=True)[-1] == (30, 31)
    assert bins(0, 32, whole=True)[-1] == (30, 32)
    edges = bins(0.0, 16.0, whole=False)
    assert bin_counts(np.array([0, 0.5, 1.0, 16.0]), edges) == [2, 1] + [0] * 13 + [1]


@pytest.mark.parametrize(
    ("load", "text"),
    [
        (0, "0"), (7, "7"), (1234, "1,234"), (1002.0625, "1,002"), (0.50123, "0.5012"),
        (1e-9, "1e-09"), (2**62, "4.61e+18"), (12345.6, "12,346"),
    ],
)  # fmt: skip
def test_short_numbers(load: float, text: str) -> None:
    assert short_number(load) == text
