"""What a store says of its study, and how it is told from another."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.description import describe, differences, digest, study_of
from fastlb.montecarlo.manifest import MANIFEST, _checksum, read_manifest

from .stores import STUDY, same

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 7}, "seed: 1995 in the store, 7 now"),
        ({"name": "other"}, "name: small in the store, other now"),
        ({"methods": ["gde:lam=0.723", "dde"]}, "in the store only, dde now only"),
        ({"topologies": ["torus:3x5", "mesh:8x8"]}, "topologies: in another order"),
        ({"loads": "uniform:3"}, "loads: uniform:1000 in the store only"),
        ({"further": ()}, "methods of grid 2: dde dde:exchange=sbr in the store, nothing now"),
        (
            {"further": [lb.Part(["ring:4"], ["dde"], "uniform:1")]},
            "topologies of grid 2: torus:3x5 in the store only, ring:4 now only",
        ),
    ],
)
def test_another_study_is_refused_with_the_difference(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    lb.run(dataclasses.replace(STUDY, trials=2), store=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    other = dataclasses.replace(STUDY, **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="holds another study") as error:
        lb.run(other, store=tmp_path, resume=True)
    assert told in str(error.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_many_differences_are_cut(tmp_path: Path) -> None:
    first = {str(i): i for i in range(20)}
    assert differences(first, {})[-1] == "and 14 more"
    assert differences({"a": [f"m{i}" for i in range(9)]}, {"a": ["x"]}) == [
        "a: m0 m1 m2 m3 m4 m5 and 3 more in the store only, x now only"
    ]


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / MANIFEST
    edited = {**json.loads(path.read_text()), **changes}
    del edited["sha256"]
    # As by somebody who knows how it is made.
    path.write_text(json.dumps({**edited, "sha256": _checksum(edited)}))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": 3, "fastlb": "9.9"}, "a store of version 3, written by fastlb 9.9"),
        ({"schema": "other"}, "no manifest of a store, its schema is 'other'"),
        ({"version": "1"}, "no manifest of a store"),
        ({"layout": {"figures": [], "of_combinations": []}}, "other figures than the methods"),
        ({"fastlb": "0.0.1"}, "fastlb: 0.0.1 in the store"),
    ],
)
def test_stores_of_other_versions(tmp_path: Path, changes: dict[str, object], told: str) -> None:
    lb.run(STUDY, store=tmp_path)
    edit_manifest(tmp_path, **changes)
    with pytest.raises(ValueError, match=told):
        lb.run(STUDY, store=tmp_path, resume=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": "fastlb.store"}',
        '{"schema": "fastlb.store", "version": 1}',
        '{"schema": "fastlb.store", "version": 1, "study": {}, "layout": {}}',
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    lb.run(STUDY, store=tmp_path)
    (tmp_path / MANIFEST).write_text(text)
    for call in (
        lambda: lb.run(STUDY, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path),
    ):
        with pytest.raises(ValueError, match="is no manifest of a store"):
            call()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("further", None, r"its study\.further must be a list of tables, got None"),
        ("further", [3], r"its study\.further must be a list of tables, got \[3\]"),
        (
            "further",
            [{"topologies": ["ring:4"], "loads": []}],
            r"its study\.further\[0\] lacks met",
        ),
        (
            "further",
            [{"topologies": ["ring:4"], "methods": [], "loads": 3}],
            r"its study\.further\[0\]\.loads must be a list of texts, got 3",
        ),
        (
            "topologies",
            ["ring:4", 4],
            r"its study\.topologies must be a list of texts, got \['",
        ),
        ("methods", None, r"its study\.methods must be a list of texts, got None"),
        ("loads", "uniform:3", r"its study\.loads must be a list of texts, got 'uniform:3'"),
        ("name", 3, r"its study\.name must be text, got 3"),
        ("trials", "150", r"its study\.trials must be a whole number, got '150'"),
        ("trials", None, r"its study\.trials must be a whole number, got None"),
        ("seed", 1.5, r"its study\.seed must be a whole number, got 1\.5"),
        ("minimum_trials", True, r"its study\.minimum_trials must be a whole number, got True"),
        ("target_error", [], r"its study\.target_error must be a table, got \[\]"),
    ],
)
def test_a_manifest_edited_to_other_kinds(
    tmp_path: Path, key: str, value: object, told: str
) -> None:
    lb.run(dataclasses.replace(STUDY, trials=2), store=tmp_path)
    edit_manifest(tmp_path, study={**describe(STUDY), key: value})
    for call in (
        lambda: lb.run(STUDY, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path),
        lambda: lb.read_store(tmp_path, STUDY),
    ):
        with pytest.raises(ValueError, match=f"_manifest.json is no manifest of a store, {told}"):
            call()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"topologies": ["mesh:8xq"]}, "topology must be spelled like mesh:8x8, got 'mesh:8xq'"),
        ({"trials": 0}, "trials must be at least 1"),
        ({"target_error": {"cost": None}}, "target_error of cost must be a number"),
        ({"more": 3}, "study has the keys name, .*, got more"),
        ({"further": [{**describe(STUDY.further[0]), "x": 3}]}, "keys topologies, .*, got x"),
    ],
)
def test_a_manifest_edited_to_other_values(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    lb.run(dataclasses.replace(STUDY, trials=2), store=tmp_path)
    edit_manifest(tmp_path, study={**describe(STUDY), **changes})
    with pytest.raises(ValueError, match=f"_manifest.json: .*{told}"):
        lb.read_store(tmp_path)


@pytest.mark.parametrize("layout", [{}, {"figures": [], "of_combinations": []}, {"figures": [1]}])
def test_a_manifest_with_the_layout_of_nothing(tmp_path: Path, layout: dict[str, Any]) -> None:
    lb.run(STUDY, store=tmp_path)
    edit_manifest(tmp_path, layout=layout)
    with pytest.raises(ValueError, match="is no manifest of a store, its layout must be one of"):
        lb.read_store(tmp_path)
    with pytest.raises(ValueError, match="holds other figures"):
        lb.run(STUDY, store=tmp_path, resume=True)


@pytest.mark.parametrize(
    "edit",
    [
        lambda manifest: manifest["study"].update(trials=20),
        lambda manifest: manifest["layout"]["figures"].pop(),
        lambda manifest: manifest.pop("sha256"),
        lambda manifest: manifest.update(sha256=None),
    ],
)
def test_an_edited_manifest_is_refused(tmp_path: Path, edit: Any) -> None:
    lb.run(dataclasses.replace(STUDY, trials=3), store=tmp_path)
    path = tmp_path / MANIFEST
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))
    for call in (
        lambda: lb.run(STUDY, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path),
        lambda: lb.read_store(tmp_path, STUDY),
    ):
        with pytest.raises(ValueError, match=r"_manifest.json is damaged or was edited"):
            call()


def test_no_flipped_bit_of_a_manifest_goes_unseen(tmp_path: Path, full: bool) -> None:
    lb.run(dataclasses.replace(STUDY, trials=2), store=tmp_path)
    path = tmp_path / MANIFEST
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), 1 if full else 23):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            same_content = read_manifest(tmp_path)
        except ValueError as error:
            assert MANIFEST in str(error) or "is a store of version" in str(error)
        else:
            # White space.
            path.write_bytes(content)
            assert same_content == read_manifest(tmp_path)


def test_a_store_of_version_1_has_no_checksum(tmp_path: Path) -> None:
    few = dataclasses.replace(STUDY, trials=2)
    found = lb.run(few, store=tmp_path)
    path = tmp_path / MANIFEST
    manifest = {**json.loads(path.read_text()), "version": 1}
    del manifest["sha256"]
    path.write_text(json.dumps(manifest))
    assert same(lb.read_store(tmp_path), found)
    assert (
        lb.run(STUDY, store=tmp_path, resume=True).table()["trial"].size
        == len(STUDY.cells) * STUDY.trials
    )
    assert json.loads(path.read_text())["version"] == 2


def test_networks_are_known_by_their_links(tmp_path: Path) -> None:
    square = lb.Network([(0, 1), (1, 2), (2, 3), (3, 0)])
    study = lb.Study("net", [square], ["gde:lam=1/2"], "uniform:9", trials=5)
    found = lb.run(study, store=tmp_path)
    assert same(lb.run(study, store=tmp_path, resume=True), found)
    assert same(lb.read_store(tmp_path, study), found)
    with pytest.raises(ValueError, match="network:4 has no spelling"):
        lb.read_store(tmp_path)
    other = dataclasses.replace(study, topologies=[lb.Network([(0, 1), (1, 2), (2, 3), (0, 2)])])
    for call in (
        lambda: lb.run(other, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path, other),
    ):
        with pytest.raises(ValueError, match="topologies: network:4 sha256:"):
            call()


@pytest.mark.parametrize("now", [None, [5, 6]])
def test_loads_of_a_file_are_known_by_their_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: list[int] | None
) -> None:
    """A study that is still in memory goes on; one that reads what the file holds now does not."""
    monkeypatch.chdir(tmp_path)
    np.save("loads.npy", [3, 1, 4])
    text = 'name = "s"\ntopologies = ["ring:4"]\nmethods = ["dde"]\nloads = ["resampled:loads.npy"]'
    few = dataclasses.replace(lb.Study.from_toml(text), trials=3)
    lb.run(few, store="store")
    many = dataclasses.replace(few, trials=9)
    expected = lb.run(many)
    Path("loads.npy").unlink()
    if now:
        np.save("loads.npy", now)
    assert same(lb.run(many, store="store", resume=True), expected)
    assert same(lb.read_store("store", many), expected)
    hashes = [lb.Resampled(values).sha256[:16] for values in ([3, 1, 4], [5, 6])]
    if now is None:
        with pytest.raises(FileNotFoundError, match=r"loads\.npy"):
            lb.read_store("store")
    else:
        with pytest.raises(ValueError, match=f"sha256 {hashes[0]}, got other .* {hashes[1]}$"):
            lb.read_store("store")
        again = dataclasses.replace(lb.Study.from_toml(text), trials=20)
        with pytest.raises(ValueError, match=r"holds another study; loads: ") as error:
            lb.run(again, store="store", resume=True)
        for digest_, where in zip(hashes, ("in the store only", "now only"), strict=True):
            assert f"resampled:loads.npy,sha256={digest_} {where}" in str(error.value)


def test_digests_tell_contents_apart() -> None:
    arrays = [np.arange(3), np.arange(3.0), np.arange(3)[:, None], np.arange(3).astype(np.int32)]
    values = [*arrays, (1, (2,)), (1, 2), ((1,), 2), "1", 1, 1.0, True, b"1", None, (), ("", "")]
    found = [digest(value) for value in values]
    assert len(set(found)) == len(values)
    assert found == [digest(value) for value in values]
    assert digest(lb.Ring(4)) != digest(lb.Chain(4))
    with pytest.raises(TypeError, match="only numbers, text and arrays"):
        digest(object())


def test_bundled_studies_are_read_back_as_such() -> None:
    for name in lb.studies.names():
        study = dataclasses.replace(lb.studies.load(name), trials=7, seed=2**100)
        described = json.loads(json.dumps(describe(study)))
        assert study_of(described) == study
        assert type(study_of(described)) is type(study)
    assert study_of(json.loads(json.dumps(describe(STUDY)))) == STUDY


def test_two_runs_that_make_a_folder_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def made_by_another(path: Path, *arguments: Any, **options: Any) -> None:
        mkdir(path)
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", made_by_another)
    few = dataclasses.replace(STUDY, trials=2)
    found = lb.run(few, store=tmp_path / "store", resume=True)
    assert same(lb.read_store(tmp_path / "store"), found)
