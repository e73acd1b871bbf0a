"""The tree as NetworkX sees it when it is installed: with its entry points."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def with_entry_points(folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which processes find this tree, and its entry points in a folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    metadata = folder / "fastlb-0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fastlb\nVersion: 0\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    path = [str(folder), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **variables}


def python(*arguments: str) -> list[str]:
    """Return a command that runs Python."""
    return [sys.executable, *arguments]
