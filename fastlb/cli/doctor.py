"""``fastlb doctor``: installed versions, the kernel cache, and a check of known answers."""

from __future__ import annotations

import json
import os
import platform
import re
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from .._version import __version__
from ..extras import EXTRAS, how_to_install
from .processors import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .cachefolder import CacheFolder

CORE = ("numpy", "numba", "llvmlite", "scipy")
PURPOSES = {
    "cli": "this command line",
    "dask": "studies on clusters",
    "plot": "plots of studies",
    "graph": "graph files, conversion to networkx",
    "mps": "model files of 0-1 programs",
    "table": "Parquet files and data frames",
}
VARIABLES = ("NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_CPU_NAME")
EXAMPLES = """
\b
Examples:
  fastlb doctor          what is there, what is missing, are the answers right
                         (at the first run it compiles for some seconds)
  fastlb doctor --json   the same as one object: schema "fastlb.doctor",
                         version, versions, extras, networkx, machine, cache,
                         checks, healthy
"""


@click.command(epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def doctor(ctx: click.Context, /, as_json: bool) -> None:
    """Check the installation: versions, extras, kernel cache, and a few known answers.

    Exit codes: 0 healthy, 1 something needed is missing or an answer is wrong.
    """
    from .terminal import working

    with working() as work:
        checks = examine(work.step)
    if as_json:
        click.echo(json.dumps(checks, indent=1))
    else:
        _show(checks)
    if not checks["healthy"]:
        ctx.exit(1)


def examine(report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return the whole report, JSON-ready; ``report`` is called with the current step."""
    from .answers import run_checks
    from .cachefolder import cache_folder

    core = {name: _version(name) for name in CORE}
    checks = run_checks(report)
    return {
        "schema": "fastlb.doctor",
        "version": 1,
        "versions": {"python": platform.python_version(), "fastlb": __version__, **core},
        "extras": {name: _version(name) for name in EXTRAS},
        "networkx": _networkx(),
        "machine": _machine(),
        "cache": _cache(cache_folder()),
        "checks": checks,
        "healthy": all(core.values()) and all(check["passed"] for check in checks),
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _networkx() -> dict[str, Any]:
    """Return whether NetworkX sees fastlb as a backend, as its entry points say, JSON-ready."""
    from ..networkx_backend.information import HOME, LEAST_NETWORKX

    version = _version("networkx")
    entries = [
        tuple(metadata.entry_points(group=group, name="fastlb"))
        for group in ("networkx.backends", "networkx.backend_info")
    ]
    numbers = [int(number) for number in re.findall(r"\d+", version or "")[:2]]
    recent = version is not None and tuple(numbers) >= LEAST_NETWORKX
    return {
        "version": version,
        "recent": recent,
        "registered": all(entries),
        "functions": len(HOME) if recent and all(entries) else 0,
    }


def _machine() -> dict[str, Any]:
    from ..memory import available_memory

    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "threads": processors(),
        "free_memory": available_memory(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def _cpu() -> str:
    try:
        from llvmlite.binding import get_host_cpu_name

        return str(get_host_cpu_name())
    except (ImportError, OSError):
        return platform.processor() or "unknown"


def _cache(cache: CacheFolder) -> dict[str, Any]:
    """Return the folder and size of the kernel cache, JSON-ready."""
    return {
        "folder": None if cache.path is None else str(cache.path),
        "writable": cache.writable,
        "kernels": cache.kernels,
        "bytes": cache.bytes,
    }


def _show(checks: dict[str, Any]) -> None:
    from rich.text import Text

    from .terminal import output

    console = output()
    for title, lines in _sections(checks):
        console.print(Text(title, style="bold"))
        width = max((len(name) for name, _, _ in lines), default=0)
        for name, text, style in lines:
            console.print(Text.assemble(f"  {name:<{width}}  ", (text, style)))
    verdict = ("healthy", "green") if checks["healthy"] else ("not healthy", "bold red")
    console.print(Text(*verdict))


def _sections(checks: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    yield (
        "versions",
        [
            (name, version or "missing: pip install fastlb", "" if version else "bold red")
            for name, version in checks["versions"].items()
        ],
    )
    yield (
        "extras",
        [
            (name, version or _advice(EXTRAS[name]), "" if version else "yellow")
            for name, version in checks["extras"].items()
        ],
    )
    yield "networkx", [("backend", *_backend(checks["networkx"]))]
    machine, cache = checks["machine"], checks["cache"]
    lines = [("system", machine["system"], ""), ("CPU", machine["cpu"], "")]
    lines += [("threads", f"{machine['threads']} usable", "")]
    if machine["free_memory"] is not None:
        lines += [("memory", f"{machine['free_memory'] / 2**30:.1f} GiB free", "")]
    lines += [(name, value, "") for name, value in machine["variables"].items()]
    yield "machine", lines
    if cache["folder"] is None:
        lines = [("folder", "none: nothing is compiled, or nothing could be kept", "yellow")]
    else:
        state = "writable" if cache["writable"] else "read-only: kernels compile in every process"
        lines = [
            ("folder", cache["folder"], ""),
            ("state", state, "" if cache["writable"] else "yellow"),
            ("size", f"{cache['kernels']} kernels, {cache['bytes'] / 1e6:.1f} MB", ""),
        ]
    yield "kernel cache", lines
    yield "known answers", [(check["name"], *_outcome(check)) for check in checks["checks"]]


def _backend(networkx: dict[str, Any]) -> tuple[str, str]:
    """Return what is said of the backend, and the style."""
    from ..networkx_backend.information import LEAST_NETWORKX

    if networkx["version"] is None:
        return "networkx is not installed", "yellow"
    if not networkx["recent"]:
        least = ".".join(map(str, LEAST_NETWORKX))
        return (
            f"networkx {networkx['version']} is too old: from {least} on it uses fastlb",
            "yellow",
        )
    if not networkx["registered"]:
        return "not registered: install fastlb with pip, a clone is not enough", "yellow"
    return f'{networkx["functions"]} functions take backend="fastlb"', "green"


def _outcome(check: dict[str, Any]) -> tuple[str, str]:
    if not check["passed"]:
        return check["detail"], "bold red"
    count = len(check["compiled"])
    kernels = f"{count} kernel{'s' if count > 1 else ''}"
    return f"ok, compiled {kernels} in {check['seconds']:.1f} s" if count else "ok", "green"


def _advice(group: str) -> str:
    return f"not installed; for {PURPOSES.get(group, 'more')} {how_to_install(group)}"
