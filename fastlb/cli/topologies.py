"""``fastlb topologies``: a list of the topologies and their spelling, or one described."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..topologies.topology import Topology

EXAMPLES = """
\b
Examples:
  fastlb topologies                    the list, with an example of each
  fastlb topologies torus:16x16        nodes, links and methods of one
  fastlb topologies --nodes 48         the usual topologies of 48 nodes
  fastlb topologies --methods          which method balances which topology
  fastlb topologies grid:4wx6 --json   for machines, with all links

\b
--json prints an object for SPEC: topology, python, shape, nodes, links (how
many), diameter (null where no formula gives it), methods, and edges as
[u, v] with u < v; without SPEC, a list of such objects without edges; with
--methods, a list of objects: kind, examples, methods, the usual one first.
"""
# Longer lists of links are refused in JSON; parse_topology(...).edges is an array.
MAX_LISTED_LINKS = 10**6


@click.command(epilog=EXAMPLES)
@click.argument("spec", required=False)
@click.option("--nodes", type=int, metavar="N", help="List the usual topologies of N nodes.")
@click.option("--methods", is_flag=True, help="Show which method balances which topology.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def topologies(spec: str | None, nodes: int | None, methods: bool, as_json: bool) -> None:
    """List the topologies with their spelling, or describe the one named SPEC."""
    from ..topologies.parse import SPELLINGS, parse_topology
    from .fitting import fitting

    if sum([spec is not None, nodes is not None, methods]) > 1:
        raise click.UsageError("give one of SPEC, --nodes and --methods")
    if methods:
        _print_methods(as_json)
        return
    if nodes is not None and not 1 <= nodes <= 2**40:
        raise ValueError(f"nodes must lie between 1 and 2**40, got {nodes}")
    if spec is not None:
        topology = parse_topology(spec)
        if as_json:
            click.echo(json.dumps(describe(topology) | {"edges": _listed_links(topology)}))
        else:
            _print_one(topology)
        return
    examples = fitting(nodes) if nodes else [_example(text) for text in SPELLINGS.values()]
    described = [describe(parse_topology(example)) for example in examples]
    if as_json:
        click.echo(json.dumps(described))
    else:
        _print_list(described, {} if nodes else SPELLINGS)


def describe(topology: Topology) -> dict[str, Any]:
    """Return the JSON-ready properties of a topology, without its links."""
    from ..topologies.kinds import suitable
    from ..topologies.network import Network

    expression = f"parse_topology({topology.spec!r})"
    return {
        "topology": topology.spec,
        "python": expression if isinstance(topology, Network) else repr(topology),
        "shape": list(topology.shape),
        "nodes": topology.size,
        "links": topology.edge_count,
        "diameter": _diameter(topology),
        "methods": suitable(topology),
    }


def _diameter(topology: Topology) -> int | None:
    from ..topologies.grids import Grid
    from ..topologies.hexa_cell_topology import HyperHexaCell
    from ..topologies.hypercube import Hypercube

    if isinstance(topology, HyperHexaCell):
        return topology.d + 1
    if isinstance(topology, Grid):
        axes = zip(topology.shape, topology.wrap, strict=True)
        return sum(k // 2 if wrap else k - 1 for k, wrap in axes)
    if isinstance(topology, Hypercube) and not topology.faults:
        return topology.n
    return None


def _listed_links(topology: Topology) -> list[list[int]]:
    if topology.edge_count > MAX_LISTED_LINKS:
        raise ValueError(
            f"topology must have at most {MAX_LISTED_LINKS} links for --json, "
            f"got {topology.edge_count} in {topology.spec}"
        )
    links: list[list[int]] = topology.edges.tolist()
    return links


def _example(spelling: str) -> str:
    """Return the example at the beginning of a spelling's explanation."""
    return re.split(r"[,\s]", spelling, maxsplit=1)[0]


def _print_list(described: list[dict[str, Any]], spellings: dict[str, str]) -> None:
    from .tables import fitted_tables
    from .terminal import output

    rows = [["example", "nodes", "links", "diameter", "balanced by"]]
    for description in described:
        diameter = "" if description["diameter"] is None else f"{description['diameter']:,}"
        methods = ", ".join(description["methods"])
        links = f"{description['links']:,}"
        rows.append(
            [description["topology"], f"{description['nodes']:,}", links, diameter, methods]
        )
    console, lines = output(), list(_lines(rows))
    if max(map(len, lines)) > console.width:
        console.print(*fitted_tables(rows, [False, True, True, True, False], console.width))
    else:
        click.echo("\n".join(lines))
    notes = [text for text in spellings.values() if text != _example(text)]
    if notes:
        click.echo("\nSpelling:\n  " + "\n  ".join(notes))


def _print_methods(as_json: bool) -> None:
    """Print the table of methods and kinds of topologies, with a remark on each method."""
    from ..topologies.kinds import KINDS, PLANNERS, REMARKS
    from .tables import definitions, fitted_tables
    from .terminal import output

    if as_json:
        kinds = [
            {
                "kind": kind.name,
                "examples": kind.examples,
                "methods": [*kind.methods, *PLANNERS],
            }
            for kind in KINDS
        ]
        click.echo(json.dumps(kinds))
        return
    headings = [
        "hypercube" if k.name == "hypercube" else k.name.removeprefix("hypercube ") for k in KINDS
    ]
    rows = [["", *headings]]
    for method in REMARKS:
        marks = [
            "usual"
            if method == kind.methods[0]
            else "yes"
            if method in (*kind.methods, *PLANNERS)
            else "-"
            for kind in KINDS
        ]
        rows.append([method, *marks])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    console = output()
    notes = [
        "",
        *(f"{kind.name}: {kind.examples}" for kind in KINDS),
        "usual: what fastlb balance takes without --method",
        "",
        *definitions(REMARKS, console.width),
        "",
        "Methods registered in Python, lb.register_method, take any topology.",
    ]
    if max(map(len, table)) > console.width:
        console.print(*fitted_tables(rows, [False] * len(rows[0]), console.width))
        table = []
    for line in [*table, *notes]:
        console.print(line, markup=False, highlight=False)


def _lines(rows: list[list[str]]) -> Iterator[str]:
    example, *numbers = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:4])
    for name, *counts, methods in rows:
        right = "  ".join(map(str.rjust, counts, numbers))
        yield f"{name:<{example}}  {right}  {methods}"


def _print_one(topology: Topology) -> None:
    import fastlb as lb

    from ..topologies.grids import Grid
    from ..topologies.hexa_cell_topology import HyperHexaCell
    from ..topologies.hypercube import Hypercube
    from .terminal import output

    about = describe(topology)
    shapes = " or ".join(dict.fromkeys([str(topology.shape), f"({topology.size},)"]))
    lines = [
        ("topology", about["topology"]),
        ("in Python", f"fastlb.{about['python']}"),
        ("loads", f"shape {shapes}, any batch axes before"),
        ("nodes", f"{topology.size:,}"),
        ("links", f"{topology.edge_count:,}"),
    ]
    if about["diameter"] is not None:
        lines += [("diameter", f"{about['diameter']:,}")]
    if isinstance(topology, Hypercube):
        promise = f"leaves largest - least <= {topology.n}"
        if topology.faults:
            links = "link" if len(topology.faults) == 1 else "links"
            promise = f"skips {len(topology.faults)} faulty {links} and promises no difference"
        lines += [("dem", f"one pass over {topology.n} dimensions, {promise}")]
        if topology.faults:
            lines += [("fault_tolerant_dem", "one pass that goes round them, if they leave a plan")]
    if isinstance(topology, HyperHexaCell):
        promise = f"leaves largest - least <= {topology.d + 2}"
        lines += [("hexa_cell", f"triangles, prisms and {topology.d - 1} dimensions, {promise}")]
    if "dde" in about["methods"]:
        axes = f"{topology.ndim} axes" if topology.ndim > 1 else "1 axis"
        lines += [("dde", f"one pass over {axes}, leaves largest - least <= {topology.ndim}")]
    share = "lambda 1/2 by default"
    if isinstance(topology, Grid | Hypercube):
        share = f"optimal lambda {lb.optimal_lambda(topology):.3f}"
    lines += [("gde", f"sweeps until neighbours are within 1; {share}")]
    width = max(len(name) for name, _ in lines)
    console = output()
    for name, text in lines:
        console.print(f"{name:<{width}}  {text}", markup=False, soft_wrap=True)
