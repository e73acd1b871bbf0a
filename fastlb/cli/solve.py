"""``fastlb solve``: a 0-1 program from a model file."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..programs.mps import ProgramFile

EXAMPLES = """
\b
Examples:
  fastlb solve p0033.mps                     the optimum and the variables at 1
  fastlb solve stein27.mps --json            the same for another program
  fastlb solve hard.mps.gz --time-limit 60   the best after a minute, its bound
                                             and gap
  fastlb solve hard.mps.gz --node-limit 10000000 --method search
                                             stop there, with a proven bound

\b
PROBLEM is an MPS file, plain or .gz, or another format that HiGHS reads; all
variables must be binary. --json prints one object: schema "fastlb.solve",
version, fastlb, problem, variables, rows, sense, status ("optimal",
"infeasible" or "limit"), objective, bound, gap (between the two), relative_gap
(gap / |objective|; null where unknown or divided by 0), method, solver (who
ended it, "fastlb" or "HiGHS"), nodes of fastlb's search, seconds, and x, an
object of 0 and 1 by variable name (null where no solution is known).
"""
SCHEMA = "fastlb.solve"
SCHEMA_VERSION = 1


@click.command(epilog=EXAMPLES)
@click.argument("problem", metavar="PROBLEM.mps")
@click.option(
    "-m",
    "--method",
    type=click.Choice(["auto", "enumeration", "search", "milp"]),
    default="auto",
    show_default=True,
    help="auto: enumeration, search or milp (HiGHS) by size.",
)
@click.option("--node-limit", type=click.IntRange(0), metavar="N", help="Most nodes of the search.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop solving then and show the best solution so far; reading the file and compiling "
    "kernels, in first runs, are not counted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def solve(
    ctx: click.Context,
    /,
    problem: str,
    method: str,
    node_limit: int | None,
    time_limit: float | None,
    as_json: bool,
) -> None:
    """Solve the 0-1 program in PROBLEM exactly; show its optimum and a solution.

    The gap is the difference of objective and bound, and in % of the objective.

    Exit codes: 0 optimal, 1 infeasible or stopped at a limit, 2 bad input, 130 interrupted: the
    best solution so far is shown.
    """
    import fastlb as lb

    from ..files.writing import as_json as in_json
    from ..programs.binary import MOST_VARIABLES
    from ..programs.mps import read_mps
    from .terminal import output, working

    options: dict[str, Any] = {} if node_limit is None else {"node_limit": node_limit}
    with working() as work:
        work.step(f"reading {problem}")
        program = read_mps(problem)
        most, n = MOST_VARIABLES.get(method), len(program.variables)
        if most is not None and n > most:
            raise click.UsageError(
                f"--method {method} takes at most {most} variables, {problem} has {n}: "
                "leave --method away"
            )
        work.step(f"solving {program.name}")
        start = monotonic()
        interrupted = False
        try:
            solution: Any = lb.solve_binary(
                program.c,
                program.A,
                program.b,
                method=method,
                time_limit=time_limit,
                progress=lambda best: work.say(_progress(program, best)),
                **options,
            )
        except KeyboardInterrupt as error:
            solution, interrupted = getattr(error, "solution", None), True
            if solution is None:
                raise
        seconds = monotonic() - start
    document = _document(program, solution, seconds)
    if as_json:
        click.echo(in_json(document), nl=False)
    else:
        output().print("\n".join(_lines(document)), markup=False)
    if interrupted:
        message = f"interrupted; best so far {_in_full(document['objective'])}, shown above"
        click.echo(f"fastlb: {program.name}: {message}", err=True)
        raise click.Abort
    if solution.status != "optimal":
        click.echo(f"fastlb: {program.name}: {_why(solution, seconds, time_limit)}", err=True)
        ctx.exit(1)


def _progress(program: ProgramFile, best: Any) -> str:
    """Return what the progress bar says of the best solution so far.

    HiGHS reports nothing while it runs, so no bound and no nodes are shown for it: they would be
    those from before it began.
    """
    is_highs = best.method == "milp"
    objective, bound = program.value(best.objective), program.value(best.bound)
    figures = ["HiGHS"] if is_highs else []
    figures += [] if objective is None else [f"best {_in_full(objective)}"]
    figures += [] if bound is None or is_highs else [f"bound {_in_full(bound)}"]
    figures += [f"{best.nodes:,} nodes"] if best.nodes and not is_highs else []
    return f"solving {program.name}: {', '.join(figures)}"


def _why(solution: Any, seconds: float, time_limit: float | None) -> str:
    """Return why there is no optimum."""
    if solution.status == "infeasible":
        return "no solution exists"
    if time_limit is not None and seconds >= time_limit:
        return f"stopped at the time limit of {time_limit:g} s"
    if solution.method == "milp":
        return (
            "not proven: HiGHS stopped at a node limit, or numbers are too long for its precision"
        )
    return "stopped at the node limit"


def _document(program: ProgramFile, solution: Any, seconds: float) -> dict[str, Any]:
    from .._version import __version__

    objective, bound = program.value(solution.objective), program.value(solution.bound)
    x = None
    if solution.x is not None:
        x = dict(zip(program.variables, solution.x.tolist(), strict=True))
    return {
        "schema": SCHEMA,
        "version": SCHEMA_VERSION,
        "fastlb": __version__,
        "problem": program.name,
        "variables": len(program.variables),
        "rows": program.rows,
        "sense": "max" if program.maximise else "min",
        "status": solution.status,
        "objective": objective,
        "bound": bound,
        "gap": solution.gap,
        "relative_gap": _relative(solution.gap, objective),
        "method": solution.method,
        "solver": "HiGHS" if solution.method == "milp" else "fastlb",
        "nodes": solution.nodes,
        "seconds": round(seconds, 3),
        "x": x,
    }


def _relative(gap: float | None, objective: float | None) -> float | None:
    """Return the gap as a part of the objective, as solvers of integer programs define it."""
    if gap is None or objective is None:
        return None
    if gap == 0:
        return 0.0
    return gap / abs(objective) if objective else None


def _percent(part: float) -> str:
    """Return a part in %: with two decimals, or two significant digits below 1 %."""
    return f"{100 * part:{'.2f' if part >= 0.01 else '.2g'}} %"


def _in_full(number: float) -> str:
    """Return the shortest decimal of a number, and all digits of a whole one."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _method(document: dict[str, Any]) -> str:
    """Return who solved the program, and after how many nodes of the search."""
    if document["solver"] == "fastlb":
        return f"{document['method']}, {document['nodes']:,} nodes"
    searched = f" after {document['nodes']:,} nodes of the search" if document["nodes"] else ""
    return f"{document['method']}, by HiGHS{searched}"


def _lines(document: dict[str, Any]) -> list[str]:
    size = f"{document['variables']} variables, {document['rows']} rows, {document['sense']}"
    facts = {"problem": f"{document['problem']}, {size}", "status": document["status"]}
    for name in ("objective", "bound", "gap"):
        if document[name] is not None:
            facts[name] = _in_full(document[name])
    if document["relative_gap"]:
        facts["gap"] += f" ({_percent(document['relative_gap'])})"
    facts["method"] = _method(document)
    if document["x"] is not None:
        ones = [name for name, value in document["x"].items() if value]
        facts["at 1"] = " ".join(ones) or "none"
    return [f"{name:<9}  {text}" for name, text in facts.items()]
