"""``fastlb topologies``: which there are, how they are spelled, what one is like."""

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
  fastlb topologies grid:4wx6 --json   for machines, with all links

\b
--json prints an object for SPEC: topology, python, shape, nodes, links (how
many), diameter (null where no formula gives it), methods, and edges as
[u, v] with u < v; without SPEC, a list of such objects without edges.
"""
# Beyond this many links a JSON list helps nobody; parse_topology(...).edges is an array.
MAX_LISTED_LINKS = 10**6


@click.command(epilog=EXAMPLES)
@click.argument("spec", required=False)
@click.option("--nodes", type=int, metavar="N", help="List the usual topologies of N nodes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def topologies(spec: str | None, nodes: int | None, as_json: bool) -> None:
    """List the topologies with their spelling, or describe the one named SPEC."""
    from ..topologies.parse import SPELLINGS, parse_topology
    from .fitting import fitting

    if spec is not None and nodes is not None:
        raise click.UsageError("give SPEC or --nodes, not both")
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
    found = [describe(parse_topology(example)) for example in examples]
    if as_json:
        click.echo(json.dumps(found))
    else:
        _print_list(found, {} if nodes else SPELLINGS)


def describe(topology: Topology) -> dict[str, Any]:
    """Return what is known of a topology without listing its links."""
    from ..topologies.network import Network
    from .fitting import suitable

    read = f"parse_topology({topology.spec!r})"
    return {
        "topology": topology.spec,
        "python": read if isinstance(topology, Network) else repr(topology),
        "shape": list(topology.shape),
        "nodes": topology.size,
        "links": topology.edge_count,
        "diameter": _diameter(topology),
        "methods": suitable(topology),
    }


def _diameter(topology: Topology) -> int | None:
    from ..topologies.hexa_cell_topology import HyperHexaCell
    from ..topologies.hypercube import Hypercube
    from ..topologies.topology import Grid

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


def _print_list(found: list[dict[str, Any]], spellings: dict[str, str]) -> None:
    from .tables import fitted_tables
    from .terminal import output

    rows = [["example", "nodes", "links", "diameter", "balanced by"]]
    for one in found:
        diameter = "" if one["diameter"] is None else f"{one['diameter']:,}"
        methods = ", ".join(one["methods"])
        links = f"{one['links']:,}"
        rows.append([one["topology"], f"{one['nodes']:,}", links, diameter, methods])
    console, lines = output(), list(_lines(rows))
    if max(map(len, lines)) > console.width:
        console.print(*fitted_tables(rows, [False, True, True, True, False], console.width))
    else:
        click.echo("\n".join(lines))
    notes = [text for text in spellings.values() if text != _example(text)]
    if notes:
        click.echo("\nSpelling:\n  " + "\n  ".join(notes))


def _lines(rows: list[list[str]]) -> Iterator[str]:
    example, *numbers = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:4])
    for name, *counts, methods in rows:
        right = "  ".join(map(str.rjust, counts, numbers))
        yield f"{name:<{example}}  {right}  {methods}"


def _print_one(topology: Topology) -> None:
    import fastlb as lb

    from ..topologies.hexa_cell_topology import HyperHexaCell
    from ..topologies.hypercube import Hypercube
    from ..topologies.topology import Grid
    from .terminal import output

    about = describe(topology)
    lines = [
        ("topology", about["topology"]),
        ("in Python", f"fastlb.{about['python']}"),
        ("loads", f"shape {topology.shape} or ({topology.size},), any batch axes before"),
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
        lines += [("gde", "sweeps until neighbours are within 1; give lambda, say --lam 1/2")]
    if "dde" in about["methods"]:
        axes = f"{topology.ndim} axes" if topology.ndim > 1 else "1 axis"
        lines += [("dde", f"one pass over {axes}, leaves largest - least <= {topology.ndim}")]
    if isinstance(topology, Grid | Hypercube):
        share = f"{lb.optimal_lambda(topology):.3f}"
        lines += [("gde", f"sweeps until neighbours are within 1; optimal lambda {share}")]
    width = max(len(name) for name, _ in lines)
    console = output()
    for name, text in lines:
        console.print(f"{name:<{width}}  {text}", markup=False, soft_wrap=True)
