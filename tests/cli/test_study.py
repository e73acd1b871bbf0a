"""``fastlb study``."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.random_loads.bounds import bounds_of
from fastlb.random_loads.parse import by_name
from fastlb.studies.questions import QUESTIONS

from .conftest import Run

TOML = """
name = "mine"
topologies = ["mesh:4x4", "ring:8"]
methods = ["gde:lam=0.7", "dde"]
loads = ["uniform:100"]
trials = 9
seed = 3
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return path


def test_the_list(run: Run) -> None:
    done = run("study")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("wu-shu ")
    assert json.loads(run("study", "--json").out)[0]["study"] == "wu-shu"


def test_the_list_fits_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("study").out
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run("study").out
    assert max(map(len, narrow.split("\n\n")[0].splitlines())) <= 40
    assert narrow.split() == wide.split()


def test_the_papers_table(run: Run) -> None:
    done = run("study", "wu-shu", "--trials", 20)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    for text in (
        "wu-shu: 20 trials of each of 15 combinations, seed 1995",
        "Average Number of Sweeps: paper",
        "7.28 9.20 11.08 13.02 14.67",
        "7.37 9.32 11.28 12.94 14.68",
        "Figure 16: Local tasks",
        '"DDE completes load balancing in one sweep but GDE needs many sweeps."',
        "(a) DDE-ring in the first dimension",
    ):
        assert text in " ".join(done.out.split())


def test_help_has_every_law_of_loads_with_its_limits(run: Run) -> None:
    text = run("study", "--help").out
    assert max(map(len, text.splitlines())) <= 80
    laws = re.split(r"\n +(?=[a-z-]+:[A-Z3])", text.partition("are drawn from one of these:")[2])
    told = {law.split()[0]: " ".join(law.split()) for law in laws[1:]}
    for kind in by_name().values():
        if kind is lb.Resampled:
            continue
        parameters = dataclasses.fields(kind)
        law = told.pop(f"{kind.name}:{','.join(p.name.upper() for p in parameters)}")
        for parameter in parameters:
            assert str(bounds_of(parameter)) in law
    assert list(told) == ["resampled:FILE", "resampled:3-1-4"]


def test_trials_before_the_first_look(run: Run, mine: Path) -> None:
    targets = ("--target-error", "difference=1000", "--trials", 100)
    for least in (2, 40):
        done = run("study", mine, *targets, "--minimum-trials", least)
        assert f"mine: {least} trials of each" in done.out
    assert "mine: 100 trials of each" in run("study", mine, *targets).out
    mine.write_text(f"{TOML}target_error = {{ difference = 1000 }}\nminimum_trials = 5\n")
    assert "mine: 5 trials of each" in run("study", mine).out
    assert "mine: 7 trials of each" in run("study", mine, "--minimum-trials", 7).out


def test_a_study_of_ones_own(run: Run, mine: Path) -> None:
    done = run("study", mine)
    assert (done.code, done.err) == (0, "")
    assert "mine: 9 trials of each of 4 combinations, seed 3" in done.out
    assert "gde:lam=0.7" in done.out


def test_json_is_the_report(run: Run, mine: Path) -> None:
    document = json.loads(run("study", mine, "--json", "--trials", 5, "--seed", 7).out)
    assert (document["trials"], document["seed"]) == (5, 7)
    study = lb.Study("mine", ["mesh:4x4", "ring:8"], ["gde:lam=0.7", "dde"], "uniform:100", 5, 7)
    assert document == lb.studies.report(lb.run(study)).to_dict()


def test_threads_change_nothing(run: Run, mine: Path) -> None:
    one, two = (run("study", mine, "--json", "--threads", n).out for n in (1, 2))
    assert one == two


def test_files(run: Run, mine: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run("study", mine, "--out", folder)
    assert done.code == 0
    plots = {path.name for path in folder.glob("mean-*")}
    assert {"mean-difference.png", "mean-cost.svg"} <= plots
    assert len(plots) == 10
    assert f"wrote {8 + len(plots)} files to {folder}" in done.out.replace("\n", " ")
    assert lb.Study.read(folder / "study.toml") == lb.Study.read(mine)
    before = (folder / "report.json").read_bytes()
    again = run("study", mine, "--out", folder, "--seed", 4)
    assert (again.code, again.out) == (2, "")
    assert "holds files already" in again.err
    assert (folder / "report.json").read_bytes() == before
    assert run("study", mine, "--out", folder, "--seed", 4, "--force").code == 0
    assert (folder / "report.json").read_bytes() != before


def test_a_page(run: Run, mine: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("study", mine, "--report", page)
    assert (done.code, done.err) == (0, "")
    assert done.out.replace("\n", " ").endswith(f"wrote {page} ")
    before = page.read_bytes()
    assert before.startswith(b"<!DOCTYPE html>")
    again = run("study", mine, "--report", page, "--seed", 4)
    assert (again.code, again.out) == (2, "")
    assert "is there already (--force overwrites it)" in again.err
    assert page.read_bytes() == before
    assert run("study", mine, "--report", page, "--no-rows", "--force").code == 0
    assert page.read_bytes() == before


def test_it_ends_at_a_target_error(run: Run, mine: Path) -> None:
    reached = run("study", mine, "--trials", 3000, "--target-error", "cost=5%", "--no-rows")
    assert reached.code == 0
    assert "256 trials of each of 4 combinations" in reached.out
    assert "Trials ended at standard errors of at most: cost 5%." in reached.out
    mine.write_text(TOML + "target_error = { cost = 1e-9 }\n")
    missed = run("study", mine, "--json")
    assert (missed.code, missed.err) == (1, "")
    assert json.loads(missed.out)["target_error"] == {"cost": 1e-9}


@pytest.mark.parametrize("name", ["wu-shu", "hexa-cell"])
def test_a_bundled_study_that_stops_early_has_its_own_report(run: Run, name: str) -> None:
    targets = ("--target-error", "difference=0.8", "--minimum-trials", 2)
    done = run("study", name, "--trials", 4, *targets, "--no-rows")
    assert done.code == (1 if "Not reached" in done.out else 0)
    lines = done.out.partition("\n\n")[2].splitlines()
    assert lines[0].startswith(f"{name}: 2 to 4 trials of each of ")
    assert lines[1].startswith("Trials ended at standard errors of at most: difference 0.8.")
    assert "The paper's sentences" in done.out
    assert "Means of" not in done.out
    assert max(map(len, lines)) <= 80


def test_one_whose_trials_are_set_against_each_other_has_the_general_report(run: Run) -> None:
    targets = ("--target-error", "difference=1e-9", "--minimum-trials", 2)
    done = run("study", "more-wu-faults", "--trials", 2, *targets)
    assert done.code == 1
    text = " ".join(done.out.split())
    assert re.search(r"Not reached: (\S+ with \S+; ){6}and [\d,]+ more\.", text)
    assert "Means of 2 trials" in text


METHODS = ("gde:lam=0.723,order=interleaved,max_sweeps=1000", "gde:lam=0.7,max_sweeps=50")


@pytest.mark.parametrize("columns", [80, 100, 120, 160])
def test_names_are_never_broken_within_an_option(
    run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    mine.write_text(
        TOML.replace('"gde:lam=0.7", "dde"', ", ".join(f'"{method}"' for method in METHODS))
        .replace('"ring:8"', '"hypercube:3:faults=0-4,5-7"')
        .replace('["uniform:100"]', '["uniform:100", "two-valued:0,1000,0.25"]')
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    done = run("study", mine)
    words = set(done.out.replace("\n", " ").split())
    for name in (*METHODS, "hypercube:3:faults=0-4,5-7", "two-valued:0,1000,0.25"):
        pieces = re.findall(r"[^,:]+[,:]?", name)
        assert all(any(piece in word for word in words) for piece in pieces)
    widest = max(map(len, done.out.splitlines()))
    assert widest <= max(columns, 90)
    rows = [line for line in done.out.splitlines() if line.startswith("mesh:4x4")]
    assert any(METHODS[0] in row for row in rows) is (columns == 160)


def test_without_rows_nothing_changes(run: Run, mine: Path) -> None:
    rows, none = (run("study", mine, "--json", *given).out for given in ((), ("--no-rows",)))
    assert rows == none


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["wu-shuu"], "got 'wu-shuu'; did you mean wu-shu?"),
        (["nosuch"], "got 'nosuch'; a study of your own is a FILE.toml"),
        (["none.toml"], "none.toml: No such file or directory"),
        (["wu-shu", "--trials", "0"], "Invalid value for '--trials'"),
        (["wu-shu", "--threads", "x"], "Invalid value for '--threads'"),
        (["wu-shu", "--seed", str(2**128)], "seed must be between 0 and 2**128 - 1"),
        (["--trials", "3"], "NAME or FILE.toml is needed"),
        (["wu-shu", "--out", "none/out"], "no such folder"),
        (["wu-shu", "--report", "none/page.html"], "no such folder"),
        (["wu-shu", "--report", "page.pdf"], "out must end in .html, got 'page.pdf'"),
        (["wu-shu", "--target-error", "0.1"], "--target-error is FIGURE=ERROR"),
        (["wu-shu", "--target-error", "cost=x"], "target_error of cost must be a number"),
        (["wu-shu", "--target-error", "cots=1"], "got 'cots'; did you mean cost?"),
        (["wu-shu", "--minimum-trials", "9"], "--minimum-trials needs --target-error, here or"),
        (
            ["wu-shu", "--target-error", "cost=1", "--minimum-trials", "1"],
            "Invalid value for '--mi",
        ),
        (["--minimum-trials", "9"], "NAME or FILE.toml is needed"),
        (["--no-rows"], "NAME or FILE.toml is needed"),
        (["--target-error", "cost=1"], "NAME or FILE.toml is needed"),
    ],
)
def test_bad_input_is_told_in_a_line(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("study", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_large_numbers_are_never_cut(run: Run, mine: Path) -> None:
    names = ", ".join(f'"gde:lam=0.{"1" * n},max_sweeps=1"' for n in (17, 18))
    text = TOML.replace('"gde:lam=0.7"', names).replace("uniform:100", f"uniform:{10**15}")
    mine.write_text(text)
    done = run("study", mine)
    assert done.code == 0
    assert "…" not in done.out
    means = done.out.partition("Paired differences")[0]
    lines = [line for line in means.splitlines() if "±" not in line]
    assert len([line for line in lines if line.count(",") >= 5]) == 4


def test_too_many_trials_are_refused_at_once(run: Run, tmp_path: Path) -> None:
    done = run("study", "wu-shu", "--trials", 10**12, "--out", tmp_path / "out")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "the table of 1,000,000,000,000 trials needs about" in done.err
    assert "are free; rows=False in Python, --no-rows on the command line" in done.err
    assert not list(tmp_path.iterdir())


def test_wrong_studies_write_nothing(run: Run, mine: Path, tmp_path: Path) -> None:
    for wrong, message in (
        (TOML.replace("gde:lam=0.7", "gde:lam=7"), "gde:lam=7 on mesh:4x4: lam must"),
        (TOML.replace("trials", "trails"), "did you mean trials"),
        (TOML.replace('"mine"', "mine"), "not valid TOML"),
    ):
        mine.write_text(wrong)
        done = run("study", mine, "--out", tmp_path / "out")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert message in done.err
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", lb.studies.names())
def test_help_begins_with_the_question_of_the_study(run: Run, name: str) -> None:
    lines = run("study", name, "--help").out.splitlines()
    assert lines[2].startswith(f"  {name}: How ")
    expected = "".join(f"{name}: {QUESTIONS[name]}".split())
    assert "".join("".join(lines[2:]).split()).startswith(expected)
    assert expected in "".join(run("study", "--help").out.split())
    known = {"DEM": "dimension exchange", "DDE": "direct dimension exchange"}
    known |= {"GDE": "generalized dimension exchange"}
    for word, meaning in known.items():
        assert word not in QUESTIONS[name] or f"{word} ({meaning})" in QUESTIONS[name]


def test_further_grids_are_explained_where_they_are_looked_for(run: Run) -> None:
    text = " ".join(run("study", "--help").out.split())
    assert "A table [[further]] adds one more such grid" in text
    study = lb.studies.load("wu-shu").to_toml()
    assert study.count("# [[further]]: one more grid of combinations") == 1
    assert lb.Study.from_toml(study) == lb.studies.load("wu-shu")


def test_no_mean_stands_without_its_error(run: Run, mine: Path) -> None:
    done = run("study", mine)
    means = done.out.partition("standard error")[2].partition("Paired")[0]
    assert means.count("±") >= 4 * 3
    assert not re.search(r"\b0\.0+\b", means)


def test_examples_of_many_trials_hold_no_table(run: Run) -> None:
    examples = run("study", "--help").out.splitlines()
    many = [line for line in examples if re.search(r"--trials \d{7}", line) or "runs/mine" in line]
    assert len(many) == 4
    assert all("--no-rows" in line for line in many)


def test_a_terminal_has_the_means_and_one_table_of_differences(run: Run, mine: Path) -> None:
    brief, everything = run("study", mine).out, run("study", mine, "--all").out
    assert brief.count("Paired differences in ") == 1
    assert "less %" not in brief
    told = " ".join(brief.split())
    assert "Not shown: paired differences in cost, locality, sweeps, steps, and all" in told
    assert "--all prints them; --out DIR writes all tables and plots to files, --report" in told
    assert everything.count("Paired differences in ") == 5
    assert "less %" in everything
    assert "Not shown" not in everything


@pytest.mark.parametrize("others", ['"uniform:100", ', ""])
def test_the_hash_of_a_file_of_loads_stands_once(
    run: Run, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("loads.csv").write_text("3\n1\n4\n")
    mine.write_text(TOML.replace('"uniform:100"', f'{others}"resampled:loads.csv"'))
    printed = run("study", mine, "--all").out
    assert printed.count("resampled:loads.csv") > 2
    assert printed.count("sha256=") == 1
    assert "sha256=" in run("study", mine, "--json").out


def test_a_single_trial_says_why_it_has_no_interval(run: Run, mine: Path) -> None:
    printed = run("study", mine, "--trials", 1).out
    assert "One trial alone has no standard error and no interval." in printed
    assert "95 %" not in printed


def test_an_interrupt_without_a_store_names_the_store(
    run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fastlb.montecarlo.runner.run", interrupted)
    done = run("study", mine)
    assert (done.code, done.out) == (130, "")
    told = "with --store DIR what is done stays, and --resume goes on from there"
    assert done.err == f"fastlb: interrupted; {told}\n"


def test_a_study_too_large_for_plots_says_so(
    run: Run, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastlb.reports.meanplots.MOST_LINES", 3)
    for option, name in (("--out", "out"), ("--report", "page.html")):
        done = run("study", mine, option, tmp_path / name)
        assert done.code == 0
        assert done.out.endswith("no plots: more than 3 combinations\n")
