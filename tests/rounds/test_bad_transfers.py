"""What ``schedule`` refuses: each error names the argument, the rule and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb


@pytest.mark.parametrize(
    ("src", "dst", "error", "text"),
    [
        ([0, 1], [1, 1], ValueError, "src and dst must differ .* node 1 twice at 1"),
        ([0, -1], [1, 2], ValueError, "src must be node numbers from 0 on, got -1 at 1"),
        ([0], [-(2**62)], ValueError, "dst must be node numbers from 0 on"),
        ([0, 1], [1], ValueError, "got 2 and 1"),
        ([[0]], [[1]], ValueError, "one axis"),
        (0, 1, ValueError, "one axis"),
        ([0.0], [1], TypeError, "src must be node numbers, which are integers"),
        ([np.nan], [1], TypeError, "src must be node numbers"),
        ([True], [False], TypeError, "src must be node numbers"),
        (["a"], ["b"], TypeError, "src must be node numbers"),
        ([None], [1], TypeError, "src must be node numbers"),
        (np.array([2**63], np.uint64), [1], OverflowError, "src must be node numbers below"),
        ([2**64], [1], OverflowError, "src must fit"),
        ([0], None, TypeError, "without dst"),
        ("torus:4x4", None, TypeError, "got str without dst"),
        (np.arange(3), None, TypeError, "got ndarray without dst"),
        (None, None, TypeError, "got NoneType"),
    ],
)
def test_nodes(src: Any, dst: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lb.schedule(src, dst, per_node=1)


@pytest.mark.parametrize("name", ["per_node", "send", "receive", "per_link"])
@pytest.mark.parametrize(
    ("limit", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (2**63, ValueError),
        (1.0, TypeError),
        (np.nan, TypeError),
        (True, TypeError),
        ("1", TypeError),
    ],
)
def test_limits(name: str, limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"{name} must be a whole number"):
        lb.schedule([0], [1], **{name: limit})


@pytest.mark.parametrize(
    ("limit", "error", "text"),
    [
        ([1, 0], ValueError, "1 or more at every node with transfers, got 0 at node 1"),
        ([1], ValueError, "each of the nodes 0..1, got 1"),
        ([1.5, 2], TypeError, "whole number"),
        ([[1, 1]], TypeError, "shape"),
        ([True, True], TypeError, "bool"),
        ([2**64, 1], OverflowError, "per_node"),
    ],
)
def test_limits_of_each_node(limit: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lb.schedule([0], [1], per_node=limit)


def test_large_limits_do_not_overflow() -> None:
    most = 2**63 - 1
    limits: dict[str, Any] = dict.fromkeys(("per_node", "send", "receive", "per_link"), most)
    assert lb.schedule([0, 0], [1, 1], **limits).count == 1
    each = np.array([2**64 - 1, 1], np.uint64)
    assert lb.schedule([0, 0], [1, 1], per_node=each, send=most).count == 2


@pytest.mark.parametrize(
    ("amount", "error", "text"),
    [
        ([np.nan, 1], ValueError, "amount"),
        ([np.inf, 1], ValueError, "amount"),
        ([-1, 1], ValueError, "amount must not be negative"),
        ([1], ValueError, "amount must be one value for each of 2 transfers"),
        ([True, 1], TypeError, "amount"),
        ("x", ValueError, "amount"),
    ],
)
def test_amounts(amount: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lb.schedule([0, 0], [1, 2], amount=amount, per_node=1)


def test_plans() -> None:
    plan = lb.minimax_flow(lb.Chain(3).network(), [1, 0, -1])
    with pytest.raises(ValueError, match="amount must be left out with a plan"):
        lb.schedule(plan, amount=[1], per_node=1)
    with pytest.raises(TypeError, match="hops must be True or False"):
        lb.schedule(plan, per_node=1, hops=1)  # type: ignore[arg-type]
    batch = lb.minimax_flow(lb.Chain(3).network(), [[1, 0, -1], [1, 0, -1]])
    with pytest.raises(TypeError, match="one plan, got a batch"):
        lb.schedule(batch, per_node=1)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="flows was not recorded"):
        lb.schedule(lb.dde([1, 2], lb.Chain(2)), per_node=1)
    several = lb.dde([[1, 2], [3, 4]], lb.Chain(2), record="flows")
    with pytest.raises(ValueError, match="balance of one network"):
        lb.schedule(several, per_node=1)
    with pytest.raises(ValueError, match="hops=False is for routes"):
        lb.schedule(lb.dde([1, 2], lb.Chain(2), record="flows"), hops=False)
    with pytest.raises(ValueError, match="from a node to another one"):
        lb.schedule([lb.Route(0, 0, (0,), 1)], per_node=1)
    with pytest.raises(TypeError, match="got list without dst"):
        lb.schedule([1, 2], per_node=1)
