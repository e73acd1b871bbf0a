"""Questions that studies answer, and what their methods do, as text for reports and help."""

from __future__ import annotations

from collections.abc import Iterable

# By bundled study: its question, and what the methods that it compares do.
QUESTIONS = {
    "wu-shu": (
        "How much better does DDE balance random loads on meshes and tori than GDE: what "
        "difference remains, how many steps does it take, and how much load travels how far? "
        "DDE (direct dimension exchange) computes for every line of nodes along an axis what each "
        "link has to carry to level it, one axis after the other, in one sweep; GDE (generalized "
        "dimension exchange) has pairs of neighbours even out their loads, sweep after sweep, "
        "until nothing moves."
    ),
    "hexa-cell": (
        "How long do Algorithms A, B and C take to balance a hyper hexa-cell network, how many "
        "messages do they send, and do the paper's formulas say so? All three level the two "
        "triangles of every cell of six nodes first, A and B by a coordinator and C without, and "
        "then use DEM (dimension exchange): nodes that differ in one bit of their address split "
        "their loads evenly, one bit after the other."
    ),
    "more-wu": (
        "How many times faster does a branch-and-bound search for the solution of a 0-1 program "
        "end on a simulated hypercube if its processors share their open work? They share it by "
        "DEM (dimension exchange): processors that differ in one bit of their address split their "
        "work evenly, one bit after the other; here it is fault-tolerant DEM, as links are faulty."
    ),
    "more-wu-faults": (
        "How evenly is load balanced on a hypercube with faulty links if DEM skips these links, "
        "and if fault-tolerant DEM makes up for them? DEM (dimension exchange) has nodes that "
        "differ in one bit of their address split their loads evenly, one bit after the other; "
        "fault-tolerant DEM also brings together the parts of the cube that faults keep apart."
    ),
    "minimax": (
        "How little load has to cross the busiest link if all excess is to reach nodes with room, "
        "and how much more is it on prescribed routes or with indivisible loads? Minimax flow "
        "computes that least contention exactly; DDE (direct dimension exchange), shown beside "
        "it, levels one axis of a grid after the other without a look at contention."
    ),
    "tasks": (
        "How even do loads get if tasks move whole, how much moves, and how long does the choice "
        "of tasks take? Tasks go to any node, or over links alone along the flows of DDE (direct "
        "dimension exchange), which computes what every link of a grid has to carry. Beside them "
        "stand the plan's flows without further exchanges, and placing all tasks anew, the "
        "longest first."
    ),
}

# By method: a sentence on what it does.
METHODS = {
    "dem": (
        "DEM (dimension exchange) has the nodes of a hypercube that differ in one bit of their "
        "address split their loads evenly, one bit after the other."
    ),
    "fault_tolerant_dem": (
        "Fault-tolerant DEM does as DEM (dimension exchange), in which nodes that differ in one "
        "bit of their address split their loads evenly, and repairs what faulty links leave."
    ),
    "gde": (
        "GDE (generalized dimension exchange) has pairs of neighbours even out their loads, sweep "
        "after sweep, until nothing moves."
    ),
    "dde": (
        "DDE (direct dimension exchange) levels all lines of nodes along one axis of a grid at "
        "once, one axis after the other, in one sweep."
    ),
    "hexa_cell": (
        "Hexa_cell, Algorithms A, B and C, levels the triangles of every cell of six nodes and "
        "then pairs of cells by DEM (dimension exchange)."
    ),
}


def question(methods: Iterable[str]) -> str:
    """Return the question of a study with these methods, and what the library's own methods do.

    ``methods`` are their spellings.
    """
    names = list(dict.fromkeys(method.partition(":")[0] for method in methods))
    text = (
        "How evenly, at what cost and in how many steps do these methods balance the same random "
        "loads?"
        if len(names) > 1
        else "How evenly, at what cost and in how many steps does this method balance random loads?"
    )
    return " ".join([text, *(METHODS[name] for name in names if name in METHODS)])
