import dataclasses
import itertools
import re
import shutil
import tempfile
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.display.html import Markup, joined, tag
from fastlb.reports.plotting import new_figure
from fastlb.reports.report import Plot, Report, Statement, Table
from fastlb.reports.reportfiles import write_html
from fastlb.reports.webpage import page as page_of
from fastlb.studies.more_wu_programs import Loose

from .browser import CHROMIUM, browsing

HOSTILE = "</title><script>alert(1)</script><img src=http://example.org/x onerror=alert(2)>\"'&$x_$"
STUDY = lb.Study(
    "mine",
    ["mesh:4x4", "torus:8x8", "ring:8"],
    ["gde:lam=0.723", "dde", "dde:exchange=sbr"],
    ["uniform:100", "uniform:1000"],
    trials=20,
    seed=7,
)
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Reads a page, and insists that every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text.append(data)

    def all(self, name):
        return [attributes for element, attributes in self.elements if element == name]


def hostile_report():
    study = dataclasses.replace(STUDY, name=HOSTILE, topologies=["ring:4"])
    table = Table(HOSTILE, HOSTILE, [HOSTILE, 1], [[HOSTILE, 0.5]], [0, 2], HOSTILE)
    statement = Statement(HOSTILE, HOSTILE, HOSTILE, False)
    plot = Plot("plot", new_figure, HOSTILE)
    return Report(lb.run(study), [table], [statement], [plot], [HOSTILE])


@pytest.fixture(scope="module")
def report():
    return lb.studies.report(lb.run(STUDY, rows=False))


@pytest.fixture(scope="module")
def page(report):
    return page_of(report)


def test_all_text_is_escaped_unless_it_is_markup():
    assert (
        tag("p", "<b>", tag("i", "&"), title='"') == '<p title="&quot;">&lt;b&gt;<i>&amp;</i></p>'
    )
    assert joined("a<", Markup("<br>")) == "a&lt;<br>"
    assert tag("meta", http_equiv="x") == '<meta http-equiv="x">'


def test_the_same_report_is_the_same_page(report, page):
    assert page_of(report) == page
    study = dataclasses.replace(STUDY)
    assert page_of(lb.studies.report(lb.run(study, threads=2, chunk=7))) == page


def test_the_page_has_all_there_is(report, page):
    read = Reader(page)
    text = " ".join(read.text)
    for table in report.tables:
        assert table.title in text
        for row in table.printed():
            assert all(value in text for value in row)
    for told in ("20 trials of each of 18 combinations", "seed 7", lb.__version__, STUDY.to_toml()):
        assert told in text
    assert len(read.all("table")) == len(report.tables) == 6
    assert len(read.all("img")) == 5


def test_it_can_be_read_by_all(page):
    read = Reader(page)
    assert page.startswith("<!DOCTYPE html>\n")
    (html,) = read.all("html")
    assert html["lang"] == "en"
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in read.all(
        "meta"
    )
    assert len(read.all("h1")) == len(read.all("main")) == len(read.all("title")) == 1
    levels = [int(name[1]) for name, _ in read.elements if re.fullmatch("h[1-6]", name)]
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert all(heading["scope"] in ("row", "col") for heading in read.all("th"))
    assert all(image["alt"] for image in read.all("img"))
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in read.all("a"):
        assert link["href"].removeprefix("#") in ids
    for region in read.all("div"):
        assert "aria-labelledby" not in region or region["aria-labelledby"] in ids


def test_it_asks_for_nothing_else(page):
    read = Reader(page)
    names = {name for name, _ in read.elements}
    assert not names & {"script", "link", "iframe", "object", "embed", "form", "base"}
    for _, attributes in read.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in read.all("img"))
    (style,) = re.findall("<style>(.*?)</style>", page, re.S)
    assert "url(" not in style
    assert "@import" not in style


def test_hostile_names_are_text():
    page = page_of(hostile_report())
    read = Reader(page)
    assert "<script" not in page
    assert not [a for _, a in read.elements if "onerror" in a]
    assert {image["src"][:5] for image in read.all("img")} == {"data:"}
    assert "".join(read.text).count(HOSTILE) >= 8
    assert read.all("img")[0]["alt"] == HOSTILE


def test_hostile_methods_are_text_in_plots_too(monkeypatch):
    monkeypatch.setattr("fastlb.registry._METHODS", {"dde": lb.dde})
    lb.register_method("own", lambda loads, topology, **options: lb.dde(loads, topology))
    method = "own:x=<script>$\\frac{"
    study = lb.Study("s", ["ring:4"], [method, "dde"], "uniform:9", trials=3)
    page = page_of(lb.studies.report(lb.run(study)))
    assert "<script" not in page
    assert method in "".join(Reader(page).text)


def test_bundled_studies_are_run_again_by_name():
    study = dataclasses.replace(lb.studies.load("wu-shu"), trials=2, seed=5)
    page = page_of(lb.studies.report(lb.run(study)))
    assert "fastlb study wu-shu --trials 2 --seed 5 --report report.html" in page
    read = Reader(page)
    assert len(read.all("img")) == 7
    assert len(read.all("li")) >= 11
    early = dataclasses.replace(study, target_error={"cost": "90%"})
    again = page_of(lb.studies.report(lb.run(early)))
    assert "--target-error cost=90%" in again
    for options in ({"topologies": ["ring:4"], "further": ()}, {"minimum_trials": 9}):
        changed = dataclasses.replace(early, **options)
        assert "study.toml" in page_of(lb.studies.report(lb.run(changed)))


def test_studies_without_a_spelling_have_pages():
    experiment = lb.Study("own", ["hypercube:2"], ["fault_tolerant_dem"], [Loose(5, 3)], trials=2)
    network = lb.Study("net", [lb.Network([(0, 1), (1, 2)])], ["gde:lam=1/2"], "uniform:3", 2)
    for study in (experiment, network):
        page = page_of(lb.studies.report(lb.run(study)))
        assert "Running it again" in page
    assert "study.toml" not in page


@pytest.mark.parametrize("name", ["more-wu", "more-wu-faults"])
def test_studies_that_need_rows_have_the_general_report_without(name):
    study = lb.studies.load(name)
    few = dataclasses.replace(study, trials=1)
    if name == "more-wu":
        few = dataclasses.replace(few, topologies=study.topologies[:2], further=())
    else:
        few = dataclasses.replace(few, further=())
    report = lb.studies.report(lb.run(few, rows=False))
    assert report.tables[0].name == "overview"
    assert not Reader(page_of(report)).all("img")


def test_plots_of_one_trial_and_of_one_method():
    for study in (
        dataclasses.replace(STUDY, trials=1),
        dataclasses.replace(STUDY, methods=["dde"], topologies=["ring:4"], loads=["uniform:0"]),
        dataclasses.replace(STUDY, loads=["uniform:1", "uniform:100000000"]),
    ):
        assert len(Reader(page_of(lb.studies.report(lb.run(study)))).all("img")) == 5


def test_the_file_is_whole_or_not_there(report, page, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert write_html(report, path) == path
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(FileExistsError, match="is there already"):
        write_html(report, path)
    with pytest.raises(ValueError, match=r"must end in \.html"):
        write_html(report, tmp_path / "page.pdf")
    monkeypatch.setattr("os.fsync", partial(int, "full"))
    with pytest.raises((ValueError, TypeError)):
        write_html(report, path, force=True)
    assert path.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [path]


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def browser():
    folder = Path(tempfile.mkdtemp())
    try:
        with browsing(folder / "profile") as tab:
            yield tab, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def shown(browser, text):
    tab, folder = browser
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    tab.told.clear()
    return tab, path.as_uri()


def bundled_page():
    study = dataclasses.replace(lb.studies.load("wu-shu"), trials=3)
    return page_of(lb.studies.report(lb.run(study)))


@needs_browser
@pytest.mark.parametrize("kind", ["general", "bundled", "hostile"])
@pytest.mark.parametrize(("width", "dark"), [(390, False), (320, True), (1200, False)])
def test_a_browser_shows_it_without_errors_requests_or_overflow(browser, page, kind, width, dark):
    text = {"general": lambda: page, "bundled": bundled_page, "hostile": hostile_report}[kind]()
    tab, address = shown(browser, text if isinstance(text, str) else page_of(text))
    tab.show(address, width, dark=dark)
    told = [entry for entry in tab.told if entry[0] != "request"]
    requests = [url for kind, url in tab.told if kind == "request"]
    assert told == []
    assert requests[0] == address
    assert set(requests[1:]) <= {"data:image/svg+xml;base64"}
    assert tab.value("document.documentElement.scrollWidth") == width
    assert tab.value("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert tab.value("document.scripts.length") == 0
    paper = tab.value("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)")
    picture = tab.picture()
    assert picture.startswith(b"\x89PNG")


@needs_browser
def test_it_prints(browser, page):
    tab, address = shown(browser, page)
    tab.show(address, 1200)
    printed = tab.printed()
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert tab.value("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    tab.call("Emulation.setEmulatedMedia", media="")


@needs_browser
def test_text_stands_out_in_light_and_dark(browser, page):
    tab, address = shown(browser, page)
    for dark in (False, True):
        tab.show(address, 1200, dark=dark)
        colours = tab.value(
            "['body', '.lead', 'a[href]', 'td'].map(s => document.querySelector(s))"
            ".map(e => getComputedStyle(e).color)"
        )
        paper = tab.value("getComputedStyle(document.body).backgroundColor")
        assert all(contrast(colour, paper) >= 4.5 for colour in colours)


def contrast(first, second):
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
