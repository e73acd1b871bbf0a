"""Plans written to files: a JSON document, GraphML with flows on links, CSV of routes."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from .._version import __version__
from ..flows.plan import MinimaxPlan, Route, plain
from ..rounds.scheduling import schedule
from .writing import as_json, replacing

if TYPE_CHECKING:
    from ..quantities import Number
    from .namednetwork import NamedNetwork

PLAN_SCHEMA = "fastlb.plan"
PLAN_SCHEMA_VERSION = 1
SUFFIXES = (".json", ".graphml", ".csv")
# Characters that XML 1.0 cannot hold, not even as references.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_TYPES = {"name": "string", "bottleneck": "boolean", "full": "boolean"}


def plan_document(
    plan: MinimaxPlan,
    named: NamedNetwork,
    excess: list[Number],
    loads: str | None,
    options: dict[str, Any],
    *,
    before: list[Number] | None = None,
    per_node: int | None = None,
) -> dict[str, Any]:
    """Return a plan as one JSON object, with rounds for a limit on a node's transfers.

    Entries: ``schema`` ("fastlb.plan") and ``version`` (1) of its form, ``fastlb`` (the
    library's version), ``content`` (SHA-256 of the problem: names, links, capacities, traffic,
    excess and options), ``input`` (source, kind, nodes, directed links,
    how many links are listed and in which direction, the loads file), ``options``; then
    ``asked`` (the most load that supply and demand allow), ``eliminated``, ``contention``,
    ``bound`` (the proven lower bound of the contention), ``levels``, ``traffic``,
    ``iterations``, ``quantum`` (by how much rounding of float data may have changed eliminated
    and contention, 0 for exact data); ``held_back``, load that the links do not let through, and
    ``full_links``, the full links that hold it back; ``bottleneck``, the links that prove the
    contention, and ``links``, those that carry load (each of these links: source, target, flow,
    capacity, traffic, link number);
    ``routes`` (source, sink, amount, path of names); ``nodes`` (name, load before and after,
    null where only the excess is known, excess, and what remains of it as ``left``); and
    ``rounds``, null unless they were asked for: ``per_node`` (most transfers of a node in a
    round), ``count``, ``bound`` (the proven lower bound of count), ``gap`` (count / bound - 1)
    and ``transfers``, the hops of the routes by round (round from 1 on, source, target, amount,
    number of the route in ``routes``, number of the hop in it, both from 0 on). Numbers are
    ints or floats, fractions are texts such as "7/2", and no limit is null.
    """
    summary = plan.to_dict()
    flow = plan.flow.tolist()
    rows = [_link_entry(plan, named, k) for k in range(len(flow)) if flow[k]]
    routes = plan.routes()
    remaining = _moved(excess, routes)
    loads_before: list[Any] = [None] * len(excess) if before is None else list(before)
    loads_after = loads_before if before is None else _moved(before, routes)
    return {
        "schema": PLAN_SCHEMA,
        "version": PLAN_SCHEMA_VERSION,
        "fastlb": __version__,
        "content": _content(plan, named, excess, options),
        "input": {
            "source": named.source,
            "kind": named.kind,
            "nodes": plan.network.size,
            "links": plan.network.edge_count,
            "listed": named.listed,
            "direction": named.direction,
            "once": named.once,
            "loads": loads,
        },
        "options": options,
        "asked": plain(movable(excess)),
        "eliminated": summary["eliminated"],
        "contention": summary["contention"],
        "bound": summary["contention"],
        "levels": summary["levels"],
        "traffic": summary["traffic"],
        "iterations": summary["iterations"],
        "quantum": summary["quantum"],
        "held_back": summary["held_back"],
        "full_links": [_link_entry(plan, named, k) for k in summary["full_links"]],
        "bottleneck": [_link_entry(plan, named, k) for k in summary["bottleneck"]],
        "links": rows,
        "routes": [
            {
                "source": named.names[route.source],
                "sink": named.names[route.sink],
                "amount": plain(route.amount),
                "path": [named.names[node] for node in route.path],
            }
            for route in routes
        ],
        "nodes": [
            {
                "name": name,
                "before": None if first is None else plain(first),
                "after": None if last is None else plain(last),
                "excess": plain(node_excess),
                "left": plain(remainder),
            }
            for name, first, last, node_excess, remainder in zip(
                named.names, loads_before, loads_after, excess, remaining, strict=True
            )
        ],
        "rounds": None if per_node is None else _rounds(routes, named, per_node),
    }


def _rounds(routes: list[Route], named: NamedNetwork, per_node: int) -> dict[str, Any]:
    """Return the hops of the routes in rounds."""
    rounds = schedule(routes, per_node=per_node).to_dict()
    columns = [rounds[name] for name in ("round", "src", "dst", "amount", "route", "hop")]
    return {
        "per_node": per_node,
        "count": rounds["count"],
        "bound": rounds["bound"],
        "gap": rounds["gap"],
        "transfers": [
            {
                "round": number + 1,
                "source": named.names[u],
                "target": named.names[v],
                "amount": amount,
                "route": route,
                "hop": hop,
            }
            for number, u, v, amount, route, hop in sorted(
                zip(*columns, strict=True), key=lambda transfer: transfer[0]
            )
        ],
    }


def rounds_of_routes(document: dict[str, Any]) -> list[list[int]]:
    """Return the round of every hop of every route of a plan's document."""
    hops: list[list[int]] = [[0] * (len(route["path"]) - 1) for route in document["routes"]]
    for transfer in document["rounds"]["transfers"]:
        hops[transfer["route"]][transfer["hop"]] = transfer["round"]
    return hops


def _moved(amounts: list[Number], routes: list[Route]) -> list[Any]:
    """Return the amounts at the nodes after the routes have carried theirs."""
    result: list[Any] = list(amounts)
    for route in routes:
        result[route.source] -= route.amount
        result[route.sink] += route.amount
    return result


def movable(excess: list[Number]) -> Number:
    """Return the smaller of the load to move and the room for it."""
    supply: Any = sum(x for x in excess if x > 0)
    demand: Any = sum(-x for x in excess if x < 0)
    smaller: Number = min(supply, demand)
    return smaller


def write_plan(path: Path, document: dict[str, Any], plan: MinimaxPlan, *, force: bool) -> None:
    """Write a plan in the form that the suffix names.

    ``.json`` holds the document, ``.csv`` the routes, with the round of each hop where rounds
    were asked for. ``.graphml`` holds the network, with name,
    loads, excess and what remains of it on the nodes, and flow, capacity, traffic, bottleneck
    and full (whether a link is one of ``full_links``) on all links, as numbers unless a
    fraction is among them.

    Raises
    ------
    ValueError
        If a name holds characters that XML, and so GraphML, cannot.
    """
    with replacing(path, force=force) as stream:
        if path.suffix == ".json":
            stream.write(as_json(document).encode())
        elif path.suffix == ".csv":
            stream.write(_routes_csv(document).encode())
        else:
            stream.write(_graphml(document, plan).encode())


def _link_entry(plan: MinimaxPlan, named: NamedNetwork, k: int) -> dict[str, Any]:
    u, v = plan.network.edges[k].tolist()
    limit = plan.network.capacities
    return {
        "source": named.names[u],
        "target": named.names[v],
        "flow": plain(plan.flow[k : k + 1].tolist()[0]),
        "capacity": None if limit.unlimited[k] else plain(limit.values[k : k + 1].tolist()[0]),
        "traffic": plain(plan.network.traffics.values[k : k + 1].tolist()[0]),
        "link": k,
    }


def _content(
    plan: MinimaxPlan, named: NamedNetwork, excess: list[Number], options: dict[str, Any]
) -> str:
    network = plan.network
    limits = [None if c is None else plain(c) for c in network.capacity]
    content = [
        list(named.names),
        network.edges.tolist(),
        limits,
        [plain(f) for f in network.traffic],
        [plain(x) for x in excess],
        options,
    ]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _routes_csv(document: dict[str, Any]) -> str:
    rows = [["source", "sink", "amount", "path"]]
    for route in document["routes"]:
        path = " > ".join(route["path"])
        rows.append([route["source"], route["sink"], str(route["amount"]), path])
    if document["rounds"] is not None:
        hops = [" > ".join(map(str, rounds)) for rounds in rounds_of_routes(document)]
        for row, last in zip(rows, ["rounds", *hops], strict=True):
            row.append(last)
    lines = [",".join(map(_cell, row)) for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def _graphml(document: dict[str, Any], plan: MinimaxPlan) -> str:
    bottleneck, full = set(plan.bottleneck.tolist()), set(plan.full_links.tolist())
    nodes: dict[str, list[Any]] = {
        "name": [node["name"] for node in document["nodes"]],
        "excess": [node["excess"] for node in document["nodes"]],
        "left": [node["left"] for node in document["nodes"]],
    }
    if document["nodes"] and document["nodes"][0]["before"] is not None:
        nodes |= {key: [node[key] for node in document["nodes"]] for key in ("before", "after")}
    links: dict[str, list[Any]] = {
        "flow": [plain(f) for f in plan.flow.tolist()],
        "capacity": ["inf" if c is None else plain(c) for c in plan.network.capacity],
        "traffic": [plain(f) for f in plan.network.traffic],
        "bottleneck": ["true" if k in bottleneck else "false" for k in range(len(plan.flow))],
        "full": ["true" if k in full else "false" for k in range(len(plan.flow))],
    }
    for name in nodes["name"]:
        if _NO_XML.search(name):
            raise ValueError(f"GraphML cannot hold the control characters of the name {name!r}")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    for target, columns in (("node", nodes), ("edge", links)):
        for name, values in columns.items():
            kind = _TYPES.get(name) or _kind(values)
            lines.append(
                f'  <key id="{name}" for="{target}" attr.name="{name}" attr.type="{kind}"/>'
            )
    lines.append('  <graph edgedefault="directed">')
    for i in range(plan.network.size):
        lines += [f'    <node id="n{i}">', *_data(nodes, i), "    </node>"]
    for k, (u, v) in enumerate(plan.network.edges.tolist()):
        lines.append(f'    <edge id="e{k}" source="n{u}" target="n{v}">')
        lines += [*_data(links, k), "    </edge>"]
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _kind(values: list[Any]) -> str:
    """Return the GraphML type that holds all the numbers as they are."""
    infinite = "inf" in values
    numbers = [value for value in values if value != "inf"]
    if all(isinstance(number, int) for number in numbers):
        largest = max(map(abs, numbers), default=0)
        if not infinite and largest < 2**63:
            return "long"
        return "double" if largest <= 2**53 else "string"
    exact = all(isinstance(x, float) or (isinstance(x, int) and abs(x) <= 2**53) for x in numbers)
    return "double" if exact else "string"


def _data(columns: dict[str, list[Any]], i: int) -> list[str]:
    return [
        f'      <data key="{name}">{quoteattr(str(values[i]))[1:-1]}</data>'
        for name, values in columns.items()
    ]
