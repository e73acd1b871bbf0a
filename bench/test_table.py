"""The README's table says what the ratios say."""

import json
import re
import subprocess
import sys
from pathlib import Path

from bench import readme
from bench.race import Ratio, Row
from bench.table import as_json, as_markdown, fallen

ROWS = [
    Row("DEM 6-cube, batch of 4, int32", 5, 1.0, {"C": Ratio(2, 2, 2)}, {}, {"C": 4}),
    Row("DEM 10-cube, batch of 4, int32", 9, 1.0, {"C": Ratio(8, 7, 9)}, {}, {"C": 4}),
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
    assert "| DEM, batches of small cubes | C | 4 (2 to 8) | >= 4: 1 of 2 |" in lines
    assert "| DDE, 16x16x16 torus | copies | takes 7 | <= 9: held |" in lines
    assert "is the median of 5 to 9 rounds" in lines[0] and "within 12.5% in every row" in lines[0]
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


def test_every_row_of_the_whole_table_is_summed_up_once():
    measured = json.loads((Path(__file__).parent / "results" / "ratios.json").read_text())
    for row in measured["rows"]:
        lines = [line for line, rows in readme.LINES.items() if re.match(rows, row["name"])]
        assert len(lines) == 1, (row["name"], lines)


def test_the_gate_lets_ratios_fall_by_a_quarter():
    earlier = json.loads(as_json(ROWS))
    assert fallen(ROWS, earlier) == []
    slower = [Row(ROWS[0].name, 5, 1.0, {"C": Ratio(r, r, r)}, {}) for r in (1.51, 1.49)]
    assert fallen(slower[:1], earlier) == []
    assert fallen(slower[1:], earlier) == [
        "DEM 6-cube, batch of 4, int32: 1.49 (1.49 to 1.49) times faster than C, was 2"
    ]
    longer = [Row(ROWS[3].name, 5, 1.0, {}, {"copies": Ratio(r, r, r)}) for r in (9.3, 9.4)]
    assert fallen(longer[:1], earlier) == []
    assert len(fallen(longer[1:], earlier)) == 1


def test_the_whole_table_has_rounds_medians_and_aims():
    head, _, first, *_ = as_markdown(ROWS).splitlines()
    assert head.startswith("| work | rounds | ns/node | faster than C |")
    assert first == "| DEM 6-cube, batch of 4, int32 | 5 | 1 | 2 (2 to 2), aim >= 4 |  |"
