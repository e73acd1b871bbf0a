"""A study's report as one HTML page that needs nothing else: no scripts, no fonts, no network."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING

from .._version import __version__
from ..display.html import Markup, tag
from .meanplots import mean_plots
from .plotting import image
from .report import RESUME

if TYPE_CHECKING:
    from ..montecarlo.results import Results
    from .report import Plot, Report, Statement, Table

# Topologies, methods or loads listed at most.
MOST_LISTED = 12

# With this policy a browser fetches and runs nothing, whatever the page holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(report: Report) -> str:
    """Return the page of a report; the same report gives the same page."""
    study = report.results.study
    style = (files("fastlb") / "data" / "report.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"fastlb {__version__}"),
        tag("title", f"{study.name}: fastlb study"),
        tag("style", Markup(f"\n{style}")),
    )
    body = tag(
        "body",
        tag("a", "Skip to the results", class_="skip", href="#results"),
        tag("header", *_header(report)),
        tag("main", *_sections(report)),
        tag("footer", *_footer()),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _header(report: Report) -> Iterator[Markup]:
    results = report.results
    study = results.study
    yield tag("h1", study.name)
    if report.about:
        yield tag("p", report.about)
    yield tag("p", f"{report.heading}. fastlb {__version__}.", class_="lead")
    if report.ended:
        yield tag("p", report.ended, class_="ended")
    listed = [
        *([("statements", "The paper’s sentences")] if report.statements else []),
        *((f"table-{i}", table.title.partition("; ")[0]) for i, table in enumerate(report.tables)),
        *([("examples", "Worked examples")] if report.examples else []),
        ("settings", "Settings"),
        ("again", "Running it again"),
    ]
    links = [tag("li", tag("a", title, href=f"#{anchor}")) for anchor, title in listed]
    yield tag("nav", tag("ul", *links), aria_label="Contents")


def _sections(report: Report) -> Iterator[Markup]:
    if report.statements:
        yield tag("section", *_statements(report.statements), id="statements")
    yield tag("section", *_results(report), id="results")
    if report.examples:
        texts = [tag("pre", example, tabindex="0") for example in report.examples]
        yield tag("section", tag("h2", "Worked examples"), *texts, id="examples")
    yield tag("section", tag("h2", "Settings"), _settings(report.results), id="settings")
    yield tag("section", tag("h2", "Running it again"), *_again(report), id="again")


def _statements(statements: Sequence[Statement]) -> Iterator[Markup]:
    yield tag("h2", "The paper’s sentences")
    holding = sum(statement.holds for statement in statements)
    yield tag("p", f"{holding} of {len(statements)} hold as tested.")
    items = []
    for statement in statements:
        verdict, style = ("Holds.", "holds") if statement.holds else ("Does not hold.", "fails")
        items.append(
            tag(
                "li",
                tag(
                    "p",
                    tag("span", verdict, class_=f"verdict {style}"),
                    tag("q", statement.sentence),
                ),
                tag("p", f"Found: {statement.evidence}"),
                tag("p", f"Tested: {statement.test}", class_="test"),
            )
        )
    yield tag("ol", *items, class_="statements", role="list")


def _results(report: Report) -> Iterator[Markup]:
    """Yield the tables, each with the plot of its name, and then the other plots.

    A report without plots gets those of the means after its first table.
    """
    yield tag("h2", "Results")
    plots = {plot.name: plot for plot in report.plots}
    for i, table in enumerate(report.tables):
        yield tag("h3", table.title, id=f"table-{i}")
        yield _table(table, f"table-{i}")
        if table.note:
            yield tag("p", table.note, class_="note")
        if table.name in plots:
            yield _plot(plots.pop(table.name))
        if i == 0 and not report.plots:
            yield tag("div", *map(_plot, mean_plots(report.results)), class_="plots")
    for plot in plots.values():
        yield _plot(plot)


def _table(table: Table, labelled_by: str) -> Markup:
    numeric = [
        bool(table.rows) and all(not isinstance(row[i], str) for row in table.rows)
        for i in range(len(table.columns))
    ]
    # The columns of text that come first name a row.
    heads = max(1, next((i for i, is_number in enumerate(numeric) if is_number), len(numeric)))
    columns, *rows = table.printed()
    classes = [{"class_": "number"} if is_number else {} for is_number in numeric]
    head = [
        tag("th", text, scope="col", **kind) for text, kind in zip(columns, classes, strict=True)
    ]
    body = [
        tag(
            "tr",
            *(
                tag("th", text, scope="row", **classes[i])
                if i < heads
                else tag("td", text, **classes[i])
                for i, text in enumerate(row)
            ),
        )
        for row in rows
    ]
    grid = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
    return tag(
        "div", grid, class_="scroll", role="region", aria_labelledby=labelled_by, tabindex="0"
    )


def _plot(plot: Plot) -> Markup:
    svg = base64.b64encode(image(plot.draw, "svg")).decode("ascii")
    about = plot.about or f"Plot: {plot.name.replace('-', ' ')}."
    return tag("figure", tag("img", src=f"data:image/svg+xml;base64,{svg}", alt=about))


def _settings(results: Results) -> Markup:
    study = results.study
    cells = study.cells
    settings = {
        "Topologies": _listed([cell.topology.spec for cell in cells]),
        "Methods": _listed([cell.method for cell in cells]),
        "Loads": _listed([cell.loads.spec for cell in cells]),
        "Combinations": f"{len(cells):,}",
        "Trials": f"{results.trials_text} of each, {len(results):,} in all",
        "Seed": str(study.seed),
    }
    if study.target_error:
        targets = ", ".join(f"{target.figure} {target.spec}" for target in study.target_error)
        settings["Stops at"] = (
            f"standard errors of {targets}; looks from {study.minimum_trials:,} trials on, each "
            f"time twice as many, up to {study.trials:,}"
        )
    settings["Version"] = f"fastlb {__version__}"
    return tag(
        "dl",
        *(
            tag(k, text)
            for pair in settings.items()
            for k, text in zip(("dt", "dd"), pair, strict=True)
        ),
    )


def _listed(texts: Sequence[str]) -> str:
    names = list(dict.fromkeys(texts))
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _again(report: Report) -> Iterator[Markup]:
    study = report.results.study
    if report.results.missing:
        yield tag("p", "The rest of it: ", tag("code", RESUME), ".")
    elif report.command:
        yield tag("pre", shlex.join([*report.command, "--report", "report.html"]), tabindex="0")
    else:
        with suppress(ValueError):  # general networks and experiments have no spelling
            text = study.to_toml()
            yield tag("p", "As a file ", tag("code", "study.toml"), ":")
            yield tag("pre", text, tabindex="0")
            command = ["fastlb", "study", "study.toml", "--report", "report.html"]
            yield tag("pre", shlex.join(command), tabindex="0")
    yield tag(
        "p",
        "The results depend on the study, its trials and its seed alone, not on the processors, "
        "threads or machines that run it. The loads of any trial: ",
        tag("code", "fastlb.sample_loads"),
        ".",
    )


def _footer() -> Iterator[Markup]:
    yield tag(
        "p",
        "±, s.e.: standard error of a mean. All methods of a study balance the same random loads, "
        "so that they are compared trial by trial. Intervals hold one by one, not all at once; a "
        "mean that was stopped at a target error is slightly less certain than its standard error "
        "says.",
    )
