"""Tables 1-9 as printed and as corrected, against the simulation; the errata."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.oracles import hexa_cell

FORMULAS = Path(__file__).parents[1] / "cases" / "s001_formulas.json"
CASES = json.loads(FORMULAS.read_text())["cases"]
COORDINATOR, LEFT, RIGHT = 0, 1, 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['alg']}-{case['dh']}")
def test_printed_formulas(case: dict[str, Any]) -> None:
    found = lb.hexa_cell_formulas(case["dh"], case["M"], case["alg"])
    expected = {**case["out"], "time": Fraction(case["out"]["time"])}
    assert {name: found[name] for name in expected} == expected
    topology = lb.HyperHexaCell(case["dh"])
    assert (topology.size, topology.edge_count) == (case["n_nodes"], case["n_links"])


@pytest.mark.parametrize(("d", "cells"), [(1, 1), (4, 8), (9, 256)])
def test_corrected_formulas(d: int, cells: int) -> None:
    for algorithm, steps, total in (("A", 6, 32), ("B", 6, 24), ("C", 8, 48)):
        found = lb.hexa_cell_formulas(d, 600, algorithm)
        assert found["corrected_error"] == d + 2
        assert found["corrected_max_steps"] == 3 * d + steps
        assert found["corrected_total_steps"] == cells * (18 * d + total)


def one_loaded(d: int, node: int, M: int) -> Any:
    loads = np.zeros(lb.HyperHexaCell(d).size, np.int64)
    loads[node] = M
    return loads


@pytest.mark.parametrize("d", range(1, 8))
@pytest.mark.parametrize("algorithm", ["A", "B", "C"])
def test_one_loaded_node_takes_the_printed_time(d: int, algorithm: str) -> None:
    topology = lb.HyperHexaCell(d)
    M = 6 * 2 ** (d - 1) * 5
    loads = np.diag(np.full(topology.size, M))
    times = lb.hexa_cell(loads, topology, algorithm).counts["time"]
    expected = np.full(topology.size, lb.hexa_cell_formulas(d, M, algorithm)["time"])
    if algorithm == "A":
        expected[COORDINATOR::3] = lb.hexa_cell_formulas(d, M, "B")["time"]
    assert times.tolist() == expected.tolist()


def test_two_loaded_nodes_may_take_longer() -> None:
    for algorithm, loads, printed, time in (
        ("A", (6, 6, 0, 0, 0, 0), 6, 7),
        ("B", (3, 3, 0, 0, 0, 0), Fraction(5, 2), 3),
        ("C", (3, 3, 0, 0, 0, 0), Fraction(5, 2), 3),
    ):
        assert lb.hexa_cell_formulas(1, max(loads), algorithm)["time"] == printed
        assert lb.hexa_cell(loads, lb.HyperHexaCell(1), algorithm).counts["time"] == time


@pytest.mark.parametrize("d", range(1, 7))
def test_two_loaded_nodes_may_take_longer_in_any_dimension(d: int) -> None:
    M = 6 * 2 ** (d - 1)
    for algorithm in "ABC":
        loads = one_loaded(d, COORDINATOR, M) + one_loaded(d, LEFT, M)
        time = lb.hexa_cell(loads, lb.HyperHexaCell(d), algorithm).counts["time"]
        assert time > lb.hexa_cell_formulas(d, M, algorithm)["time"]


@given(st.data())
def test_nothing_exceeds_the_corrected_formulas(data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 5))
    topology = lb.HyperHexaCell(d)
    algorithm = data.draw(st.sampled_from("ABC"))
    odd_unit = data.draw(st.sampled_from([None, "lower"])) if algorithm != "C" else None
    loads = data.draw(ours.integer_loads(topology.size, batch=3, dtype="int32"))
    share = data.draw(st.sampled_from(["fair", "greedy"]))
    b = lb.hexa_cell(loads, topology, algorithm, share=share, odd_unit=odd_unit)
    for i, M in enumerate(loads.max(axis=1).tolist()):
        bound = lb.hexa_cell_formulas(d, M, algorithm)
        more = Fraction(d, 2) if odd_unit == "lower" else 0  # the larger half of odd differences
        assert b.counts["time"][i] <= bound["corrected_time"] + more
        assert b.difference[i] <= bound["corrected_error"]
        assert b.counts["endpoint_max"][i] <= bound["corrected_max_steps"]
        assert b.counts["endpoint_total"][i] <= bound["corrected_total_steps"]


def test_every_small_cell_keeps_the_corrected_formulas() -> None:
    loads = np.indices((4,) * 6).reshape(6, -1).T
    for algorithm in "ABC":
        b = lb.hexa_cell(loads, lb.HyperHexaCell(1), algorithm)
        bound = lb.hexa_cell_formulas(1, 3, algorithm)
        assert b.counts["endpoint_max"].max() <= bound["corrected_max_steps"]
        assert b.counts["endpoint_total"].max() <= bound["corrected_total_steps"]
        assert b.counts["time"].max() <= bound["corrected_time"]
        assert b.difference.max() <= 3


@pytest.mark.parametrize("d", range(1, 9))
@pytest.mark.parametrize(("algorithm", "node"), [("A", LEFT), ("B", COORDINATOR), ("C", RIGHT)])
def test_the_corrected_steps_of_a_node_are_reached(d: int, algorithm: str, node: int) -> None:
    M = 6 * 2 ** (d + 1)
    b = lb.hexa_cell(one_loaded(d, node, M), lb.HyperHexaCell(d), algorithm)
    bound = lb.hexa_cell_formulas(d, M, algorithm)
    assert b.counts["endpoint_max"] == bound["corrected_max_steps"]


@pytest.mark.parametrize("d", range(1, 9))
@pytest.mark.parametrize(
    ("algorithm", "triangle"), [("A", (0, 6, 0)), ("B", (6, 0, 0)), ("C", (6, 6, 0))]
)
def test_the_corrected_steps_in_all_are_reached(
    d: int, algorithm: str, triangle: tuple[int, ...]
) -> None:
    """Triangles whose totals grow with the bits of their address exchange along every link."""
    levels = np.bitwise_count(np.arange(2**d)).astype(np.int64) + 1
    loads = (levels[:, None] * np.array(triangle)).reshape(-1)
    b = lb.hexa_cell(loads, lb.HyperHexaCell(d), algorithm)
    bound = lb.hexa_cell_formulas(d, int(loads.max()), algorithm)
    assert b.counts["endpoint_total"] == bound["corrected_total_steps"]


def test_table_9_in_messages_is_no_upper_bound() -> None:
    for d, too_small in ((1, True), (2, True), (3, False)):
        printed = lb.hexa_cell_formulas(d, 1, "C")["total_steps"]
        most = lb.hexa_cell_formulas(d, 1, "C")["corrected_total_steps"]
        assert (most > 2 * printed) == too_small


@pytest.mark.parametrize(
    ("d", "M", "algorithm", "kind", "argument"),
    [
        (0, 1, "A", ValueError, "d"),
        (61, 1, "A", ValueError, "d"),
        (1.5, 1, "A", TypeError, "d"),
        (1, -1, "A", ValueError, "M"),
        (1, "x", "A", ValueError, "M"),
        (1, None, "A", TypeError, "M"),
        (1, float("inf"), "A", ValueError, "M"),
        (1, 1, "D", ValueError, "algorithm"),
        (1, 1, None, ValueError, "algorithm"),
    ],
)
def test_bad_arguments(d: Any, M: Any, algorithm: Any, kind: Any, argument: str) -> None:
    with pytest.raises(kind, match=argument):
        lb.hexa_cell_formulas(d, M, algorithm)


def test_rationals_come_in_as_given() -> None:
    assert lb.hexa_cell_formulas(1, 0.6, "B")["time"] == Fraction(1, 2)
    assert lb.hexa_cell_formulas(1, (6, 10), "B")["time"] == Fraction(1, 2)
    assert lb.hexa_cell_formulas(2, np.int64(600), "B")["time"] == 550


def errata() -> dict[str, lb.Erratum]:
    return {erratum.place: erratum for erratum in lb.hexa_cell_errata()}


def test_the_errata_have_the_least_examples() -> None:
    found = errata()
    assert len(found) == len(lb.hexa_cell_errata())
    examples = {
        "A, line 9": (3, 0),
        "A, lines 39-43": (1, 0),
        "B, lines 20-23": (2, 0),
        "C, lines 10-16": (2, 0, 0),
        "A, lines 32 and 38; B, lines 12 and 19": (1, 0),
        "A, 2.1.2, parts 1 and 2; B, 2.2.2, part 2": (1, 0, 0),
        "C, 2.3.3 step 2": (1, 0, 0),
        "A, 2.1.2; B, 2.2.2; C, 2.3.3: phase 2, step B": (2, 0),
        "A, 2.1.2 step 1 C": (0, 1),
        "A, 2.1.2 step 2 A": (2, 0, 0),
        "2 and 4": (3, 0),
        "3.2.1": (5, 8),
        "Tables 2, 5, 8, step 1": (0, 2, 2),
        "Tables 2, 5, 8, total": (1, 3, 3, 0, 2, 2),
        "Table 5, step 3": (3, 0, 1, 0),
        "Table 8, step 1": (0, 2, 0),
        "Table 1, one loaded node": (6, 0, 0, 0, 0, 0),
        "Table 7, phase 2": (2, 1),
        "Table 3, most of a node": (3, 0, 2, 0, 0, 0),
        "Table 3, step 1 and total": (7, 2, 0, 3, 0, 0),
        "Table 9, total": (4, 4, 0, 3, 0, 0),
        "Table 9, most of a node": (5, 0, 0, 0, 0, 0),
        "2.3.3 C beside 2.1.3 D and 2.2.3 C": (1,),
    }
    assert {place: found[place].example for place in examples} == examples


def test_what_the_errata_say_of_the_text_is_in_it() -> None:
    found = errata()
    reversed_sign = found["A, 2.1.2; B, 2.2.2; C, 2.3.3: phase 2, step B"]
    assert reversed_sign.shown == "printed (3, -1); right (1, 1)"
    assert found["Table 9, most of a node"].shown.startswith("printed 29; right 11")
    assert found["3.2.1"].shown == "96 nodes are d = 5, 768 nodes d = 8"
    assert found["Table 7, phase 2"].shown == "printed 0; right 1/12 for (d, M)"
    speeds = found["2.3.3 C beside 2.1.3 D and 2.2.3 C"].shown
    assert speeds == "printed C 7,250 Mb/s, B 2,250; right: by its total B 10,500 (d = 1)"
    sent = hexa_cell.hexa_cell((*found["Table 8, step 1"].example, 0, 0, 0), 1, "C")
    assert sent.stages[0][:3] == [1, 1, 0]
    assert sent.flows[0, 1] == -1
    assert found["A, 2.1.2 step 2 A"].shown == "printed (1, 1/2, 1/2); right (1, 1, 0)"


def messages(loads: tuple[int, ...], d: int) -> int:
    return hexa_cell.hexa_cell(loads, d, "C").counts["messages"]


def test_the_messages_of_c_agree_with_the_twin() -> None:
    found = errata()
    loads = found["Table 9, step 2"].example
    empty = messages((0,) * 6, 1)
    # In the prism some of the three loads cross, in the triangle two, after two polls more.
    final = hexa_cell.hexa_cell((*loads, 0, 0, 0), 1, "C")
    assert final.counts["information"] - 18 == 2
    assert final.counts["messages"] == empty + 2 + final.counts["load"]
    pair = found["Table 9, phase 2"].example
    cells = messages((pair[0],) * 6, 1) + messages((pair[1],) * 6, 1)
    assert messages((*(pair[0],) * 6, *(pair[1],) * 6), 2) == cells + 6 * 3


def test_the_errata_agree_with_the_twin() -> None:
    found = errata()
    for algorithm in "ABC":
        error = hexa_cell.hexa_cell(found["Tables 2, 5, 8, total"].example, 1, algorithm).error
        assert error == 3
    node = hexa_cell.hexa_cell(found["Table 3, most of a node"].example, 1, "A").endpoints
    assert max(node) == 9
    total = hexa_cell.hexa_cell(found["Table 3, step 1 and total"].example, 1, "A").endpoints
    assert sum(total) == 48 > 47
    messages = hexa_cell.hexa_cell(found["Table 9, total"].example, 1, "C").counts["messages"]
    assert messages == 30 > 29
    assert found["A, line 9"].shown == "printed (2, 2), 4 units from 3; right (2, 1)"


def test_every_erratum_is_one_line_each() -> None:
    for erratum in lb.hexa_cell_errata():
        for text in (erratum.place, erratum.printed, erratum.right):
            assert text
            assert "\n" not in text
        assert bool(erratum.example) == bool(erratum.shown)
