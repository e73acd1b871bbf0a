"""0-1 programs of the literature, one at a time, against HiGHS and CP-SAT."""

import pytest

from bench import known_programs
from bench import program_peers as peers
from bench.test_binary import solved


def programs():
    found = known_programs.mknap1()
    return found | {"p0033": known_programs.p0033(), "stein27": known_programs.steiner(3)}


@pytest.mark.parametrize("name", programs())
def test_known_program(race, quick, name):
    if quick and name == "stein27":
        *program, optimum = known_programs.steiner(2)
    else:
        *program, optimum = programs()[name]
    batch = [part[None] for part in program]
    assert solved(*batch) == optimum
    race(
        f"0-1 single, {name}",
        lambda: solved(*batch),
        {
            "milp": lambda: peers.by_milp(*batch),
            "CP-SAT": (lambda: peers.by_cp_sat(*batch)) if peers.has_cp_sat() else None,
        },
        nodes=1,
        targets={"milp": 1, "CP-SAT": 1},
    )
