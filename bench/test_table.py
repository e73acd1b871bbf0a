"""The README's table says what the ratios say."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import processor, readme
from bench.race import Ratio, Row
from bench.table import as_json, as_markdown, fallen, measurement

SECTIONS = "performance", "first calls"
RESULTS = sorted((Path(__file__).parent / "results").glob("*.json"))
ROWS = [
    Row("DEM 6-cube, batch of 4, int32", 5, 1.0, {"C": Ratio(2, 2, 2)}, {}, {"C": 4}),
    Row("DEM 10-cube, batch of 4, int32", 9, 1.0, {"C": Ratio(8, 7, 9)}, {}, {"C": 4}),
    Row("GDE 8x8 mesh, batch of 1, all metrics", 5, 1.0, {"C": Ratio(0.5, 0.5, 0.5)}, {}),
    Row("first call, empty cache: dem", 3, 2.94e9, {}, {"empty kernel": Ratio(3, 3, 3)}),
    Row("first call, warm cache: dem", 3, 0.44e9, {}, {"empty kernel": Ratio(1, 1, 1)}),
    Row(
        "DDE 16x16x16 torus, batch of 64, flows",
        5,
        1.0,
        {},
        {"copies": Ratio(7, 7, 7)},
        {"copies": 9},
    ),
]


def measured(register_bytes, rows=ROWS):
    """Return a measurement as read from a file."""
    result = json.loads(as_json(measurement(rows)))
    result["environment"] |= {"register bytes": register_bytes, "machine": "this"}
    return result


def test_lines_sum_rows_up_and_name_losses():
    lines = readme.table([measured(64), measured(32, ROWS[1:])]).splitlines()
    assert "| work | against | AVX-512 | aim | AVX2 | aim |" in lines
    assert (
        "| DEM, batches of small cubes | C | 4 (2 to 8) | >= 4: 1 of 2 | 8 | >= 4: held |" in lines
    )
    assert "| DDE, 16x16x16 torus | copies | takes 7 | <= 9: held | takes 7 | <= 9: held |" in lines
    assert "machine this" in lines[0] and "AVX2: register bytes 32" in lines[0]
    assert "is the median of 3 to 9 rounds" in lines[2] and "within 12.5% in every row" in lines[2]
    assert lines[2].endswith("All 3 rows beside C: 2 times faster.")
    assert lines[3].endswith("All 2 rows beside C: 2 times faster.")
    assert lines[-1] == "AVX2: C is faster in: GDE 8x8 mesh, batch of 1, all metrics (0.5)."


def test_seconds_of_first_calls():
    lines = readme.first_calls([measured(64), measured(32, ROWS[:-2])]).splitlines()
    assert lines[0] == "| first call | AVX-512, s | AVX-512, cached | AVX2, s | AVX2, cached |"
    assert lines[2:] == ["| dem | 2.9 | 0.4 | 2.9 |  |"]
    assert readme.first_calls([measured(64, ROWS[:1])]) == ""


def test_aims_on_narrower_registers(monkeypatch):
    aims = {"C": 6, "NumPy": 25}
    expected = {64: (aims, aims), 32: (aims, {"C": 3, "NumPy": 25}), 16: ({"C": 1}, {"C": 1})}
    for width, of_width in expected.items():
        monkeypatch.setattr(processor, "register_bytes", lambda width=width: width)
        assert (processor.aims(aims, 4), processor.aims(aims, 8)) == of_width
        assert processor.aims({"NumPy": 2}, 8) == {"NumPy": 2}


def test_what_stands_between_the_markers_is_replaced(tmp_path):
    ratios, target, whole = (tmp_path / name for name in ("a.json", "README.md", "whole.md"))
    ratios.write_text(as_json(measured(64)))
    sections = [f"<!-- {name}: begin -->\nold\n<!-- {name}: end -->" for name in SECTIONS]
    target.write_text("before\n{}\nbetween\n{}\nafter\n".format(*sections))
    command = [sys.executable, "-m", "bench.readme", str(ratios), "--readme", str(target)]
    command += ["--whole", str(whole)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    written = target.read_text()
    assert written.startswith("before\n<!-- performance: begin -->\nMeasured")
    assert "old" not in written and "\nbetween\n<!-- first calls: begin -->\n" in written
    assert written.endswith("<!-- first calls: end -->\nafter\n")
    assert whole.read_text() == as_markdown([measured(64)])
    target.write_text("no markers")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_row_of_the_whole_table_is_summed_up_once(path):
    for row in json.loads(path.read_text())["rows"]:
        lines = [line for line, rows in readme.LINES.items() if re.match(rows, row["name"])]
        assert len(lines) == 1, (row["name"], lines)


def test_the_gate_lets_ratios_fall_by_a_quarter():
    earlier = measured(64)
    assert fallen(ROWS, earlier) == []
    slower = [Row(ROWS[0].name, 5, 1.0, {"C": Ratio(r, r, r)}, {}) for r in (1.51, 1.49)]
    assert fallen(slower[:1], earlier) == []
    assert fallen(slower[1:], earlier) == [
        "DEM 6-cube, batch of 4, int32: 1.49 (1.49 to 1.49) times faster than C, was 2"
    ]
    longer = [Row(ROWS[-1].name, 5, 1.0, {}, {"copies": Ratio(r, r, r)}) for r in (9.3, 9.4)]
    assert fallen(longer[:1], earlier) == []
    assert len(fallen(longer[1:], earlier)) == 1


def test_the_whole_table_has_medians_and_aims_of_each_processor():
    head, _, first, second, *_ = as_markdown([measured(64), measured(32, ROWS[:1])]).splitlines()
    assert head == "| work | against | AVX-512 | aim | AVX2 | aim |"
    two = "2 (2 to 2) | >= 4, missed"
    assert first == f"| DEM 6-cube, batch of 4, int32 | C | {two} | {two} |"
    assert second == "| DEM 10-cube, batch of 4, int32 | C | 8 (7 to 9) | >= 4 |  |  |"
