"""``fastlb assign``: which whole tasks to move where, and the files with the tasks moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..files.taskfiles import TaskFile
    from ..files.taskset import TaskSet
    from ..rounds.result import Rounds
    from ..tasks.assignment import Assignment
    from ..topologies.topology import Topology

EXAMPLES = """
\b
Examples:
  The tasks of a vt run to any rank; the new mapping in a folder of the same form:
    fastlb assign fastlb/data/vt-16 --out balanced
  Only between neighbours of a torus, along the flows of DDE:
    fastlb assign fastlb/data/vt-16 -t torus:4x4 --along dde
  Few moves: the fullest node may be 3 % above the bound:
    fastlb assign tasks.csv --slack 0.03 --plan plan.json
  Servers of different speeds, those without tasks as well:
    fastlb assign tasks.csv --weights servers.csv
  Later, if the tasks are still where they were:
    fastlb assign tasks.csv --apply plan.json --out moved

\b
TASKS is one of
  FILE.csv, .tsv   a header such as task,node,load,bytes,movable, a line a task;
                   bytes and movable may be missing
  FILE.parquet     the same columns
  FOLDER, FILES    vt LBDatafile JSON named PREFIX.RANK.json, plain or compressed
  or 'PATTERN'     with brotli; every phase is planned by itself. Objects that are
                   not migratable stay

\b
--weights is for nodes of different speeds: FILE lists them by node with a
column weight or speed, or holds plain numbers in the order of the nodes. All
nodes that it names are there, and one of weight 0 gives its tasks away. The
largest load, bound and gap are then of load / weight.

\b
The bound is what no assignment can be below: the mean, the fullest node of
what cannot move, the longest tasks. Status "optimal" says that the largest load
is proven least, "feasible" that it may not be, "stuck" that a node is above its
memory limit, "infeasible" that this must be so.

\b
--out makes a new folder with the files that TASKS names, tasks moved; what
fastlb does not understand is kept, and lines of CSV whose task stays are as they
were. --apply reads TASKS as they were planned: with the same --nodes or -t,
--column, --ignore and --weights. --plan writes the moves: schema
"fastlb.assignment", explained by
help(fastlb.files.assignfile.assignment_document); --json prints the same.
"""


@click.command(epilog=EXAMPLES)
@click.argument("tasks", nargs=-1, required=True)
@click.option("-t", "--topology", metavar="SPEC", help="Such as torus:4x4; see fastlb topologies.")
@click.option(
    "--along",
    metavar="METHOD",
    help="Tasks move over links alone, along the flows of dde, dem, gde, .. or of minimax.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Nodes 0 to N-1, those without tasks as well.",
)
@click.option("--slack", default="0", metavar="X", help="Allow the fullest node X above the bound.")
@click.option("--max-moves", type=click.IntRange(min=0), metavar="K", help="Move at most K tasks.")
@click.option("--memory-limit", metavar="BYTES", help="Bytes that a node may hold, such as 16e9.")
@click.option("--price", default="0", metavar="X", help="Load that a byte between nodes counts as.")
@click.option("--pin", multiple=True, metavar="TASK", help="This task stays; repeatable.")
@click.option("--phase", type=int, metavar="ID", help="vt data: this phase alone.")
@click.option("--column", metavar="NAME", help="Tables: the column that is the load.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="NAME",
    help="Leave out a column, or rank_alpha, communications or memory of vt data; repeatable.",
)
@click.option("--weights", metavar="FILE", help="Speeds of the nodes: a table node,speed.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="K",
    help="Order moves: at most K a node at a time.",
)
@click.option("--apply", "applied", metavar="FILE", help="Move the tasks as a written plan says.")
@click.option("-o", "--out", metavar="DIR", help="Write the files with the tasks moved.")
@click.option("--plan", "plan_file", metavar="FILE", help="Write the moves: .json.")
@click.option("--kafka", metavar="FILE", help="Write them as Kafka's reassignment: .json.")
@click.option("--force", is_flag=True, help="Overwrite files, and files in DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--picture/--no-picture", default=True, help="Draw the loads.  [default: draw]")
@click.pass_context
def assign(
    ctx: click.Context,
    /,
    tasks: tuple[str, ...],
    topology: str | None,
    nodes: int | None,
    phase: int | None,
    column: str | None,
    ignore: tuple[str, ...],
    weights: str | None,
    rounds: int | None,
    applied: str | None,
    out: str | None,
    plan_file: str | None,
    kafka: str | None,
    force: bool,
    as_json: bool,
    picture: bool,
    **options: Any,
) -> None:
    """Choose which whole tasks move where, so that the fullest node has as little as possible.

    Exit codes: 0 done, 1 a memory limit does not hold, 2 bad input.
    """
    from ..files import writing
    from ..files.assignfile import assignment_document, kafka_document
    from ..files.folders import check_folder, write_folder
    from ..files.taskfiles import read_task_file
    from .terminal import output, working

    if applied is not None:
        _check_applied(ctx, out)
    numbers = {
        name: _number("--" + name.replace("_", "-"), options[name])
        for name in ("slack", "price", "memory_limit")
        if options[name] is not None
    }
    network = _topology(topology, nodes, options["along"])
    targets = [
        None
        if path is None
        else writing.check_target(path, force=force, suffixes=(".json",), inputs=tasks)
        for path in (plan_file, kafka)
    ]
    if None not in targets and targets[0] == targets[1]:
        raise click.UsageError("--plan and --kafka must name two files")
    folder = None if out is None else check_folder(out, force=force)
    names = _names(nodes, network)
    with working() as work:
        work.step("reading")
        file = read_task_file(
            tasks,
            phase=phase,
            nodes=names,
            column=column,
            ignore=ignore,
            weights=weights,
            progress=work.count,
        )
        if kafka is not None and len(file.phases) != 1:
            raise click.UsageError("--kafka is for one phase: choose it by --phase")
        if applied is not None:
            _report_applied(file, applied, folder, force=force)
            return
        pinned = _pinned(file, options["pin"])
        assignments, schedules = [], []
        for task_set, pins in zip(file.phases, pinned, strict=True):
            work.step("planning" + ("" if task_set.phase is None else f" phase {task_set.phase}"))
            assignment = _assignment(task_set, pins, network, {**options, **numbers})
            assignments.append(assignment)
            schedules.append(None if rounds is None else _schedule(assignment, rounds))
        document = assignment_document(file, assignments, _chosen(ctx), schedules)
        # All contents are made before the first is written.
        work.step("writing")
        documents = [document, None if kafka is None else kafka_document(file, assignments[0])]
        if folder is not None:
            moved = file.moved_files([assignment.owner for assignment in assignments])
            write_folder(folder, moved, force=force)
        for path, content in zip(targets, documents, strict=True):
            if path is not None and content is not None:
                _write(path, content, force=force)
    if as_json:
        click.echo(writing.as_json(document), nl=False)
    else:
        from rich.text import Text

        from .assignreport import assignment_report

        console = output()
        report = assignment_report(file, document, network, width=console.width, picture=picture)
        for part in report:
            console.print(part, soft_wrap=isinstance(part, Text))
        for path in (folder, *targets):
            if path is not None:
                console.print(f"wrote {path}", markup=False, soft_wrap=True)
    if any(entry["status"] in ("stuck", "infeasible") for entry in document["phases"]):
        ctx.exit(1)


def _check_applied(ctx: click.Context, out: str | None) -> None:
    """Refuse options that have no effect with --apply: the plan says what moves."""
    if out is None:
        raise click.UsageError("--apply needs --out, the folder for the files with tasks moved")
    effective = {"tasks", "applied", "out", "force", "topology", "nodes", "phase", "column",
                 "ignore", "weights", "picture"}  # fmt: skip
    for name in ctx.params.keys() - effective:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = next(o for o in ctx.command.params if o.name == name).opts[-1]
            raise click.UsageError(f"--apply and {option} exclude each other")


def _names(nodes: int | None, network: Topology | None) -> list[str] | None:
    """Return the names of all nodes, None where the tasks' files say which there are."""
    from ..memory import require_memory
    from ..topologies.network import Network

    size = nodes if network is None else network.size
    if size is None:
        return None
    # A name, loads before and after, and a line of the document for every node.
    require_memory(1000 * size, f"{size} nodes")
    if isinstance(network, Network):
        return list(map(str, network.names))
    return [str(i) for i in range(size)]


def _chosen(ctx: click.Context) -> dict[str, Any]:
    """Return the options that the assignment depends on, as they were given."""
    files = ("tasks", "applied", "out", "plan_file", "kafka", "force", "as_json", "picture")
    return {
        name: value
        for name, value in ctx.params.items()
        if name not in files
        and ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }


def _topology(spec: str | None, nodes: int | None, along: str | None) -> Topology | None:
    import fastlb as lb

    if along not in (None, "minimax", *lb.methods()):
        raise click.UsageError(
            f"--along must be minimax or one of {', '.join(lb.methods())}, got {along!r}"
        )
    if spec is None:
        if along is not None:
            raise click.UsageError(f"--along {along} needs --topology, such as torus:4x4")
        return None
    if nodes is not None:
        raise click.UsageError("--nodes and --topology exclude each other")
    return lb.parse_topology(spec)


def _pinned(file: TaskFile, pins: Sequence[str]) -> list[list[int]]:
    """Return for every phase the numbers of the tasks that are to stay."""
    unknown = set(pins)
    result = []
    for tasks in file.phases:
        number = {name: i for i, name in enumerate(tasks.names)} if pins else {}
        result.append([number[name] for name in pins if name in number])
        unknown -= number.keys()
    if unknown:
        raise ValueError(f"--pin must name a task of {file.source}, got {min(unknown)!r}")
    return result


def _assignment(
    tasks: TaskSet, pins: Sequence[int], network: Topology | None, options: Mapping[str, Any]
) -> Assignment:
    import fastlb as lb

    movable = tasks.movable.copy()
    movable[list(pins)] = False
    limit = options["memory_limit"]
    if limit is not None and tasks.memory is None:
        raise ValueError(f"--memory-limit needs bytes of tasks, {tasks.source} has none")
    edges = None
    if tasks.edges is not None and tasks.edge_bytes is not None:
        edges = (*tasks.edges.T, tasks.edge_bytes)
    along = _along(tasks, network, options["along"])
    try:
        assignment: Assignment = lb.assign_tasks(
            tasks.sizes,
            tasks.owner,
            _nodes(tasks, network, options["along"]),
            movable=movable,
            weights=tasks.weights,
            memory=tasks.memory,
            memory_limit=limit,
            edges=edges,
            slack=options["slack"],
            price=options["price"],
            along=along,
            max_moves=options["max_moves"],
        )
    except (ValueError, OverflowError) as error:
        # The library knows neither file nor phase.
        raise type(error)(f"{tasks.place}: {error}") from None
    return assignment


def _nodes(tasks: TaskSet, network: Topology | None, along: str | None) -> int | Topology:
    """Return what the tasks are assigned to: a number of nodes, or the topology of the plan."""
    if network is None:
        return len(tasks.nodes)
    return network.network() if along == "minimax" else network


def _along(tasks: TaskSet, network: Topology | None, method: str | None) -> Any:
    """Return the balance or plan whose flows tasks are to follow."""
    import numpy as np

    import fastlb as lb

    if method is None or network is None:
        return None
    loads = np.array(tasks.loads(), dtype=tasks.sizes.dtype)
    if method == "minimax":
        return lb.minimax_flow(network.network(), lb.excess_load(loads, weights=tasks.weights))
    options = {} if tasks.weights is None else {"weights": tasks.weights}
    return lb.balance(loads, network, method=method, record="flows", **options)


def _schedule(assignment: Assignment, most: int) -> Rounds:
    import fastlb as lb

    return lb.schedule(assignment, per_node=most)


def _report_applied(file: TaskFile, plan: str, folder: Path | None, *, force: bool) -> None:
    """Write the files with the tasks moved as a written plan says."""
    from ..files.assignfile import owners_of_document
    from ..files.folders import write_folder
    from .terminal import output

    assert folder is not None
    owners = owners_of_document(Path(plan), file)
    moves = sum(
        int((owner != tasks.owner).sum()) for owner, tasks in zip(owners, file.phases, strict=True)
    )
    write_folder(folder, file.moved_files(owners), force=force)
    output().print(
        f"{moves:,} task{'s' if moves != 1 else ''} moved as {plan} says",
        markup=False,
        soft_wrap=True,
    )
    output().print(f"wrote {folder}", markup=False, soft_wrap=True)


def _write(path: Path, document: Mapping[str, Any], *, force: bool) -> None:
    from ..files.writing import as_json, replacing

    with replacing(path, force=force) as stream:
        stream.write(as_json(dict(document)).encode())


def _number(option: str, text: str) -> Any:
    from ..quantities import read_number

    try:
        return read_number(option, text)
    except (ValueError, TypeError):
        raise ValueError(f"{option} must be a number such as 3 or 0.05, got {text!r}") from None
