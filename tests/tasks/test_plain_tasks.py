"""Without numba's compiler the kernels of whole tasks run as plain Python, to the same owners."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import json
import numpy as np
import fastlb as lb

draws = np.random.default_rng(8)
owners = []
for count, largest, real in ((24, 9, 0), (9, 50, 1)):
    sizes = draws.integers(1, largest, count) + real * draws.random(count)
    sizes[:3] *= 8
    owner = draws.integers(0, 6, count) // 2
    ring = lb.Ring(6)
    plan = lb.dde(np.bincount(owner, sizes, 6), ring, record="flows")
    around = lb.Balance("dde", ring, "flows", {"loads": plan.loads, "flows": plan.flows + 999.5})
    blocks = owner % 2
    memory = lb.TaskMemory(own=1, working=owner, block=blocks, block_bytes={0: 7, 1: 5})
    edges = [(0, 1, 5), (2, 3, 4), (1, 2, 9)]
    owners += [
        lb.assign_tasks(sizes, owner, 6),
        lb.assign_tasks(sizes, owner, 6, memory=memory, memory_limit=count),
        lb.assign_tasks(np.tile(sizes, 9), np.tile(owner, 9), 6),
        lb.assign_tasks(sizes, owner, 6, weights=[1, 2, 0.3, 1, 0, 2]),
        lb.assign_tasks(sizes, owner, ring, along=plan),
        lb.assign_tasks(sizes, owner, ring, along=around),
        lb.assign_tasks(sizes, owner, 6, memory=memory, memory_limit=count, edges=edges, price=1),
    ]
print(json.dumps([[a.owner.tolist(), a.hops, a.status] for a in owners]))
"""


def printed(**environment: str) -> object:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_owners_are_the_same() -> None:
    assert printed(NUMBA_DISABLE_JIT="1") == printed()
