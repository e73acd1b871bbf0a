"""Plain arguments: whatever stands in the place of a word is told by the option's name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.arguments import folder, integer, one_of
from fastlb.topologies.colouring import colouring

LOADS = np.arange(8)
CUBE, MESH = lb.Hypercube(3), lb.Mesh(2, 4)
CELL = lb.HyperHexaCell(1)
LINK = lb.Network([(0, 1)])
PROGRAM = ([1, 2], [[1, 1]], [1])

# Every option of the public functions that is one of a few words.
OPTIONS: dict[str, Callable[[Any], Any]] = {
    "dem record": lambda given: lb.dem(LOADS, CUBE, record=given),
    "gde record": lambda given: lb.gde(LOADS, MESH, record=given),
    "gde order": lambda given: lb.gde(LOADS, MESH, order=given),
    "dde record": lambda given: lb.dde(LOADS, MESH, record=given),
    "dde exchange": lambda given: lb.dde(LOADS, MESH, exchange=given),
    "exchange_rounds mode": lambda given: lb.exchange_rounds([3, 1], [0, 1], mode=given),
    "fault_tolerant_dem record": lambda given: lb.fault_tolerant_dem(LOADS, CUBE, record=given),
    "fault_tolerant_dem order": lambda given: lb.fault_tolerant_dem(LOADS, CUBE, order=given),
    "fault_tolerant_dem donor": lambda given: lb.fault_tolerant_dem(LOADS, CUBE, donor=given),
    "fault_plan order": lambda given: lb.fault_plan(CUBE, order=given),
    "fault_plan donor": lambda given: lb.fault_plan(CUBE, donor=given),
    "hexa_cell record": lambda given: lb.hexa_cell(np.arange(6), CELL, record=given),
    "hexa_cell algorithm": lambda given: lb.hexa_cell(np.arange(6), CELL, algorithm=given),
    "hexa_cell share": lambda given: lb.hexa_cell(np.arange(6), CELL, share=given),
    "hexa_cell_formulas algorithm": lambda given: lb.hexa_cell_formulas(2, 10, given),
    "balance method": lambda given: lb.balance(LOADS, MESH, given),
    "colouring order": lambda given: colouring(MESH, given),
    "minimax_flow contention": lambda given: lb.minimax_flow(LINK, [1, -1], contention=given),
    "minimax_flow plan": lambda given: lb.minimax_flow(LINK, [1, -1], plan=given),
    "minimax_flow method": lambda given: lb.minimax_flow(LINK, [1, -1], method=given),
    "minimax_flow routing": lambda given: lb.minimax_flow(CUBE.network(), LOADS, routing=given),
    "route_entities method": lambda given: lb.route_entities(LINK, [(0, 1)], [0, 3], method=given),
    "check_routing scheme": lambda given: lb.check_routing(LINK, given),
    "routing_graph routing": lambda given: lb.routing_graph(LINK, given),
    "solve_binary method": lambda given: lb.solve_binary(*PROGRAM, method=given),
    "count_tests prune": lambda given: lb.count_tests(*PROGRAM, prune=given),
    "simulate_search trigger": lambda given: lb.simulate_search(*PROGRAM, CUBE, trigger=given),
    "simulate_search granularity": lambda given: lb.simulate_search(
        *PROGRAM, CUBE, granularity=given
    ),
    "simulate_search assignment": lambda given: lb.simulate_search(
        *PROGRAM, CUBE, assignment=given
    ),
    "simulate_search order": lambda given: lb.simulate_search(*PROGRAM, CUBE, order=given),
    "simulate_search donor": lambda given: lb.simulate_search(*PROGRAM, CUBE, donor=given),
    "random_binary family": lambda given: lb.random_binary(given, 2, 3, seed=1),
    "studies.load study": lb.studies.load,
}
OTHERS = [
    "none of them", b"dde", "", 5, np.nan, ["dde", "sbr"], {"dde": 1}, {1}, object(),
    np.array(["dde", "sbr"]), np.array("dde"), np.arange(2), np.ones((2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_none_of_the_words(option: str) -> None:
    for given in OTHERS:
        with pytest.raises((ValueError, TypeError)) as error:
            OPTIONS[option](given)
        message = str(error.value)
        argument = option.split()[1]
        told = ("scheme", "routing") if argument in ("scheme", "routing") else (argument,)
        assert message.startswith(tuple(f"{name} must" for name in told))
        assert ", got " in message
        assert "\n" not in message


def test_one_of_a_few_words() -> None:
    assert one_of("order", "b", ("a", "b")) == "b"
    assert one_of("order", "b", {"a": 1, "b": 2}) == "b"
    with pytest.raises(ValueError, match=r"^order must be one of a, b, got 'c'$"):
        one_of("order", "c", ("a", "b"))


@pytest.mark.parametrize("given", [[1], "1", 1.5, None, True, np.arange(2)])
def test_numbers_of_routing(given: Any) -> None:
    for name in ("orders", "seed"):
        options: dict[str, Any] = {name: given}
        with pytest.raises(TypeError, match=f"^{name} must be a whole number, got "):
            lb.route_entities(LINK, [(0, 1)], [0, 3], **options)


def test_folders() -> None:
    assert folder("store", "a") == folder("store", Path("a")) == Path("a")
    for given in (5, None, b"a", ["a"]):
        with pytest.raises(TypeError, match=r"^store must be the path of a folder, got "):
            folder("store", given)
    with pytest.raises(ValueError, match=r"^store must be the path of a folder, got ''$"):
        folder("store", "")


@pytest.mark.parametrize("given", [3, np.uint8(3), np.array(3)])
def test_an_integer_of_any_type(given: Any) -> None:
    found = integer("trials", given)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("given", [True, np.False_, 3.0, "3", None, np.array([3, 4])])
def test_what_is_no_integer_is_named(given: Any) -> None:
    with pytest.raises(TypeError, match=r"^trials must be an integer, got "):
        integer("trials", given)


def test_whole_numbers_of_a_list_stay_whole() -> None:
    large = 2**63
    assert lb.dem([large, 1], lb.Hypercube(1), record="loads").loads.tolist() == [
        large // 2 + 1,
        large // 2,
    ]
    assert lb.dem([[large, 2], [1, 1]], lb.Hypercube(1), record="loads").loads.dtype == np.uint64
    assert lb.dem([float(large), 1], lb.Hypercube(1), record="loads").loads.dtype == np.float64
    assert lb.dem([large, 1.5], lb.Hypercube(1), record="loads").loads.dtype == np.float64
    mixed = [np.uint64(large), np.int64(1)]
    assert lb.dem(mixed, lb.Hypercube(1), record="loads").loads.dtype == np.uint64


@pytest.mark.parametrize("given", [[2**63, -1], [2**64, 1], [2**70, 2**63]])
def test_whole_numbers_that_no_dtype_holds_are_refused(given: list[int]) -> None:
    for balance in (
        lambda: lb.dem(given, lb.Hypercube(1), record="loads"),
        lambda: lb.dde_line(given),
        lambda: lb.excess_load(given),
    ):
        with pytest.raises(OverflowError, match="loads must fit"):
            balance()
    with pytest.raises(OverflowError, match="flows must fit"):
        lb.exchange_rounds([1, 1], given)
