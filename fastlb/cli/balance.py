"""``fastlb balance``: loads from a file, balanced, shown before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..exchange.result import Balance
    from ..files.formats import LoadFile
    from ..files.namednetwork import NamedNetwork
    from ..topologies.topology import Topology

EXAMPLES = """
\b
Examples:
  A folder of vt data files, one a processor, on a 4x4 torus:
    fastlb balance fastlb/data/vt-16 --topology torus:4x4
  Times from a CSV file in whole milliseconds, flows and figures into a file:
    fastlb balance times.csv -t ring:12 --quantum 0.001 --out plan.json
  Servers and the links between them, as CSV: a line node,load and source,target:
    fastlb balance servers.csv --topology links.csv
  Many 8x8 meshes by GDE, without their flows, as JSON for another program:
    fastlb balance loads.npy -t mesh:8x8 -m gde --json --record metrics
  Servers of different speeds, the columns load and speed in one file:
    fastlb balance servers.csv -t links.csv --weights servers.csv

\b
LOADS is one of
  FILE.npy       array of shape (*batch, *topology shape) or (*batch, nodes)
  FILE.csv       plain numbers: a network a line, a grid, or one load a line;
                 - reads CSV from standard input
  FILE.csv       or loads by node: a header such as node,load
  FILE.json      an object {"node": load}, a list of objects or of loads
  FILE.graphml   the nodes' attribute load; FILE.gml the same. Its links are
                 the topology if no other is named
  FOLDER, FILES  vt LBDatafile JSON named PREFIX.RANK.json: a processor's load
  or 'PATTERN'   is the sum of its task times; phases are networks of a batch

\b
--topology is a spelling such as torus:8x8, or a file of links of your own as
fastlb plan reads it (.csv, .graphml, .gml, .json, .max). Methods balance over
links alone: capacities and direction are for fastlb plan.

\b
--weights is for nodes of different speeds: each gets a share of the load in
proportion, one of weight 0 none. FILE has one of the forms of LOADS, by node
with a column weight or speed; the file of LOADS may be the same, as either
option leaves out the other's columns. Weights are exact: decimals as they are
written, and fractions such as 1/3 by node. Differences and imbalances are
then of load / weight.

\b
--out writes final loads, flows and figures, by the suffix:
  .json  one object: schema "fastlb.balance", version, fastlb, input, options,
         reached, initial_loads, method, topology, loads, then figures and
         flows as help(fastlb.Balance) explains them, null for a number that is
         not finite; --json prints the same
  .npz   the same as NumPy arrays, what describes them as JSON in "document"
  .csv   the final loads alone; of a file's nodes, node,load lines
"""


def _order(ctx: click.Context, option: click.Parameter, value: str | None) -> list[int] | None:
    """Read an order such as 1,0,2."""
    if value is None:
        return None
    try:
        return [int(part) for part in value.replace(",", " ").split()]
    except ValueError:
        raise click.BadParameter(f"must be an order such as 1,0,2, got {value!r}") from None


@click.command(epilog=EXAMPLES)
@click.argument("loads", nargs=-1, required=True)
@click.option("-t", "--topology", metavar="SPEC|FILE", help="Such as torus:8x8 or links.csv.")
@click.option(
    "-m",
    "--method",
    metavar="NAME",
    help="dem, gde, dde, hexa_cell or fault_tolerant_dem.  [default: dem on hypercubes, "
    "fault_tolerant_dem with faulty links, dde on grids, hexa_cell on hyper hexa-cells; with "
    "--weights dem on hypercubes, dde on grids, gde elsewhere; "
    "fastlb topologies --methods lists what works where]",
)
@click.option("--dims", metavar="ORDER", callback=_order, help="DEM: order of the bits, as 2,0,1.")
@click.option(
    "--lam",
    metavar="P/Q",
    help="GDE: the exchange share, as 3/4.  [default: the theory's optimum on grids and "
    "hypercubes, 1/2 elsewhere]",
)
@click.option(
    "--order",
    type=click.Choice(["dimension", "interleaved", "lowest", "highest"]),
    help="GDE: order of the colours, dimension or interleaved; fault-tolerant DEM: which "
    "dimension is split first.  [default: dimension, lowest]",
)
@click.option("--tol", type=float, metavar="X", help="GDE on float loads: neighbours within X.")
@click.option("--max-sweeps", type=int, metavar="N", help="GDE: stop after N sweeps.")
@click.option("--axes", metavar="ORDER", callback=_order, help="DDE: order of the axes, as 1,0.")
@click.option(
    "--exchange",
    type=click.Choice(["rbs", "sbr"]),
    help="DDE: receive before send, or send before receive.  [default: rbs]",
)
@click.option(
    "--algorithm", type=click.Choice(["A", "B", "C"]), help="Hexa-Cell: which.  [default: B]"
)
@click.option(
    "--share",
    type=click.Choice(["fair", "greedy"]),
    help="Hexa-Cell: how one node's excess goes to two.  [default: fair]",
)
@click.option(
    "--odd-unit",
    type=click.Choice(["higher", "lower"]),
    help="Hexa-Cell: who keeps an odd unit in DEM.  [default: higher]",
)
@click.option(
    "--donor",
    type=click.Choice(["latest", "earliest"]),
    help="Fault-tolerant DEM: which donor a stuck subcube takes.  [default: latest]",
)
@click.option(
    "--fallback",
    type=click.Choice(["tree"]),
    help="Fault-tolerant DEM: balance along a tree where the faults leave no plan.",
)
@click.option(
    "--finish",
    type=click.Choice(["tree"]),
    help="Fault-tolerant DEM: level the rest along a tree.",
)
@click.option(
    "--record",
    type=click.Choice(["metrics", "flows"]),
    help="What is computed and written.  [default: flows with --json and --out, else metrics]",
)
@click.option("--phase", type=int, metavar="ID", help="vt data: take this phase alone.")
@click.option(
    "--quantum",
    type=float,
    metavar="X",
    help="Round float loads to whole units of X, and move whole units.",
)
@click.option("--column", metavar="NAME", help="Loads by node: the column that is the load.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="NAME",
    help="Loads by node: leave out a column; repeatable.",
)
@click.option(
    "--weights",
    metavar="FILE",
    help="DEM, GDE, DDE: speeds of the nodes, in proportion to which loads are shared.",
)
@click.option("-o", "--out", metavar="FILE", help="Write the result: .json, .npz or .csv.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--picture/--no-picture", default=True, help="Draw the loads.  [default: draw]")
@click.pass_context
def balance(
    ctx: click.Context,
    /,
    loads: tuple[str, ...],
    topology: str | None,
    method: str | None,
    record: str | None,
    phase: int | None,
    quantum: float | None,
    column: str | None,
    ignore: tuple[str, ...],
    weights: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    picture: bool,
    **method_options: Any,
) -> None:
    """Balance LOADS on a topology, and show the figures and a picture of before and after.

    Exit codes: 0 done, 1 GDE stopped before neighbours were balanced, 2 bad input.
    """
    from rich.text import Text

    import fastlb as lb

    from ..files import writing
    from ..files.formats import read_load_file
    from ..files.nodeweights import read_weight_file, weight_columns
    from ..registry import default_of
    from ..topologies.kinds import suitable
    from .terminal import output, working

    inputs = [*loads, *([topology] if topology else [])]
    target = None if out is None else writing.check_target(out, force=force, inputs=inputs)
    named, where = _topology(topology, loads)
    with working() as work:
        work.step("reading")
        load_file = read_load_file(
            loads,
            phase=phase,
            quantum=quantum,
            network=named or where,
            column=column,
            ignore=ignore,
            other=() if weights is None else weight_columns(but=column),
            progress=work.count,
        )
        network = _check_fit(where, load_file)
        name = method or suitable(network, by_weight=weights is not None)[0]
        options = {key: value for key, value in method_options.items() if value is not None}
        arrays: dict[str, Any] = {}
        if weights is not None:
            options["weights"] = weights
            ignored = ignore if column is None else (*ignore, column)
            arrays["weights"] = read_weight_file(weights, named or network, ignore=ignored)
        if name == "gde" and isinstance(network, lb.Network):
            # A network has no axes to derive a share from; the default is set so that it is shown.
            options.setdefault("lam", "1/2")
        _check_options(name, options)
        if name == "hexa_cell":
            # The default algorithm is set so that its name is shown.
            options.setdefault("algorithm", default_of(name, "algorithm"))
        full = as_json or (target is not None and target.suffix != ".csv")
        work.step(f"{name} on {network.spec}")
        try:
            result = lb.balance(
                load_file.loads,
                network,
                method=name,
                record=record or ("flows" if full else "metrics"),
                **{**options, **arrays},
            )
        except lb.FaultError as error:
            raise ValueError(f"{error} (--fallback tree balances without a plan)") from error
        if target is not None:
            work.step(f"writing {target}")
            writing.write_balance(target, result, load_file, options, force=force)
    if as_json:
        document = writing.balance_document(result, load_file, options)
        click.echo(writing.as_json(document), nl=False)
    else:
        from .report import balance_report

        console = output()
        for part in balance_report(load_file, result, options, picture=picture):
            console.print(part, soft_wrap=isinstance(part, Text))
        if load_file.kind == "vt":
            console.print("amounts, not tasks: fastlb assign says which tasks to move")
        if target is not None:
            console.print(Text(f"wrote {target}"), soft_wrap=True)
    if named is not None and not load_file.by_node:
        click.echo(f"fastlb: {named.order}", err=True)
    if named is not None and named.note:
        click.echo(f"fastlb: {named.note}", err=True)
    if not writing.reached(result):
        click.echo(f"fastlb: {_unconverged_message(result)}", err=True)
        ctx.exit(1)


def _topology(
    topology: str | None, loads: tuple[str, ...]
) -> tuple[NamedNetwork | None, Topology | None]:
    """Return (network with names or None, topology or None); a graph file LOADS gives both."""
    import fastlb as lb

    from ..files.graphfiles import is_graph_file
    from ..files.namednetwork import read_network_file
    from ..files.nodetables import GRAPH_SUFFIXES

    if topology is None and len(loads) == 1 and loads[0].lower().endswith(GRAPH_SUFFIXES):
        topology = loads[0]
    if topology is None:
        return None, None
    if not is_graph_file(topology):
        return None, lb.parse_topology(topology)
    named = read_network_file(topology, links_only=True)
    return named, named.network


def _check_fit(topology: Topology | None, load_file: LoadFile) -> Topology:
    """Return the topology if the loads fit it; else raise an error that lists those that fit."""
    from ..exchange.loads import batch_shape
    from .fitting import describe_fits

    if topology is None:
        fits = describe_fits(load_file.loads.shape)
        raise click.UsageError(f"--topology is needed: {fits}, or a file of links of your own")
    try:
        batch_shape(load_file.loads.shape, topology)
    except ValueError as error:
        raise ValueError(f"{error}: {describe_fits(load_file.loads.shape)}") from None
    return topology


def _check_options(method: str, options: dict[str, Any]) -> None:
    """Refuse an option that the method does not take; unknown methods are refused elsewhere."""
    import fastlb as lb

    from ..registry import options_of

    accepted = options_of(method) if method in lb.methods() else None
    for name in options:
        if accepted is not None and name not in accepted:
            flags = ", ".join(map(_flag, accepted)) or "no options"
            raise ValueError(f"{_flag(name)} does not apply to {method}, which takes {flags}")


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _unconverged_message(result: Balance) -> str:
    import numpy as np

    unconverged = int(np.size(result.converged) - np.count_nonzero(result.converged))
    stalled = int(np.count_nonzero(result.stalled))
    reason = f"{stalled} stalled, {unconverged - stalled} at the last sweep allowed"
    if np.size(result.converged) == 1:
        reason = "it stalled, no exchange moves a unit" if stalled else "it ran out of sweeps"
        return f"{result.method} stopped before neighbours were balanced: {reason}"
    return (
        f"{result.method} stopped before neighbours were balanced on {unconverged} of "
        f"{np.size(result.converged)} networks: {reason}"
    )
