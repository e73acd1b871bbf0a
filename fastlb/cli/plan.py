"""``fastlb plan``: which load to move where in a real network, and what limits it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..files.namednetwork import NamedNetwork
    from ..flows.plan import MinimaxPlan
    from ..quantities import Number

EXAMPLES = """
\b
Examples:
  Routes that level the loads of a network file, the bottleneck and a drawing:
    fastlb plan network.graphml --loads loads.csv --draw plan.svg
  A torus with links of capacity 20, the plan as JSON for another program:
    fastlb plan torus:8x8 --capacity 20 --loads loads.npy --out plan.json
  A DIMACS maximum-flow problem:
    fastlb plan gl1.max
  At most 500 units may move, and those of node db1 stay:
    fastlb plan net.gml --loads loads.json --max-moves 500 --pin db1

\b
NETWORK is one of
  FILE.graphml, FILE.gml   attributes capacity and traffic of the links are read
  FILE.json                node-link JSON as networkx writes it
  FILE.max                 DIMACS maximum flow; source and sink are the loads
  FILE.csv                 source,target[,capacity][,traffic] a line, directed
  topology                 such as mesh:8x8; see fastlb topologies

\b
LOADS holds a number for every node:
  FILE.csv   node,load a line, or loads alone in the order of the nodes
  FILE.npy   an array of as many numbers
  FILE.json  an object {"node": load} or a list

\b
--out writes the plan by the suffix: .json (schema "fastlb.plan", version 1,
explained by help(fastlb.files.planfile.plan_document); --json prints the same),
.graphml (flow on the links) or .csv (routes).
"""


@click.command(epilog=EXAMPLES)
@click.argument("network")
@click.option("-l", "--loads", metavar="FILE", help="Loads of the nodes; they are to be levelled.")
@click.option("--excess", metavar="FILE", help="Instead: load above (+) or below (-) the aim.")
@click.option("--capacity", metavar="NAME|X", help="Link attribute, or one capacity for all links.")
@click.option("--traffic", metavar="NAME|X", help="Link attribute, or one traffic for all links.")
@click.option("--name", metavar="NAME", help="Node attribute to call nodes by.")
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
    name: str | None,
    undirected: bool,
    parallel: bool,
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
    from ..files.namednetwork import read_network
    from .terminal import output, working

    target = writing.check_target(out, force=force, suffixes=planfile.SUFFIXES) if out else None
    picture = writing.check_target(draw, force=force, suffixes=(".png", ".svg")) if draw else None
    with working() as work:
        work.step(f"reading {network}")
        named = read_network(
            network,
            capacity=capacity,
            traffic=traffic,
            name=name,
            undirected=undirected,
            parallel=parallel,
        )
        given = _excess(named, loads, excess)
        work.step("planning")
        found = _planned(named, given, options)
        used = {k: v for k, v in options.items() if v not in (None, ())}
        used["plan"] = used.pop("way")
        document = planfile.plan_document(found, named, given, loads or excess, used)
        if target is not None:
            planfile.write_plan(target, document, found, force=force)
        if picture is not None:
            from ..reports.planpicture import plan_image

            drawn = plan_image(found, named, given, picture.suffix[1:])
            with writing.replacing(picture, force=force) as stream:
                stream.write(drawn)
    if as_json:
        click.echo(writing.as_json(document), nl=False)
    else:
        from .planreport import plan_report

        console = output()
        console.print(*plan_report(document), sep="\n")
        for path in (target, picture):
            if path is not None:
                console.print(f"wrote {path}", markup=False)
    if named.excess is None and not found.stages[0].complete:
        click.echo(
            f"fastlb: {document['eliminated']} of {document['asked']} units can move: "
            "the capacities allow no more",
            err=True,
        )
        ctx.exit(1)


def _excess(named: NamedNetwork, loads: str | None, excess: str | None) -> list[Number]:
    from fractions import Fraction

    import fastlb as lb

    from ..files.namednetwork import read_node_loads

    if loads is not None and excess is not None:
        raise click.UsageError("--loads and --excess exclude each other")
    if excess is not None:
        return read_node_loads(excess, named, complete=False)
    if loads is None:
        if named.excess is None:
            raise click.UsageError("--loads or --excess is needed")
        return list(named.excess)
    numbers = read_node_loads(loads, named, complete=True)
    kinds = {type(number) for number in numbers}
    if Fraction in kinds:
        exact = [Fraction(number) for number in numbers]
        mean = sum(exact) / len(exact)
        return [number - mean for number in exact]
    if float in kinds:
        numbers = [float(number) for number in numbers]
    elif max(numbers) >= 2**63:
        raise OverflowError(f"{loads}: loads must fit 64 bits")
    listed: list[Number] = lb.excess_load(numbers).tolist()
    return listed


def _planned(named: NamedNetwork, excess: list[Number], options: dict[str, Any]) -> MinimaxPlan:
    import fastlb as lb

    from ..flows.plan import MinimaxPlan

    routing = options["routing"]
    if routing is not None and routing.startswith("dimension-order:"):
        try:
            routing = lb.dimension_order([int(a) for a in routing.partition(":")[2].split(",")])
        except ValueError:
            raise ValueError(f"--routing must name axes such as 1,0, got {routing!r}") from None
    divisible = options["divisible"]
    found = lb.minimax_flow(
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
    assert isinstance(found, MinimaxPlan)
    return found
