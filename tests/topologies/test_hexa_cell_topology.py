"""The Hyper Hexa-Cell network: addresses, labels, links, drawing; bad input to its balancing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.test_bad_input import INTEGER_TYPES, refused

CELL = lb.HyperHexaCell(1)


def links(d: int) -> list[tuple[int, int]]:
    """The links by the paper's addresses: equal but for one bit of s, or neighbours in a cell."""
    inside = {"000", "001", "010", "100", "101", "110"}
    names = [(s, g) for s in range(2 ** (d - 1)) for g in sorted(inside)]
    found = []
    for u, (s, g) in enumerate(names):
        for v in range(u + 1, len(names)):
            t, h = names[v]
            triangle = s == t and g[0] == h[0]
            prism = s == t and g[1:] == h[1:]
            dimension = g == h and (s ^ t).bit_count() == 1
            if triangle or prism or dimension:
                found.append((u, v))
    return found


@pytest.mark.parametrize("d", range(1, 6))
def test_links(d: int) -> None:
    topology = lb.HyperHexaCell(d)
    assert topology.shape == (2,) * (d - 1) + (2, 3)
    assert topology.size == 6 * topology.cells == 6 * 2 ** (d - 1)
    assert [tuple(link) for link in topology.edges.tolist()] == links(d)
    assert topology.edge_count == len(topology.edges)
    assert topology.edges.dtype == np.int64
    assert not topology.edges.flags.writeable
    assert (topology.adjacency().sum(axis=1) == d + 2).all()


def test_addresses_and_labels() -> None:
    topology = lb.HyperHexaCell(3)
    for node in range(topology.size):
        assert topology.index(topology.address(node)) == node
        assert topology.node(topology.label(node)) == node
    # The paper's example: the right node of the lower triangle of the third cell.
    assert topology.label(17) == "P(10,110)"
    assert topology.address(17) == (1, 0, 1, 2)
    assert topology.node(" P( 10 , 110 ) ") == 17
    assert CELL.label(3) == "P(,100)"
    assert CELL.node("P(,100)") == 3
    for label in ("P(1,110)", "P(10,011)", "P(10,111)", "10,110", "P(12,000)", ""):
        with pytest.raises(ValueError, match="label"):
            topology.node(label)
    with pytest.raises(ValueError, match="index"):
        topology.label(24)
    for bad in (3, None, b"P(00,000)", ("00", "000")):
        message = refused(TypeError, "label", topology.node, bad)
        assert message.endswith(f"such as P(00,000), got {bad!r}")


def test_a_topology_like_any_other() -> None:
    topology = lb.HyperHexaCell(5)
    assert repr(topology) == "HyperHexaCell(5)"
    assert topology == lb.HyperHexaCell(np.int64(5)) != lb.HyperHexaCell(4)
    assert len({topology, lb.HyperHexaCell(5)}) == 1
    assert lb.parse_topology("hhc:5") == topology
    assert lb.parse_topology(topology.spec) == topology
    assert pickle.loads(pickle.dumps(topology)) == topology
    assert topology.network().links.tolist() == topology.edges.tolist()
    graph = lb.HyperHexaCell(2).to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (12, 24)
    with pytest.raises(AttributeError):
        topology.d = 4
    for bad in (0, -1, 61):
        with pytest.raises(ValueError, match="d must"):
            lb.HyperHexaCell(bad)
    for bad in (1.5, "2", None, True):
        with pytest.raises(TypeError, match="d must"):
            lb.HyperHexaCell(bad)
    for text in ("hyperhexacell:3", "HyperHexaCell(3)", "hexa-cell:3", "hyper_hexa_cell:3"):
        with pytest.raises(ValueError, match=r"did you mean hhc\?"):
            lb.parse_topology(text)
    for text in ("hhc", "hhc:", "hhc:0x1", "hhc:2x2"):
        with pytest.raises(ValueError, match="hhc"):
            lb.parse_topology(text)


def test_links_by_their_places() -> None:
    topology = lb.HyperHexaCell(4)
    seen = np.zeros(topology.edge_count, int)
    for offset, lower, place in topology.links_by_offset():
        assert topology.edges[place].tolist() == [[u, u + offset] for u in lower.tolist()]
        seen[place] += 1
    assert (seen == 1).all()


def test_drawing() -> None:
    from fastlb.reports.hexa_cell_drawing import positions

    for d in (1, 4):
        topology = lb.HyperHexaCell(d)
        at = positions(d - 1)
        apart = np.linalg.norm(at[:, None] - at, axis=2) + np.eye(len(at))
        assert apart.min() > 0.5
        page = topology.draw(np.arange(topology.size))
        texts = [text.get_text() for text in page.axes[0].texts]
        assert {str(node) for node in range(topology.size)} <= set(texts)
    assert "110" in [text.get_text() for text in CELL.draw().axes[0].texts]
    refused(ValueError, "cells", lb.HyperHexaCell(8).draw)


@pytest.mark.parametrize("top", [9, 10**12, 1e-300, 12345.678])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_nothing_of_a_drawing_is_cut_or_overprinted(d: int, top: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from fastlb.reports.plotting import image

    topology = lb.HyperHexaCell(d)
    page = topology.draw(np.full(topology.size, top))
    image(lambda: page, "png")
    renderer = FigureCanvasAgg(page).get_renderer()
    boxes = [page._suptitle.get_window_extent(renderer)]
    for text in page.axes[0].texts:
        frame = text.get_bbox_patch()
        if frame is not None:
            boxes.append(frame.get_window_extent(renderer))
    assert len(boxes) == 1 + topology.size + topology.cells
    for i, box in enumerate(boxes):
        assert page.bbox.x0 <= box.x0
        assert page.bbox.y0 <= box.y0
        assert box.x1 <= page.bbox.x1
        assert box.y1 <= page.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize(
    ("loads", "kind"),
    [
        ([1, 2, 3], ValueError),
        ([[1, 2, 3], [4]], ValueError),
        (["a"] * 6, TypeError),
        ([None] * 6, TypeError),
        ([True] * 6, TypeError),
        ([1.0, np.nan, 1, 1, 1, 1], ValueError),
        ("loads", TypeError),
        ([-1] * 6, ValueError),
        ([[1] * 6], ValueError),
        ([[1] * 6] * 2, ValueError),
        ([1j] * 6, TypeError),
        ([10**30] * 6, TypeError),
    ],
)
def test_loads_that_cannot_be_drawn(loads: Any, kind: type[Exception]) -> None:
    refused(kind, "loads", CELL.draw, loads)


@pytest.mark.parametrize("shape", [(), (5,), (7,), (6, 7), (0,), (2, 2), (3, 2), (6, 1)])
def test_wrong_shape(shape: tuple[int, ...]) -> None:
    message = refused(ValueError, "loads", lb.hexa_cell, np.ones(shape), CELL)
    assert repr(CELL) in message


@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_bad_values(record: str) -> None:
    for value in (np.nan, np.inf, -np.inf, -1.0, -1e-30):
        for dtype in ("float32", "float64"):
            loads = np.ones((2, 6), dtype)
            loads[1, 4] = value
            refused(ValueError, "loads", lb.hexa_cell, loads, CELL, record=record, out=loads)
    for dtype in INTEGER_TYPES:
        loads = np.ones((2, 6), dtype)
        loads[1, 4] = -1
        kept = loads.copy()
        refused(ValueError, "loads", lb.hexa_cell, loads, CELL, record=record, out=loads)
        assert (loads == kept).all()
    for bad in ([True] * 6, [1j] * 6, ["a"] * 6, np.ones(6, np.float16), None):
        refused(TypeError, "loads", lb.hexa_cell, bad, CELL, record=record)
    for dtype in ("int64", "uint64"):
        loads = np.full(6, 2**61, dtype)
        refused(OverflowError, "loads", lb.hexa_cell, loads, CELL, record=record, out=loads)
        assert (loads == 2**61).all()
    huge = np.full(6, 1e308)
    refused(OverflowError, "loads", lb.hexa_cell, huge, CELL, record=record)


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        *(("algorithm", {"algorithm": bad}) for bad in ("", "a", "AB", "D", None, 1, ["A"])),
        *((name, {name: np.array(["A", "B"])}) for name in ("algorithm", "share", "odd_unit")),
        ("record", {"record": np.array(["loads"])}),
        *(("share", {"share": bad}) for bad in ("", "Fair", None, 1, ["fair"])),
        *(("odd_unit", {"odd_unit": bad}) for bad in ("", "high", 1, ["lower"])),
        ("odd_unit", {"algorithm": "C", "odd_unit": "lower"}),
        ("odd_unit", {"algorithm": "C", "odd_unit": "higher"}),
        *(("record", {"record": bad}) for bad in ("", "load", None, 1, ["loads"])),
    ],
    ids=str,
)
def test_bad_options(argument: str, options: dict[str, Any]) -> None:
    refused((ValueError, TypeError), argument, lb.hexa_cell, np.ones(6, int), CELL, **options)


@pytest.mark.parametrize("topology", [None, 1, (2, 3), lb.HyperHexaCell, lb.Mesh(2, 3)])
def test_other_topologies(topology: Any) -> None:
    refused((TypeError, ValueError), "topology", lb.hexa_cell, np.ones(6, int), topology)


@pytest.mark.parametrize(
    "out", [np.zeros(5, int), np.zeros((1, 6), int), np.zeros(6), [0] * 6, np.zeros(6, np.int32)]
)
def test_out_that_does_not_fit(out: Any) -> None:
    refused((TypeError, ValueError), "out", lb.hexa_cell, np.ones(6, int), CELL, out=out)


def test_moved_beyond_int64() -> None:
    loads = np.zeros(12, np.int64)
    loads[1] = 2**63 - 1
    refused(OverflowError, "moved", lb.hexa_cell, loads, lb.HyperHexaCell(2))
    assert lb.hexa_cell(loads, lb.HyperHexaCell(2), record="loads").loads.sum() == 2**63 - 1
