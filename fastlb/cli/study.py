"""``fastlb study``: a Monte Carlo study, bundled or from a TOML file."""

from __future__ import annotations

import dataclasses
import json
import shlex
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .processors import processors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..montecarlo.study import Study

EXAMPLES = """
\b
Examples:
  fastlb study                              the bundled studies
  fastlb study wu-shu                       Table I, Figures 12-16, 100 trials
  fastlb study wu-shu --trials 20000 --out wu-shu
                                            tables and plots in files as well
  fastlb study wu-shu --report wu-shu.html  the same as one page for a browser
  fastlb study mine.toml --seed 7 --json    your own, for another program
  fastlb study mine.toml --trials 1000000 --target-error cost=0.1% --no-rows
                                            until the means are as certain, in
                                            memory that does not grow
  fastlb study mine.toml --trials 10000000 --store runs/mine --no-rows
                                            killed or not, what is done stays
  fastlb study --store runs/mine --resume --no-rows
                                            goes on from there
  fastlb study --store runs/mine --no-rows  the results again, without a run;
                                            if it is not finished, those that
                                            are there, marked so
  fastlb study wu-shu --dask tcp://head:8786 --store runs/wu-shu
                                            on a Dask cluster; --dask local
                                            starts processes on this machine

\b
A study of your own is a TOML file:
  name = "mine"
  topologies = ["mesh:8x8", "torus:16x16"]
  methods = ["gde:lam=0.723", "dde:exchange=sbr"]
  loads = ["uniform:1000", "resampled:loads.csv"]
  trials = 100
  seed = 1995
  target_error = { sweeps = 0.01, cost = "0.1%" }
  minimum_trials = 256
target_error may be left out; minimum_trials says when it is first looked at.
Nodes of different speeds: weights = [3, 1, 0.5, "1/3"], one a node of every
topology, or by topology: weights = { "ring:4" = [3, 1, 0.5, "1/3"] }.

\b
All methods run on all topologies with all loads. A table [[further]] adds one
more such grid, with the same trials and seed; as many as you like:
  [[further]]
  topologies = ["hypercube:10"]
  methods = ["dem"]
  loads = ["one-hot:1024"]

\b
A topology may be a file of links of your own, such as "links.csv"; fastlb
plan --help says how it is written. Its links alone are used.

\b
Loads, whole and not negative, are drawn from one of these:
  uniform:MEAN                 0 to twice the MEAN, each equally likely;
                               MEAN whole, between 0 and 2**62 - 1
  exponential:MEAN             MEAN between 0 and 2**50
  poisson:MEAN                 MEAN above 0, to 2**32
  normal:MEAN,DEVIATION        rounded, what is negative is 0; MEAN between 0
                               and 2**50, DEVIATION above 0, to 2**50
  log-normal:MEAN,SIGMA        rounded; MEAN above 0, to 2**50, SIGMA (of the
                               logarithm) above 0, to 4; largest below 2**60
  zipf:EXPONENT,LARGEST_LOAD   1 to LARGEST_LOAD, between 1 and 2**16;
                               EXPONENT between 0 and 64
  two-valued:LOW,HIGH,SHARE    HIGH with probability SHARE, between 0 and 1,
                               0.5 if left out, else LOW; LOW below HIGH,
                               both between 0 and 2**63 - 1
  one-hot:LOAD,REST            LOAD on one node, REST, 0 if left out, on all
                               others; REST at most LOAD, both between 0 and
                               2**63 - 1
  resampled:FILE               from the values in a .npy or .csv file;
  resampled:3-1-4              from these values

\b
--out writes into DIR: report.json (what --json prints), study.toml, every
table as .csv, every plot as .png and .svg, worked examples as examples.txt.
The plots of a study of your own, up to 60 combinations, are the means of each
figure with two standard errors, by topology, loads and method; --report has
them as well. The terminal has its means and one table of paired differences,
or all tables with --all.
--json prints one object: schema "fastlb.study", version, fastlb, study,
trials, seed, target_error, tables, statements, summary: for each topology,
method and loads the mean, standard error, extremes and quantiles of every
figure, and differences: the same of each two methods' differences, trial by
trial; complete: false if it is of a store whose run is not complete. The exit
code is 1 then, and if a target error was not reached.

\b
--store keeps the figures of every trial in DIR, as Parquet files that
pandas.read_parquet(DIR) and others read as one table. Parts are written every
second at first, later after a fiftieth of the time or a minute. A run that is
killed, loses power or fills the disk loses what came since, and what was
under way; the resumed run ends with the same bits. --resume starts anew where
there is nothing yet, and takes more --trials or another --target-error or
--minimum-trials of the same study; everything else must be the same.
--no-rows holds none of them in memory.
"""


# Key in click's context of the arguments, by which the help finds the study's name.
_ARGUMENTS = "fastlb.study"


class _StudyCommand(click.Command):
    """A command whose help begins with the study that is named, or with all of them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ..studies.questions import QUESTIONS

        named = [name for name in QUESTIONS if name in ctx.meta.get(_ARGUMENTS, ())]
        with formatter.indentation():
            for name in named or QUESTIONS:
                formatter.write_paragraph()
                formatter.write_text(f"{name}: {QUESTIONS[name]}")
        super().format_help_text(ctx, formatter)


@click.command(cls=_StudyCommand, epilog=EXAMPLES)
@click.argument("name", required=False, metavar="[NAME|FILE.toml]")
@click.option(
    "-t",
    "--topology",
    "topologies",
    multiple=True,
    metavar="SPEC|FILE",
    help="In place of the topologies of FILE.toml, such as mesh:8x8 or links.csv; repeatable.",
)
@click.option("--trials", type=click.IntRange(1), metavar="N", help="Trials of each combination.")
@click.option("--seed", type=click.IntRange(0), metavar="S", help="Seed of all random loads.")
@click.option(
    "--threads", type=click.IntRange(1), metavar="T", help="Threads.  [default: all processors]"
)
@click.option(
    "--target-error",
    "targets",
    multiple=True,
    metavar="FIGURE=ERROR",
    help="Stop where standard errors are at most this, such as sweeps=0.01 or cost=0.1%.",
)
@click.option(
    "--minimum-trials",
    type=click.IntRange(2),
    metavar="N",
    help="Trials before the first look at the target errors, then twice as many and so on.  "
    "[default: 256]",
)
@click.option("--no-rows", is_flag=True, help="Keep no trial, so that memory does not grow.")
@click.option("-o", "--out", metavar="DIR", help="Write tables and plots to a folder.")
@click.option("--report", metavar="FILE.html", help="Write a page with all of it.")
@click.option("--force", is_flag=True, help="Overwrite files in DIR, or FILE.html.")
@click.option("--store", metavar="DIR", help="Keep the trials in a folder, or read them from it.")
@click.option("--resume", is_flag=True, help="Go on with what the store holds.")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster: its scheduler, or local.")
@click.option("--all", "everything", is_flag=True, help="Print all tables with all columns.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def study(
    ctx: click.Context,
    name: str | None,
    topologies: tuple[str, ...],
    trials: int | None,
    seed: int | None,
    threads: int | None,
    targets: tuple[str, ...],
    minimum_trials: int | None,
    no_rows: bool,
    out: str | None,
    report: str | None,
    force: bool,
    store: str | None,
    resume: bool,
    dask: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Run a Monte Carlo study by its NAME or from a file, or list the bundled ones.

    The results depend on the study, the trials and the seed alone, not on the threads, the
    cluster, or how often the run was broken off and resumed.
    """
    running = name is not None or resume
    if resume and store is None:
        raise click.UsageError("--resume needs --store DIR")
    options = {
        "trials": trials,
        "seed": seed,
        "target_error": _targets(targets) or None,
        "minimum_trials": minimum_trials,
    }
    changed: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if topologies and (name is None or not _is_file(name)):
        raise click.UsageError("--topology is for a FILE.toml of your own")
    if not running and (changed or threads is not None or dask is not None):
        raise click.UsageError("NAME or FILE.toml is needed with these options")
    if dask not in (None, "local") and threads is not None:
        raise click.UsageError("--threads is for this machine, --dask ADDRESS has its own workers")
    if name is None and store is None:
        if force or no_rows or out is not None or report is not None:
            raise click.UsageError("NAME or FILE.toml is needed with these options")
        _list_studies(as_json)
        return
    from .. import studies
    from ..display.numbers import counted
    from ..extras import extra
    from ..files.writing import as_json as in_json
    from ..files.writing import check_target
    from ..montecarlo.runner import run
    from ..montecarlo.store import read_store
    from ..reports.meanplots import MOST_LINES, plots_of
    from ..reports.reportfiles import check_folder, write_folder, write_html
    from .terminal import output, working

    chosen = (
        _stored(store, resume) if name is None and store is not None else _named_study(str(name))
    )
    chosen = dataclasses.replace(chosen, **changed)
    if topologies:
        chosen = _on_topologies(chosen, topologies)
    if minimum_trials is not None and not chosen.target_error:
        raise click.UsageError("--minimum-trials needs --target-error, here or in FILE.toml")
    if out is not None:
        check_folder(out, force=force)
        extra("matplotlib")
    if report is not None:
        check_target(report, force=force, suffixes=(".html",))
        extra("matplotlib")
    with _one_line_messages(store, no_rows, running), working() as work:
        if running:
            combinations = counted(len(chosen.cells), "combination")
            work.step(f"{chosen.name}: {counted(chosen.trials, 'trial')} x {combinations}")
            storage: dict[str, Any] = {"rows": not no_rows, "store": store, "resume": resume}
            with _workers(dask, threads or processors()) as workers, _located(name):
                results = run(
                    chosen,
                    **workers,
                    **storage,
                    progress=work.count,
                    watch=work.summary(chosen),
                )
        elif store is not None:
            work.step(f"reading {store}")
            results = read_store(store, rows=not no_rows, partial=True)
        document = studies.report(results)
        if out is not None:
            work.step(f"writing to {out}")
            written = write_folder(document, out, force=force)
        if report is not None:
            work.step(f"writing {report}")
            write_html(document, report, force=force)
    if as_json:
        click.echo(in_json(document.to_dict()), nl=False)
    else:
        from .studyreport import study_report

        console = output()
        console.print(
            *study_report(document, console.width, everything=everything), sep="\n", crop=False
        )
        if out is not None:
            console.print(f"\nwrote {len(written)} files to {out}", markup=False)
        if report is not None:
            console.print(f"\nwrote {report}", markup=False)
        if (out is not None or report is not None) and not plots_of(document):
            console.print(f"no plots: more than {MOST_LINES} combinations", markup=False)
    if results.missing or results.unreached():
        ctx.exit(1)


def _targets(texts: Iterable[str]) -> dict[str, float | str]:
    """Read ``FIGURE=ERROR``, an error as a number or in per cent."""
    targets: dict[str, float | str] = {}
    for text in texts:
        figure, equals, error = map(str.strip, text.partition("="))
        if not equals or figure in targets:
            raise click.UsageError(f"--target-error is FIGURE=ERROR, each once, got {text!r}")
        try:
            targets[figure] = float(error)
        except ValueError:
            targets[figure] = error
    return targets


@contextmanager
def _workers(dask: str | None, threads: int) -> Iterator[dict[str, Any]]:
    """Yield the arguments of ``run`` that say where trials are run."""
    if dask is None:
        yield {"threads": threads}
        return
    from ..montecarlo.cluster import dask_executor

    with dask_executor(dask, processes=threads) as executor:
        yield {"executor": executor}


@contextmanager
def _one_line_messages(store: str | None, no_rows: bool, running: bool) -> Iterator[None]:
    """Print each warning in a line, and after an interruption how the run goes on."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: click.echo(f"fastlb: {message}", err=True)
        try:
            yield
        except KeyboardInterrupt:
            if not running:
                raise
            if store is None:
                said = "with --store DIR what is done stays, and --resume goes on from there"
                click.echo(f"fastlb: interrupted; {said}", err=True)
                raise click.Abort from None
            command = f"fastlb study --store {shlex.quote(store)} --resume"
            command += " --no-rows" if no_rows else ""
            click.echo(f"fastlb: interrupted; {command} goes on from here", err=True)
            raise click.Abort from None


def _stored(store: str, resume: bool) -> Study:
    """Return the study whose trials a store holds."""
    from ..montecarlo.manifest import MANIFEST, stored_study

    if resume and not (Path(store) / MANIFEST).exists():
        message = f"{store or repr(store)} holds no store to go on with"
        raise click.UsageError(f"{message}: NAME or FILE.toml is needed to start one")
    return stored_study(Path(store))


def _named_study(name: str) -> Study:
    """Return the bundled study of this name, or the one in this file."""
    from .. import studies
    from ..montecarlo.study import Study

    if _is_file(name):
        return Study.read(name)
    try:
        return studies.load(name)
    except ValueError as error:
        raise click.UsageError(f"{error}; a study of your own is a FILE.toml") from None


def _on_topologies(study: Study, topologies: tuple[str, ...]) -> Study:
    """Return a study on other topologies, in all its parts."""
    from ..topologies.parse import read_topology

    parsed = tuple(map(read_topology, topologies))
    further = tuple(dataclasses.replace(part, topologies=parsed) for part in study.further)
    return dataclasses.replace(study, topologies=parsed, further=further)


def _is_file(name: str) -> bool:
    from .. import studies

    return name not in studies.names() and (name.endswith(".toml") or Path(name).exists())


@contextmanager
def _located(name: str | None) -> Iterator[None]:
    """Add the line of the study's file to errors about a method's options or topology."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if name is None or not _is_file(name):
            raise
        from ..montecarlo.studyfile_lines import located

        raise located(error, name, Path(name).read_text(encoding="utf-8-sig")) from error


def _list_studies(as_json: bool) -> None:
    from .. import studies
    from .tables import definitions
    from .terminal import output

    if as_json:
        listed = [{"study": name, "about": about} for name, about in studies.names().items()]
        click.echo(json.dumps(listed))
        return
    for line in definitions(studies.names(), output().width):
        click.echo(line)
    click.echo("\nRun one: fastlb study NAME; your own from a TOML file: fastlb study --help")
