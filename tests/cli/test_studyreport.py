"""Widths of a study's tables."""

import pytest

from fastlb.cli.tables import GAP, broken, fitted


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("gde:lam=0.7,order=interleaved", 40, ["gde:lam=0.7,order=interleaved"]),
        ("gde:lam=0.7,order=interleaved", 28, ["gde:lam=0.7,", "order=interleaved"]),
        ("gde:lam=0.7,order=interleaved", 10, ["gde:", "lam=0.7,", "order=interleaved"]),
        ("to the right, of it", 8, ["to the", "right,", "of it"]),
        ("", 5, [""]),
        ("a, b", 2, ["a,", "b"]),
    ],
)
def test_texts_are_broken_at_blanks_commas_and_colons(
    text: str, room: int, lines: list[str]
) -> None:
    assert broken(text, room).split("\n") == lines


def test_what_is_widest_gives_way_first() -> None:
    names = ["method", "dde", "gde:lam=0.723,order=interleaved"]
    numbers = ["moved", "1,000", "7"]
    whole = len(names[2]) + len(numbers[1]) + GAP
    assert fitted([names, numbers], [False, True], whole) == [31, 5]
    assert fitted([names, numbers], [False, True], whole - 5) == [26, 5]
    assert fitted([names, numbers], [False, True], 10) == [len("order=interleaved"), 5]
    assert fitted([["one\nnode", "1"]], [True], 80) == [4]
