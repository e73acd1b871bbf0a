"""What parameters of distributions may be, and how they are told that they are not."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from fastlb.random_loads.bounds import Bounds, above, bounds_of, whole, within


@pytest.mark.parametrize(
    ("bounds", "good", "bad"),
    [
        (Bounds(0, 3), [0, 3, 0.5, 2.5, np.int8(3), np.float32(0.25)], [-1, 3.0001, 4, 10**500]),
        (Bounds(0, 3, above=True), [5e-324, 1, 3], [0, -0.0, -1, 4]),
        (Bounds(1, 2**16, whole=True), [1, 2**16, np.uint64(7)], [0, 2**16 + 1]),
    ],
)
def test_ends_belong_or_not(bounds, good, bad):
    for value in good:
        assert bounds.read("x", value) == value
    for value in [*bad, *([] if bounds.whole else [np.nan, np.inf, -np.inf])]:
        with pytest.raises(ValueError, match=r"^x must be (between|above) .*, got "):
            bounds.read("x", value)


def test_whole_numbers_become_integers_and_others_floats():
    for value in (2, 2.0, np.float64(2), np.int64(2), np.float32(2)):
        assert type(Bounds(0, 3).read("x", value)) is int
    for value in (0.5, np.float64(0.5), np.float32(0.5)):
        assert type(Bounds(0, 3).read("x", value)) is float


@pytest.mark.parametrize(
    "value", ["1", None, True, np.True_, 1j, [1], np.complex128(1), np.array(1.5)]
)
def test_other_kinds(value):
    with pytest.raises(TypeError, match=r"^x must be a number, got "):
        Bounds(0, 3).read("x", value)
    with pytest.raises(TypeError, match=r"^x must be an integer, got "):
        Bounds(0, 3, whole=True).read("x", value)


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        (within(0, 2**50), "between 0 and 2**50"),
        (above(0, 4), "above 0, to 4"),
        (whole(1, 2**16), "between 1 and 2**16"),
        (whole(0, 2**63 - 1), "between 0 and 2**63 - 1"),
        (within(0, 64), "between 0 and 64"),
    ],
)
def test_rules_as_they_are_told(metadata, rule):
    @dataclass
    class Law:
        x: int = field(metadata=metadata)
        y: int = 0

    found, free = (bounds_of(parameter) for parameter in Law.__dataclass_fields__.values())
    assert str(found) == rule
    assert free is None
