"""What a Balance tells, read in any order and way."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import fastlb as lb

LOADS = np.arange(64) * 31
FIGURES = {
    "difference", "initial_difference", "imbalance", "initial_imbalance", "moved", "cost", "local",
    "locality", "sweeps", "steps", "stalled", "converged", "colours",
}  # fmt: skip


def balanced() -> Any:
    return lb.gde(LOADS[None], lb.Mesh(8, 8))


def test_figures_of_a_batch_of_one_are_arrays_that_stay() -> None:
    b, alone = balanced(), lb.gde(LOADS, lb.Mesh(8, 8))
    for name in FIGURES - {"colours"}:
        figure = getattr(b, name)
        assert figure.shape == (1,)
        assert figure.item() == getattr(alone, name)
        assert getattr(b, name) is figure
    assert b.colours == 4


def test_figures_not_read_yet_are_there() -> None:
    assert balanced()._fields.keys() == {*FIGURES, "lam"}
    assert {name for name in dir(balanced()) if not name.startswith("_")} == {
        "lam", "loads", "method", "record", "topology", "to_dict", *FIGURES,
    }  # fmt: skip
    whole = balanced().to_dict()
    for copied in (copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))):
        assert copied(balanced()).to_dict() == whole
        b = balanced()
        moved = b.moved
        assert copied(b).moved == moved


def test_what_there_is_not() -> None:
    b = balanced()
    with pytest.raises(AttributeError, match="call gde with record='flows'"):
        _ = b.flows
    with pytest.raises(AttributeError, match="rounds does not apply to gde"):
        _ = b.rounds
    with pytest.raises(AttributeError, match="Balance has no attribute 'move'"):
        _ = b.move
    for name in ("moved", "loads", "move"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(b, name, 1)
        with pytest.raises(AttributeError, match="frozen"):
            delattr(b, name)
