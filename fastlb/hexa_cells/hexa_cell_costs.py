"""What Algorithms A, B and C cost: Tables 1-9 of the Hexa-Cell paper, printed and corrected."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..arguments import integer, one_of
from ..rational import read_rational
from .hexa_cell_run import ALGORITHMS

LINK_SPEED = 250


def hexa_cell_formulas(d: int, M: Any, algorithm: str) -> dict[str, int | Fraction | None]:
    r"""Return the cost formulas of Algorithm A, B or C as printed, and corrected beside them.

    Parameters
    ----------
    d : int
        Dimensions of the network, at least 1.
    M : int, Fraction, decimal or str
        Largest load of a node, not negative.
    algorithm : {"A", "B", "C"}

    Returns
    -------
    dict
        ``time`` : units on the critical path. Right for one loaded node (for A a left or right
        one; a loaded coordinator takes B's time) and ``M`` a multiple of ``6 * 2**(d-1)``.
        ``error`` : largest final difference.
        ``max_steps``, ``total_steps`` : messages that a node, and all nodes, send and receive;
        ``max_steps`` of C is not printed (None), and its ``total_steps`` counts messages.
        ``speed``, ``speed_as_printed`` : ``max_steps`` (C: ``total_steps``) times 250 Mb/s, which
        is no speed; ``speed_as_printed`` of C lacks the bracket around the total.
        ``corrected_time`` : upper bound for loads of at most ``M`` a node.
        ``corrected_error``, ``corrected_max_steps``, ``corrected_total_steps`` : upper bounds,
        reached for every d. Steps are sends and receives for C, too.

    Raises
    ------
    ValueError, TypeError
        On arguments that do not fit.

    Notes
    -----
    Error: a triangle ends with loads from ``avg - 2`` to ``avg``. An exchange leaves a pair at the
    floor and ceiling of its mean, and the means of the pairs of two blocks with error e lie within
    e of each other, so the error grows by at most 1 in each of d exchanges.

    Of C the paper prints no maximum per node. In a triangle a node takes part in 4 polls. A node
    with excess polls again at most both peers and is polled again by at most one other node with
    excess: with two receivers that makes 2 polls and 2 load messages, with one receiver 3 polls
    and 1 load message. A receiver is polled again by and receives from at most two nodes, 4 again.
    So 8 in the triangle, then 3 a pair: ``3d + 8``, reached by one loaded node. In all, a triangle
    has 6 polls. It has most messages beside them when two nodes with excess come before their
    receiver: each polls the other and the receiver again and sends once, 6 messages more. With 9
    messages in the prism and 9 a dimension a cell has at most ``2*12 + 9 d`` messages,
    ``18 d + 48`` sends and receives.

    The time of a triangle is at most ``2 M / 3``, that of two nodes with load ``M``; in A it is at
    most ``5 M / 6``. It is convex in the loads, so it is largest where they are 0 or ``M``. Each
    of the d pairs of a node sends at most half of ``M``, in C half of ``M + 1``.

    Examples
    --------
    >>> import fastlb as lb
    >>> costs = lb.hexa_cell_formulas(5, 600, "A")
    >>> costs["time"], costs["max_steps"], costs["corrected_max_steps"]
    (Fraction(2775, 4), 23, 21)
    """
    dimensions = integer("d", d)
    if not 1 <= dimensions <= 60:
        raise ValueError(f"d must be between 1 and 60 dimensions, got {dimensions}")
    largest = read_rational("M", M)
    if largest < 0:
        raise ValueError(f"M must not be negative, got {M!r}")
    one_of("algorithm", algorithm, ALGORITHMS)
    cells = 2 ** (dimensions - 1)
    # Times: as printed in a cell and then in dimensions, and the most in a triangle and a pair.
    in_dimensions = largest / 6 * (1 - Fraction(1, cells))
    max_steps: int | None
    if algorithm == "A":
        in_cell, in_triangle, in_pair = largest, largest * 5 / 6, largest / 2
        max_steps = 3 * dimensions + 8
        total_steps = cells * (18 * dimensions + 29)
        corrected_max, corrected_total = 3 * dimensions + 6, cells * (18 * dimensions + 32)
    elif algorithm == "B":
        in_cell, in_triangle, in_pair = largest * 5 / 6, largest * 2 / 3, largest / 2
        max_steps = 3 * dimensions + 6
        total_steps = cells * (18 * dimensions + 24)
        corrected_max, corrected_total = max_steps, total_steps
    else:
        in_cell, in_triangle, in_pair = largest * 5 / 6, largest * 2 / 3, (largest + 1) / 2
        max_steps = None
        total_steps = cells * (29 + 12 * (dimensions - 1))
        corrected_max, corrected_total = 3 * dimensions + 8, cells * (18 * dimensions + 48)
    speed = LINK_SPEED * (total_steps if max_steps is None else max_steps)
    without_bracket = 29 * cells + LINK_SPEED * 12 * (dimensions - 1) * cells
    return {
        "time": _whole(in_cell + in_dimensions),
        "error": dimensions + 1,
        "max_steps": max_steps,
        "total_steps": total_steps,
        "speed": speed,
        "speed_as_printed": without_bracket if algorithm == "C" else speed,
        "corrected_time": _whole(in_triangle + dimensions * in_pair),
        "corrected_error": dimensions + 2,
        "corrected_max_steps": corrected_max,
        "corrected_total_steps": corrected_total,
    }


def _whole(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
