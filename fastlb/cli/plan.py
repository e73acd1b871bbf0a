"""``fastlb plan``: which load to move where in a real network, and what limits it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..files.namednetwork import NamedNetwork
    from ..files.positions import Position
    from ..flows.plan import MinimaxPlan
    from ..quantities import Number

EXAMPLES = """
\b
Examples:
  Servers and links as CSV, links for both directions, limited by a column:
    fastlb plan links.csv --loads servers.csv --capacity bandwidth --undirected
  Routes that level the loads of a network file, the bottleneck and a drawing:
    fastlb plan network.graphml --loads loads.csv --draw plan.svg
  A torus with links of capacity 20, the plan as JSON for another program:
    fastlb plan torus:8x8 --capacity 20 --loads loads.npy --out plan.json
  A DIMACS maximum-flow problem:
    fastlb plan gl1.max
  At most 500 units may move, and those of node db1 stay:
    fastlb plan net.gml --loads loads.json --max-moves 500 --pin db1
  In rounds in which a node takes part in 2 transfers at most:
    fastlb plan links.csv --loads servers.csv --rounds 2

\b
NETWORK is one of
  FILE.csv, FILE.tsv       source,target,... a link a line, one way each
  FILE.graphml, FILE.gml   as networkx, Gephi, yEd and others write them
  FILE.json                node-link JSON as networkx writes it
  FILE.max                 DIMACS maximum flow; source and sink are the loads
  topology                 such as mesh:8x8; see fastlb topologies
A capacity is in units of load, as much as one plan may send over the link, not
Mbit/s as such; existing traffic uses up part of it, and inf is no limit.
Columns and attributes "capacity" and "traffic" of links and "load" of nodes
are read; one that nothing uses is refused, with the option that uses it.

\b
LOADS holds a number for every node:
  FILE.csv       node,load a line, or loads alone in the order of the nodes
  FILE.npy       an array of as many numbers
  FILE.json      an object {"node": load}, a list of objects, or a list
  FILE.graphml   node attributes; without --loads those of NETWORK
  FOLDER         vt LBDatafile JSON, a file a processor

\b
--out writes the plan by the suffix: .json (schema "fastlb.plan", version 1,
explained by help(fastlb.files.planfile.plan_document); --json prints the
same), .graphml (flow on the links) or .csv (routes). --draw places nodes by x and y,
pos, or longitude and latitude, of NETWORK or LOADS, where they are there.

\b
--rounds K says in which order to carry a plan out: each hop of a route is a
transfer of one round, after the hop before, and a node sends and receives at
most K in a round. Rounds are numbered from 1. Where fewer rounds may be
possible, the least number that may be is printed beside theirs. Of files,
.json and .csv have the rounds.
"""


@click.command(epilog=EXAMPLES)
@click.argument("network")
@click.option("-l", "--loads", metavar="FILE", help="Loads of the nodes; they are to be levelled.")
@click.option("--excess", metavar="FILE", help="Instead: load above (+) or below (-) the aim.")
@click.option("--capacity", metavar="NAME|X", help="Link attribute, or one capacity for all links.")
@click.option("--traffic", metavar="NAME|X", help="Link attribute, or one traffic for all links.")
@click.option("--column", metavar="NAME", help="Column or attribute of LOADS that is the load.")
@click.option("--name", metavar="NAME", help="Node attribute to call nodes by.")
@click.option(
    "--ignore", multiple=True, metavar="NAME", help="Leave out a column or attribute; repeatable."
)
@click.option("--undirected", is_flag=True, help="Every link goes both ways.")
@click.option("--parallel", is_flag=True, help="Allow links that are listed more than once.")
@click.option(
    "--contention",
    type=click.Choice(["transfer", "total"]),
    default="transfer",
    show_default=True,
    help="Keep low the moved load on a link, or traffic plus moved load.",
)
@click.option(
    "--routing", metavar="NAME", help="e-cube, dimension-order, or dimension-order:1,0 by axes."
)
@click.option(
    "--plan",
    "way",
    type=click.Choice(["short", "least"]),
    default="short",
    show_default=True,
    help="Short routes, or the exact least traffic.",
)
@click.option("--divisible/--whole", default=None, help="Move parts of units, or whole ones.")
@click.option("--levels", type=int, default=1, metavar="K", help="Relieve the K worst levels.")
@click.option(
    "--method",
    type=click.Choice(["fused", "mmc01", "scipy"]),
    default="fused",
    show_default=True,
    help="How the contention is found.",
)
@click.option("--max-moves", metavar="X", help="Move at most this much load in all.")
@click.option(
    "--pin", multiple=True, metavar="NODE", help="This node's own load stays; repeatable."
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="K",
    help="Also in rounds, at most K transfers a node in each.",
)
@click.option("-o", "--out", metavar="FILE", help="Write the plan: .json, .graphml or .csv.")
@click.option("--draw", metavar="FILE", help="Draw the network and the plan: .png or .svg.")
@click.option("--force", is_flag=True, help="Overwrite files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    network: str,
    loads: str | None,
    excess: str | None,
    capacity: str | None,
    traffic: str | None,
    column: str | None,
    name: str | None,
    ignore: tuple[str, ...],
    undirected: bool,
    parallel: bool,
    rounds: int | None,
    out: str | None,
    draw: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan which load moves where in NETWORK: the most, with the least on the busiest link.

    Exit codes: 0 done, 1 not all the load that has room can move, 2 bad input.
    """
    from ..files import planfile, writing
    from .terminal import output, working

    file = loads or excess
    inputs = [network, *([file] if file else [])]
    target, picture = (
        None
        if path is None
        else writing.check_target(path, force=force, suffixes=suffixes, inputs=inputs)
        for path, suffixes in ((out, planfile.SUFFIXES), (draw, (".png", ".svg")))
    )
    with working() as work:
        work.step(f"reading {network}")
        named = _network(
            network,
            capacity=capacity,
            traffic=traffic,
            name=name,
            column=column,
            with_loads=file is None,
            ignore=ignore,
            undirected=undirected,
            parallel=parallel,
        )
        before, node_excess, positions = _loads(named, loads, excess, column, ignore)
        work.step("planning")
        result = _compute_plan(named, node_excess, options, file or named.source, before)
        chosen = {k: v for k, v in options.items() if v not in (None, ())}
        chosen["plan"] = chosen.pop("way")
        document = planfile.plan_document(
            result, named, node_excess, file, chosen, before=before, per_node=rounds
        )
        if target is not None:
            planfile.write_plan(target, document, result, force=force)
        if picture is not None:
            from ..reports.planpicture import plan_image

            image = plan_image(result, named, node_excess, picture.suffix[1:], positions, before)
            with writing.replacing(picture, force=force) as stream:
                stream.write(image)
    if as_json:
        click.echo(writing.as_json(document), nl=False)
    else:
        from .planreport import plan_report

        console = output()
        console.print(*plan_report(document), sep="\n")
        for path in (target, picture):
            if path is not None:
                console.print(f"wrote {path}", markup=False)
    if named.excess is None and not result.stages[0].complete:
        click.echo(
            f"fastlb: {document['eliminated']} of {document['asked']} units can move: "
            f"the capacities allow no more{', nor do links of one way' if named.once else ''}",
            err=True,
        )
        ctx.exit(1)


def _network(network: str, **options: Any) -> NamedNetwork:
    from ..files.graphfiles import is_graph_file
    from ..files.namednetwork import named_topology, read_network_file
    from ..topologies.parse import parse_topology

    if is_graph_file(network) or Path(network).is_file():
        return read_network_file(network, **options)
    if options["name"] is not None:
        raise click.UsageError(f"--name is for network files, not for {network}")
    numbers = {key: options[key] for key in ("capacity", "traffic")}
    return named_topology(parse_topology(network), network, **numbers)


Loads = tuple["list[Number] | None", "list[Number]", "tuple[Position | None, ...] | None"]


def _loads(
    named: NamedNetwork,
    loads: str | None,
    excess: str | None,
    column: str | None,
    ignore: tuple[str, ...],
) -> Loads:
    """Return the loads of the nodes or None, their excess, and their positions or None."""
    from ..files.attributes import check_ignored
    from ..files.nodeloads import read_node_loads

    if loads is not None and excess is not None:
        raise click.UsageError("--loads and --excess exclude each other")
    file = loads or excess
    if file is None or Path(file).is_dir():
        check_ignored(ignore, named.labels, named.source)
    if file is None and named.excess is not None:
        return None, list(named.excess), named.positions
    if file is None:
        if named.loads is None:
            raise click.UsageError("--loads or --excess is needed")
        numbers = list(named.loads)
        return numbers, _excess(named.source, numbers), named.positions
    if Path(file).is_dir():
        return _folder_loads(file, named)
    node_loads = read_node_loads(file, named, complete=excess is None, column=column, ignore=ignore)
    check_ignored(ignore, (*named.labels, *node_loads.labels), f"{named.source}, {file}")
    positions = node_loads.positions or named.positions
    if not node_loads.by_node and named.kind != "topology":
        click.echo(f"fastlb: {named.order}", err=True)
    if excess is not None:
        return None, node_loads.numbers, positions
    return node_loads.numbers, _excess(file, node_loads.numbers), positions


def _folder_loads(folder: str, named: NamedNetwork) -> Loads:
    """Return the loads of a folder of vt data, in the order of the nodes."""
    from ..files.formats import read_load_file

    loads = read_load_file([folder]).loads
    if loads.shape != (len(named.names),):
        raise ValueError(
            f"{folder} must have a load for each of {len(named.names)} nodes, "
            f"got loads of shape {loads.shape}"
        )
    if named.kind != "topology":
        click.echo(f"fastlb: {named.order}", err=True)
    return loads.tolist(), _excess(folder, loads.tolist()), named.positions


def _excess(source: str, numbers: list[Number]) -> list[Number]:
    from fractions import Fraction

    import fastlb as lb

    kinds = {type(number) for number in numbers}
    if Fraction in kinds:
        exact = [Fraction(number) for number in numbers]
        mean = sum(exact) / len(exact)
        return [number - mean for number in exact]
    if float in kinds:
        numbers = [float(number) for number in numbers]
    elif max(numbers) >= 2**63:
        raise OverflowError(f"{source}: loads must fit 64 bits")
    listed: list[Number] = lb.excess_load(numbers).tolist()
    return listed


def _check_whole(named: NamedNetwork, file: str, loads: list[Number]) -> None:
    """Refuse --whole where a load, a capacity or existing traffic is no integer."""
    network = named.network
    ends = [f"{named.names[u]} - {named.names[v]}" for u, v in network.edges.tolist()]
    columns = (
        (file, "load", named.names, loads),
        (named.source, "capacity", ends, network.capacity),
        (named.source, "traffic", ends, network.traffic),
    )
    for source, what, names, numbers in columns:
        for name, number in zip(names, numbers, strict=True):
            if number is not None and not isinstance(number, int):
                raise ValueError(
                    f"{source}: --whole needs integers, got {number} as the {what} of {name}; "
                    "--divisible moves parts of units"
                )


def _compute_plan(
    named: NamedNetwork,
    excess: list[Number],
    options: dict[str, Any],
    file: str,
    before: list[Number] | None,
) -> MinimaxPlan:
    import fastlb as lb

    from ..flows.plan import MinimaxPlan

    routing = options["routing"]
    if routing is not None and routing.startswith("dimension-order:"):
        try:
            routing = lb.dimension_order([int(a) for a in routing.partition(":")[2].split(",")])
        except ValueError:
            raise ValueError(f"--routing must name axes such as 1,0, got {routing!r}") from None
    divisible = options["divisible"]
    if divisible is False:
        _check_whole(named, file, before or excess)
    result = lb.minimax_flow(
        named.network,
        excess,
        contention=options["contention"],
        integral=None if divisible is None else not divisible,
        routing=routing,
        pinned=[named.node(node) for node in options["pin"]],
        max_moves=options["max_moves"],
        plan=options["way"],
        levels=options["levels"],
        method=options["method"],
    )
    assert isinstance(result, MinimaxPlan)
    return result
