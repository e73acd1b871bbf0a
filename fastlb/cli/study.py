"""``fastlb study``: a Monte Carlo study, bundled or from a TOML file."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..report import Report, Statement, Table
    from ..results import Results
    from ..study import Study
    from .terminal import Work

EXAMPLES = """
\b
Examples:
  fastlb study                              the bundled studies
  fastlb study wu-shu                       Table I and Figures 12-16, 100 trials each
  fastlb study wu-shu --trials 20000 --out wu-shu
                                            the same, files of tables and plots as well
  fastlb study mine.toml --seed 7 --json    your own, for another program
  fastlb study mine.toml --trials 10000000 --store runs/mine
                                            killed or not, what is done is kept
  fastlb study --store runs/mine --resume   goes on from there
  fastlb study --store runs/mine            the results again, without a run
  fastlb study wu-shu --dask tcp://head:8786 --store runs/wu-shu
                                            on a Dask cluster; --dask local starts
                                            processes on this machine

\b
A study of your own is a TOML file:
  name = "mine"
  topologies = ["mesh:8x8", "torus:16x16"]
  methods = ["gde:lam=0.723", "dde:exchange=sbr"]
  loads = ["uniform:1000"]
  trials = 100
  seed = 1995

\b
--out writes into DIR: report.json (what --json prints), study.toml, every table
as .csv, every plot as .png and .svg, worked examples as examples.txt.
--json prints one object: schema "fastlb.study", version, fastlb, study, trials,
seed, tables, statements, and summary: for each topology, method and loads the
mean, standard error, extremes and quantiles of every figure.


--store keeps the figures of every trial in DIR, as Parquet files that
pandas.read_parquet(DIR) and others read as one table. Parts are written every
second at first, later after a fiftieth of the time or a minute. A run that is
killed, loses power or fills the disk loses what came since, and what was under
way; the resumed run ends with the same bits. --resume starts anew where there
is nothing yet, and takes more --trials of the same study; everything else must
be the same.
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@click.option("--trials", type=click.IntRange(1), metavar="N", help="Trials of each combination.")
@click.option("--seed", type=click.IntRange(0), metavar="S", help="Seed of all random loads.")
@click.option(
    "--threads", type=click.IntRange(1), metavar="T", help="Threads.  [default: all processors]"
)
@click.option("-o", "--out", metavar="DIR", help="Write tables and plots to a folder.")
@click.option("--force", is_flag=True, help="Overwrite files in DIR.")
@click.option("--store", metavar="DIR", help="Keep the trials in a folder, or read them from it.")
@click.option("--resume", is_flag=True, help="Go on with what the store holds.")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster: its scheduler, or local.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def study(
    name: str | None,
    trials: int | None,
    seed: int | None,
    threads: int | None,
    out: str | None,
    force: bool,
    store: str | None,
    resume: bool,
    dask: str | None,
    as_json: bool,
) -> None:
    """Run a Monte Carlo study by its NAME or from a file, or list the bundled ones.

    The results depend on the study, the trials and the seed alone, not on the threads, the
    cluster, or how often the run was broken off and resumed.
    """
    running = name is not None or resume
    if resume and store is None:
        raise click.UsageError("--resume needs --store DIR")
    if not running and any(value is not None for value in (trials, seed, threads, dask)):
        raise click.UsageError("NAME or FILE.toml is needed with these options")
    if dask not in (None, "local") and threads is not None:
        raise click.UsageError("--threads is for this machine, --dask ADDRESS has its own workers")
    if name is None and store is None:
        if force or out is not None:
            raise click.UsageError("NAME or FILE.toml is needed with these options")
        _list_studies(as_json)
        return
    from ..accelerate import extra
    from ..report import check_folder
    from ..store import read_store
    from ..writing import as_json as in_json
    from .terminal import output, working

    found = _kept(store) if name is None and store is not None else _find(str(name))
    found = dataclasses.replace(
        found,
        trials=found.trials if trials is None else trials,
        seed=found.seed if seed is None else seed,
    )
    if out is not None:
        check_folder(out, force=force)
        for library in found.needs:
            extra(library)
    with _keeping(store if running else None), working() as work:
        if running:
            work.step(f"{found.name}: {found.trials:,} trials x {len(found.cells)} combinations")
            results = _run(found, work, threads or _processors(), store, resume, dask)
        elif store is not None:
            work.step(f"reading {store}")
            results = read_store(store)
        report = found.report(results)
        if out is not None:
            work.step(f"writing to {out}")
            written = report.write(out, force=force)
    if as_json:
        click.echo(in_json(report.to_dict()), nl=False)
        return
    console = output()
    console.print(*_shown(report), sep="\n", crop=False)
    if out is not None:
        console.print(f"\nwrote {len(written)} files to {out}", markup=False)


def _run(
    study: Study, work: Work, threads: int, store: str | None, resume: bool, dask: str | None
) -> Results:
    from ..runner import run

    if dask is None:
        return run(study, threads=threads, store=store, resume=resume, progress=work.count)
    from ..cluster import dask_executor

    with dask_executor(dask, processes=threads) as executor:
        return run(study, executor=executor, store=store, resume=resume, progress=work.count)


@contextmanager
def _keeping(store: str | None) -> Iterator[None]:
    """Tell warnings in a line each, and of an interruption how the run goes on."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: click.echo(f"fastlb: {message}", err=True)
        try:
            yield
        except KeyboardInterrupt:
            if store is None:
                raise
            command = f"fastlb study --store {shlex.quote(store)} --resume"
            click.echo(f"fastlb: interrupted; {command} goes on from here", err=True)
            raise click.Abort from None


def _kept(store: str) -> Study:
    """Return the study whose trials a store holds."""
    from ..manifest import study_of
    from ..store import read_manifest

    return study_of(read_manifest(Path(store))["study"])


def _find(name: str) -> Study:
    """Return the bundled study of this name, or the one in this file."""
    from .. import studies
    from ..study import Study

    if name in studies.names():
        return studies.load(name)
    if name.endswith(".toml") or Path(name).exists():
        return Study.read(name)
    return studies.load(name)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _list_studies(as_json: bool) -> None:
    from .. import studies

    if as_json:
        listed = [{"study": name, "about": about} for name, about in studies.names().items()]
        click.echo(json.dumps(listed))
        return
    width = max(map(len, studies.names()))
    for name, about in studies.names().items():
        click.echo(f"{name:<{width}}  {about}")
    click.echo("\nRun one: fastlb study NAME; your own from a TOML file: fastlb study --help")


def _shown(report: Report) -> Iterator[RenderableType]:
    from rich.text import Text

    study = report.results.study
    trials = f"{study.trials:,} trial{'s' if study.trials > 1 else ''}"
    yield Text(
        f"{study.name}: {trials} of each of {len(study.cells)} combinations, seed {study.seed}"
    )
    for table in report.tables:
        yield Text()
        yield _table(table)
    if report.statements:
        yield Text("\nThe paper's sentences")
        for statement in report.statements:
            yield _statement(statement)
    for example in report.examples:
        yield Text()
        yield Text(example)


def _table(table: Table) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    numeric = [
        all(not isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))
    ]
    headings, *rows = table.printed()
    for i, (heading, number) in enumerate(zip(headings, numeric, strict=True)):
        if number:
            longest = max(len(row[i]) for row in (headings, *rows))
            grid.add_column(Text(heading), justify="right", no_wrap=True, min_width=longest)
        else:
            grid.add_column(Text(heading), overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    notes = [Text(table.note)] if table.note else []
    return Group(Text(table.title, style="bold"), grid, *notes)


def _statement(statement: Statement) -> RenderableType:
    from rich.table import Table as RichTable
    from rich.text import Text

    verdict = Text("holds", "green") if statement.holds else Text("does not", "red")
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(width=8)
    grid.add_column()
    grid.add_row(verdict, Text(f'"{statement.sentence}"'))
    grid.add_row("", Text(f"{statement.found} (tested: {statement.test})", style="dim"))
    return grid
