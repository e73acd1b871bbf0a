"""The README's table says what the ratios say."""

import json
import subprocess
import sys
from pathlib import Path

from bench import readme
from bench.race import Ratio, Row
from bench.table import as_json

ROWS = [
    Row("DEM 6-cube, batch of 4, int32", 5, 1.0, {"C": Ratio(2, 2, 2)}, {}, {"C": 4}),
    Row("DEM 10-cube, batch of 4, int32", 5, 1.0, {"C": Ratio(8, 8, 8)}, {}, {"C": 4}),
    Row("GDE 8x8 mesh, batch of 1, all metrics", 5, 1.0, {"C": Ratio(0.5, 0.5, 0.5)}, {}),
    Row(
        "DDE 16x16x16 torus, batch of 64, flows",
        5,
        1.0,
        {},
        {"copies": Ratio(7, 7, 7)},
        {"copies": 9},
    ),
]


def test_lines_sum_rows_up_and_name_losses():
    lines = readme.table(json.loads(as_json(ROWS))).splitlines()
    assert "| DEM, batches of 6- and 10-cubes | C | 4 (2 to 8) | >= 4: 1 of 2 |" in lines
    assert "| DDE, 16x16x16 torus | copies | takes 7 | <= 9: held |" in lines
    assert lines[-1] == "C is faster in: GDE 8x8 mesh, batch of 1, all metrics (0.5)."


def test_what_stands_between_the_markers_is_replaced(tmp_path):
    ratios, target = tmp_path / "ratios.json", tmp_path / "README.md"
    ratios.write_text(as_json(ROWS))
    target.write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n")
    command = [sys.executable, "-m", "bench.readme", str(ratios), str(target)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    written = target.read_text()
    assert written.startswith(f"before\n{readme.BEGIN}\nMeasured") and "old" not in written
    assert written.endswith(f"{readme.END}\nafter\n")
    target.write_text("no markers")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
